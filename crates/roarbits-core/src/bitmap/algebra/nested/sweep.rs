//! The walk over the trees of a formula's operands, side by side.
//!
//! As the walk of one combination, but what is certain of a stretch goes through all gates, and only
//! operands that can still decide the answer are opened: those of `$1 & ($2 | $3)` not where `$1`
//! has nothing. Before an inner node is opened, the leaves that stand against it are asked whether
//! they have anything there; what none of them can change is passed by keys.

use std::ops::Range;

use super::formula::{Formula, Node};
use super::window::Window;
use crate::bitmap::algebra::cursor::Cursor;
use crate::bitmap::algebra::rule::Presence;
use crate::bitmap::algebra::sink::Sink;
use crate::bitmap::algebra::watch::Watch;
use crate::bitmap::algebra::window::DENSE_ENTRIES;
use crate::bitmap::leaf::{Form, Leaf};
use crate::bitmap::shape::{chunk_end, chunk_start};
use crate::bitmap::tree::Child;
use crate::bitmap::walk::Leaves;
use crate::bitmap::{Bitmap, Run};

/// A run of this many ids ends a stretch, so that its operand has all of the next one, or all of this.
const LONG_RUN: u64 = 16 << 16;

/// Gives to `out` what `formula` keeps of `operands`, from the chunk of `from` on, until it is full
/// or `watch` is cancelled.
pub(super) fn sweep(formula: &Formula, operands: &[Bitmap], from: u64, out: &mut impl Sink, watch: &Watch) {
    let mut cursors: Vec<Cursor> = operands.iter().map(|bitmap| Cursor::new(bitmap.root.as_ref())).collect();
    cursors.iter_mut().for_each(|cursor| cursor.seek(chunk_start(from)));
    let Some(root) = formula.root() else {
        return;
    };
    let mut sweep = Sweep {
        formula,
        root,
        presence: vec![Presence::Absent; cursors.len()],
        looked_at: vec![None; cursors.len()],
        needed: vec![false; cursors.len()],
        cursors,
        states: Vec::new(),
        deciding: Vec::new(),
        here: Vec::new(),
        window: Window::new(formula, operands.len()),
        touched: 0,
        out,
    };
    while !watch.is_cancelled() && !sweep.out.is_full() && sweep.step() {}
    watch.touch(sweep.touched);
}

/// An operand that has something of the present stretch, or may have.
#[derive(Debug, Clone)]
struct Here<'a> {
    operand: usize,
    child: &'a Child,
    /// The last id of its chunks.
    end: u64,
    /// Where its next ids are at the earliest, if it has none of the stretch.
    next: u64,
    is_deciding: bool,
    /// Its entries in the stretch, if it is a leaf that was asked.
    entries: Option<Range<usize>>,
}

struct Sweep<'a, 's, S> {
    formula: &'s Formula,
    root: usize,
    cursors: Vec<Cursor<'a>>,
    /// What is known of each operand over the present stretch.
    presence: Vec<Presence>,
    /// What follows of it for each node.
    states: Vec<Presence>,
    /// Which nodes can still decide.
    deciding: Vec<bool>,
    /// And which operands.
    needed: Vec<bool>,
    here: Vec<Here<'a>>,
    window: Window<'a>,
    /// The leaf of each operand that was looked at last.
    looked_at: Vec<Option<&'a Leaf>>,
    /// Leaves whose ids were looked at.
    touched: u64,
    out: &'s mut S,
}

/// A subtree that alone decides what is kept of a stretch.
#[derive(Debug, Clone, Copy)]
struct Decider<'a> {
    child: &'a Child,
    /// Whether an id is kept that the subtree has.
    keeps_present: bool,
    /// Whether an id is kept that it lacks.
    keeps_absent: bool,
}

impl<'a, S: Sink> Sweep<'a, '_, S> {
    /// Handles one stretch; false when nothing is ahead that could be kept.
    fn step(&mut self) -> bool {
        let Some((start, end)) = self.gather() else {
            return false;
        };
        self.judge();
        if self.states[self.root] == Presence::Open && self.ask_leaves(start, end) {
            self.judge();
        }
        let passed = match self.states[self.root] {
            Presence::Absent => self.end_of_nothing(end),
            Presence::Full => {
                self.out.run(Run { start, end });
                end
            }
            Presence::Open => match self.only_decider() {
                Some(decider) if !self.is_too_much(decider) => {
                    self.share(decider, start, end);
                    end
                }
                _ if self.open_nodes() => return true,
                _ => self.combine_leaves(start, end),
            },
        };
        self.pass(passed)
    }

    /// Finds the operands that have something of the next stretch, and that stretch.
    fn gather(&mut self) -> Option<(u64, u64)> {
        let start = self.cursors.iter().filter_map(Cursor::item).map(|item| item.start).min()?;
        let mut end = u64::MAX;
        self.here.clear();
        self.presence.fill(Presence::Absent);
        for (operand, item) in self.cursors.iter().enumerate().filter_map(|(i, c)| Some((i, c.item()?))) {
            if item.start > start {
                end = end.min(item.start - 1);
                continue;
            }
            end = end.min(item.end);
            self.here.push(Here {
                operand,
                child: item.child,
                end: item.end,
                next: start,
                is_deciding: false,
                entries: None,
            });
        }
        for here in &mut self.here {
            let known = known_of(here.child, start, end);
            (self.presence[here.operand], end, here.next) = (known.presence, known.end, known.next);
        }
        Some((start, end))
    }

    /// Finds what is certain of the stretch, and which operands can decide the rest.
    fn judge(&mut self) {
        self.formula.states(&self.presence, &mut self.states);
        if self.states[self.root] != Presence::Open {
            return;
        }
        self.formula.deciding(&self.states, &mut self.deciding);
        // An operand may occur where it decides and where it does not.
        self.needed.fill(false);
        for (node, of) in self.formula.nodes() {
            if let Node::Operand(operand) = of {
                self.needed[*operand] |= self.deciding[node];
            }
        }
        self.here.iter_mut().for_each(|here| here.is_deciding = self.needed[here.operand]);
    }

    fn deciders(&self) -> impl Iterator<Item = &Here<'a>> {
        self.here.iter().filter(|here| here.is_deciding)
    }

    fn is_node_deciding(&self) -> bool {
        self.deciders().any(|here| here.child.height() > 0)
    }

    /// Asks leaves that decide, before others are looked at or opened for their sake, what they have of
    /// the stretch; whether some that go on after it have nothing.
    fn ask_leaves(&mut self, start: u64, end: u64) -> bool {
        let is_node_deciding = self.is_node_deciding();
        let mut is_absent = false;
        for here in self.here.iter_mut().filter(|here| here.is_deciding) {
            // If a node is to be opened, what lies in the stretch as a whole is asked again.
            let leaf = match here.child {
                Child::Leaf(leaf) if here.end > end || !is_node_deciding => leaf,
                _ => continue,
            };
            let entries = entries(leaf, start, end);
            let is_empty = entries.is_empty();
            here.entries = Some(entries);
            if is_empty {
                self.presence[here.operand] = Presence::Absent;
                here.next = leaf.next_present(start).unwrap_or(u64::MAX);
                is_absent = true;
            }
        }
        is_absent
    }

    /// Where nothing is kept up to `end`, how far that holds whatever the other operands here have there.
    fn end_of_nothing(&mut self, end: u64) -> u64 {
        let mut next = u64::MAX;
        for (presence, cursor) in self.presence.iter().zip(&self.cursors) {
            if let (Presence::Absent, Some(item)) = (*presence, cursor.item().filter(|item| item.start > end))
            {
                next = next.min(item.start - 1);
            }
        }
        for here in &self.here {
            match self.presence[here.operand] {
                Presence::Absent if here.next > end => {
                    next = next.min(chunk_start(here.next).saturating_sub(1))
                }
                _ => self.presence[here.operand] = Presence::Open,
            }
        }
        self.formula.states(&self.presence, &mut self.states);
        match self.states[self.root] {
            Presence::Absent => next.max(end),
            _ => end,
        }
    }

    /// The one subtree that decides, if only one does (for one operand or several).
    fn only_decider(&mut self) -> Option<Decider<'a>> {
        let child = self.deciders().next()?.child;
        if !self.deciders().all(|here| here.child.is_same(child)) {
            return None;
        }
        let keeps_present = self.keeps_with(Presence::Full);
        let keeps_absent = self.keeps_with(Presence::Absent);
        Some(Decider { child, keeps_present, keeps_absent })
    }

    /// Whether an id is kept where all that decide have this presence.
    fn keeps_with(&mut self, presence: Presence) -> bool {
        let mut with = self.presence.clone();
        self.deciders().for_each(|here| with[here.operand] = presence);
        self.formula.states(&with, &mut self.states);
        self.states[self.root] == Presence::Full
    }

    /// Whether to write down what a subtree lacks takes so long that it is done in parts.
    fn is_too_much(&self, decider: Decider) -> bool {
        let is_complement = decider.keeps_absent && !decider.keeps_present;
        is_complement && self.out.walks_complements() && decider.child.height() > 1
    }

    fn share(&mut self, decider: Decider, start: u64, end: u64) {
        self.touched += match (decider.keeps_present, decider.keeps_absent) {
            (true, true) | (false, false) => 0,
            (false, true) if self.out.walks_complements() => leaves_between(decider.child, start, end),
            _ => cut_leaves(decider.child, start, end),
        };
        match (decider.keeps_present, decider.keeps_absent) {
            (true, true) => self.out.run(Run { start, end }),
            (true, false) => self.out.slice(decider.child, start, end),
            (false, true) => self.out.complement(decider.child, start, end),
            (false, false) => {}
        }
    }

    /// Opens the tallest inner nodes of those that decide; false if there are only leaves.
    fn open_nodes(&mut self) -> bool {
        let tallest = self.deciders().map(|here| here.child.height()).max().unwrap_or(0);
        for here in self.here.iter().filter(|here| here.is_deciding && tallest > 0) {
            if here.child.height() == tallest {
                self.cursors[here.operand].descend();
            }
        }
        tallest > 0
    }

    /// Combines leaves from `start` on, up to `end` at most; how far it came.
    fn combine_leaves(&mut self, start: u64, end: u64) -> u64 {
        self.window.begin(start, end);
        // Finding out that no single subtree decides may have left other states behind.
        self.formula.states(&self.presence, &mut self.states);
        for here in self.here.iter().filter(|here| here.is_deciding) {
            if let Child::Leaf(leaf) = here.child {
                let last = &mut self.looked_at[here.operand];
                if !last.is_some_and(|last| std::ptr::eq::<Leaf>(last, &**leaf)) {
                    self.touched += u64::from(self.window.is_new(leaf));
                    *last = Some(leaf);
                }
                let asked = here.entries.clone();
                self.window.add(here.operand, leaf, asked.unwrap_or_else(|| entries(leaf, start, end)));
            }
        }
        self.window.combine(self.formula, &self.states, &self.deciding, self.out)
    }

    /// Leaves everything up to `end` behind; false when nothing is ahead that could be kept.
    fn pass(&mut self, end: u64) -> bool {
        let Some(next) = end.checked_add(1) else {
            return false;
        };
        let mut has_ended = false;
        for here in &self.here {
            let cursor = &mut self.cursors[here.operand];
            cursor.seek(next);
            has_ended |= cursor.item().is_none();
        }
        !has_ended || self.is_anything_ahead()
    }

    fn is_anything_ahead(&mut self) -> bool {
        for (presence, cursor) in self.presence.iter_mut().zip(&self.cursors) {
            *presence = if cursor.item().is_some() { Presence::Open } else { Presence::Absent };
        }
        self.formula.states(&self.presence, &mut self.states);
        self.states[self.root] != Presence::Absent
    }
}

/// What is known of a subtree over a stretch without opening it.
struct KnownOf {
    presence: Presence,
    /// Where the stretch ends, or nearer, where more is known up to there.
    end: u64,
    /// Where its next ids are at the earliest.
    next: u64,
}

fn known_of(child: &Child, start: u64, end: u64) -> KnownOf {
    let of = |presence, end, next| KnownOf { presence, end, next };
    let leaf = match child {
        Child::Leaf(leaf) if leaf.form() == Form::Runs => leaf,
        _ => return of(Presence::Open, end, start),
    };
    match leaf.next_run(start) {
        None => of(Presence::Absent, end, u64::MAX),
        Some(run) if run.start > end => of(Presence::Absent, end, run.start),
        Some(run) if run.start == start && run.end >= end => of(Presence::Full, end, start),
        Some(run) if run.end - start < LONG_RUN => of(Presence::Open, end, start),
        Some(run) if run.start == start => of(Presence::Full, chunk_start(run.end + 1) - 1, start),
        Some(run) if run.start > chunk_end(start) => {
            of(Presence::Absent, chunk_start(run.start) - 1, run.start)
        }
        Some(_) => of(Presence::Open, end.min(chunk_end(start)), start),
    }
}

/// The entries of a leaf that are in a stretch, or as many as its ids or runs are at most.
fn entries(leaf: &Leaf, start: u64, end: u64) -> Range<usize> {
    match leaf.form() {
        Form::Ids => leaf.ids_between(start, end),
        Form::Runs => 0..leaf.entries(),
        Form::Bits => 0..(leaf.cardinality() as usize).max(DENSE_ENTRIES + 1),
    }
}

/// Leaves that a cut of a subtree to a stretch goes through.
fn cut_leaves(child: &Child, start: u64, end: u64) -> u64 {
    let is_cut_before = chunk_start(child.min()) < start;
    let is_cut_after = chunk_end(child.max()) > end;
    match child {
        Child::Leaf(_) => u64::from(is_cut_before || is_cut_after),
        Child::Node(_) => u64::from(is_cut_before) + u64::from(is_cut_after),
    }
}

/// Leaves of a subtree that have something of a stretch.
fn leaves_between(child: &Child, start: u64, end: u64) -> u64 {
    Leaves::from(Some(child), start).take_while(|leaf| leaf.min() <= end).count() as u64
}
