//! The questions that every bitmap answers, whatever it is made of.

use std::ops::RangeInclusive;

use super::Run;

/// Reads of a set of 64-bit ids with a logical length, answered alike by the
/// adaptive bitmap and by a plain string bitmap.
pub trait BitRead {
    /// The length in bytes of the equivalent string: at least `max / 8 + 1`, at most 2^61.
    fn length_bytes(&self) -> u64;

    /// The number of members, 0 to 2^64.
    fn cardinality(&self) -> u128;

    /// Whether `id` is a member.
    fn contains(&self, id: u64) -> bool;

    /// The number of members in the closed `range`; 0 if it is reversed.
    fn count_range(&self, range: RangeInclusive<u64>) -> u128;

    /// The `n`-th smallest member, zero-based.
    fn select(&self, n: u128) -> Option<u64>;

    /// The smallest member that is `from` or above.
    fn next_present(&self, from: u64) -> Option<u64>;

    /// The smallest id that is `from` or above and not a member.
    fn next_absent(&self, from: u64) -> Option<u64>;

    /// The largest member.
    fn max(&self) -> Option<u64>;

    /// The maximal runs of members, cut to the closed `range`, ascending.
    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_>;

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
