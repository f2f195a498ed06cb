//! Where the ids go that a combination keeps: into a tree, or into a sum.

use crate::bitmap::bits;
use crate::bitmap::build::{push_complement, Builder};
use crate::bitmap::tree::Child;
use crate::bitmap::Run;

/// Takes stretches of kept ids, ascending.
pub(crate) trait Sink {
    /// The ids of a subtree in `start..=end`.
    fn slice(&mut self, child: &Child, start: u64, end: u64);
    /// The ids in `start..=end` that a subtree lacks.
    fn complement(&mut self, child: &Child, start: u64, end: u64);
    /// A run; it may touch the one before.
    fn run(&mut self, run: Run);
    /// Ascending ids.
    fn ids(&mut self, ids: &[u64]);
    /// The ids of one chunk, as 1,024 words.
    fn chunk(&mut self, base: u64, words: &[u64]);

    /// Whether nothing more is taken.
    fn is_full(&self) -> bool {
        false
    }

    /// Whether a complement is written down, and so walks all of what the subtree has.
    fn walks_complements(&self) -> bool {
        false
    }
}

impl Sink for Builder {
    fn slice(&mut self, child: &Child, start: u64, end: u64) {
        self.push_slice(child, start, end);
    }

    fn complement(&mut self, child: &Child, start: u64, end: u64) {
        push_complement(self, Some(child), start, end);
    }

    fn run(&mut self, run: Run) {
        self.push_run(run);
    }

    fn ids(&mut self, ids: &[u64]) {
        self.push_ids(ids);
    }

    fn chunk(&mut self, base: u64, words: &[u64]) {
        self.push_chunk(base, words);
    }

    fn walks_complements(&self) -> bool {
        true
    }
}

/// Counts, and builds nothing.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The number of ids so far, at most 2^64.
    pub(crate) ids: u128,
}

impl Sink for Tally {
    fn slice(&mut self, child: &Child, start: u64, end: u64) {
        self.ids += child.count_between(start, end);
    }

    fn complement(&mut self, child: &Child, start: u64, end: u64) {
        self.ids += Run { start, end }.cardinality() - child.count_between(start, end);
    }

    fn run(&mut self, run: Run) {
        self.ids += run.cardinality();
    }

    fn ids(&mut self, ids: &[u64]) {
        self.ids += ids.len() as u128;
    }

    fn chunk(&mut self, _: u64, words: &[u64]) {
        self.ids += u128::from(bits::count(words));
    }
}
