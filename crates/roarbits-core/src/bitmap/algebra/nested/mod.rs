//! Combinations of combinations, in one pass: `($1 | $2) & $3 - $4` builds nothing in between.
//!
//! ```text
//! Formula: gates over operands, in an array, children first     formula.rs
//!   what is known of operands over a stretch --> of the gates, up to the last, which is the answer
//! sweep over cursors, one an operand, to the next stretch       sweep.rs
//!   decided as a whole, or by one subtree: nothing else is opened
//!   leaves of the operands that decide, over one window         window.rs
//!     a few ids looked up | words of a chunk | arrays | runs    arrays.rs, circuit.rs, streak.rs
//! ```
//!
//! A formula of one gate over operands is a `Combination` and goes the way of those.

mod arrays;
mod circuit;
mod formula;
mod streak;
mod sweep;
mod window;

pub(crate) use formula::{Formula, Gate};

use super::page::Page;
use super::sink::{Sink, Tally};
use super::watch::Watch;
use super::Combination;
use crate::bitmap::{BitRead, Bitmap, Builder};
use formula::Node;

/// Each id that can be kept is worth a step over this many leaves.
const FEW_IDS: u128 = 4;

/// Answers of a formula over its operands, of which each has one bitmap.
impl Formula {
    /// The number of ids kept, 0 to 2^64; `None` if cancelled. Builds nothing.
    pub(crate) fn count(&self, operands: &[Bitmap], watch: &Watch) -> Option<u128> {
        let mut tally = Tally::default();
        self.give(operands, &mut tally, watch);
        (!watch.is_cancelled()).then_some(tally.ids)
    }

    /// The ids kept, as long as the largest needs; `None` if cancelled.
    pub(crate) fn evaluate(&self, operands: &[Bitmap], watch: &Watch) -> Option<Bitmap> {
        let mut out = Builder::new();
        self.give(operands, &mut out, watch);
        (!watch.is_cancelled()).then(|| out.finish(0))
    }

    /// At most `limit` ids kept, ascending, that are `from` or above, after the first `skip` of those;
    /// `None` if cancelled. What is before the page is passed by counts where a subtree is kept whole.
    pub(crate) fn page(
        &self,
        operands: &[Bitmap],
        from: u64,
        skip: u64,
        limit: usize,
        watch: &Watch,
    ) -> Option<Vec<u64>> {
        let mut page = Page::new(from, skip, limit);
        match self.flat_of(operands) {
            Some((combination, operands)) => {
                combination.give_ungrouped(&operands, from, &mut page, watch);
            }
            None => sweep::sweep(self, operands, from, &mut page, watch),
        }
        watch.touch(page.leaves);
        (!watch.is_cancelled()).then_some(page.ids)
    }

    fn give(&self, operands: &[Bitmap], out: &mut impl Sink, watch: &Watch) {
        match self.flat_of(operands) {
            Some((combination, operands)) => combination.give(&operands, out, watch),
            None => sweep::sweep(self, operands, 0, out, watch),
        }
    }

    /// The combination, and its operands, if the formula is just that and all of them are to be walked:
    /// where a few ids can be kept, the sweep over gates passes the leaves of others by keys.
    fn flat_of<'o>(&self, operands: &'o [Bitmap]) -> Option<(Combination, Vec<&'o Bitmap>)> {
        let (combination, among) = self.flat()?;
        let operands: Vec<&Bitmap> = among.filter_map(|operand| operands.get(operand)).collect();
        let sizes = operands.iter().map(|operand| operand.cardinality());
        let most = match combination {
            Combination::And => sizes.min(),
            Combination::Diff => sizes.take(1).next(),
            _ => None,
        };
        let leaves: u64 = operands.iter().map(|operand| operand.leaves_estimated()).sum();
        let is_few = most.is_some_and(|most| most.saturating_mul(FEW_IDS) < u128::from(leaves));
        (!is_few).then_some((combination, operands))
    }

    /// Whether each of `ids` is kept, in their order. Of an operand only the ids are looked up that it
    /// can still decide.
    pub(crate) fn test(&self, operands: &[Bitmap], ids: &[u64]) -> Vec<bool> {
        match self.root() {
            Some(root) => self.answers_of(root, operands, ids),
            None => vec![false; ids.len()],
        }
    }

    /// As deep as the formula, which its author bounds.
    fn answers_of(&self, node: usize, operands: &[Bitmap], ids: &[u64]) -> Vec<bool> {
        let of = |child: &usize, ids: &[u64]| self.answers_of(*child, operands, ids);
        match self.node(node) {
            Node::Operand(operand) => match operands.get(*operand) {
                Some(bitmap) => bitmap.contains_many(ids),
                None => vec![false; ids.len()],
            },
            Node::Gate { gate: Gate::Combine(Combination::And), children, .. } => {
                let mut kept = vec![true; ids.len()];
                children.iter().for_each(|child| among(&mut kept, true, ids, |ids| of(child, ids)));
                kept
            }
            Node::Gate { gate: Gate::Combine(Combination::Or), children, .. } => {
                let mut kept = vec![false; ids.len()];
                children.iter().for_each(|child| among(&mut kept, false, ids, |ids| of(child, ids)));
                kept
            }
            Node::Gate { gate: Gate::Combine(Combination::Diff), children, .. } => {
                let (first, others) = children.split_at(children.len().min(1));
                let mut kept = first.first().map_or(vec![false; ids.len()], |first| of(first, ids));
                let lacks = |child, ids: &[u64]| of(child, ids).into_iter().map(|is_in| !is_in).collect();
                others.iter().for_each(|child| among(&mut kept, true, ids, |ids| lacks(child, ids)));
                kept
            }
            Node::Gate { children, .. } => {
                let answers: Vec<Vec<bool>> = children.iter().map(|child| of(child, ids)).collect();
                (0..ids.len()).map(|i| self.holds(node, answers.iter().map(|answers| answers[i]))).collect()
            }
        }
    }
}

/// Puts new answers in the place of those that are `open`.
fn among(kept: &mut [bool], open: bool, ids: &[u64], answers: impl FnOnce(&[u64]) -> Vec<bool>) {
    let places: Vec<usize> = (0..kept.len()).filter(|i| kept[*i] == open).collect();
    if places.is_empty() {
        return;
    }
    let asked: Vec<u64> = places.iter().map(|i| ids[*i]).collect();
    places.into_iter().zip(answers(&asked)).for_each(|(i, answer)| kept[i] = answer);
}
