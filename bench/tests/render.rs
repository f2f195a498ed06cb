//! The page from results made up here: rendering is repeatable, `--check` sees a
//! changed file, and no loss is passed over in silence.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use roarbits_bench::{Environment, Goal, Results, Row, Subject};

fn row(set: &str, operation: &str, subject: Subject, value: f64, goal: Option<Goal>) -> Row {
    Row {
        set: set.to_owned(),
        operation: operation.to_owned(),
        subject,
        at: None,
        value,
        median: None,
        unit: "ms".to_owned(),
        goal,
        note: String::new(),
    }
}

fn environment() -> Environment {
    Environment::here(vec!["Redis 7.0.15".to_owned()])
}

/// A folder with results: what `ours` needs for a row whose goal is 6 ms, where a native bitmap needs 5.
fn results(folder: &Path, ours: f64) {
    let (results, docs) = (folder.join("results"), folder.join("docs"));
    fs::create_dir_all(&results).unwrap();
    fs::create_dir_all(docs).unwrap();
    let rows = vec![
        row("D1", "AND of 2, stored", Subject::Roarbits, ours, Some(Goal::at_most(6.0))),
        row("D1", "AND of 2, stored", Subject::Native, 5.0, None),
        row("D9", "memory", Subject::Roarbits, 0.4321, Some(Goal::at_most(1.0))),
    ];
    Results { environment: environment(), rows }.write(&results.join("server.json")).unwrap();
    let at = |size: f64, value| Row { at: Some(size), ..row("D3", "insert", Subject::Roarbits, value, None) };
    let rows = vec![at(1e3, 300.0), at(1e6, 400.0)];
    Results { environment: environment(), rows }.write(&results.join("core.json")).unwrap();
}

fn render(folder: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-render"));
    command.arg("--results").arg(folder.join("results")).arg("--docs").arg(folder.join("docs"));
    command.args(options).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_check_passes_after_rendering_and_names_what_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), 4.0);
    assert!(said(&render(folder.path(), &["--check"])).contains("performance.md"));
    let output = render(folder.path(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(render(folder.path(), &["--check"]).status.success());

    let docs = folder.path().join("docs");
    let page = fs::read_to_string(docs.join("performance.md")).unwrap();
    assert!(page.contains("0.432") && page.contains("performance/core-insert.svg"), "{page}");
    assert!(page.contains("2 of 2 goals are met") || page.contains("1 of 1 goals are met"), "{page}");

    let plot = docs.join("performance/core-insert.svg");
    let drawn = fs::read_to_string(&plot).unwrap();
    assert!(drawn.contains("<svg"), "{drawn}");
    fs::write(&plot, drawn.replace("svg", "gvs")).unwrap();
    let output = render(folder.path(), &["--check"]);
    assert!(!output.status.success() && said(&output).contains("core-insert.svg"), "{}", said(&output));

    fs::write(&plot, drawn).unwrap();
    fs::write(docs.join("performance/old.svg"), "").unwrap();
    assert!(said(&render(folder.path(), &["--check"])).contains("old.svg"));
}

#[test]
fn a_missed_goal_needs_a_reason_and_is_shown_with_it() {
    let folder = tempfile::tempdir().unwrap();
    results(folder.path(), 7.0);
    let output = render(folder.path(), &[]);
    assert!(!output.status.success());
    assert!(said(&output).contains("D1: AND of 2, stored"), "{}", said(&output));

    let reasons = folder.path().join("results/reasons.json");
    fs::write(&reasons, r#"{"D1: AND of 2, stored": "the moon was full"}"#).unwrap();
    let output = render(folder.path(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    let page = fs::read_to_string(folder.path().join("docs/performance.md")).unwrap();
    assert!(page.contains("the moon was full") && page.contains("| lost |"), "{page}");
}

#[test]
fn a_missing_file_is_named_with_the_program_that_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("results")).unwrap();
    let output = render(folder.path(), &[]);
    assert!(said(&output).contains("core.json") && said(&output).contains("bench/core"), "{}", said(&output));
}
