//! One page of kept ids: those before it are passed by counts, and once it is full nothing more is taken.

use super::sink::Sink;
use crate::bitmap::tree::Child;
use crate::bitmap::walk::{Leaves, Runs};
use crate::bitmap::Run;

/// Takes ids from a place on, after so many that are left out, up to a limit.
#[derive(Debug)]
pub(crate) struct Page {
    /// Ids below are not counted at all.
    from: u64,
    /// Ids still to be left out.
    skip: u64,
    limit: usize,
    /// The page so far, ascending.
    pub(crate) ids: Vec<u64>,
    /// Leaves read for ids of subtrees.
    pub(crate) leaves: u64,
}

impl Page {
    /// An empty page of at most `limit` ids that are `from` or above, without the first `skip` of them.
    pub(crate) fn new(from: u64, skip: u64, limit: usize) -> Self {
        Self { from, skip, limit, ids: Vec::new(), leaves: 0 }
    }

    /// Leaves out `count` ids if the page begins after them; else how many of them it begins after.
    fn pass(&mut self, count: u128) -> Option<u64> {
        match u64::try_from(count) {
            Ok(count) if count <= self.skip => {
                self.skip -= count;
                None
            }
            _ => Some(std::mem::take(&mut self.skip)),
        }
    }

    fn room(&self) -> usize {
        self.limit.saturating_sub(self.ids.len())
    }

    /// Takes ids of a run, from its start on.
    fn take(&mut self, run: Run) {
        let room = self.room();
        self.ids.extend((run.start..=run.end).take(room));
    }
}

impl Sink for Page {
    fn slice(&mut self, child: &Child, start: u64, end: u64) {
        let start = start.max(self.from);
        if start > end || self.is_full() {
            return;
        }
        let Some(skip) = self.pass(child.count_between(start, end)) else {
            return;
        };
        let below = start.checked_sub(1).map_or(0, |last| child.rank(last));
        let first = child.select(below + u128::from(skip));
        let before = self.ids.len();
        for run in Runs::new(Some(child), first..=end) {
            self.take(run);
            if self.is_full() {
                break;
            }
        }
        let last = self.ids[before..].last().copied().unwrap_or(first);
        self.leaves += Leaves::from(Some(child), first).take_while(|leaf| leaf.min() <= last).count() as u64;
    }

    fn complement(&mut self, child: &Child, start: u64, end: u64) {
        let start = start.max(self.from);
        if start > end || self.is_full() {
            return;
        }
        let absent = |last: u64| Run { start, end: last }.cardinality() - child.count_between(start, last);
        let Some(skip) = self.pass(absent(end)) else {
            return;
        };
        // The least place up to which more are absent than are left out.
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            match absent(middle) > u128::from(skip) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        let mut next = Some(low);
        while let Some(first) =
            next.and_then(|from| child.next_absent(from, u64::MAX)).filter(|id| *id <= end)
        {
            let present = child.next_present(first).filter(|id| *id <= end);
            self.leaves += 1;
            self.take(Run { start: first, end: present.map_or(end, |id| id - 1) });
            next = present.filter(|_| !self.is_full());
        }
    }

    fn run(&mut self, run: Run) {
        let start = run.start.max(self.from);
        if start > run.end || self.is_full() {
            return;
        }
        if let Some(skip) = self.pass(Run { start, end: run.end }.cardinality()) {
            self.take(Run { start: start + skip, end: run.end });
        }
    }

    fn ids(&mut self, ids: &[u64]) {
        let ids = &ids[ids.partition_point(|id| *id < self.from)..];
        if let Some(skip) = self.pass(ids.len() as u128) {
            let room = self.room();
            self.ids.extend(ids.iter().skip(skip as usize).take(room));
        }
    }

    fn chunk(&mut self, base: u64, words: &[u64]) {
        for (k, word) in words.iter().enumerate() {
            let first = base + k as u64 * 64;
            let mut left = match self.from.saturating_sub(first) {
                below @ 0..64 => word & u64::MAX << below,
                _ => 0,
            };
            let Some(skip) = self.pass(u128::from(left.count_ones())) else {
                continue;
            };
            (0..skip).for_each(|_| left &= left.wrapping_sub(1));
            while left != 0 && !self.is_full() {
                self.ids.push(first + u64::from(left.trailing_zeros()));
                left &= left.wrapping_sub(1);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.ids.len() >= self.limit
    }
}
