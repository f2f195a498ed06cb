//! The black-box tests: one binary, a module a family or concern. A module
//! lists its tests with `tests!`; the harness runs, skips and counts them.

mod cases;
mod cluster;
mod damage;
mod datasets;
mod defrag;
mod differential;
mod equality;
mod examples;
mod footprint;
mod golden;
mod harness;
mod hostile;
mod introspection;
mod keys;
mod lifetimes;
mod load;
mod moving;
mod notices;
mod offload;
mod persistence;
mod questions;
mod renamed;
mod replication;
mod samples;
mod sets;
mod table;
mod wide;
mod writes;

use std::process::ExitCode;

fn main() -> ExitCode {
    roarbits_tests::run::main(vec![
        ("cases", cases::tests()),
        ("cluster", cluster::tests()),
        ("damage", damage::tests()),
        ("datasets", datasets::tests()),
        ("defrag", defrag::tests()),
        ("differential", differential::tests()),
        ("equality", equality::tests()),
        ("examples", examples::tests()),
        ("footprint", footprint::tests()),
        ("golden", golden::tests()),
        ("harness", harness::tests()),
        ("hostile", hostile::tests()),
        ("introspection", introspection::tests()),
        ("keys", keys::tests()),
        ("lifetimes", lifetimes::tests()),
        ("load", load::tests()),
        ("moving", moving::tests()),
        ("notices", notices::tests()),
        ("offload", offload::tests()),
        ("persistence", persistence::tests()),
        ("questions", questions::tests()),
        ("renamed", renamed::tests()),
        ("replication", replication::tests()),
        ("sets", sets::tests()),
        ("wide", wide::tests()),
        ("writes", writes::tests()),
    ])
}
