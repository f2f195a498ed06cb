//! Ascending ids on their way into a leaf, one by one and mostly apart: the builder's
//! quick path beside runs.

use super::decode::gaps;
use super::leaf::Leaf;
use super::packing::{bit_length, Layout, Room};
use super::shape::{
    chunk_end, chunk_start, Shape, CHUNK_LEAF_MAX_BYTES, LEAF_OVERHEAD_BYTES, SHARED_LEAF_MAX_BYTES,
};
use super::spare::Spare;
use super::Run;

const SHARED_LEAF_MAX_BITS: usize = SHARED_LEAF_MAX_BYTES * 8;
const CHUNK_LEAF_MAX_BITS: usize = CHUNK_LEAF_MAX_BYTES * 8;
const LEAF_OVERHEAD_BITS: usize = LEAF_OVERHEAD_BYTES as usize * 8;

/// Ids that are looked at together.
const BLOCK: usize = 16;

/// Ids that will make a leaf.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    ids: Vec<u64>,
    sums: Sums,
}

/// What decides how ids are encoded.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// Bits in which an id differs from the first.
    varying: u64,
    /// What they say of the layout: the shift of its highest field, the bits of the lower ones.
    top_shift: u32,
    lower_width: u32,
    /// Bits of an entry.
    width: usize,
    /// Maximal runs.
    runs: usize,
}

impl Sums {
    fn of(ids: &[u64]) -> Self {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
            return Self::default();
        };
        let varying = ids.iter().fold(0, |varying, id| varying | (id ^ first));
        let sums = Self { runs: 1 + gaps(ids), ..Self::default() };
        sums.varying_in(varying).up_to(*first, *last)
    }

    /// The same of ids that differ in the bits `varying`.
    #[inline]
    fn varying_in(self, varying: u64) -> Self {
        if varying == self.varying {
            return self;
        }
        let (top_shift, lower_width) = Layout::top_and_lower(varying);
        Self { varying, top_shift, lower_width, ..self }
    }

    /// The same with the width for ids from `first` to `last`, as `Layout::choose` has it.
    #[inline]
    fn up_to(self, first: u64, last: u64) -> Self {
        let span = (last >> (self.top_shift % 64)).wrapping_sub(first >> (self.top_shift % 64));
        Self { width: (self.lower_width + bit_length(span)) as usize, ..self }
    }

    /// The same with `id`, the last of `ids`, beside them.
    fn with(self, first: u64, id: u64) -> Self {
        self.varying_in(self.varying | (id ^ first)).up_to(first, id)
    }
}

impl Staged {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Bytes of the ids, packed.
    pub(crate) fn packed_bytes(&self) -> usize {
        (self.ids.len() * self.sums.width).div_ceil(8)
    }

    /// Adds the first of ascending ids, all above those so far: up to one with which they
    /// overflow, or before one that is better left out. Returns how many were added.
    pub(crate) fn extend(&mut self, ids: &[u64]) -> usize {
        let mut rest = ids;
        while !rest.is_empty() {
            let n = match rest.first_chunk() {
                Some(block) if self.extend_by_block(block) => BLOCK,
                _ => match self.extend_singly(&rest[..rest.len().min(BLOCK)]) {
                    Ok(n) => n,
                    Err(n) => return ids.len() - rest.len() + n,
                },
            };
            rest = &rest[n..];
        }
        ids.len()
    }

    /// Adds a whole block if it widens little and cannot overflow.
    fn extend_by_block(&mut self, block: &[u64; BLOCK]) -> bool {
        let (Some(first), Some(last)) = (self.ids.first(), self.ids.last()) else {
            return false;
        };
        let varying = block.iter().fold(self.sums.varying, |varying, id| varying | (id ^ first));
        let sums = self.sums.varying_in(varying).up_to(*first, block[BLOCK - 1]);
        let fits = (self.ids.len() + BLOCK) * sums.width <= SHARED_LEAF_MAX_BITS
            || block[BLOCK - 1] <= chunk_end(*first);
        if !fits || self.is_widened_too_much(sums) {
            return false;
        }
        let runs = sums.runs + usize::from(block[0] - last != 1) + gaps(block);
        self.sums = Sums { runs, ..sums };
        self.ids.extend_from_slice(block);
        true
    }

    /// Adds ids one by one; how many, as an error if it had to stop.
    fn extend_singly(&mut self, ids: &[u64]) -> Result<usize, usize> {
        for (n, id) in ids.iter().enumerate() {
            if self.is_better_without(*id) {
                return Err(n);
            }
            self.push(*id);
            if self.overflows() {
                return Err(n + 1);
            }
        }
        Ok(ids.len())
    }

    fn push(&mut self, id: u64) {
        if let (Some(first), Some(last)) = (self.ids.first(), self.ids.last()) {
            self.sums = self.sums.with(*first, id);
            self.sums.runs += usize::from(id - last != 1);
        } else {
            self.sums = Sums { runs: 1, ..Sums::default() };
        }
        self.ids.push(id);
    }

    /// Whether a leaf is better closed before `id`: it would make all entries wider by
    /// more than a leaf of its own costs.
    fn is_better_without(&self, id: u64) -> bool {
        let (Some(first), Some(last)) = (self.ids.first(), self.ids.last()) else {
            return false;
        };
        chunk_end(*last) < id && self.is_widened_too_much(self.sums.with(*first, id))
    }

    /// Whether entries as wide as `sums` has them cost more than a leaf of its own does.
    fn is_widened_too_much(&self, sums: Sums) -> bool {
        self.ids.len() * sums.width.saturating_sub(self.sums.width) > LEAF_OVERHEAD_BITS
    }

    /// Whether the ids are too much for one leaf and can be cut between chunks.
    pub(crate) fn overflows(&self) -> bool {
        self.ids.len() * self.sums.width > SHARED_LEAF_MAX_BITS
            && matches!((self.ids.first(), self.ids.last()), (Some(first), Some(last)) if chunk_end(*first) < *last)
    }

    /// Whether runs may cost less than ids.
    pub(crate) fn has_long_runs(&self) -> bool {
        has_long_runs(&self.ids, self.sums)
    }

    /// Takes the ids as runs.
    pub(crate) fn take_runs(&mut self) -> Vec<Run> {
        let runs = runs_of(&self.ids);
        self.ids.clear();
        runs
    }

    /// Takes the ids as a leaf.
    pub(crate) fn take_leaf(&mut self, spare: &mut Spare) -> Option<Leaf> {
        debug_assert!(!self.overflows());
        let leaf = leaf_of(&self.ids, self.sums, spare);
        self.ids.clear();
        leaf
    }

    /// Takes the first of ids that overflow as a leaf: up to a gap where parting them
    /// saves more than a leaf costs, else up to the start of the last chunk.
    pub(crate) fn cut_leaf(&mut self, spare: &mut Spare) -> Option<Leaf> {
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let at = match self.costly_gap() {
            Some(i) => chunk_start(self.ids[i]),
            None => chunk_start(last).max(chunk_end(first) + 1),
        };
        let i = self.ids.partition_point(|id| *id < at);
        let leaf = leaf_of(&self.ids[..i], Sums::of(&self.ids[..i]), spare);
        self.ids.drain(..i);
        self.sums = Sums::of(&self.ids);
        leaf
    }

    /// The index after the widest gap, if it lies between chunks and leaves on either
    /// side of it are smaller by more than a leaf of its own costs.
    fn costly_gap(&self) -> Option<usize> {
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let gaps = || self.ids.iter().zip(self.ids.iter().skip(1)).map(|(id, next)| next - id);
        let widest = gaps().max()?;
        // A narrow gap spares neither side a bit worth mentioning.
        if widest < (last - first) / 4 {
            return None;
        }
        let i = gaps().position(|gap| gap == widest)? + 1;
        let saved =
            |from: u64, to: u64, n: usize| n * (bit_length(last - first) - bit_length(to - from)) as usize;
        let both = saved(first, self.ids[i - 1], i) + saved(self.ids[i], last, self.ids.len() - i);
        (both > LEAF_OVERHEAD_BITS && chunk_end(self.ids[i - 1]) < self.ids[i]).then_some(i)
    }
}

/// Whether runs may cost less than ids: a run has the bits of its start, and one of its length at least.
fn has_long_runs(ids: &[u64], sums: Sums) -> bool {
    let span = ids.last().zip(ids.first()).map_or(0, |(last, first)| last - first);
    sums.runs * (bit_length(span) as usize + 1) < ids.len() * sums.width
}

fn runs_of(ids: &[u64]) -> Vec<Run> {
    let runs = ids.chunk_by(|id, next| id + 1 == *next);
    runs.filter_map(|run| Some(Run { start: *run.first()?, end: *run.last()? })).collect()
}

fn leaf_of(ids: &[u64], sums: Sums, spare: &mut Spare) -> Option<Leaf> {
    let (first, last) = (*ids.first()?, *ids.last()?);
    let (base, layout) = Layout::choose(first, last, sums.varying, Room::Above);
    let bits = ids.len() * layout.width() as usize;
    let is_chunk = chunk_start(first) == chunk_start(last) && bits > CHUNK_LEAF_MAX_BITS;
    if is_chunk || has_long_runs(ids, sums) {
        let runs = runs_of(ids);
        let shape = Shape::of_all(runs.iter().copied())?;
        return Some(Leaf::from_runs(&shape, runs.into_iter()));
    }
    let words = spare.take(Leaf::packed_words(ids.len(), layout));
    Some(Leaf::packed(ids, base, layout, sums.runs, words))
}
