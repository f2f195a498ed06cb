//! A formula over leaves of any form by their runs: a sweep over the places where one begins or
//! ends, each of which goes up through the gates only as far as it changes them.

use super::formula::{Formula, Node};
use super::window::View;
use crate::bitmap::algebra::rule::{Presence, Rule};
use crate::bitmap::algebra::sink::Sink;
use crate::bitmap::Run;

/// A place where a leaf begins or ceases to have ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    slot: u32,
}

/// What each node holds of the present id.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    events: Vec<Event>,
    /// Whether each node has the id.
    has: Vec<bool>,
    /// How many children of each gate have it, but for a first one that its rule tells from the others.
    counts: Vec<u32>,
    /// The nodes of each leaf.
    nodes: Vec<Vec<usize>>,
}

impl Circuit {
    /// Gives to `out` the runs of a window that the formula keeps.
    pub(super) fn sweep(&mut self, view: View, root: usize, start: u64, end: u64, out: &mut impl Sink) {
        self.prepare(view);
        self.gather(view, start, end);
        let mut from = start;
        let events = std::mem::take(&mut self.events);
        for event in &events {
            if event.at > from {
                if self.has[root] {
                    out.run(Run { start: from, end: event.at - 1 });
                }
                from = event.at;
            }
            let nodes = std::mem::take(&mut self.nodes[event.slot as usize]);
            nodes.iter().for_each(|node| self.toggle(view.formula, *node));
            self.nodes[event.slot as usize] = nodes;
        }
        if self.has[root] {
            out.run(Run { start: from, end });
        }
        self.events = events;
    }

    /// Finds what each node holds where no leaf has anything.
    fn prepare(&mut self, view: View) {
        self.has.clear();
        self.counts.clear();
        self.nodes.iter_mut().for_each(Vec::clear);
        self.nodes.resize_with(view.leaves.len().max(self.nodes.len()), Vec::new);
        for (node, of) in view.formula.nodes() {
            let (mut has, mut count) = (view.states[node] == Presence::Full, 0);
            match of {
                Node::Operand(operand) if view.deciding[node] => self.nodes[view.slot(*operand)].push(node),
                Node::Operand(_) => {}
                Node::Gate { rule, children, .. } => {
                    let has_first = rule.is_some_and(Rule::has_first);
                    let counted = children.iter().skip(usize::from(has_first));
                    count = counted.filter(|child| self.has[**child]).count() as u32;
                    if view.states[node] == Presence::Open {
                        has = view.formula.holds(node, children.iter().map(|child| self.has[*child]));
                    }
                }
            }
            self.has.push(has);
            self.counts.push(count);
        }
    }

    fn gather(&mut self, view: View, start: u64, end: u64) {
        self.events.clear();
        for (slot, leaf) in view.leaves.iter().enumerate() {
            let slot = slot as u32;
            let mut walk = leaf.runs_from(start);
            while let Some(run) = walk.next(leaf).filter(|run| run.start <= end) {
                self.events.push(Event { at: run.start, slot });
                if run.end < end {
                    self.events.push(Event { at: run.end + 1, slot });
                }
            }
        }
        // Ascending stretches, one a leaf: a stable sort merges them.
        self.events.sort();
    }

    /// Changes what a node holds, and of those above it what that changes.
    fn toggle(&mut self, formula: &Formula, node: usize) {
        let mut changed = node;
        loop {
            self.has[changed] = !self.has[changed];
            let Some(parent) = formula.parent(changed) else {
                return;
            };
            if self.holds(formula, parent, changed) == self.has[parent] {
                return;
            }
            changed = parent;
        }
    }

    /// Whether a gate has the id after a child of it changed.
    fn holds(&mut self, formula: &Formula, gate: usize, changed: usize) -> bool {
        let Node::Gate { rule, children, .. } = formula.node(gate) else {
            return false;
        };
        let Some(rule) = rule else {
            return formula.holds(gate, children.iter().map(|child| self.has[*child]));
        };
        let first = children.first().filter(|_| rule.has_first());
        if first != Some(&changed) {
            let count = &mut self.counts[gate];
            *count = if self.has[changed] { *count + 1 } else { count.saturating_sub(1) };
        }
        rule.keeps(first.is_some_and(|first| self.has[*first]), self.counts[gate])
    }
}
