//! Which plots there are: a figure at several places is a line.

use std::collections::BTreeSet;

use roarbits_bench::live::catalogue::{
    AND_BY_OPERANDS, FIRST_WRITE, GROWING, MEMORY_BY_IDS, NO_KEY, OR_BY_OPERANDS,
};
use roarbits_bench::{Results, Row, Subject};
use roarbits_datasets::DataSet;

use super::plot::{Line, Plot};
use super::Measured;

/// Every plot, as the page shows them.
pub fn plots(measured: &Measured) -> Vec<Plot> {
    let server = &measured.server;
    let mut plots: Vec<Plot> = GROWING
        .iter()
        .map(|(set, _)| Plot {
            file: format!("memory-{}.svg", file_name(set)),
            title: format!("Memory by number of ids, {set}"),
            across: "ids",
            up: "bytes an id".to_owned(),
            lines: by_subject(server, |row| row.operation == MEMORY_BY_IDS && row.set == *set),
        })
        .collect();
    plots.push(Plot {
        file: "first-write.svg".to_owned(),
        title: "First write of a key by its offset".to_owned(),
        across: "offset",
        up: "main-thread us".to_owned(),
        lines: by_subject(server, |row| row.operation == FIRST_WRITE && row.set == NO_KEY),
    });
    for (operation, word) in [(AND_BY_OPERANDS, "AND"), (OR_BY_OPERANDS, "OR")] {
        plots.push(Plot {
            file: format!("operands-{}.svg", file_name(word)),
            title: format!("{word} by number of operands, {}, stored", DataSet::D1.name),
            across: "operands",
            up: "main-thread ms".to_owned(),
            lines: by_subject(server, |row| row.operation == operation),
        });
    }
    plots.extend(of_core(&measured.core));
    plots.retain(|plot| plot.lines.iter().any(|line| line.points.len() > 1));
    plots
}

/// A plot for each operation that the core measured at several sizes.
fn of_core(core: &Results) -> Vec<Plot> {
    let mut seen = BTreeSet::new();
    let at_sizes = core.rows.iter().filter(|row| row.at.is_some());
    let firsts = at_sizes.filter(|row| seen.insert(row.operation.clone()));
    firsts
        .map(|row| Plot {
            file: format!("core-{}.svg", file_name(&row.operation)),
            title: format!("{} by number of ids, in the core", capitalised(&row.operation)),
            across: "ids",
            up: row.unit.clone(),
            lines: by_set(core, &row.operation),
        })
        .collect()
}

/// A line a subject.
fn by_subject(results: &Results, belongs: impl Fn(&Row) -> bool) -> Vec<Line> {
    let subjects: BTreeSet<Subject> = results.rows.iter().map(|row| row.subject).collect();
    let line = |subject: &Subject| Line {
        name: subject.title().to_owned(),
        colour: *subject as usize,
        points: points(results.rows.iter().filter(|row| row.subject == *subject && belongs(row))),
    };
    subjects.iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

/// A line a set and subject.
fn by_set(results: &Results, operation: &str) -> Vec<Line> {
    let rows = || results.rows.iter().filter(|row| row.operation == operation && row.at.is_some());
    let mut names = Vec::new();
    for row in rows() {
        if !names.contains(&(row.set.as_str(), row.subject)) {
            names.push((row.set.as_str(), row.subject));
        }
    }
    let line = |(colour, (set, subject)): (usize, &(&str, Subject))| Line {
        name: if *subject == Subject::Roarbits {
            (*set).to_owned()
        } else {
            format!("{set}, {}", subject.title())
        },
        colour,
        points: points(rows().filter(|row| row.set == *set && row.subject == *subject)),
    };
    names.iter().enumerate().map(line).collect()
}

fn points<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        rows.filter_map(|row| Some((row.at?, row.value))).filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Letters, digits and dashes.
fn file_name(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
