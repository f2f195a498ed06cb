//! A formula over leaves of ids, from whose ids alone everything is made that is kept: arrays,
//! of which an intersection takes the smallest first and looks ids up when only a few are left.

use std::ops::{Range, RangeInclusive};

use super::formula::{streak_of, Gate, Node};
use super::streak::{self, Part};
use super::window::{View, PROBE_COST};
use crate::bitmap::algebra::merge;
use crate::bitmap::algebra::planes::{Planes, WINDOW_BITS};
use crate::bitmap::algebra::rule::{Presence, Rule};
use crate::bitmap::algebra::window::{PLANES_IDS, PLANES_OPERANDS};

/// Scratch space, and what a window's leaves have of it.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    ranges: Vec<Range<usize>>,
    /// The ids of leaves that more than one operand node has, once they are decoded.
    decoded: Vec<Option<Vec<u64>>>,
    uses: Vec<u32>,
    /// The most ids that each node can have.
    sizes: Vec<usize>,
    spare: Vec<Vec<u64>>,
    planes: Planes,
    base: u64,
    has_planes: bool,
}

impl Arrays {
    /// Writes to `kept` the ids of a window that the formula keeps; the last id of it that was reached.
    pub(super) fn combine(
        &mut self,
        view: View,
        root: usize,
        window: RangeInclusive<u64>,
        entries: &mut Vec<Range<usize>>,
        kept: &mut Vec<u64>,
    ) -> u64 {
        std::mem::swap(&mut self.ranges, entries);
        let end = self.narrow(view, window);
        self.measure(view);
        let ids = self.ids_of(view, root);
        self.recycle(std::mem::replace(kept, ids));
        end
    }

    /// If many entries lie close together, leaves all but those of a window of planes for later.
    fn narrow(&mut self, view: View, window: RangeInclusive<u64>) -> u64 {
        let (start, end) = window.into_inner();
        (self.base, self.has_planes) = (start, false);
        if view.leaves.len() < PLANES_OPERANDS
            || !view.gates().any(|gate| is_wide(view.formula.children(gate)))
        {
            return end;
        }
        let close = end.min(start.saturating_add(WINDOW_BITS - 1));
        let ranges = view.leaves.iter().map(|leaf| leaf.ids_between(start, close));
        let ranges: Vec<Range<usize>> = ranges.collect();
        let ids = ranges.iter().map(Range::len).sum::<usize>() as u64;
        if ids < PLANES_IDS.min((close - start) / 1024 + 1) {
            return end;
        }
        (self.ranges, self.has_planes) = (ranges, true);
        close
    }

    fn measure(&mut self, view: View) {
        self.uses.clear();
        self.uses.resize(view.leaves.len(), 0);
        self.decoded.clear();
        self.decoded.resize(view.leaves.len(), None);
        self.sizes.clear();
        for (node, of) in view.formula.nodes() {
            let size = match of {
                _ if !view.deciding[node] => 0,
                Node::Operand(operand) => {
                    let slot = view.slot(*operand);
                    self.uses[slot] += 1;
                    self.ranges[slot].len()
                }
                Node::Gate { rule: Some(Rule::FirstOnly), children, .. } => self.sizes[children[0]],
                Node::Gate { rule: Some(Rule::Between { low, .. }), children, .. }
                    if *low as usize == children.len() =>
                {
                    let open = children.iter().filter(|child| view.states[**child] == Presence::Open);
                    open.map(|child| self.sizes[*child]).min().unwrap_or(0)
                }
                Node::Gate { children, .. } => children.iter().map(|child| self.sizes[*child]).sum(),
            };
            self.sizes.push(size);
        }
    }

    fn recycle(&mut self, ids: Vec<u64>) {
        self.spare.push(ids);
    }

    fn fresh(&mut self) -> Vec<u64> {
        let mut ids = self.spare.pop().unwrap_or_default();
        ids.clear();
        ids
    }

    /// The ids of an open node, ascending. As deep as the formula.
    fn ids_of(&mut self, view: View, node: usize) -> Vec<u64> {
        match view.formula.node(node) {
            Node::Operand(operand) => self.ids_of_leaf(view, view.slot(*operand)),
            Node::Gate { rule: Some(rule), children, .. } => {
                let open: Vec<usize> = open_of(view, children);
                match view.rule_of_open(*rule, children) {
                    Rule::Between { low, .. } if low as usize == open.len() => self.intersection(view, open),
                    Rule::FirstOnly => self.difference(view, &open),
                    rule => self.combined(view, rule, &open),
                }
            }
            Node::Gate { gate, children, .. } => self.streaks(view, *gate, children),
        }
    }

    fn ids_of_leaf(&mut self, view: View, slot: usize) -> Vec<u64> {
        let mut ids = self.fresh();
        if let Some(known) = &self.decoded[slot] {
            ids.extend_from_slice(known);
            return ids;
        }
        view.leaves[slot].decode(self.ranges[slot].clone(), &mut ids);
        if self.uses[slot] > 1 {
            self.decoded[slot] = Some(ids.clone());
        }
        ids
    }

    /// What all of them have, the smallest first.
    fn intersection(&mut self, view: View, mut children: Vec<usize>) -> Vec<u64> {
        children.sort_by_key(|child| self.sizes[*child]);
        let mut children = children.into_iter();
        let mut kept = children.next().map(|child| self.ids_of(view, child)).unwrap_or_default();
        for child in children {
            if kept.is_empty() {
                break;
            }
            if kept.len().saturating_mul(PROBE_COST) < self.effort(view, child) {
                kept.retain(|id| view.holds(child, *id));
                continue;
            }
            let other = self.ids_of(view, child);
            let mut both = self.fresh();
            merge::intersect(&kept, &other, &mut both);
            self.recycle(other);
            self.recycle(std::mem::replace(&mut kept, both));
        }
        kept
    }

    /// What the first has and no other.
    fn difference(&mut self, view: View, children: &[usize]) -> Vec<u64> {
        let [first, others @ ..] = children else {
            return Vec::new();
        };
        let mut kept = self.ids_of(view, *first);
        let efforts: usize = others.iter().map(|child| self.effort(view, *child)).sum();
        if kept.len().saturating_mul(PROBE_COST) < efforts {
            kept.retain(|id| !others.iter().any(|child| view.holds(*child, *id)));
            return kept;
        }
        let mut arrays = vec![kept];
        arrays.extend(others.iter().map(|child| self.ids_of(view, *child)));
        self.merged(Rule::FirstOnly, arrays)
    }

    fn combined(&mut self, view: View, rule: Rule, children: &[usize]) -> Vec<u64> {
        let arrays = children.iter().map(|child| self.ids_of(view, *child)).collect();
        self.merged(rule, arrays)
    }

    fn merged(&mut self, rule: Rule, mut arrays: Vec<Vec<u64>>) -> Vec<u64> {
        let mut kept = self.fresh();
        match self.has_planes && arrays.len() >= PLANES_OPERANDS {
            true => self.planes.combine(rule, &arrays, self.base, &mut kept),
            false => merge::combine(rule, &mut arrays, &mut kept),
        }
        self.spare.append(&mut arrays);
        kept
    }

    fn streaks(&mut self, view: View, gate: Gate, children: &[usize]) -> Vec<u64> {
        let part = |child: &usize| match view.states[*child] {
            Presence::Full => Part::Full,
            Presence::Open if view.deciding[*child] => Part::Some(self.ids_of(view, *child)),
            Presence::Open | Presence::Absent => Part::Absent,
        };
        let parts = children.iter().map(part).collect();
        let mut kept = self.fresh();
        streak::of_arrays(streak_of(gate) as usize, parts, &mut kept);
        kept
    }

    /// The ids that have to be decoded for a node at most.
    fn effort(&self, view: View, node: usize) -> usize {
        match view.formula.node(node) {
            _ if !view.deciding[node] => 0,
            Node::Operand(_) => self.sizes[node],
            Node::Gate { children, .. } => children.iter().map(|child| self.effort(view, *child)).sum(),
        }
    }
}

fn open_of(view: View, children: &[usize]) -> Vec<usize> {
    children.iter().copied().filter(|child| view.states[*child] == Presence::Open).collect()
}

fn is_wide(children: &[usize]) -> bool {
    children.len() >= PLANES_OPERANDS
}
