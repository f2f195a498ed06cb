//! The adaptive bitmap (PLACEHOLDER STORE: an interval map with the final public
//! API, so that the rest can be built and tested; the real tree replaces it).

mod read;
mod string_bits;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub use read::BitRead;
pub use string_bits::StringBits;

/// A maximal stretch of members, `start <= end`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first member.
    pub start: u64,
    /// The last member.
    pub end: u64,
}

/// What a bitmap is made of, for introspection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Leaves of bit-packed ids.
    pub packed_leaves: u64,
    /// Leaves of bit-packed runs.
    pub run_leaves: u64,
    /// Leaves of 2^16 plain bits.
    pub bits_leaves: u64,
    /// 2^16 chunks that hold at least one member (estimated from leaves).
    pub containers: u128,
    /// Bytes of everything reachable, shared or not.
    pub memory_bytes: u64,
    /// Bytes also reachable from another bitmap or snapshot.
    pub shared_bytes: u64,
}

/// A set of 64-bit ids with a logical length. `clone` is a snapshot: O(1).
#[derive(Debug, Clone, Default)]
pub struct Bitmap {
    runs: BTreeMap<u64, u64>,
    length_bytes: u64,
}

impl Bitmap {
    /// An empty bitmap of length 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grows the logical length to at least `bytes`; true if it grew.
    pub fn grow_length(&mut self, bytes: u64) -> bool {
        let grew = bytes > self.length_bytes;
        self.length_bytes = self.length_bytes.max(bytes);
        grew
    }

    /// True if no id is set.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Sets `id` and grows the length to cover it; true if it was absent.
    pub fn insert(&mut self, id: u64) -> bool {
        self.insert_range(id..=id) > 0
    }

    /// Clears `id`; true if it was present. The length stays.
    pub fn remove(&mut self, id: u64) -> bool {
        self.remove_range(id..=id) > 0
    }

    /// Sets every id of the closed range and grows the length; the number newly set. A reversed range is empty.
    pub fn insert_range(&mut self, range: RangeInclusive<u64>) -> u128 {
        if range.is_empty() {
            return 0;
        }
        let before = self.cardinality();
        let (start, end) = range.into_inner();
        self.clear(start, end);
        self.runs.insert(start, end);
        self.coalesce();
        self.cover();
        self.cardinality() - before
    }

    /// Clears every id of the closed range; the number cleared. The length stays.
    pub fn remove_range(&mut self, range: RangeInclusive<u64>) -> u128 {
        if range.is_empty() {
            return 0;
        }
        let before = self.cardinality();
        self.clear(*range.start(), *range.end());
        before - self.cardinality()
    }

    /// Flips every id of the closed range; the length grows to cover the largest id set.
    pub fn flip_range(&mut self, range: RangeInclusive<u64>) {
        if range.is_empty() {
            return;
        }
        let (start, end) = range.into_inner();
        let inside: Vec<Run> = self.runs_in(start..=end).collect();
        self.insert_range(start..=end);
        for r in inside {
            self.clear(r.start, r.end);
        }
        self.cover();
    }

    /// Sets many ids, in any order, and grows the length; the number newly set.
    pub fn insert_many(&mut self, ids: &[u64]) -> u64 {
        ids.iter().filter(|id| self.insert(**id)).count() as u64
    }

    /// Clears many ids, in any order; the number cleared.
    pub fn remove_many(&mut self, ids: &[u64]) -> u64 {
        ids.iter().filter(|id| self.remove(**id)).count() as u64
    }

    /// Members of both; the longer length.
    pub fn and(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && b)
    }

    /// Members of either; the longer length.
    pub fn or(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a || b)
    }

    /// Members of exactly one; the longer length.
    pub fn xor(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a != b)
    }

    /// Members of `self` but not of `other`; the longer length.
    pub fn diff(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && !b)
    }

    /// The complement within the logical length, as BITOP NOT.
    pub fn not(&self) -> Self {
        let mut out = self.clone();
        if let Some(last) = self.last_addressable() {
            out.flip_range(0..=last);
        }
        out
    }

    /// The largest id that the logical length covers; null at length 0.
    pub fn last_addressable(&self) -> Option<u64> {
        self.length_bytes.checked_sub(1).map(|b| b * 8 + 7)
    }

    /// The members in the closed range, sharing storage; the length stays.
    pub fn slice(&self, range: RangeInclusive<u64>) -> Self {
        let mut out = Self { runs: BTreeMap::new(), length_bytes: self.length_bytes };
        for r in self.runs_in(range) {
            out.runs.insert(r.start, r.end);
        }
        out
    }

    /// What the bitmap is made of. O(leaves).
    pub fn stats(&self) -> Stats {
        Stats { run_leaves: self.runs.len() as u64, memory_bytes: 64, ..Stats::default() }
    }

    /// Roughly how many allocations dropping this value frees. O(1).
    pub fn free_effort(&self) -> u64 {
        self.runs.len() as u64
    }

    /// Checks every invariant of the structure. O(n).
    ///
    /// # Errors
    /// The first invariant that does not hold, in words.
    pub fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    fn clear(&mut self, start: u64, end: u64) {
        let hit: Vec<(u64, u64)> =
            self.runs.range(..=end).rev().take_while(|(_, e)| **e >= start).map(|(s, e)| (*s, *e)).collect();
        for (s, e) in hit {
            self.runs.remove(&s);
            if s < start {
                self.runs.insert(s, start - 1);
            }
            if e > end {
                self.runs.insert(end + 1, e);
            }
        }
    }

    fn coalesce(&mut self) {
        let mut out: BTreeMap<u64, u64> = BTreeMap::new();
        let mut last: Option<Run> = None;
        for (&s, &e) in &self.runs {
            match &mut last {
                Some(r) if r.end.checked_add(1) == Some(s) => r.end = e,
                _ => {
                    if let Some(r) = last {
                        out.insert(r.start, r.end);
                    }
                    last = Some(Run { start: s, end: e });
                }
            }
        }
        if let Some(r) = last {
            out.insert(r.start, r.end);
        }
        self.runs = out;
    }

    fn cover(&mut self) {
        if let Some(m) = self.max() {
            self.grow_length(m / 8 + 1);
        }
    }

    fn combine(&self, other: &Self, keep: impl Fn(bool, bool) -> bool) -> Self {
        let mut cuts: Vec<u64> = vec![0];
        for (s, e) in self.runs.iter().chain(&other.runs) {
            cuts.push(*s);
            if let Some(n) = e.checked_add(1) {
                cuts.push(n);
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut out = Self { runs: BTreeMap::new(), length_bytes: self.length_bytes.max(other.length_bytes) };
        for (i, &s) in cuts.iter().enumerate() {
            if keep(self.contains(s), other.contains(s)) {
                out.runs.insert(s, cuts.get(i + 1).map_or(u64::MAX, |n| n - 1));
            }
        }
        out.coalesce();
        out
    }
}

impl BitRead for Bitmap {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }
    fn cardinality(&self) -> u128 {
        self.runs.iter().map(|(s, e)| u128::from(e - s) + 1).sum()
    }
    fn contains(&self, id: u64) -> bool {
        self.runs.range(..=id).next_back().is_some_and(|(_, e)| *e >= id)
    }
    fn count_range(&self, range: RangeInclusive<u64>) -> u128 {
        self.runs_in(range).map(|r| u128::from(r.end - r.start) + 1).sum()
    }
    fn select(&self, n: u128) -> Option<u64> {
        let mut n = n;
        for (s, e) in &self.runs {
            let card = u128::from(e - s) + 1;
            if n < card {
                return Some(s + n as u64);
            }
            n -= card;
        }
        None
    }
    fn next_present(&self, from: u64) -> Option<u64> {
        self.runs_in(from..=u64::MAX).next().map(|r| r.start)
    }
    fn next_absent(&self, from: u64) -> Option<u64> {
        match self.runs.range(..=from).next_back() {
            Some((_, e)) if *e >= from => e.checked_add(1),
            _ => Some(from),
        }
    }
    fn max(&self) -> Option<u64> {
        self.runs.values().next_back().copied()
    }
    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let (lo, hi) = range.into_inner();
        let first = self.runs.range(..=lo).next_back().map_or(lo, |(s, e)| if *e >= lo { *s } else { lo });
        Box::new(
            self.runs.range(first..=hi).map(move |(s, e)| Run { start: (*s).max(lo), end: (*e).min(hi) }),
        )
    }
}

/// Builds a bitmap from ascending, disjoint ids and runs.
#[derive(Debug, Default)]
pub struct Builder {
    out: Bitmap,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one id, above everything appended before.
    pub fn push_id(&mut self, id: u64) {
        self.push_run(Run { start: id, end: id });
    }

    /// Appends a run that starts above everything appended before; a touching one is joined.
    pub fn push_run(&mut self, run: Run) {
        match self.out.runs.last_entry() {
            Some(mut last) if last.get().checked_add(1) == Some(run.start) => {
                last.insert(run.end);
            }
            _ => {
                self.out.runs.insert(run.start, run.end);
            }
        }
    }

    /// The bitmap, its length `length_bytes` or what covers the largest id, whichever is more.
    pub fn finish(mut self, length_bytes: u64) -> Bitmap {
        self.out.length_bytes = length_bytes;
        self.out.cover();
        self.out
    }
}
