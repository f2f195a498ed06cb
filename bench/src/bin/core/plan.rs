//! What is measured in this run, how large, and the rows so far.

use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use roarbits_bench::{Goal, Results, Row, Subject};
use roarbits_datasets::DataSet;

/// Sets of a smoke run hold at most so many ids.
const QUICK_IDS: usize = 5000;

/// Measures the core by itself: memory, kernels, growth, worst inserts.
#[derive(Debug, Parser)]
#[command(name = "bench/core")]
pub struct Arguments {
    /// Shrinks everything: every row is there in seconds, and no figure means anything
    #[arg(long)]
    quick: bool,
    /// Folder of the real sets, census1881.tar.xz and others; without it their rows are missing
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Parts to measure: memory, kernels, growth, worst; all without any
    #[arg(value_name = "PART")]
    parts: Vec<String>,
    /// Rounds of each timed kernel
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Where results are written, if not to bench/results/core.json
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A run.
pub struct Plan {
    quick: bool,
    parts: Vec<String>,
    begun: Instant,
    /// Folder of the real sets.
    pub data: Option<PathBuf>,
    /// Rounds of each timed kernel.
    pub rounds: usize,
    /// Where results are written.
    pub out: PathBuf,
    /// What was measured so far.
    pub rows: Vec<Row>,
}

impl Plan {
    pub fn new(arguments: Arguments) -> std::io::Result<Self> {
        let known = |part: &String| super::PARTS.iter().any(|(name, _)| name == part);
        if let Some(unknown) = arguments.parts.iter().find(|part| !known(part)) {
            return Err(std::io::Error::other(format!("no part is called {unknown}")));
        }
        Ok(Self {
            quick: arguments.quick,
            parts: arguments.parts,
            begun: Instant::now(),
            data: arguments.data,
            rounds: if arguments.quick { 2 } else { arguments.rounds.max(1) },
            out: arguments.out.unwrap_or_else(|| Results::path("core")),
            rows: Vec::new(),
        })
    }

    pub fn takes(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }

    /// The set at the size that this run measures.
    pub fn sized(&self, set: DataSet) -> DataSet {
        set.resized(self.count(set.cardinality, QUICK_IDS))
    }

    /// `full`, or in a smoke run at most `quick`.
    pub fn count(&self, full: usize, quick: usize) -> usize {
        match self.quick {
            true => full.min(quick),
            false => full,
        }
    }

    /// Says what is measured now.
    pub fn tell(&self, what: &str) {
        eprintln!("{:>5} s  {what}", self.begun.elapsed().as_secs());
    }

    /// Keeps a row, and says what it is.
    pub fn push(&mut self, row: Row) {
        let at = row.at.map(|at| format!(" at {at}")).unwrap_or_default();
        let Row { set, operation, subject, value, unit, .. } = &row;
        self.tell(&format!("  {set}, {operation}{at}, {}: {value:.3} {unit}", subject.title()));
        self.rows.push(row);
    }
}

/// A figure with nothing beside it.
pub fn row(set: &str, operation: &str, subject: Subject, value: f64, unit: &str) -> Row {
    Row {
        set: set.to_owned(),
        operation: operation.to_owned(),
        subject,
        at: None,
        value,
        median: None,
        unit: unit.to_owned(),
        goal: None,
        note: String::new(),
    }
}

/// A figure of ours with its goal.
pub fn goal_row(set: &str, operation: &str, value: f64, unit: &str, goal: Goal) -> Row {
    Row { goal: Some(goal), ..row(set, operation, Subject::Roarbits, value, unit) }
}
