//! Named figures with their goals, as JSON files:
//!
//! ```text
//! {"environment": {...},
//!  "rows": [{"set": "D1", "operation": "AND of 2, stored", "subject": "roarbits",
//!            "value": 5.1, "median": 5.4, "unit": "ms", "goal": {"at_most": 6.0, "below": ["native"]}},
//!           {"set": "D1", "operation": "insert", "at": 1000.0, ...}]}
//! ```
//!
//! A figure has one row a subject; rows of one set, operation and place compare.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Environment;

/// Whose figure a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// Ours: the core's bitmap, or RB.* on it.
    Roarbits,
    /// The server's own bitmap commands on strings.
    Native,
    /// The server's own sets.
    Set,
    /// A peer's 32-bit bitmaps, R.*.
    R,
    /// A peer's 64-bit bitmaps, R64.*.
    R64,
    /// The roaring crate: 32 bits where ids fit, else its treemap.
    Roaring,
    /// CRoaring.
    Croaring,
}

impl Subject {
    /// How tables and plots name it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Roarbits => "Roarbits",
            Self::Native => "native bitmap",
            Self::Set => "Set",
            Self::R => "R.*",
            Self::R64 => "R64.*",
            Self::Roaring => "roaring crate",
            Self::Croaring => "CRoaring",
        }
    }
}

/// What a figure should be. Every part that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The most it may be, in the row's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// What would be better still; it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<f64>,
    /// Another subject's figure that stood beside `at_most` where it was set. Machines differ:
    /// where that subject needs more in this run, the most grows by the same ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// Subjects whose figures of the same run it must stay below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Subject>,
}

/// A figure in whose light a goal is read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Whose it was.
    pub subject: Subject,
    /// What it was, in the row's unit.
    pub value: f64,
}

impl Goal {
    /// At most `value`, in the row's unit.
    pub fn at_most(value: f64) -> Self {
        Self { at_most: Some(value), ..Self::default() }
    }

    /// Named beside the goal, and deciding nothing.
    pub fn with_stretch(self, value: f64) -> Self {
        Self { stretch: Some(value), ..self }
    }

    /// Set where `subject` needed `value`.
    pub fn beside(self, subject: Subject, value: f64) -> Self {
        Self { beside: Some(Beside { subject, value }), ..self }
    }

    /// Also below what `subject` needs in the same run.
    pub fn and_below(mut self, subject: Subject) -> Self {
        self.below.push(subject);
        self
    }
}

/// One figure. Less is better, whatever the unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The data set, as `roarbits_datasets` names it.
    pub set: String,
    /// What was done.
    pub operation: String,
    /// Who did it.
    pub subject: Subject,
    /// Where in a series this figure stands: ids, operands or an offset, as the operation says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The figure: of times the least of all rounds.
    pub value: f64,
    /// Of times the median of all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// `bytes/id`, `ns`, `us`, `ms`, ...
    pub unit: String,
    /// What it should be, on our rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// What a reader must know of this figure, for instance why a goal is missed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Row {
    /// Whether it is a figure of the same question as `other`.
    pub fn answers(&self, other: &Self) -> bool {
        (&self.set, &self.operation, self.at) == (&other.set, &other.operation, other.at)
    }
}

/// Whether a row is what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has no goal.
    Free,
    /// Every part of its goal holds.
    Met,
    /// A part does not hold.
    Missed,
}

/// All figures of one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Where and when.
    pub environment: Environment,
    /// The figures, in the order in which tables show them.
    pub rows: Vec<Row>,
}

impl Results {
    /// Where the file of this name lies: `core` is `bench/results/core.json`.
    pub fn path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(name).with_extension("json")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or holds something else.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Writes a file, in place of what is there; folders that are missing are made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    /// The figure of another subject for what `row` measures.
    pub fn beside(&self, row: &Row, subject: Subject) -> Option<&Row> {
        self.rows.iter().find(|other| other.subject == subject && other.answers(row))
    }

    /// The most that `row` may be in this run.
    pub fn most(&self, row: &Row) -> Option<f64> {
        let goal = row.goal.as_ref()?;
        let here =
            goal.beside.and_then(|beside| Some(self.beside(row, beside.subject)?.value / beside.value));
        Some(goal.at_most? * here.unwrap_or(1.0).max(1.0))
    }

    /// Whether `row` reaches its goal. A subject that was not measured decides nothing.
    pub fn verdict(&self, row: &Row) -> Verdict {
        let Some(goal) = &row.goal else {
            return Verdict::Free;
        };
        let within = self.most(row).is_none_or(|most| row.value <= most);
        let below = |subject: &Subject| self.beside(row, *subject).is_none_or(|peer| row.value < peer.value);
        match within && goal.below.iter().all(below) {
            true => Verdict::Met,
            false => Verdict::Missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: Subject, value: f64, goal: Option<Goal>) -> Row {
        let (set, operation, unit) = ("D1".to_owned(), "AND of 2".to_owned(), "ms".to_owned());
        Row { set, operation, subject, at: None, value, median: None, unit, goal, note: String::new() }
    }

    fn results(rows: Vec<Row>) -> Results {
        Results { environment: Environment::here(vec!["redis-server 7.0.15".to_owned()]), rows }
    }

    #[test]
    fn a_goal_holds_if_every_part_holds() {
        let goal = Some(Goal::at_most(6.0).and_below(Subject::Native));
        for (ours, native, verdict) in
            [(5.0, 11.0, Verdict::Met), (5.0, 4.0, Verdict::Missed), (7.0, 11.0, Verdict::Missed)]
        {
            let rows = vec![row(Subject::Roarbits, ours, goal.clone()), row(Subject::Native, native, None)];
            let results = results(rows);
            assert_eq!(results.verdict(&results.rows[0]), verdict, "{ours} beside {native}");
            assert_eq!(results.verdict(&results.rows[1]), Verdict::Free);
        }
    }

    #[test]
    fn a_subject_that_was_not_measured_decides_nothing() {
        let goal = Goal::at_most(6.0).and_below(Subject::R64);
        let results = results(vec![row(Subject::Roarbits, 5.0, Some(goal))]);
        assert_eq!(results.verdict(&results.rows[0]), Verdict::Met);
    }

    #[test]
    fn a_goal_grows_with_the_figure_that_stood_beside_it() {
        // Six where the native command needed twelve: half of what it needs on a slower machine.
        let goal = Goal::at_most(6.0).beside(Subject::Native, 12.0);
        for (ours, native, most, verdict) in [
            (5.0, 8.0, 6.0, Verdict::Met),
            (7.0, 8.0, 6.0, Verdict::Missed),
            (11.0, 24.0, 12.0, Verdict::Met),
            (13.0, 24.0, 12.0, Verdict::Missed),
        ] {
            let rows =
                vec![row(Subject::Roarbits, ours, Some(goal.clone())), row(Subject::Native, native, None)];
            let results = results(rows);
            assert_eq!(results.most(&results.rows[0]), Some(most));
            assert_eq!(results.verdict(&results.rows[0]), verdict, "{ours} beside {native}");
        }
        let alone = results(vec![row(Subject::Roarbits, 6.5, Some(goal))]);
        assert_eq!(alone.verdict(&alone.rows[0]), Verdict::Missed);
    }

    #[test]
    fn a_file_gives_back_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.json");
        let at = Row { at: Some(1e6), median: Some(2.5), ..row(Subject::Roaring, 2.0, None) };
        let written = results(vec![at, row(Subject::R, 1.0, Some(Goal::at_most(0.3).with_stretch(0.2)))]);
        written.write(&path).unwrap();
        assert_eq!(Results::read(&path).unwrap(), written);
        assert!(Results::read(folder.path()).is_err());
    }
}
