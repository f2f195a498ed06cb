//! Tables of comparisons, as Markdown.

use std::fmt::Write;

use roarbits_bench::comparison::{rounded, Comparison, Standing};
use roarbits_bench::{Row, Subject};

/// Columns of others that a table has.
pub const OF_SERVERS: [Subject; 4] = [Subject::Native, Subject::Set, Subject::R, Subject::R64];
/// Columns of others that a table of questions has.
pub const OF_QUESTIONS: [Subject; 1] = [Subject::Native];
/// Columns of others that a table of the core has.
pub const OF_CORE: [Subject; 2] = [Subject::Roaring, Subject::Croaring];

/// A table of these comparisons beside these others.
pub fn table(comparisons: &[&Comparison<'_>], others: &[Subject]) -> String {
    let mut text = String::from("| | unit | **Roarbits** |");
    for subject in others {
        let _ = write!(text, " {} |", subject.title());
    }
    text.push_str(" best other | goal | |\n|---|---|--:|");
    text.push_str(&"--:|".repeat(others.len() + 2));
    text.push_str("---|\n");
    for comparison in comparisons {
        let row = comparison.ours;
        let _ = write!(text, "| {} | {} | **{}** |", name(row), row.unit, rounded(row.value));
        for subject in others {
            let _ = write!(text, " {} |", comparison.of(*subject).map_or("-".to_owned(), figure));
        }
        let _ = writeln!(
            text,
            " {} | {} | {} |",
            ratio(comparison),
            goal(comparison),
            comparison.standing.words()
        );
    }
    text
}

/// The set and what is done with it.
pub fn name(row: &Row) -> String {
    let at = row.at.map(|at| format!(" at {}", offset(at))).unwrap_or_default();
    match row.operation.as_str() {
        "memory" => row.set.clone(),
        operation => format!("{}: {operation}{at}", row.set),
    }
}

/// Offsets as they are spoken of.
fn offset(at: f64) -> String {
    match at {
        at if at >= 1.8e19 => "2^64-1".to_owned(),
        4_294_967_295.0 => "2^32-1".to_owned(),
        at => format!("{at:e}"),
    }
}

fn figure(row: &Row) -> String {
    match row.note.is_empty() {
        true => rounded(row.value),
        false => format!("{} ({})", rounded(row.value), row.note),
    }
}

/// Ours in parts of the best other: below 1 is better.
pub fn ratio(comparison: &Comparison<'_>) -> String {
    comparison.ratio().map_or("-".to_owned(), |ratio| format!("{} x", rounded(ratio)))
}

/// The goal as it was set, what it comes to here, and who must be beaten.
pub fn goal(comparison: &Comparison<'_>) -> String {
    let Some(goal) = &comparison.ours.goal else { return String::new() };
    let mut parts = Vec::new();
    if let Some(most) = goal.at_most {
        let here = comparison.most.filter(|here| goal.beside.is_some() && *here != most);
        let here = here.map(|here| format!(", here {}", rounded(here))).unwrap_or_default();
        parts.push(format!("<= {most}{here}"));
    }
    parts.extend(goal.below.iter().map(|subject| format!("< {}", subject.title())));
    parts.join(", ")
}

/// Of these comparisons, how many stand how.
pub fn sums(comparisons: &[&Comparison<'_>]) -> String {
    let count = |standing| comparisons.iter().filter(|one| one.standing == standing).count();
    let goals = comparisons.len() - count(Standing::Free);
    format!(
        "{} of {goals} goals are met; {} are missed with no other better, {} with another better.",
        count(Standing::Met),
        count(Standing::Ahead),
        count(Standing::Lost)
    )
}
