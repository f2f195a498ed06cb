//! The figures as a table to read: a line an operation, ours first.

use roarbits_bench::{Goal, Results, Row, Subject, Verdict};

pub fn print(results: &Results) {
    println!(
        "{:<28} {:<46} {:>11} {:<9} {:>9}  {:<6}  beside",
        "set", "operation", "value", "unit", "goal", ""
    );
    for row in results.rows.iter().filter(|row| row.subject == Subject::Roarbits) {
        println!(
            "{:<28} {:<46} {:>11.3} {:<9} {:>9}  {:<6}  {}",
            row.set,
            operation(row),
            row.value,
            row.unit,
            row.goal.as_ref().map(most).unwrap_or_default(),
            told(results.verdict(row)),
            peers(results, row)
        );
    }
}

fn operation(row: &Row) -> String {
    match row.at {
        Some(at) => format!("{} at {at}", row.operation),
        None => row.operation.clone(),
    }
}

fn most(goal: &Goal) -> String {
    goal.at_most.map(|most| format!("{most:.3}")).unwrap_or_default()
}

fn told(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Free => "",
        Verdict::Met => "met",
        Verdict::Missed => "MISSED",
    }
}

fn peers(results: &Results, row: &Row) -> String {
    let peers = [Subject::Roaring, Subject::Croaring].map(|subject| {
        results.beside(row, subject).map(|peer| format!("{} {:.3}", subject.title(), peer.value))
    });
    peers.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
