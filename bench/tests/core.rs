//! A smoke run of `bench/core`: every row that its goals name is in the file, as
//! the renderer reads it.

use std::process::Command;

use roarbits_bench::{Results, Row, Subject};

/// Sets and operations whose rows have a goal.
const GOALS: [(&str, &[&str]); 13] = [
    (
        "D1",
        &[
            "memory, shuffled",
            "cardinality",
            "AND of 2, stored, dest reused",
            "AND of 2, counted",
            "AND of 7, stored",
            "AND of 7, counted",
            "OR of 7, stored",
            "OR of 7, counted",
            "at least 3 of 7, stored",
            "at least 3 of 7, counted",
        ],
    ),
    ("D2", &["memory, shuffled"]),
    ("D3-10k", &["memory, shuffled"]),
    (
        "D3-1M",
        &[
            "memory, shuffled",
            "AND of 2, stored",
            "OR of 2, stored",
            "OR of 7, stored",
            "at least 3 of 7, stored",
            "at least 3 of 7, counted",
            "insert 1000 ids a call",
            "contains 1000 ids a call",
        ],
    ),
    (
        "D4-1/s",
        &[
            "memory, shuffled",
            "cardinality",
            "AND of 2, stored",
            "OR of 2, stored",
            "AND of 2, stored, disjoint days",
            "OR of 2, stored, disjoint days",
            "last 1000 ids by rank",
            "encoded, arrived shuffled",
            "encode",
            "decode",
            "copy",
        ],
    ),
    ("D4-1/s, low bits random", &["memory, shuffled"]),
    ("D4-1000/s", &["memory, shuffled"]),
    ("D4-1000/s, low bits random", &["memory, shuffled"]),
    ("U63", &["memory, shuffled"]),
    ("D5", &["memory, shuffled"]),
    ("empty", &["first write at 1e8", "first write at 2e9", "first write at 2^32-1"]),
    ("D3", &[]),
    ("D7, 31 days", &[]),
];

/// What a plot by size shows.
const GROWN: [&str; 10] = [
    "insert",
    "contains",
    "count a range",
    "rank",
    "select",
    "AND of 2, an id",
    "snapshot",
    "first write after a snapshot, median",
    "first write after a snapshot, 99th percentile",
    "first write after a snapshot, slowest",
];

fn ours<'a>(results: &'a Results, set: &str, operation: &str) -> Vec<&'a Row> {
    let is_it = |row: &&Row| row.set == set && row.operation == operation && row.subject == Subject::Roarbits;
    results.rows.iter().filter(is_it).collect()
}

#[test]
fn a_smoke_run_has_every_row() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("core.json");
    let run = Command::new(env!("CARGO_BIN_EXE_bench-core")).arg("--quick").arg("--out").arg(&out).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let results = Results::read(&out).unwrap();
    assert!(results.rows.iter().all(|row| row.value.is_finite() && row.value >= 0.0));
    for (set, operations) in GOALS {
        for operation in operations {
            let [row] = ours(&results, set, operation)[..] else {
                panic!("not one row of {operation} on {set}");
            };
            assert!(row.goal.is_some(), "{operation} on {set}");
        }
        assert!(results.rows.iter().any(|row| row.set == set), "{set}");
    }
    for set in ["D1", "D3", "D4-1/s"] {
        for operation in GROWN {
            assert_eq!(ours(&results, set, operation).len(), 2, "sizes of {operation} on {set}");
        }
    }
    for operation in ["insert, mean", "insert, 99.99th percentile", "insert, slowest"] {
        assert!(
            !ours(&results, "D3", operation).is_empty() && !ours(&results, "D4-1/s", operation).is_empty()
        );
    }
    let table = String::from_utf8_lossy(&run.stdout);
    assert_eq!(
        table.lines().count(),
        1 + results.rows.iter().filter(|row| row.subject == Subject::Roarbits).count()
    );
}

#[test]
fn a_part_that_is_unknown_is_refused() {
    let run = Command::new(env!("CARGO_BIN_EXE_bench-core")).arg("nothing").output().unwrap();
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("nothing"));
}
