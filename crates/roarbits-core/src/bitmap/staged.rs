//! Ascending ids on their way into a leaf, one by one and mostly apart: the builder's
//! quick path beside runs.

use super::decode::pack_all;
use super::leaf::{Form, Leaf};
use super::packing::{self, bit_length, Layout, Room};
use super::shape::{
    chunk_end, chunk_start, Shape, CHUNK_LEAF_MAX_BYTES, LEAF_OVERHEAD_BYTES, SHARED_LEAF_MAX_BYTES,
};
use super::Run;

const SHARED_LEAF_MAX_BITS: usize = SHARED_LEAF_MAX_BYTES * 8;
const CHUNK_LEAF_MAX_BITS: usize = CHUNK_LEAF_MAX_BYTES * 8;
const LEAF_OVERHEAD_BITS: usize = LEAF_OVERHEAD_BYTES as usize * 8;

/// Ids that will make a leaf.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    ids: Vec<u64>,
    /// Bits in which an id differs from the first.
    varying: u64,
    /// Bits of an entry.
    width: usize,
    /// Maximal runs.
    runs: usize,
}

impl Staged {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Bytes of the ids, packed.
    pub(crate) fn packed_bytes(&self) -> usize {
        (self.ids.len() * self.width).div_ceil(8)
    }

    /// Adds an id above all so far.
    #[inline]
    pub(crate) fn push(&mut self, id: u64) {
        let (Some(first), Some(last)) = (self.ids.first(), self.ids.last()) else {
            (self.varying, self.width, self.runs) = (0, 0, 1);
            return self.ids.push(id);
        };
        self.runs += usize::from(id - last != 1);
        let varying = id ^ first;
        if varying & !self.varying != 0 {
            self.varying |= varying;
            self.width = Layout::width_bound(self.varying) as usize;
        }
        self.ids.push(id);
    }

    /// Whether a leaf is better closed before `id`: it would make all entries wider by
    /// more than a leaf of its own costs.
    #[inline]
    pub(crate) fn is_better_without(&self, id: u64) -> bool {
        let (Some(first), Some(last)) = (self.ids.first(), self.ids.last()) else {
            return false;
        };
        let varying = id ^ first;
        varying & !self.varying != 0
            && chunk_end(*last) < id
            && self.ids.len() * (Layout::width_bound(self.varying | varying) as usize - self.width)
                > LEAF_OVERHEAD_BITS
    }

    /// Whether the ids are too much for one leaf and can be cut between chunks.
    #[inline]
    pub(crate) fn overflows(&self) -> bool {
        self.ids.len() * self.width > SHARED_LEAF_MAX_BITS && self.is_many_chunks()
    }

    fn is_many_chunks(&self) -> bool {
        matches!((self.ids.first(), self.ids.last()), (Some(first), Some(last)) if chunk_end(*first) < *last)
    }

    /// Whether runs may cost less than ids: a run has the bits of its start and one of its length at least.
    pub(crate) fn has_long_runs(&self) -> bool {
        let span = self.ids.last().zip(self.ids.first()).map_or(0, |(last, first)| last - first);
        self.runs * (bit_length(span) as usize + 1) < self.ids.len() * self.width
    }

    /// Takes the ids as runs.
    pub(crate) fn take_runs(&mut self) -> Vec<Run> {
        let ids = std::mem::take(&mut self.ids);
        let runs = ids.chunk_by(|a, b| a + 1 == *b);
        runs.filter_map(|run| Some(Run { start: *run.first()?, end: *run.last()? })).collect()
    }

    /// Takes the ids as a leaf.
    pub(crate) fn take_leaf(&mut self) -> Option<Leaf> {
        if self.has_long_runs() {
            let runs = self.take_runs();
            let shape = Shape::of_all(runs.iter().copied())?;
            return Some(Leaf::from_runs(&shape, runs.into_iter()));
        }
        let leaf = leaf_of(&self.ids, self.varying, self.runs);
        self.ids.clear();
        leaf
    }

    /// Takes the first ids of ids that overflow as a leaf: up to a gap that parts them
    /// for less than it costs, else to the start of the last chunk.
    pub(crate) fn cut_leaf(&mut self) -> Option<Leaf> {
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let at = match self.costly_gap() {
            Some(i) => chunk_start(self.ids[i]),
            None => chunk_start(last).max(chunk_end(first) + 1),
        };
        let right = self.ids.split_off(self.ids.partition_point(|id| *id < at));
        let leaf = Self::of(&self.ids).take_leaf();
        *self = Self::of(&right);
        leaf
    }

    fn of(ids: &[u64]) -> Self {
        let mut staged = Self { ids: Vec::with_capacity(ids.len()), ..Self::default() };
        ids.iter().for_each(|id| staged.push(*id));
        staged
    }

    /// The index after the widest gap, if it lies between chunks and leaves on either
    /// side of it are smaller by more than a leaf of its own costs.
    fn costly_gap(&self) -> Option<usize> {
        let gap = |i: usize| self.ids[i] - self.ids[i - 1];
        let i = (1..self.ids.len()).max_by_key(|i| gap(*i))?;
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let saved =
            |from: u64, to: u64, n: usize| n * (bit_length(last - first) - bit_length(to - from)) as usize;
        let both = saved(first, self.ids[i - 1], i) + saved(self.ids[i], last, self.ids.len() - i);
        (both > LEAF_OVERHEAD_BITS && chunk_end(self.ids[i - 1]) < self.ids[i]).then_some(i)
    }
}

/// The leaf of ascending ids that would not cost less as runs.
fn leaf_of(ids: &[u64], varying: u64, runs: usize) -> Option<Leaf> {
    let (first, last) = (*ids.first()?, *ids.last()?);
    let (base, layout) = Layout::choose(first, last, varying, Room::Above);
    let bits = ids.len() * layout.width() as usize;
    if chunk_start(first) == chunk_start(last) && bits > CHUNK_LEAF_MAX_BITS {
        let shape = Shape::of_all(ids.iter().map(|id| Run { start: *id, end: *id }))?;
        let leaf = Leaf::encode_bits(&shape, ids.iter().map(|id| Run { start: *id, end: *id }));
        return Some(Leaf { runs: runs as u16, ..leaf });
    }
    let mut words = vec![0; packing::class_words(bits.div_ceil(64))].into_boxed_slice();
    pack_all(ids, base, layout, &mut words);
    Some(Leaf {
        base,
        words,
        card_less_one: ids.len() as u64 - 1,
        runs: runs as u16,
        length_width: 0,
        form: Form::Ids,
        layout,
    })
}
