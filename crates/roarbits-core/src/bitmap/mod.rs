//! The adaptive bitmap: a set of 64-bit ids whose cost follows what is stored,
//! never how large an id or how wide a span is.
//!
//! ```text
//! Bitmap -> Child: nothing, one leaf, or a node over leaves       tree.rs
//!           Leaf: bit-packed ids, bit-packed runs or plain bits   leaf.rs, edit.rs, packing.rs, bits.rs
//! ```
//!
//! `clone` shares the whole tree; a write then copies the path it changes.
//! `build` and `levels` make trees from ascending input, `algebra` combines any number, `many`
//! takes ids in batches, `walk` reads in order, `relocate` moves leaves, `validate` checks every invariant.

mod algebra;
mod bits;
mod build;
mod decode;
mod edit;
mod leaf;
mod levels;
mod many;
mod packing;
mod ranks;
mod read;
mod record;
mod relocate;
mod search;
mod shape;
mod spans;
mod spare;
mod staged;
mod stats;
mod string_bits;
mod tree;
mod validate;
mod walk;
mod words;

use std::ops::RangeInclusive;

use triomphe::Arc;

pub use algebra::{Combination, Remains, Watch};
pub(crate) use algebra::{Formula, Gate};
pub use build::Builder;
pub use read::{BitRead, Span};
pub use stats::{class_bytes, ByForm, Sample, Stats};
pub use string_bits::StringBits;
pub use walk::Runs;

pub(crate) use bits::{next_run, CHUNK_WORDS};
pub(crate) use leaf::Leaf;
pub(crate) use shape::{chunk_end, chunk_start};

use edit::InPlace;
use tree::{Change, Child, Effect, Node};

/// A maximal stretch of members, `start <= end`, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first member.
    pub start: u64,
    /// The last member.
    pub end: u64,
}

impl Run {
    /// The number of members, 1 to 2^64.
    pub fn cardinality(self) -> u128 {
        u128::from(self.end - self.start) + 1
    }
}

/// A set of 64-bit ids with a logical length in bytes, which covers the largest
/// id and only grows. `clone` is a snapshot: O(1), sharing everything.
#[derive(Debug, Clone, Default)]
pub struct Bitmap {
    root: Option<Child>,
    length_bytes: u64,
}

impl Bitmap {
    /// An empty bitmap of length 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grows the logical length to at least `bytes` (at most 2^61); true if it grew.
    pub fn grow_length(&mut self, bytes: u64) -> bool {
        let grows = bytes > self.length_bytes;
        self.length_bytes = self.length_bytes.max(bytes);
        grows
    }

    /// True if no id is set.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Whether both are one value that neither has changed since one was cloned from the other. O(1).
    pub fn is_same(&self, other: &Self) -> bool {
        let same_root = match (&self.root, &other.root) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_same(b),
            _ => false,
        };
        same_root && self.length_bytes == other.length_bytes
    }

    /// Sets `id` and grows the length to cover it; true if it was absent. O(log n).
    pub fn insert(&mut self, id: u64) -> bool {
        self.grow_length(id / 8 + 1);
        let Some(root) = &mut self.root else {
            self.root = Some(Child::leaf(Leaf::single(id)));
            return true;
        };
        match root.insert_in_place(id) {
            InPlace::Done => return true,
            InPlace::Present => return false,
            InPlace::Impossible => (),
        }
        let effect = root.insert(id, Change::Possible);
        self.settle(effect)
    }

    /// Clears `id`; true if it was present. The length stays. O(log n).
    pub fn remove(&mut self, id: u64) -> bool {
        let effect = self.root.as_mut().map_or(Effect::Unchanged, |root| root.remove(id, Change::Possible));
        self.settle(effect)
    }

    /// Takes up what a change did to the root; whether it changed anything.
    fn settle(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::Unchanged => return false,
            Effect::Settled => (),
            Effect::Shrunk => self.shrink_root(),
            Effect::Split(parts) => self.grow_root(parts),
            Effect::Emptied => self.root = None,
        }
        true
    }

    /// Sets every id of the closed range and grows the length; the number newly
    /// set. A reversed range is empty. O(log n), whatever the span.
    pub fn insert_range(&mut self, range: RangeInclusive<u64>) -> u128 {
        if range.is_empty() {
            return 0;
        }
        let (start, end) = range.into_inner();
        self.grow_length(end / 8 + 1);
        let absent = Run { start, end }.cardinality() - self.count_range(start..=end);
        if absent > 0 {
            self.replace_range(start, end, |out, _| out.push_run(Run { start, end }));
        }
        absent
    }

    /// Clears every id of the closed range; the number cleared. The length stays. O(log n), whatever the span.
    pub fn remove_range(&mut self, range: RangeInclusive<u64>) -> u128 {
        let present = self.count_range(range.clone());
        if present > 0 {
            self.replace_range(*range.start(), *range.end(), |_, _| ());
        }
        present
    }

    /// Flips every id of the closed range; the length grows to cover the largest id set. O(runs in the range).
    pub fn flip_range(&mut self, range: RangeInclusive<u64>) {
        if range.is_empty() {
            return;
        }
        let (start, end) = range.into_inner();
        self.replace_range(start, end, |out, root| {
            build::push_complement(out, root, start, end);
        });
        self.cover();
    }

    /// Members of both; the longer length.
    pub fn and(&self, other: &Self) -> Self {
        Combination::And.evaluate(&[self, other])
    }

    /// Members of either; the longer length.
    pub fn or(&self, other: &Self) -> Self {
        Combination::Or.evaluate(&[self, other])
    }

    /// Members of exactly one; the longer length.
    pub fn xor(&self, other: &Self) -> Self {
        Combination::Xor.evaluate(&[self, other])
    }

    /// Members of `self` but not of `other`; the longer length.
    pub fn diff(&self, other: &Self) -> Self {
        Combination::Diff.evaluate(&[self, other])
    }

    /// The complement within the logical length, as BITOP NOT. O(runs).
    pub fn not(&self) -> Self {
        let mut out = self.clone();
        if let Some(last) = self.last_addressable() {
            out.flip_range(0..=last);
        }
        out
    }

    /// The largest id that the logical length covers; `None` at length 0.
    pub fn last_addressable(&self) -> Option<u64> {
        self.length_bytes.checked_sub(1).map(|bytes| bytes * 8 + 7)
    }

    /// The members in the closed range, sharing storage; the length stays. O(log n).
    pub fn slice(&self, range: RangeInclusive<u64>) -> Self {
        let mut out = Builder::new();
        if let Some(root) = self.root.as_ref().filter(|_| !range.is_empty()) {
            out.push_slice(root, *range.start(), *range.end());
        }
        Self { length_bytes: self.length_bytes, ..out.finish(0) }
    }

    /// What the bitmap is made of, its bytes by `class_bytes`. O(leaves).
    pub fn stats(&self) -> Stats {
        self.stats_in_blocks(&class_bytes)
    }

    /// As `stats`, where `block_bytes` says what the allocator gives for a request.
    pub fn stats_in_blocks(&self, block_bytes: &dyn Fn(usize) -> usize) -> Stats {
        Stats::of(self.root.as_ref(), block_bytes)
    }

    /// Bytes of everything that the bitmap reaches, shared or not, where `block_bytes` says what
    /// the allocator gives for a request, as `class_bytes` does; the value itself is not among
    /// them. O(nodes) by a sample.
    pub fn memory_bytes(&self, sample: Sample, block_bytes: &dyn Fn(usize) -> usize) -> u64 {
        stats::memory_bytes(self.root.as_ref(), sample, block_bytes)
    }

    /// Roughly how many allocations dropping this value frees. O(1).
    pub fn free_effort(&self) -> u64 {
        free_effort(self.root.as_ref())
    }

    /// Checks every invariant of the structure. O(n).
    ///
    /// # Errors
    /// The first invariant that does not hold, in words.
    pub fn validate(&self) -> Result<(), String> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        validate::child(root, 0, u64::MAX)?;
        validate::height(root)?;
        if root.max() / 8 >= self.length_bytes {
            return Err(format!("length {} does not cover {}", self.length_bytes, root.max()));
        }
        Ok(())
    }

    /// Roughly how many leaves there are. O(2^height).
    pub fn leaves_estimated(&self) -> u64 {
        self.root.as_ref().map_or(0, Child::leaves_estimated)
    }

    /// Every leaf, ascending.
    pub(crate) fn leaves(&self) -> walk::Leaves<'_> {
        walk::Leaves::from(self.root.as_ref(), 0)
    }

    fn grow_root(&mut self, parts: Vec<(u64, Child)>) {
        let Some(left) = self.root.take() else {
            return;
        };
        let mut node = Node::empty(left.height() + 1, parts.len() + 1);
        let key = chunk_start(left.min());
        for (key, child) in std::iter::once((key, left)).chain(parts) {
            node.push(key, tree::Count::of(child.cardinality()), child);
        }
        // A batch may bring more parts than one node takes.
        let effect = node.settled(1);
        self.root = Some(Child::Node(Arc::new(node)));
        if let Effect::Split(parts) = effect {
            self.grow_root(parts);
        }
    }

    fn shrink_root(&mut self) {
        while let Some(Child::Node(node)) = &self.root {
            let [only] = &node.children[..] else {
                return;
            };
            let only = only.clone();
            self.root = Some(only);
        }
    }

    fn cover(&mut self) {
        if let Some(max) = self.max() {
            self.grow_length(max / 8 + 1);
        }
    }

    /// Puts what `fill` appends in the place of the ids from `start` to `end`.
    fn replace_range(&mut self, start: u64, end: u64, fill: impl FnOnce(&mut Builder, Option<&Child>)) {
        let root = self.root.as_ref();
        let mut out = Builder::new();
        if let (Some(root), Some(last)) = (root, start.checked_sub(1)) {
            out.push_slice(root, 0, last);
        }
        fill(&mut out, root);
        if let (Some(root), Some(first)) = (root, end.checked_add(1)) {
            out.push_slice(root, first, u64::MAX);
        }
        self.root = out.finish(0).root;
    }
}

/// Roughly how many allocations a tree is made of.
fn free_effort(root: Option<&Child>) -> u64 {
    match root {
        None => 1,
        Some(Child::Leaf(_)) => 2,
        Some(Child::Node(node)) => {
            let below = (tree::FANOUT as u64 / 2).saturating_pow(u32::from(node.height) - 1);
            (node.children.len() as u64).saturating_mul(below).saturating_mul(2)
        }
    }
}

impl BitRead for Bitmap {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn cardinality(&self) -> u128 {
        self.root.as_ref().map_or(0, Child::cardinality)
    }

    fn contains(&self, id: u64) -> bool {
        self.root.as_ref().is_some_and(|root| root.contains(id))
    }

    fn contains_many(&self, ids: &[u64]) -> Vec<bool> {
        self.answers(ids)
    }

    fn count_range(&self, range: RangeInclusive<u64>) -> u128 {
        let Some(root) = self.root.as_ref().filter(|_| !range.is_empty()) else {
            return 0;
        };
        let below = range.start().checked_sub(1).map_or(0, |last| root.rank(last));
        root.rank(*range.end()) - below
    }

    fn select(&self, n: u128) -> Option<u64> {
        self.root.as_ref().filter(|root| n < root.cardinality()).map(|root| root.select(n))
    }

    fn select_all(&self, ranks: &[u128]) -> Vec<u64> {
        self.root.as_ref().map(|root| ranks::select_all(root, ranks)).unwrap_or_default()
    }

    fn next_present(&self, from: u64) -> Option<u64> {
        self.root.as_ref()?.next_present(from)
    }

    fn next_absent(&self, from: u64) -> Option<u64> {
        match &self.root {
            None => Some(from),
            Some(root) => root.next_absent(from, u64::MAX),
        }
    }

    fn max(&self) -> Option<u64> {
        self.root.as_ref().map(Child::max)
    }

    fn spans_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Span<'_>> + '_> {
        Box::new(spans::Spans::new(self.root.as_ref(), range))
    }

    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_> {
        Box::new(Runs::new(self.root.as_ref(), range))
    }
}
