//! Rows that we lose, and why. A row that misses its goal needs a reason here; a
//! reason whose row is met is refused, so that the list stays true.

use std::fmt::Write;
use std::io;

use roarbits_bench::comparison::{rounded, Comparison, Standing};

use super::tables::{goal, name};

/// (row as tables name it, why), in any order.
const REASONS: [(&str, &str); 0] = [];

/// The section's text: rows that miss their goal, then rows that meet it where another is better.
///
/// # Errors
/// A reason is missing, or one too many; the message names the row.
pub fn lost(comparisons: &[Comparison<'_>]) -> io::Result<String> {
    refuse_stale(comparisons)?;
    let mut text = String::from("### Goals missed\n\n");
    let missed: Vec<&Comparison<'_>> = comparisons.iter().filter(|one| is_missed(one)).collect();
    if missed.is_empty() {
        text.push_str("None.\n");
    } else {
        text.push_str("| | unit | Roarbits | goal | best other | why |\n|---|---|--:|--:|--:|---|\n");
    }
    for comparison in missed {
        let row = comparison.ours;
        let title = name(row);
        let why = reason(&title).or((!row.note.is_empty()).then_some(row.note.as_str()));
        let why = why.ok_or_else(|| {
            io::Error::other(format!("{title} misses its goal: say why in bench/src/bin/render/goals.rs"))
        })?;
        let (unit, ours, goal) = (&row.unit, rounded(row.value), goal(comparison));
        let _ = writeln!(text, "| {title} | {unit} | {ours} | {goal} | {} | {why} |", best(comparison));
    }
    text.push_str("\n### Another is better\n\nThe goal is met, or there is none.\n\n");
    text.push_str("| | unit | Roarbits | best other | ratio |\n|---|---|--:|--:|--:|\n");
    for comparison in comparisons.iter().filter(|one| !is_missed(one) && is_beaten(one)) {
        let row = comparison.ours;
        let ratio = comparison.ratio().map(rounded).unwrap_or_default();
        let (unit, ours) = (&row.unit, rounded(row.value));
        let _ = writeln!(text, "| {} | {unit} | {ours} | {} | {ratio} x |", name(row), best(comparison));
    }
    Ok(text)
}

fn is_missed(comparison: &Comparison<'_>) -> bool {
    matches!(comparison.standing, Standing::Ahead | Standing::Lost)
}

fn is_beaten(comparison: &Comparison<'_>) -> bool {
    comparison.ratio().is_some_and(|ratio| ratio > 1.0)
}

fn best(comparison: &Comparison<'_>) -> String {
    comparison
        .best()
        .map_or("-".to_owned(), |best| format!("{} ({})", rounded(best.value), best.subject.title()))
}

fn reason(title: &str) -> Option<&'static str> {
    REASONS.iter().find(|(row, _)| *row == title).map(|(_, why)| *why)
}

fn refuse_stale(comparisons: &[Comparison<'_>]) -> io::Result<()> {
    for (title, _) in REASONS {
        if !comparisons.iter().any(|one| is_missed(one) && name(one.ours) == title) {
            return Err(io::Error::other(format!(
                "{title} does not miss its goal: take its reason out of bench/src/bin/render/goals.rs"
            )));
        }
    }
    Ok(())
}
