//! Combining operands by their runs: a sweep over the places where one begins or ends.

use super::rule::Rule;
use super::sink::Sink;
use crate::bitmap::leaf::Leaf;
use crate::bitmap::Run;

/// A place where an operand begins (`step` 1) or ceases (-1) to have ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    is_first: bool,
    step: i8,
}

/// The runs of operands over one window, `start..=end`.
#[derive(Debug, Default)]
pub(crate) struct SpanSweep {
    events: Vec<Event>,
    is_first_full: bool,
    full: u32,
}

impl SpanSweep {
    /// Begins a window in which `full` operands, and the first if the rule tells it from the others, have every id.
    pub(crate) fn begin(&mut self, is_first_full: bool, full: u32) {
        self.events.clear();
        (self.is_first_full, self.full) = (is_first_full, full);
    }

    /// Adds an operand.
    pub(crate) fn add(&mut self, leaf: &Leaf, is_first: bool, start: u64, end: u64) {
        let mut walk = leaf.runs_from(start);
        while let Some(run) = walk.next(leaf).filter(|run| run.start <= end) {
            self.events.push(Event { at: run.start, is_first, step: 1 });
            if run.end < end {
                self.events.push(Event { at: run.end + 1, is_first, step: -1 });
            }
        }
    }

    /// Gives to `out` the runs that `rule` keeps.
    pub(crate) fn sweep(&mut self, rule: Rule, start: u64, end: u64, out: &mut impl Sink) {
        // Ascending stretches, one an operand: a stable sort merges them.
        self.events.sort();
        let (mut first, mut count) = (i32::from(self.is_first_full), self.full as i32);
        let mut from = start;
        for event in &self.events {
            if event.at > from {
                if rule.keeps(first > 0, count as u32) {
                    out.run(Run { start: from, end: event.at - 1 });
                }
                from = event.at;
            }
            let counter = if event.is_first { &mut first } else { &mut count };
            *counter += i32::from(event.step);
        }
        if rule.keeps(first > 0, count as u32) {
            out.run(Run { start: from, end });
        }
    }
}
