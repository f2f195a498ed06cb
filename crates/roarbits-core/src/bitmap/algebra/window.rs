//! Combining leaves over one window, a stretch of whole chunks, in the way that suits
//! how full they are there.

use std::ops::Range;

use super::merge;
use super::planes::{Planes, WINDOW_BITS};
use super::rule::Rule;
use super::sink::Sink;
use super::spans::SpanSweep;
use super::words::{self, Chunk};
use crate::bitmap::bits::{self, CHUNK_WORDS};
use crate::bitmap::leaf::{Form, Leaf};
use crate::bitmap::shape::chunk_end;

/// A chunk in which packed leaves have more entries than this is combined as words.
pub(crate) const DENSE_ENTRIES: usize = 1500;
/// Ids that are looked up one by one in leaves of plain bits, rather than made words of.
pub(crate) const PROBED_IDS: usize = 200;
/// From this many operands on, ids that lie close together are combined in planes.
pub(crate) const PLANES_OPERANDS: usize = 3;
/// Ids in a window of planes at least; fewer in one that leaves end before its width.
pub(crate) const PLANES_IDS: u64 = WINDOW_BITS / 64 / 16;

/// A chunk with every id.
pub(crate) static FULL: Chunk = [u64::MAX; CHUNK_WORDS];

/// A window, the operands that have something of it, and scratch space.
#[derive(Debug, Default)]
pub(crate) struct Window<'a> {
    start: u64,
    end: u64,
    /// The leaves that have some of the ids, the first operand's first.
    leaves: Vec<&'a Leaf>,
    has_first: bool,
    is_first_full: bool,
    /// Operands, but for a first one, that have every id.
    full: u32,
    kept: Vec<u64>,
    arrays: Vec<Vec<u64>>,
    chunks: Vec<Box<Chunk>>,
    planes: Planes,
    spans: SpanSweep,
}

impl<'a> Window<'a> {
    pub(crate) fn begin(&mut self, start: u64, end: u64) {
        (self.start, self.end) = (start, end);
        self.leaves.clear();
        (self.has_first, self.is_first_full, self.full) = (false, false, 0);
    }

    /// Adds a first operand, which the rule tells from the others, that has every id of the window.
    pub(crate) fn add_full_first(&mut self) {
        self.is_first_full = true;
    }

    /// Adds any other operand that has every id of the window.
    pub(crate) fn add_full(&mut self) {
        self.full += 1;
    }

    /// Adds an operand, the first one, if the rule tells it from the others, before all others.
    pub(crate) fn add(&mut self, leaf: &'a Leaf, is_first: bool) {
        self.has_first |= is_first;
        self.leaves.push(leaf);
    }

    /// Gives to `out` what `rule` keeps; the last id of the window that was reached.
    pub(crate) fn combine(&mut self, rule: Rule, out: &mut impl Sink) -> u64 {
        let is_chunk = chunk_end(self.start) == self.end;
        if is_chunk && self.is_dense() {
            if !self.probe(rule, out) {
                self.combine_words(rule, out);
            }
            return self.end;
        }
        let keeps_absent = rule.keeps(self.is_first_full, self.full);
        if keeps_absent || self.leaves.iter().any(|leaf| leaf.form() != Form::Ids) {
            self.combine_spans(rule, out);
        } else {
            self.combine_ids(self.of_open(rule), out);
        }
        self.end
    }

    fn is_dense(&self) -> bool {
        let entries = |leaf: &&Leaf| match leaf.form() {
            Form::Ids => leaf.ids_between(self.start, self.end).len(),
            Form::Runs => leaf.entries(),
            Form::Bits => DENSE_ENTRIES + 1,
        };
        self.leaves.iter().map(entries).sum::<usize>() > DENSE_ENTRIES
    }

    /// The rule over the leaves alone, where it keeps no id that none of them has.
    fn of_open(&self, rule: Rule) -> Rule {
        match rule {
            Rule::Between { low, high } => Rule::Between { low: low - self.full, high: high - self.full },
            Rule::OtherOnly | Rule::FirstAndOther if !self.has_first => {
                Rule::Between { low: 1, high: u32::MAX }
            }
            rule => rule,
        }
    }

    /// Where only ids of one small leaf can be kept and the others are plain bits, looks those ids up.
    fn probe(&mut self, rule: Rule, out: &mut impl Sink) -> bool {
        let n = self.leaves.len() as u32;
        let among = match rule {
            Rule::FirstOnly | Rule::FirstAndOther if self.has_first => 0..1,
            Rule::Between { low, .. } if low == self.full + n => 0..self.leaves.len(),
            _ => return false,
        };
        let Some(probed) = among.min_by_key(|i| self.leaves[*i].cardinality()) else {
            return false;
        };
        let leaf = self.leaves[probed];
        let others = || self.leaves.iter().enumerate().filter(|(i, _)| *i != probed).map(|(_, leaf)| leaf);
        if leaf.form() != Form::Ids || others().any(|leaf| leaf.form() != Form::Bits) {
            return false;
        }
        let ids = leaf.ids_between(self.start, self.end);
        if ids.len() > PROBED_IDS {
            return false;
        }
        self.kept.clear();
        leaf.decode(ids, &mut self.kept);
        let is_kept = |id: &u64| {
            let count = others().filter(|leaf| leaf.contains(*id)).count() as u32 + self.full;
            if rule.has_first() {
                rule.keeps(true, count)
            } else {
                rule.keeps(false, count + 1)
            }
        };
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(is_kept);
        out.ids(&kept);
        self.kept = kept;
        true
    }

    fn combine_words(&mut self, rule: Rule, out: &mut impl Sink) {
        let has_first = self.has_first || self.is_first_full;
        let rule = match rule {
            Rule::OtherOnly if !has_first => Rule::Between { low: 1, high: u32::MAX },
            rule => rule,
        };
        let scratch = self.leaves.iter().filter(|leaf| leaf.form() != Form::Bits).count() + 1;
        self.chunks.resize_with(scratch.max(self.chunks.len()), || Box::new([0; CHUNK_WORDS]));
        let Some((result, mut scratch)) = self.chunks.split_first_mut() else {
            return;
        };
        let full = self.full as usize + usize::from(self.is_first_full);
        let mut operands: Vec<&[u64]> = Vec::with_capacity(self.leaves.len() + full);
        if self.is_first_full {
            operands.push(&FULL);
        }
        for leaf in &self.leaves {
            match (leaf.bits(), std::mem::take(&mut scratch)) {
                (Some(words), unused) => {
                    operands.push(words);
                    scratch = unused;
                }
                (None, [mine, unused @ ..]) => {
                    write_chunk(leaf, self.start, mine);
                    operands.push(&mine[..]);
                    scratch = unused;
                }
                (None, []) => debug_assert!(false, "a chunk of scratch for each packed leaf"),
            }
        }
        operands.extend((0..self.full).map(|_| &FULL[..]));
        words::combine(rule, &operands, result);
        out.chunk(self.start, &result[..]);
    }

    fn combine_spans(&mut self, rule: Rule, out: &mut impl Sink) {
        self.spans.begin(self.is_first_full, self.full);
        for (i, leaf) in self.leaves.iter().enumerate() {
            self.spans.add(leaf, self.has_first && i == 0, self.start, self.end);
        }
        self.spans.sweep(rule, self.start, self.end, out);
    }

    fn combine_ids(&mut self, rule: Rule, out: &mut impl Sink) {
        self.kept.clear();
        self.arrays.resize_with(self.leaves.len(), Vec::new);
        if matches!(rule, Rule::Between { low, .. } if low as usize == self.leaves.len()) {
            self.intersect();
        } else if let Some(ranges) = self.close_ranges() {
            self.end = self.end.min(self.start.saturating_add(WINDOW_BITS - 1));
            self.decode(ranges.into_iter());
            self.planes.combine(rule, &self.arrays, self.start, &mut self.kept);
        } else {
            let (start, end) = (self.start, self.end);
            let ranges: Vec<_> = self.leaves.iter().map(|leaf| leaf.ids_between(start, end)).collect();
            self.decode(ranges.into_iter());
            merge::combine(rule, &mut self.arrays, &mut self.kept);
        }
        out.ids(&self.kept);
    }

    fn decode(&mut self, ranges: impl Iterator<Item = Range<usize>>) {
        for ((leaf, ids), range) in self.leaves.iter().zip(&mut self.arrays).zip(ranges) {
            ids.clear();
            leaf.decode(range, ids);
        }
    }

    /// The entries of each leaf within a window of planes, if they are many and lie close together.
    fn close_ranges(&self) -> Option<Vec<Range<usize>>> {
        if self.leaves.len() < PLANES_OPERANDS {
            return None;
        }
        let end = self.end.min(self.start.saturating_add(WINDOW_BITS - 1));
        let ranges: Vec<_> = self.leaves.iter().map(|leaf| leaf.ids_between(self.start, end)).collect();
        let ids: usize = ranges.iter().map(Range::len).sum();
        (ids as u64 >= PLANES_IDS.min((end - self.start) / 1024 + 1)).then_some(ranges)
    }

    /// The smallest leaves first; none is decoded once nothing is left.
    fn intersect(&mut self) {
        let ranges = self.leaves.iter().map(|leaf| (leaf.ids_between(self.start, self.end), *leaf));
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_by_key(|(range, _)| range.len());
        let [left, right, ..] = &mut self.arrays[..] else {
            debug_assert!(false, "one leaf decides alone and is shared");
            return;
        };
        for (i, (range, leaf)) in ranges.into_iter().enumerate() {
            if i == 0 {
                leaf.decode(range, &mut self.kept);
                continue;
            }
            if self.kept.is_empty() {
                return;
            }
            right.clear();
            leaf.decode(range, right);
            std::mem::swap(left, &mut self.kept);
            self.kept.clear();
            merge::intersect(left, right, &mut self.kept);
        }
    }
}

/// Writes the chunk at `base` of a leaf.
pub(crate) fn write_chunk(leaf: &Leaf, base: u64, words: &mut Chunk) {
    words.fill(0);
    let mut walk = leaf.runs_from(base);
    let last = chunk_end(base);
    while let Some(run) = walk.next(leaf).filter(|run| run.start <= last) {
        bits::set_range(&mut words[..], run.start as u16, run.end.min(last) as u16);
    }
}
