//! The leaves of a formula over one window, a stretch of whole chunks, combined in the way that
//! suits how full they are there.

use std::ops::Range;

use super::arrays::Arrays;
use super::circuit::Circuit;
use super::formula::{Formula, Node};
use super::streak::{self, Part};
use crate::bitmap::algebra::rule::{Presence, Rule};
use crate::bitmap::algebra::sink::Sink;
use crate::bitmap::algebra::window::{write_chunk, DENSE_ENTRIES, FULL, PROBED_IDS};
use crate::bitmap::algebra::words::{self, Chunk};
use crate::bitmap::bits::CHUNK_WORDS;
use crate::bitmap::leaf::{Form, Leaf};
use crate::bitmap::shape::chunk_end;

/// Words of a chunk that go through all gates at a time, so that what is in between stays in the nearest cache.
const BLOCK_WORDS: usize = 256;
/// To look an id up costs about as much as to decode and merge this many.
pub(super) const PROBE_COST: usize = 16;

/// What is known of a formula's nodes over a window, and the leaves of those that are open.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'v, 'a> {
    pub(super) formula: &'v Formula,
    pub(super) states: &'v [Presence],
    /// Nodes that can still decide; what they decide is all that is asked.
    pub(super) deciding: &'v [bool],
    slots: &'v [usize],
    pub(super) leaves: &'v [&'a Leaf],
}

impl<'v, 'a> View<'v, 'a> {
    /// The place of a deciding operand's leaf among the leaves.
    pub(super) fn slot(&self, operand: usize) -> usize {
        self.slots[operand]
    }

    /// Whether a node has `id`, looked up as far as it is needed. As deep as the formula.
    pub(super) fn holds(&self, node: usize, id: u64) -> bool {
        match self.states[node] {
            Presence::Absent => return false,
            Presence::Full => return true,
            // In no streak that is long enough.
            Presence::Open if !self.deciding[node] => return false,
            Presence::Open => {}
        }
        let has = |child: &usize| self.holds(*child, id);
        match self.formula.node(node) {
            Node::Operand(operand) => self.leaves[self.slot(*operand)].contains(id),
            Node::Gate { rule: Some(Rule::Between { low, high }), children, .. }
                if *high as usize >= children.len() =>
            {
                let mut left = *low as usize;
                children.iter().enumerate().any(|(i, child)| {
                    // With what is left no longer to be reached, nothing more is looked up.
                    left -= usize::from(left <= children.len() - i && has(child));
                    left == 0
                })
            }
            Node::Gate { rule: Some(Rule::FirstOnly), children, .. } => {
                children.first().is_some_and(has) && !children.iter().skip(1).any(has)
            }
            Node::Gate { children, .. } => self.formula.holds(node, children.iter().map(has)),
        }
    }

    /// Whether a gate keeps ids that none of its open children has.
    pub(super) fn keeps_absent(&self, gate: usize) -> bool {
        let children = self.formula.children(gate).iter();
        self.formula.holds(gate, children.map(|child| self.states[*child] == Presence::Full))
    }

    /// The open gates, children first.
    pub(super) fn gates(&self) -> impl Iterator<Item = usize> + '_ {
        let is_gate = |node: &Node| matches!(node, Node::Gate { .. });
        self.formula.nodes().filter(move |(i, node)| is_gate(node) && self.deciding[*i]).map(|(i, _)| i)
    }

    /// The rule of a gate over its open children alone, where it keeps no id that none of them has.
    pub(super) fn rule_of_open(&self, rule: Rule, children: &[usize]) -> Rule {
        let full = children.iter().filter(|child| self.states[**child] == Presence::Full).count() as u32;
        match rule {
            Rule::Between { low, high } => {
                Rule::Between { low: low.saturating_sub(full), high: high.saturating_sub(full) }
            }
            rule => rule,
        }
    }

    /// The leaf that has every id that is kept, with the fewest entries of `sizes`.
    fn driver(&self, root: usize, sizes: &[usize]) -> Option<usize> {
        let mut drivers: Vec<Option<usize>> = vec![None; root + 1];
        for (node, of) in self.formula.nodes().filter(|(node, _)| self.deciding[*node]) {
            drivers[node] = match of {
                Node::Operand(operand) => Some(self.slot(*operand)),
                Node::Gate { rule: Some(Rule::FirstOnly), children, .. } => {
                    children.first().and_then(|first| drivers[*first])
                }
                Node::Gate { rule: Some(Rule::Between { low, .. }), children, .. }
                    if *low as usize == children.len() =>
                {
                    let of_children = children.iter().filter_map(|child| drivers[*child]);
                    of_children.min_by_key(|slot| sizes[*slot])
                }
                Node::Gate { .. } => None,
            };
        }
        drivers[root]
    }
}

/// A window, the leaves of the operands that decide, and scratch space.
#[derive(Debug)]
pub(super) struct Window<'a> {
    start: u64,
    end: u64,
    /// The leaves, each once, though several operands may have it.
    leaves: Vec<&'a Leaf>,
    /// The entries of each leaf that are in the window, or as many as it can have there at most.
    entries: Vec<Range<usize>>,
    sizes: Vec<usize>,
    /// The leaf of each operand.
    slots: Vec<usize>,
    chunks: Vec<Box<Chunk>>,
    blocks: Vec<[u64; BLOCK_WORDS]>,
    /// The block of each gate.
    places: Vec<usize>,
    result: Box<Chunk>,
    kept: Vec<u64>,
    arrays: Arrays,
    circuit: Circuit,
}

impl<'a> Window<'a> {
    pub(super) fn new(formula: &Formula, operands: usize) -> Self {
        Self {
            start: 0,
            end: 0,
            leaves: Vec::new(),
            entries: Vec::new(),
            sizes: Vec::new(),
            slots: vec![0; operands],
            chunks: Vec::new(),
            blocks: Vec::new(),
            places: vec![0; formula.nodes().len()],
            result: Box::new([0; CHUNK_WORDS]),
            kept: Vec::new(),
            arrays: Arrays::default(),
            circuit: Circuit::default(),
        }
    }

    pub(super) fn begin(&mut self, start: u64, end: u64) {
        (self.start, self.end) = (start, end);
        self.leaves.clear();
        self.entries.clear();
        self.sizes.clear();
    }

    /// Whether no operand so far has this leaf.
    pub(super) fn is_new(&self, leaf: &Leaf) -> bool {
        !self.leaves.iter().any(|other| std::ptr::eq(*other, leaf))
    }

    /// Adds the leaf of an operand that decides, and its entries in the window.
    pub(super) fn add(&mut self, operand: usize, leaf: &'a Leaf, entries: Range<usize>) {
        let known = self.leaves.iter().position(|other| std::ptr::eq(*other, leaf));
        self.slots[operand] = known.unwrap_or(self.leaves.len());
        if known.is_none() {
            self.leaves.push(leaf);
            self.sizes.push(entries.len());
            self.entries.push(entries);
        }
    }

    /// Gives to `out` what the formula keeps, by what is certain of its nodes and which of them decide;
    /// the last id of the window that was reached.
    pub(super) fn combine(
        &mut self,
        formula: &Formula,
        states: &[Presence],
        deciding: &[bool],
        out: &mut impl Sink,
    ) -> u64 {
        let (slots, leaves) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.leaves));
        let view = View { formula, states, deciding, slots: &slots, leaves: &leaves };
        self.combine_view(view, out);
        (self.slots, self.leaves) = (slots, leaves);
        self.end
    }

    fn combine_view(&mut self, view: View<'_, 'a>, out: &mut impl Sink) {
        let Some(root) = view.formula.root() else {
            return;
        };
        let (start, end) = (self.start, self.end);
        let all: usize = self.sizes.iter().sum();
        let driver = view.driver(root, &self.sizes).filter(|slot| view.leaves[*slot].form() == Form::Ids);
        if let Some(driver) = driver {
            let few = self.sizes[driver];
            if few <= PROBED_IDS && few * PROBE_COST <= all {
                return self.probe(view, root, view.leaves[driver], self.entries[driver].clone(), out);
            }
        }
        let are_ids = view.leaves.iter().all(|leaf| leaf.form() == Form::Ids);
        if chunk_end(start) == end && all > DENSE_ENTRIES {
            self.combine_words(view, root, out);
        } else if are_ids && !view.gates().any(|gate| view.keeps_absent(gate)) {
            self.end = self.arrays.combine(view, root, start..=end, &mut self.entries, &mut self.kept);
            out.ids(&self.kept);
        } else {
            self.circuit.sweep(view, root, start, end, out);
        }
    }

    /// Looks up the ids of the leaf that has all that are kept.
    fn probe(&mut self, view: View, root: usize, leaf: &Leaf, range: Range<usize>, out: &mut impl Sink) {
        self.kept.clear();
        leaf.decode(range, &mut self.kept);
        self.kept.retain(|id| view.holds(root, *id));
        out.ids(&self.kept);
    }

    fn combine_words(&mut self, view: View, root: usize, out: &mut impl Sink) {
        let packed = view.leaves.iter().filter(|leaf| leaf.form() != Form::Bits).count();
        self.chunks.resize_with(packed.max(self.chunks.len()), || Box::new([0; CHUNK_WORDS]));
        let mut unused = self.chunks.iter_mut();
        let mut words: Vec<&[u64]> = Vec::with_capacity(view.leaves.len());
        for leaf in view.leaves {
            words.push(match leaf.bits() {
                Some(words) => words,
                None => match unused.next() {
                    Some(mine) => {
                        write_chunk(leaf, self.start, mine);
                        &mine[..]
                    }
                    None => &FULL,
                },
            });
        }
        let gates: Vec<usize> = view.gates().collect();
        gates.iter().enumerate().for_each(|(place, gate)| self.places[*gate] = place);
        self.blocks.resize(gates.len().max(self.blocks.len()), [0; BLOCK_WORDS]);
        for from in (0..CHUNK_WORDS).step_by(BLOCK_WORDS) {
            for (place, gate) in gates.iter().enumerate() {
                let (before, rest) = self.blocks.split_at_mut(place);
                let block = Block { view, words: &words, from, places: &self.places, blocks: before };
                if let Some(out) = rest.first_mut() {
                    block.combine(*gate, out);
                }
            }
            let result = &mut self.result[from..from + BLOCK_WORDS];
            result.copy_from_slice(&self.blocks[self.places[root]]);
        }
        out.chunk(self.start, &self.result[..]);
    }
}

/// A part of a chunk's words, and what the gates so far keep of it.
struct Block<'b, 'v, 'a> {
    view: View<'v, 'a>,
    /// The chunk of each leaf.
    words: &'b [&'b [u64]],
    from: usize,
    places: &'b [usize],
    blocks: &'b [[u64; BLOCK_WORDS]],
}

impl Block<'_, '_, '_> {
    fn part(&self, node: usize) -> Part<&[u64]> {
        match (self.view.states[node], self.view.formula.node(node)) {
            (Presence::Absent, _) => Part::Absent,
            (Presence::Full, _) => Part::Full,
            (Presence::Open, Node::Operand(operand)) => {
                let words = self.words[self.view.slot(*operand)];
                Part::Some(&words[self.from..self.from + BLOCK_WORDS])
            }
            (Presence::Open, Node::Gate { .. }) => Part::Some(&self.blocks[self.places[node]]),
        }
    }

    fn combine(&self, node: usize, out: &mut [u64; BLOCK_WORDS]) {
        let Node::Gate { gate, rule, children } = self.view.formula.node(node) else {
            return;
        };
        let Some(rule) = rule else {
            // A child that cannot decide is not asked; without it, the streaks it could be part of are too short.
            let part = |child: &usize| match (self.view.states[*child], self.view.deciding[*child]) {
                (Presence::Open, false) => Part::Absent,
                _ => self.part(*child),
            };
            let parts: Vec<Part<&[u64]>> = children.iter().map(part).collect();
            return streak::of_words(super::formula::streak_of(*gate) as usize, &parts, out);
        };
        let mut operands: Vec<&[u64]> = Vec::with_capacity(children.len());
        let mut full = 0;
        for (i, child) in children.iter().enumerate() {
            match self.part(*child) {
                Part::Absent => {}
                Part::Some(words) => operands.push(words),
                Part::Full if i == 0 && rule.has_first() => operands.push(&FULL[..BLOCK_WORDS]),
                Part::Full => full += 1,
            }
        }
        let reduced = match *rule {
            Rule::Between { low, high } if low > full => Rule::Between { low: low - full, high: high - full },
            rule => {
                // Of an odd number the pairs do not count.
                let counted = if rule == Rule::Odd { full % 2 } else { full };
                operands.extend((0..counted).map(|_| &FULL[..BLOCK_WORDS]));
                rule
            }
        };
        words::combine(reduced, &operands, out);
    }
}
