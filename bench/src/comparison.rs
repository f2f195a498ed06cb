//! Rows of one question side by side: ours, the others', the best of them, and
//! where that leaves us. Tables on a terminal and in pages are made of these.

use std::fmt::Write;

use crate::{Results, Row, Subject, Verdict};

/// How ours stands among the others and its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has no goal.
    Free,
    /// The goal is met.
    Met,
    /// The goal is missed, and nobody else is better.
    Ahead,
    /// The goal is missed, and somebody else is better.
    Lost,
}

impl Standing {
    /// In a word or two.
    pub fn words(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::Met => "met",
            Self::Ahead => "missed, best of all",
            Self::Lost => "lost",
        }
    }
}

/// One question, all answers.
#[derive(Debug, Clone)]
pub struct Comparison<'r> {
    /// Our row.
    pub ours: &'r Row,
    /// The most it may be here, if it has a goal of that kind.
    pub most: Option<f64>,
    /// The others' rows, as `Subject` orders them.
    pub others: Vec<&'r Row>,
    /// How ours stands.
    pub standing: Standing,
}

impl<'r> Comparison<'r> {
    fn new(results: &'r Results, ours: &'r Row) -> Self {
        let mut others: Vec<&Row> =
            results.rows.iter().filter(|row| row.subject != Subject::Roarbits && row.answers(ours)).collect();
        others.sort_by_key(|row| row.subject);
        let beaten = others.iter().any(|other| other.value < ours.value);
        let standing = match (results.verdict(ours), beaten) {
            (Verdict::Free, _) => Standing::Free,
            (Verdict::Met, _) => Standing::Met,
            (Verdict::Missed, false) => Standing::Ahead,
            (Verdict::Missed, true) => Standing::Lost,
        };
        Self { ours, most: results.most(ours), others, standing }
    }

    /// The row of another subject.
    pub fn of(&self, subject: Subject) -> Option<&'r Row> {
        self.others.iter().copied().find(|row| row.subject == subject)
    }

    /// The least of the others.
    pub fn best(&self) -> Option<&'r Row> {
        self.others.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// Ours over the best of the others.
    pub fn ratio(&self) -> Option<f64> {
        self.best().map(|best| self.ours.value / best.value)
    }
}

/// Every question of a run that ours answers, in the run's order.
pub fn comparisons(results: &Results) -> Vec<Comparison<'_>> {
    let ours = results.rows.iter().filter(|row| row.subject == Subject::Roarbits);
    ours.map(|row| Comparison::new(results, row)).collect()
}

/// A figure with three significant digits, without an exponent.
pub fn rounded(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// What a terminal shows of a run.
pub fn text_table(results: &Results) -> String {
    const SUBJECTS: [Subject; 5] =
        [Subject::Roarbits, Subject::Native, Subject::Set, Subject::R, Subject::R64];
    let mut table = format!("{:<50}", "");
    for subject in SUBJECTS {
        let _ = write!(table, "{:>14}", subject.title());
    }
    let _ = writeln!(table, "{:>10}  {:<9}goal", "goal here", "unit");
    for comparison in comparisons(results) {
        let row = comparison.ours;
        let at = row.at.map(|at| format!(" at {at}")).unwrap_or_default();
        let _ = write!(table, "{:<50}", format!("{}: {}{at}", row.set, row.operation));
        for subject in SUBJECTS {
            let of = if subject == Subject::Roarbits { Some(row) } else { comparison.of(subject) };
            let _ = write!(table, "{:>14}", of.map_or("-".to_owned(), |row| rounded(row.value)));
        }
        let most = comparison.most.map(rounded).unwrap_or_default();
        let _ = writeln!(table, "{most:>10}  {:<9}{}", row.unit, comparison.standing.words());
    }
    table
}
