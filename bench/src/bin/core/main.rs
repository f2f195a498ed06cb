//! Measures the core by itself and writes `bench/results/core.json`:
//!
//! - `memory`: bytes an id of the named sets in every order of arrival
//! - `kernels`: set algebra, counts, positions and encodings in ms, beside the
//!   roaring crate and CRoaring in the same rounds
//! - `growth`: the cost of an operation from a thousand to a hundred million ids,
//!   snapshots and the first write after one among them
//! - `worst`: the slowest of ten million single inserts
//!
//! Times are CPU time of the measuring thread, which other work on the machine
//! disturbs least. The table goes to standard output, progress to standard error.

#[allow(dead_code)] // tests count more than this
#[path = "../../../../crates/roarbits-core/tests/counting/mod.rs"]
mod counting;
mod growth;
mod kernels;
mod memory;
mod peers;
mod plan;
#[allow(dead_code)] // criterion measures more than this
#[path = "../../../../crates/roarbits-core/benches/core/subject.rs"]
mod subject;
mod table;
mod timing;
mod worst;

use std::process::ExitCode;

use clap::Parser;
use plan::{Arguments, Plan};
use roarbits_bench::{Environment, Results};

/// A part of the measurement.
type Part = fn(&mut Plan) -> std::io::Result<()>;

const PARTS: [(&str, Part); 4] = [
    ("memory", memory::measure),
    ("kernels", kernels::measure),
    ("growth", growth::measure),
    ("worst", worst::measure),
];

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> std::io::Result<()> {
    let mut plan = Plan::new(arguments)?;
    for (name, measure) in PARTS {
        if plan.takes(name) {
            plan.tell(name);
            measure(&mut plan)?;
        }
    }
    let versions = vec![
        format!("roarbits-core {}", env!("CARGO_PKG_VERSION")),
        "roaring 0.12".to_owned(),
        "croaring 2".to_owned(),
    ];
    let results = Results { environment: Environment::here(versions), rows: plan.rows };
    table::print(&results);
    results.write(&plan.out)
}
