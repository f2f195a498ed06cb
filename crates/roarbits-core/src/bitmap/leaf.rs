//! A leaf: the tree's unit of ids, in one of three forms.
//!
//! ```text
//! Ids    entries of layout.width() bits: the bits of (id - base) that vary here, ascending
//! Runs   entries of length_width + layout.width() bits, up to 64 each: length - 1, then start - base;
//!        ascending, never touching
//! Bits   1,024 words: the ids base .. base + 65,535 of one chunk, one bit each
//! ```
//!
//! Words are allocated by the allocator's size classes, but for a single one, and
//! zero beyond the last entry. A leaf is never empty, holds whole chunks (but for runs that the tree
//! cuts at chunk boundaries), and knows its exact number of runs, so that the
//! cheaper form is known without a scan. `edit` changes leaves; here they answer.

use std::ops::ControlFlow;

use super::bits::{self, CHUNK_WORDS};
use super::packing::{self, low_mask, partition, Layout, Packer, Room};
use super::search::{below_whole, Ascending, Slope, WHOLE_BITS, WHOLE_IN_PLACE};
use super::shape::{chunk_end, chunk_start, Shape};
use super::words::Words;
use super::Run;

/// The layout of entries that are whole numbers.
pub(super) const WHOLE: Layout = Layout::contiguous(WHOLE_BITS);

/// How a leaf keeps its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bit-packed ids.
    Ids,
    /// Bit-packed runs.
    Runs,
    /// Plain bits of one chunk.
    Bits,
}

/// How many changes a packed leaf takes at least before it is examined for a cheaper form.
pub(super) const EXAM_CHANGES: u16 = 32;
/// How many a leaf of bits takes.
pub(super) const BITS_EXAM_CHANGES: u16 = 512;

/// Fewer words than this are allocated as fast as kept.
const REUSED_MIN_WORDS: usize = 64;

/// A non-empty set of ids in one encoding; 48 bytes and its words.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(super) base: u64,
    pub(super) words: Words,
    /// Cardinality less one: a single run may span all 2^64 ids.
    pub(super) card_less_one: u64,
    pub(super) runs: u16,
    pub(super) length_width: u8,
    pub(super) form: Form,
    pub(super) layout: Layout,
    /// Changes until the leaf is examined for a cheaper form.
    pub(super) patience: u16,
    /// Where searches of a packed leaf begin.
    pub(super) slope: Slope,
}

impl Leaf {
    /// A leaf of one id.
    pub(crate) fn single(id: u64) -> Self {
        Self {
            base: id,
            words: Words::default(),
            card_less_one: 0,
            runs: 1,
            length_width: 0,
            form: Form::Ids,
            layout: Layout::default(),
            patience: EXAM_CHANGES,
            slope: Slope::default(),
        }
    }

    /// The cheapest encoding of non-empty ascending runs that do not touch.
    pub(crate) fn from_runs(shape: &Shape, runs: impl Iterator<Item = Run>) -> Self {
        match shape.best_form() {
            Form::Ids => Self::encode_ids(shape, runs, Room::Above),
            Form::Runs => Self::encode_runs(shape, runs, Room::Above),
            Form::Bits => Self::encode_bits(shape, runs),
        }
    }

    pub(super) fn encode_ids(shape: &Shape, runs: impl Iterator<Item = Run>, room: Room) -> Self {
        let (base, layout) = shape.id_layout(room);
        let width = layout.width();
        let mut words = Packer::new(shape.card as usize, width);
        let ids = runs.flat_map(|run| run.start..=run.end);
        ids.for_each(|id| words.push(layout.pack(id - base), width));
        Self::of_entries(base, layout, words.finish(), shape.card as u64, shape.runs)
    }

    /// A leaf of `card` packed ids in `runs` runs, one at least.
    pub(super) fn of_entries(base: u64, layout: Layout, words: Words, card: u64, runs: usize) -> Self {
        let leaf = Self {
            base,
            words,
            card_less_one: card - 1,
            runs: runs as u16,
            length_width: 0,
            form: Form::Ids,
            layout,
            patience: EXAM_CHANGES,
            slope: Slope::default(),
        };
        leaf.sloped()
    }

    pub(super) fn encode_runs(shape: &Shape, runs: impl Iterator<Item = Run>, room: Room) -> Self {
        let (start_width, length_width) = shape.run_widths();
        let spare = match room {
            Room::Above => 0,
            Room::Below => (low_mask(start_width) - (shape.last_start - shape.min)).min(shape.min),
        };
        let base = shape.min - spare;
        let mut words = Packer::new(shape.runs, start_width + length_width);
        runs.for_each(|run| {
            words.push(run.end - run.start, length_width);
            words.push(run.start - base, start_width);
        });
        let leaf = Self {
            base,
            words: words.finish(),
            card_less_one: (shape.card - 1) as u64,
            runs: shape.runs as u16,
            length_width: length_width as u8,
            form: Form::Runs,
            layout: Layout::contiguous(start_width),
            patience: EXAM_CHANGES,
            slope: Slope::default(),
        };
        leaf.sloped()
    }

    pub(super) fn encode_bits(shape: &Shape, runs: impl Iterator<Item = Run>) -> Self {
        let mut words = vec![0; CHUNK_WORDS];
        runs.for_each(|run| bits::set_range(&mut words, run.start as u16, run.end as u16));
        Self::from_chunk(
            chunk_start(shape.min),
            words.into_boxed_slice(),
            shape.card as u32,
            shape.runs as u32,
        )
    }

    /// A leaf of plain bits; `words` are one chunk with `card` > 0 bits set in `runs` runs.
    pub(crate) fn from_chunk(base: u64, words: Box<[u64]>, card: u32, runs: u32) -> Self {
        Self {
            base,
            words: words.into(),
            card_less_one: u64::from(card) - 1,
            runs: runs as u16,
            length_width: 0,
            form: Form::Bits,
            layout: Layout::default(),
            patience: BITS_EXAM_CHANGES,
            slope: Slope::default(),
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// The words of a leaf of bits.
    pub(crate) fn bits(&self) -> Option<&[u64]> {
        (self.form == Form::Bits).then_some(&self.words)
    }

    /// Takes the words of a leaf, which must not be used any more; few are not worth taking.
    pub(crate) fn take_words(&mut self) -> Option<Box<[u64]>> {
        match &mut self.words {
            Words::Boxed(words) if words.len() >= REUSED_MIN_WORDS => Some(std::mem::take(words)),
            Words::Boxed(_) | Words::One(_) => None,
        }
    }

    /// The number of ids, 1 to 2^64.
    pub(crate) fn cardinality(&self) -> u128 {
        u128::from(self.card_less_one) + 1
    }

    pub(super) fn has_one_id(&self) -> bool {
        self.card_less_one == 0
    }

    /// Entries of a packed leaf.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        match self.form {
            Form::Ids => self.card_less_one as usize + 1,
            Form::Runs | Form::Bits => usize::from(self.runs),
        }
    }

    /// Bits of an entry of a packed leaf.
    pub(super) fn entry_width(&self) -> u32 {
        self.layout.width() + u32::from(self.length_width)
    }

    /// Words in use.
    pub(super) fn used_words(&self) -> usize {
        match self.form {
            Form::Bits => CHUNK_WORDS,
            Form::Ids | Form::Runs => packing::words_for(self.entries(), self.entry_width()),
        }
    }

    /// Words allocated beside the header.
    pub(crate) fn allocated_words(&self) -> usize {
        self.words.allocated()
    }

    /// Bytes in use, without the header.
    pub(crate) fn payload_bytes(&self) -> usize {
        self.used_words() * 8
    }

    /// Id `i` of the form of ids.
    #[inline]
    pub(crate) fn id_at(&self, i: usize) -> u64 {
        self.base.wrapping_add(self.layout.unpack(packing::get(&self.words, self.layout.width(), i)))
    }

    /// Every id of the form of ids.
    pub(super) fn ids(&self) -> Vec<u64> {
        let (entries, layout, base) = (self.ascending(), self.layout, self.base);
        (0..entries.len).map(|i| base.wrapping_add(layout.unpack(entries.at(i)))).collect()
    }

    /// Run `i` of the form of runs.
    pub(super) fn run_at(&self, i: usize) -> Run {
        let length_width = u32::from(self.length_width);
        let at = i * self.entry_width() as usize;
        let length = packing::read(&self.words, at, length_width);
        let start = self.base + packing::read(&self.words, at + length_width as usize, self.layout.width());
        Run { start, end: start + length }
    }

    /// Overwrites run `i` of the form of runs, which must fit its widths.
    pub(super) fn set_run(&mut self, i: usize, run: Run) {
        let (length_width, start_width) = (u32::from(self.length_width), self.layout.width());
        let at = i * self.entry_width() as usize;
        packing::write(&mut self.words, at, length_width, run.end - run.start);
        packing::write(&mut self.words, at + length_width as usize, start_width, run.start - self.base);
    }

    /// The entries of the form of ids, or the starts of the form of runs.
    #[inline]
    pub(super) fn ascending(&self) -> Ascending<'_> {
        Ascending {
            words: &self.words,
            stride: self.entry_width() as usize,
            offset: usize::from(self.length_width),
            width: self.layout.width(),
            len: self.entries(),
            slope: self.slope,
        }
    }

    /// The entries, if each is just a `u16`: scattered ids of one chunk, mostly.
    #[inline]
    pub(super) fn whole_entries(&self) -> Option<&[u16]> {
        let is_whole = self.form == Form::Ids && self.layout == WHOLE && WHOLE_IN_PLACE;
        is_whole.then(|| bytemuck::cast_slice(&self.words).get(..self.entries())).flatten()
    }

    /// The packed leaf, its slope set.
    pub(super) fn sloped(mut self) -> Self {
        self.follow_last();
        self
    }

    /// Sets the slope of a packed leaf by its last entry.
    pub(super) fn follow_last(&mut self) {
        let entries = self.ascending();
        if entries.width > 0 {
            self.slope = Slope::to(entries.at(entries.len - 1), entries.width);
        }
    }

    /// The number of ids below `id` in the form of ids.
    pub(crate) fn ids_below(&self, id: u64) -> usize {
        let Some(delta) = id.checked_sub(self.base) else {
            return 0;
        };
        if let (Some(entries), Ok(entry)) = (self.whole_entries(), u16::try_from(delta)) {
            return below_whole(entries, entry, self.slope);
        }
        match self.layout.entry_of(delta) {
            Some(entry) => self.ascending().below(entry),
            None => partition(self.entries(), |i| self.id_at(i) < id),
        }
    }

    /// The number of runs that start at `id` or below, in the form of runs.
    pub(super) fn runs_from_below(&self, id: u64) -> usize {
        match id.checked_sub(self.base).map(|start| start.checked_add(1)) {
            None => 0,
            Some(Some(above)) => self.ascending().below(above),
            Some(None) => self.entries(),
        }
    }

    /// Whether the chunk of `id` is the one of a leaf of bits.
    fn has_chunk(&self, id: u64) -> bool {
        chunk_start(id) == self.base
    }

    pub(crate) fn min(&self) -> u64 {
        match self.form {
            Form::Ids => self.id_at(0),
            Form::Runs => self.run_at(0).start,
            Form::Bits => self.base + bits::next_set(&self.words, 0).map_or(0, u64::from),
        }
    }

    pub(crate) fn max(&self) -> u64 {
        match self.form {
            Form::Ids => self.id_at(self.entries() - 1),
            Form::Runs => self.run_at(self.entries() - 1).end,
            Form::Bits => self.base + bits::last_set(&self.words).map_or(0, u64::from),
        }
    }

    /// Whether all ids are of one chunk.
    pub(crate) fn is_one_chunk(&self) -> bool {
        self.form == Form::Bits || chunk_start(self.min()) == chunk_start(self.max())
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.position_of(id).is_some()
    }

    /// The number of entries below `id`, which is where an entry of its own goes;
    /// `None` if it is a member. Plain bits have no places: 0.
    pub(crate) fn place_of(&self, id: u64) -> Option<usize> {
        match self.form {
            Form::Ids => Some(self.ids_below(id)).filter(|i| *i == self.entries() || self.id_at(*i) != id),
            Form::Runs => Some(self.runs_from_below(id)).filter(|i| *i == 0 || self.run_at(i - 1).end < id),
            Form::Bits => (!self.contains(id)).then_some(0),
        }
    }

    /// Reads where `id` is likely to lie, and does nothing with it: when it is asked for, it is in the cache.
    #[inline]
    pub(crate) fn glance(&self, id: u64) {
        let word = match self.form {
            Form::Ids => {
                let entry = self.layout.pack(id.wrapping_sub(self.base));
                self.words.get(self.ascending().likely_word(entry))
            }
            Form::Runs => self.words.get(self.ascending().likely_word(id.wrapping_sub(self.base))),
            Form::Bits => self.words.get(usize::from(id as u16 / 64)),
        };
        std::hint::black_box(word.copied());
    }

    /// Where `id` is to be cleared: its entry, or the run it lies in; `None` if it is
    /// no member. Plain bits have no places: 0.
    pub(crate) fn position_of(&self, id: u64) -> Option<usize> {
        if let Some(entries) = self.whole_entries() {
            let entry = u16::try_from(id.wrapping_sub(self.base)).ok()?;
            let below = below_whole(entries, entry, self.slope);
            return entries.get(below).filter(|found| **found == entry).map(|_| below);
        }
        match self.form {
            Form::Ids => {
                let entry = id.checked_sub(self.base).and_then(|delta| self.layout.entry_of(delta))?;
                let entries = self.ascending();
                Some(entries.below(entry)).filter(|i| *i < entries.len && entries.at(*i) == entry)
            }
            Form::Runs => self.runs_from_below(id).checked_sub(1).filter(|i| self.run_at(*i).end >= id),
            Form::Bits => (self.has_chunk(id) && bits::contains(&self.words, id as u16)).then_some(0),
        }
    }

    /// The number of ids that are `id` or below.
    pub(crate) fn rank(&self, id: u64) -> u128 {
        match self.form {
            Form::Ids => {
                let below = self.ids_below(id);
                let itself = below < self.entries() && self.id_at(below) == id;
                (below + usize::from(itself)) as u128
            }
            Form::Runs => {
                let runs = (0..self.runs_from_below(id)).map(|i| self.run_at(i));
                runs.map(|run| Run { start: run.start, end: run.end.min(id) }.cardinality()).sum()
            }
            Form::Bits if id < self.base => 0,
            Form::Bits if self.has_chunk(id) => u128::from(bits::rank(&self.words, id as u16)),
            Form::Bits => self.cardinality(),
        }
    }

    /// The `n`-th smallest id, zero-based; `n` must be below the cardinality.
    pub(crate) fn select(&self, n: u128) -> u64 {
        match self.form {
            Form::Ids => self.id_at(n as usize),
            Form::Runs => {
                let mut left = n;
                for run in (0..self.entries()).map(|i| self.run_at(i)) {
                    if left < run.cardinality() {
                        return run.start + left as u64;
                    }
                    left -= run.cardinality();
                }
                self.max()
            }
            Form::Bits => self.base + u64::from(bits::select(&self.words, n as u32)),
        }
    }

    /// The smallest id of the leaf that is `from` or above.
    pub(crate) fn next_present(&self, from: u64) -> Option<u64> {
        self.next_run(from).map(|run| run.start)
    }

    /// The smallest number that is `from` or above and not in the leaf; `None` if there is none up to 2^64-1.
    pub(crate) fn next_absent(&self, from: u64) -> Option<u64> {
        match self.next_run(from) {
            Some(run) if run.start == from => run.end.checked_add(1),
            _ => Some(from),
        }
    }

    /// The first maximal run that ends at `from` or above, its start cut to `from`.
    pub(crate) fn next_run(&self, from: u64) -> Option<Run> {
        let mut found = None;
        let _ = self.for_each_run(from, |run| {
            found = Some(run);
            ControlFlow::Break(())
        });
        found
    }

    /// Calls `visit` with each maximal run that ends at `from` or above, ascending, the first cut to start at `from`.
    pub(crate) fn for_each_run(
        &self,
        from: u64,
        mut visit: impl FnMut(Run) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut runs = self.runs_from(from);
        while let Some(run) = runs.next(self) {
            visit(run)?;
        }
        ControlFlow::Continue(())
    }

    /// Starts a walk over the maximal runs that end at `from` or above.
    pub(crate) fn runs_from(&self, from: u64) -> LeafRuns {
        let at = match self.form {
            Form::Ids => self.ids_below(from) as u32,
            Form::Runs => match self.runs_from_below(from) {
                i if i > 0 && self.run_at(i - 1).end >= from => i as u32 - 1,
                i => i as u32,
            },
            Form::Bits if from > chunk_end(self.base) => 1 << 16,
            Form::Bits => from.saturating_sub(self.base) as u32,
        };
        LeafRuns { at, from }
    }

    /// Every run of the leaf.
    pub(crate) fn runs_iter(&self) -> impl Iterator<Item = Run> + '_ {
        let mut walk = self.runs_from(0);
        std::iter::from_fn(move || walk.next(self))
    }

    /// The sums over the leaf's ids that decide its encoding.
    pub(crate) fn shape(&self) -> Shape {
        let mut runs = self.runs_iter();
        let first = runs.next().unwrap_or(Run { start: self.base, end: self.base });
        let mut shape = Shape::of(first);
        runs.for_each(|run| shape.push(run));
        shape
    }
}

/// A place in a walk over the runs of a leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafRuns {
    /// The next entry, or the next bit.
    at: u32,
    /// Runs start no earlier than this.
    from: u64,
}

impl LeafRuns {
    /// The next maximal run; `leaf` must be the one the walk started on.
    pub(crate) fn next(&mut self, leaf: &Leaf) -> Option<Run> {
        match leaf.form {
            Form::Ids => self.next_of_ids(leaf),
            Form::Runs => {
                let at = self.at as usize;
                if at >= leaf.entries() {
                    return None;
                }
                self.at += 1;
                let run = leaf.run_at(at);
                Some(Run { start: run.start.max(self.from), end: run.end })
            }
            Form::Bits => {
                let run = bits::next_run(&leaf.words, leaf.base, u16::try_from(self.at).ok()?)?;
                self.at = (run.end - leaf.base) as u32 + 1;
                Some(run)
            }
        }
    }

    fn next_of_ids(&mut self, leaf: &Leaf) -> Option<Run> {
        let n = leaf.entries() as u32;
        if self.at >= n {
            return None;
        }
        let start = leaf.id_at(self.at as usize);
        let mut end = start;
        self.at += 1;
        while self.at < n && u64::from(leaf.runs) < leaf.card_less_one + 1 {
            let next = leaf.id_at(self.at as usize);
            if next != end + 1 {
                break;
            }
            end = next;
            self.at += 1;
        }
        Some(Run { start, end })
    }
}
