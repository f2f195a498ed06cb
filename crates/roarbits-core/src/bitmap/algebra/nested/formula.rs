//! A formula: gates over operands in one array, children before their parents, so that every walk
//! is a loop, and what is known of the operands makes what is known of the answer.

use crate::bitmap::algebra::rule::{Known, Outcome, Presence, Rule};
use crate::bitmap::algebra::Combination;

/// What a gate keeps of its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    /// What a combination of them keeps.
    Combine(Combination),
    /// What so many consecutive ones have, 1 at least.
    Streak(u32),
}

/// An operand where it occurs, or a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Operand(usize),
    /// `rule` is that of a combination.
    Gate {
        gate: Gate,
        rule: Option<Rule>,
        children: Vec<usize>,
    },
}

/// Gates over operands; the last node is the answer. Of no node at all nothing is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Formula {
    nodes: Vec<Node>,
    parents: Vec<Option<usize>>,
}

impl Formula {
    /// Adds an operand where it occurs; its node.
    pub(crate) fn operand(&mut self, operand: usize) -> usize {
        self.push(Node::Operand(operand))
    }

    /// Adds a gate over nodes that have no parent yet; its node. A combination that can keep nothing
    /// of so many children has no place in a formula.
    pub(crate) fn gate(&mut self, gate: Gate, children: Vec<usize>) -> usize {
        let node = self.nodes.len();
        children.iter().for_each(|child| self.parents[*child] = Some(node));
        let rule = match gate {
            Gate::Combine(combination) => combination.rule(children.len()),
            Gate::Streak(_) => None,
        };
        debug_assert!(rule.is_some() || matches!(gate, Gate::Streak(1..)));
        self.push(Node::Gate { gate, rule, children })
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.parents.push(None);
        self.nodes.len() - 1
    }

    /// The node that is the answer.
    pub(super) fn root(&self) -> Option<usize> {
        self.nodes.len().checked_sub(1)
    }

    pub(super) fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = (usize, &Node)> + DoubleEndedIterator {
        self.nodes.iter().enumerate()
    }

    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// The children of a gate.
    pub(super) fn children(&self, node: usize) -> &[usize] {
        match &self.nodes[node] {
            Node::Operand(_) => &[],
            Node::Gate { children, .. } => children,
        }
    }

    /// The combination, and its operands, if the formula is just that.
    pub(super) fn flat(&self) -> Option<(Combination, impl Iterator<Item = usize> + '_)> {
        let Node::Gate { gate: Gate::Combine(combination), children, .. } = self.nodes.last()? else {
            return None;
        };
        let operand = |child: &usize| match self.nodes[*child] {
            Node::Operand(operand) => Some(operand),
            Node::Gate { .. } => None,
        };
        let is_flat = children.iter().all(|child| operand(child).is_some());
        is_flat.then(|| (*combination, children.iter().filter_map(operand)))
    }

    /// Writes to `states` what is certain of each node over a stretch, by what is known of each operand.
    pub(super) fn states(&self, operands: &[Presence], states: &mut Vec<Presence>) {
        states.clear();
        for node in &self.nodes {
            let state = match node {
                Node::Operand(operand) => operands[*operand],
                Node::Gate { rule: Some(rule), children, .. } => {
                    outcome(*rule, children.iter().map(|child| states[*child]))
                }
                Node::Gate { gate, children, .. } => {
                    streak_outcome(*gate, children.iter().map(|child| states[*child]))
                }
            };
            states.push(state);
        }
    }

    /// Writes to `deciding` which nodes can still decide the answer, by their states.
    pub(super) fn deciding(&self, states: &[Presence], deciding: &mut Vec<bool>) {
        deciding.clear();
        deciding.resize(self.nodes.len(), false);
        let Some(root) = self.root() else {
            return;
        };
        deciding[root] = states[root] == Presence::Open;
        for node in (0..self.nodes.len()).rev().filter(|node| matches!(self.nodes[*node], Node::Gate { .. }))
        {
            if !deciding[node] {
                continue;
            }
            match &self.nodes[node] {
                Node::Gate { gate: Gate::Streak(k), children, .. } => {
                    mark_streaks(*k as usize, children, states, deciding);
                }
                Node::Gate { children, .. } => {
                    children.iter().for_each(|child| deciding[*child] = states[*child] == Presence::Open)
                }
                Node::Operand(_) => {}
            }
        }
    }

    /// Whether a gate keeps an id that its children have, or not, in their order.
    pub(super) fn holds(&self, node: usize, children: impl Iterator<Item = bool>) -> bool {
        match &self.nodes[node] {
            Node::Operand(_) => false,
            Node::Gate { rule: Some(rule), .. } => {
                let (mut first, mut count) = (false, 0);
                for (i, is_in) in children.enumerate() {
                    match i {
                        0 if rule.has_first() => first = is_in,
                        _ => count += u32::from(is_in),
                    }
                }
                rule.keeps(first, count)
            }
            Node::Gate { gate, .. } => longest(children) >= streak_of(*gate),
        }
    }
}

/// The operands in a row that a streak needs.
pub(super) fn streak_of(gate: Gate) -> u32 {
    match gate {
        Gate::Streak(k) => k,
        Gate::Combine(_) => u32::MAX,
    }
}

fn outcome(rule: Rule, children: impl Iterator<Item = Presence>) -> Presence {
    let mut known = Known::default();
    for (i, presence) in children.enumerate() {
        match presence {
            presence if i == 0 && rule.has_first() => known.first = presence,
            Presence::Full => known.full += 1,
            Presence::Open => known.open += 1,
            Presence::Absent => {}
        }
    }
    match rule.outcome(known) {
        Outcome::None => Presence::Absent,
        Outcome::All => Presence::Full,
        Outcome::Open => Presence::Open,
    }
}

fn streak_outcome(gate: Gate, children: impl Iterator<Item = Presence> + Clone) -> Presence {
    let k = streak_of(gate);
    if longest(children.clone().map(|presence| presence == Presence::Full)) >= k {
        return Presence::Full;
    }
    match longest(children.map(|presence| presence != Presence::Absent)) >= k {
        true => Presence::Open,
        false => Presence::Absent,
    }
}

/// The most in a row that hold.
fn longest(holds: impl Iterator<Item = bool>) -> u32 {
    let (mut longest, mut so_far) = (0u32, 0u32);
    for holds in holds {
        so_far = if holds { so_far + 1 } else { 0 };
        longest = longest.max(so_far);
    }
    longest
}

/// Marks the open children that may be part of a streak of `k`.
fn mark_streaks(k: usize, children: &[usize], states: &[Presence], deciding: &mut [bool]) {
    let possible = children.split(|child| states[*child] == Presence::Absent);
    for child in possible.filter(|row| row.len() >= k).flatten() {
        deciding[*child] = states[*child] == Presence::Open;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESENCES: [Presence; 3] = [Presence::Absent, Presence::Open, Presence::Full];

    /// Every way in which open operands can have an id.
    fn possible(known: &[Presence]) -> Vec<Vec<Presence>> {
        known.iter().fold(vec![vec![]], |ways, presence| {
            let choices: &[Presence] = match presence {
                Presence::Absent => &[Presence::Absent],
                Presence::Full => &[Presence::Full],
                Presence::Open => &[Presence::Absent, Presence::Full],
            };
            let with = |way: &Vec<Presence>, choice: &Presence| way.iter().chain([choice]).copied().collect();
            ways.iter().flat_map(|way| choices.iter().map(move |choice| with(way, choice))).collect()
        })
    }

    fn formulas() -> Vec<Formula> {
        let flat = |gate, n| {
            let mut formula = Formula::default();
            let children = (0..n).map(|operand| formula.operand(operand)).collect();
            formula.gate(gate, children);
            formula
        };
        let mut formulas: Vec<Formula> = (1..=5).map(|k| flat(Gate::Streak(k), 5)).collect();
        formulas.extend((1..=5).map(|k| flat(Gate::Combine(Combination::AtLeast(k)), 5)));
        let mut nested = Formula::default();
        let (a, b) = (nested.operand(0), nested.operand(1));
        let either = nested.gate(Gate::Combine(Combination::Or), vec![a, b]);
        let (c, d, e) = (nested.operand(2), nested.operand(3), nested.operand(4));
        let streak = nested.gate(Gate::Streak(2), vec![c, d, e]);
        nested.gate(Gate::Combine(Combination::Diff), vec![either, streak]);
        formulas.push(nested);
        formulas
    }

    #[test]
    fn a_state_is_certain_when_every_possibility_agrees() {
        let (mut states, mut deciding) = (Vec::new(), Vec::new());
        for formula in formulas() {
            let root = formula.root().unwrap();
            for way in 0..3usize.pow(5) {
                let known: Vec<Presence> = (0..5).map(|i| PRESENCES[way / 3usize.pow(i) % 3]).collect();
                let answers: Vec<Presence> = possible(&known)
                    .iter()
                    .map(|way| {
                        formula.states(way, &mut states);
                        states[root]
                    })
                    .collect();
                let is_decided = answers.iter().all(|answer| *answer == answers[0]);
                formula.states(&known, &mut states);
                let expected = if is_decided { answers[0] } else { Presence::Open };
                assert_eq!(states[root], expected, "{formula:?} of {known:?}");
                formula.deciding(&states, &mut deciding);
                assert_eq!(deciding[root], !is_decided);
            }
        }
    }
}
