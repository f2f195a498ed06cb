//! Rows that we lose, and why. `bench/results/reasons.json` says why a row misses
//! its goal; a missed row without a reason is refused, since a page that is silent
//! about a loss is none.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

use roarbits_bench::comparison::{rounded, Comparison, Standing};

use super::tables::{goal, name};

/// Why rows miss their goals, by the row's name as tables have it.
pub type Reasons = BTreeMap<String, String>;

/// The section's text: rows that miss their goal, then rows that meet it where another is better.
///
/// # Errors
/// A missed row has no reason; the message names all of them.
pub fn lost(comparisons: &[Comparison<'_>], reasons: &Reasons) -> io::Result<String> {
    let missed: Vec<&Comparison<'_>> = comparisons.iter().filter(|one| is_missed(one)).collect();
    let silent: Vec<String> =
        missed.iter().map(|one| name(one.ours)).filter(|name| !reasons.contains_key(name)).collect();
    if !silent.is_empty() {
        return Err(io::Error::other(format!(
            "these rows miss their goal, say why in bench/results/reasons.json: {silent:?}"
        )));
    }
    let mut text = String::from("### Goals missed\n\n");
    match missed.is_empty() {
        true => text.push_str("None.\n"),
        false => {
            text.push_str("| | unit | Roarbits | goal | best other | why |\n|---|---|--:|--:|--:|---|\n")
        }
    }
    for comparison in missed {
        let row = comparison.ours;
        let (title, unit, ours) = (name(row), &row.unit, rounded(row.value));
        let why = reasons.get(&title).map(String::as_str).unwrap_or_default();
        let (goal, best) = (goal(comparison), best(comparison));
        let _ = writeln!(text, "| {title} | {unit} | {ours} | {goal} | {best} | {why} |");
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
