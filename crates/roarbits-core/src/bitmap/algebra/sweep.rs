//! Walks any number of trees side by side, in one pass.
//!
//! A cursor on each tree stands before the largest subtree not looked into yet. From
//! the least place on, the next stretch over which the same cursors have something
//! is taken: what the rule decides there without looking is passed over or shared
//! whole; a subtree that several operands share is recognised by its address; else
//! inner nodes are opened, and leaves are combined over that window.

use super::cursor::Cursor;
use super::rule::{Known, Outcome, Presence, Rule};
use super::sink::Sink;
use super::watch::Watch;
use super::window::Window;
use crate::bitmap::leaf::Form;
use crate::bitmap::shape::chunk_start;
use crate::bitmap::tree::Child;
use crate::bitmap::Run;

/// Gives to `out` the ids of `operands` that `rule` keeps, from the chunk of `from` on, until it is
/// full or `watch` is cancelled. Where the rule tells a first operand from the others, it is the
/// first here.
pub(crate) fn sweep(rule: Rule, operands: &[Option<&Child>], from: u64, out: &mut impl Sink, watch: &Watch) {
    let mut cursors: Vec<Cursor> = operands.iter().map(|root| Cursor::new(*root)).collect();
    cursors.iter_mut().for_each(|cursor| cursor.seek(chunk_start(from)));
    let mut sweep = Sweep { rule, cursors, here: Vec::new(), window: Window::default(), touched: 0, out };
    while !watch.is_cancelled() && !sweep.out.is_full() && sweep.step() {}
    watch.touch(sweep.touched);
}

/// An operand that has something of the present stretch.
#[derive(Debug, Clone, Copy)]
struct Here<'a> {
    operand: usize,
    child: &'a Child,
    presence: Presence,
}

struct Sweep<'a, 's, S> {
    rule: Rule,
    cursors: Vec<Cursor<'a>>,
    here: Vec<Here<'a>>,
    window: Window<'a>,
    /// Leaves whose ids were looked at.
    touched: u64,
    out: &'s mut S,
}

impl<'a, S: Sink> Sweep<'a, '_, S> {
    /// Handles one stretch; false when nothing is ahead that could be kept.
    fn step(&mut self) -> bool {
        let Some((start, end)) = self.gather() else {
            return false;
        };
        let known = self.known();
        let mut passed = end;
        match self.rule.outcome(known) {
            Outcome::None => {}
            Outcome::All => self.out.run(Run { start, end }),
            Outcome::Open => match self.only_open(known) {
                Some(decider) => self.share(decider, start, end),
                None if self.open_nodes() => return true,
                None => passed = self.combine_leaves(start, end),
            },
        }
        self.pass(passed)
    }

    /// Finds the operands that have something of the next stretch, and that stretch.
    fn gather(&mut self) -> Option<(u64, u64)> {
        let items = self.cursors.iter().filter_map(Cursor::item);
        let start = items.map(|item| item.start).min()?;
        let mut end = u64::MAX;
        self.here.clear();
        for (operand, item) in self.cursors.iter().enumerate().filter_map(|(i, c)| Some((i, c.item()?))) {
            if item.start > start {
                end = end.min(item.start - 1);
            } else {
                end = end.min(item.end);
                self.here.push(Here { operand, child: item.child, presence: Presence::Open });
            }
        }
        for here in &mut self.here {
            if is_full(here.child, start, end) {
                here.presence = Presence::Full;
            }
        }
        Some((start, end))
    }

    fn known(&self) -> Known {
        let mut known = Known::default();
        for here in &self.here {
            match here.presence {
                presence if self.is_first(here.operand) => known.first = presence,
                Presence::Full => known.full += 1,
                _ => known.open += 1,
            }
        }
        known
    }

    fn is_first(&self, operand: usize) -> bool {
        operand == 0 && self.rule.has_first()
    }

    /// The one subtree that decides, if only one does (for one operand or several).
    fn only_open(&self, known: Known) -> Option<Decider<'a>> {
        // Where another operand has every id, the first decides alone if the rule tells it apart.
        let is_up_to_first = self.rule.has_first() && known.full > 0;
        let mut open = self
            .here
            .iter()
            .filter(|here| here.presence == Presence::Open)
            .filter(|here| !is_up_to_first || self.is_first(here.operand));
        let one = open.next()?;
        let (mut is_first, mut count) = (known.first == Presence::Full, known.full);
        for here in std::iter::once(one).chain(open) {
            if !here.child.is_same(one.child) {
                return None;
            }
            match self.is_first(here.operand) {
                true => is_first = true,
                false => count += 1,
            }
        }
        Some(Decider {
            child: one.child,
            keeps_present: self.rule.keeps(is_first, count),
            keeps_absent: self.rule.keeps(known.first == Presence::Full, known.full),
        })
    }

    fn share(&mut self, decider: Decider, start: u64, end: u64) {
        match (decider.keeps_present, decider.keeps_absent) {
            (true, true) => self.out.run(Run { start, end }),
            (true, false) => self.out.slice(decider.child, start, end),
            (false, true) => self.out.complement(decider.child, start, end),
            (false, false) => {}
        }
    }

    /// Opens the tallest inner nodes here; false if there are only leaves.
    fn open_nodes(&mut self) -> bool {
        let tallest = self.here.iter().map(|here| here.child.height()).max().unwrap_or(0);
        let open = self.here.iter().filter(|here| tallest > 0 && here.child.height() == tallest);
        open.for_each(|here| self.cursors[here.operand].descend());
        tallest > 0
    }

    /// Combines leaves from `start` on, up to `end` at most; how far it came.
    fn combine_leaves(&mut self, start: u64, end: u64) -> u64 {
        self.window.begin(start, end);
        for here in &self.here {
            let is_first = self.is_first(here.operand);
            match (here.presence, here.child) {
                (Presence::Full, _) if is_first => self.window.add_full_first(),
                (Presence::Full, _) => self.window.add_full(),
                (_, Child::Leaf(leaf)) => {
                    // Only a leaf that spans chunks is in more than one window.
                    self.touched += u64::from(leaf.form() == Form::Bits || chunk_start(leaf.min()) >= start);
                    self.window.add(leaf, is_first);
                }
                _ => {}
            }
        }
        self.window.combine(self.rule, self.out)
    }

    /// Leaves everything up to `end` behind; false when nothing is ahead that could be kept.
    fn pass(&mut self, end: u64) -> bool {
        let mut has_ended = false;
        for here in &self.here {
            let cursor = &mut self.cursors[here.operand];
            cursor.pass(end);
            has_ended |= cursor.item().is_none();
        }
        !has_ended || self.is_anything_ahead()
    }

    fn is_anything_ahead(&self) -> bool {
        let mut known = Known::default();
        let ahead = self.cursors.iter().enumerate().filter(|(_, cursor)| cursor.item().is_some());
        for (operand, _) in ahead {
            match self.is_first(operand) {
                true => known.first = Presence::Open,
                false => known.open += 1,
            }
        }
        self.rule.outcome(known) != Outcome::None
    }
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

/// Whether a subtree has every id of a stretch, as far as is told without opening it.
fn is_full(child: &Child, start: u64, end: u64) -> bool {
    match child {
        Child::Leaf(leaf) if leaf.form() == Form::Runs => {
            leaf.next_run(start).is_some_and(|run| run.start == start && run.end >= end)
        }
        _ => false,
    }
}
