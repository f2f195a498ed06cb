//! The black-box tests: one binary, a module a family or concern. A module
//! lists its tests with `tests!`; the harness runs, skips and counts them.

mod cluster;
mod datasets;
mod harness;
mod introspection;
mod persistence;
mod replication;

use std::process::ExitCode;

fn main() -> ExitCode {
    roarbits_tests::run::main(vec![
        ("cluster", cluster::tests()),
        ("datasets", datasets::tests()),
        ("harness", harness::tests()),
        ("introspection", introspection::tests()),
        ("persistence", persistence::tests()),
        ("replication", replication::tests()),
    ])
}
