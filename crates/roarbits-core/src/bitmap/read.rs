//! The questions that every bitmap answers, whatever it is made of.

use std::ops::RangeInclusive;

use super::Run;

/// A stretch of a set, for those who write it down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span<'a> {
    /// Members that follow one another.
    Run(Run),
    /// The members of one chunk of 2^16 ids, as plain bits.
    Chunk {
        /// The first id of the chunk.
        base: u64,
        /// 1,024 words: bit `i` of word `k` is the id `base + 64 k + i`.
        words: &'a [u64],
        /// The number of maximal runs in the chunk.
        runs: u16,
    },
}

/// Reads of a set of 64-bit ids with a logical length, answered alike by the
/// adaptive bitmap and by a plain string bitmap.
pub trait BitRead {
    /// The length in bytes of the equivalent string: at least `max / 8 + 1`, at most 2^61.
    fn length_bytes(&self) -> u64;

    /// The number of members, 0 to 2^64.
    fn cardinality(&self) -> u128;

    /// Whether `id` is a member.
    fn contains(&self, id: u64) -> bool;

    /// Whether each of `ids` is a member, in their order.
    fn contains_many(&self, ids: &[u64]) -> Vec<bool> {
        ids.iter().map(|id| self.contains(*id)).collect()
    }

    /// The number of members in the closed `range`; 0 if it is reversed.
    fn count_range(&self, range: RangeInclusive<u64>) -> u128;

    /// The `n`-th smallest member, zero-based.
    fn select(&self, n: u128) -> Option<u64>;

    /// The members of the given ranks, zero-based, in the order given; ranks past the
    /// end are left out.
    fn select_all(&self, ranks: &[u128]) -> Vec<u64> {
        ranks.iter().filter_map(|rank| self.select(*rank)).collect()
    }

    /// The smallest member that is `from` or above.
    fn next_present(&self, from: u64) -> Option<u64>;

    /// The smallest id that is `from` or above and not a member.
    fn next_absent(&self, from: u64) -> Option<u64>;

    /// The largest member.
    fn max(&self) -> Option<u64>;

    /// The maximal runs of members, cut to the closed `range`, ascending.
    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_>;

    /// The members in the closed `range`, ascending: chunks of plain bits that are in the
    /// range as a whole as they lie, all else as runs, which need not be maximal beside them.
    fn spans_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Span<'_>> + '_> {
        Box::new(self.runs_in(range).map(Span::Run))
    }

    /// The smallest member.
    fn min(&self) -> Option<u64> {
        self.next_present(0)
    }

    /// The number of members that are `id` or below.
    fn rank(&self, id: u64) -> u128 {
        self.count_range(0..=id)
    }

    /// The members in the closed `range`, ascending.
    fn ids_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.runs_in(range).flat_map(|run| run.start..=run.end))
    }
}
