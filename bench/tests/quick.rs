//! The comparison in live servers once, at a hundredth of its size: every row is
//! there and every figure is a positive number. What the figures are says nothing.
//!
//! `ROARBITS_LIB` names the release library, `ROARBITS_SERVER` another server than
//! redis-server on the PATH, as for the server ring.

use std::env;
use std::process::Command;

use roarbits_bench::live::catalogue::{COUNT, FIRST_WRITE, MEMORY, NO_KEY, SET_BIT};
use roarbits_bench::live::{catalogue, Extent, Group};
use roarbits_bench::{Results, Subject};

#[test]
fn a_quick_run_has_a_positive_figure_of_every_row() {
    let library =
        env::var("ROARBITS_LIB").expect("ROARBITS_LIB names the release library (make test-server)");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("server.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-server"));
    command.args(["--quick", "--library", &library, "--out"]).arg(&out);
    if let Ok(server) = env::var("ROARBITS_SERVER") {
        command.args(["--server", &server]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("goal here"), "no table on standard output");

    let results = Results::read(&out).unwrap();
    for spec in catalogue(Extent::Quick).iter().filter(|spec| spec.group != Group::Real) {
        let ours = results
            .rows
            .iter()
            .find(|row| row.subject == Subject::Roarbits && spec.is(&row.set, &row.operation, row.at));
        let ours = ours.unwrap_or_else(|| panic!("{} is missing", spec.title()));
        assert_eq!((ours.unit.as_str(), &ours.goal), (spec.unit, &spec.goal), "{}", spec.title());
    }
    for row in &results.rows {
        assert!(row.value.is_finite() && row.value > 0.0, "{row:?}");
    }
    assert!(results.environment.versions.iter().any(|version| version.contains("roarbits")), "{said}");

    // The others are there where they can do it, and only there.
    let of = |subject, set: &str, operation: &str| {
        results
            .rows
            .iter()
            .filter(|row| {
                (row.subject, row.set.as_str(), row.operation.as_str()) == (subject, set, operation)
            })
            .count()
    };
    assert_eq!(of(Subject::Native, NO_KEY, FIRST_WRITE) + 1, of(Subject::Roarbits, NO_KEY, FIRST_WRITE));
    assert_eq!(of(Subject::Set, "D4-1/s", MEMORY), 1);
    assert_eq!(of(Subject::Native, "D4-1/s", MEMORY), 0, "Snowflake ids in a native bitmap");
    assert_eq!(of(Subject::Native, "D4-1/s", COUNT), 0);
    assert_eq!(of(Subject::Native, "1M random below 1e8", SET_BIT), 1);
}

#[test]
fn a_missing_library_is_named_with_the_command_that_builds_it() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_bench-server")).args(["--library", "/nowhere.so"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("/nowhere.so") && said.contains("make build"), "{said}");
}

#[test]
fn a_pattern_that_names_no_row_is_answered_with_the_rows() {
    let library =
        env::var("ROARBITS_LIB").expect("ROARBITS_LIB names the release library (make test-server)");
    let output = Command::new(env!("CARGO_BIN_EXE_bench-server"))
        .args(["--only", "nothing like this", "--library", &library])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("D1: AND of 2, stored"), "{said}");
}

#[test]
fn a_quick_run_of_the_questions_has_every_way_to_ask() {
    let library =
        env::var("ROARBITS_LIB").expect("ROARBITS_LIB names the release library (make test-server)");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("questions.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-questions"));
    command.args(["--quick", "--library", &library, "--out"]).arg(&out);
    if let Ok(server) = env::var("ROARBITS_SERVER") {
        command.args(["--server", &server]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = Results::read(&out).unwrap();
    let sets = |subject| results.rows.iter().filter(|row| row.subject == subject).count();
    // Three questions in three ways, PING in three and the longest call; natively of one question, and PING in two.
    assert_eq!((sets(Subject::Roarbits), sets(Subject::Native)), (3 * 3 + 4, 2 + 2));
    for row in &results.rows {
        assert!(row.value.is_finite() && row.value >= 0.0, "{row:?}");
    }
}
