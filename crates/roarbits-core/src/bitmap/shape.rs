//! What is known of a stretch of ids before it is encoded, and what each form would cost.

use std::ops::Range;

use super::leaf::Form;
use super::packing::{bit_length, low_mask, Layout, Room};
use super::Run;

/// Bytes that a packed leaf of several chunks may take before it is cut.
pub(crate) const SHARED_LEAF_MAX_BYTES: usize = 2032;
/// Bytes that a packed leaf of one chunk may take before it becomes bits.
pub(crate) const CHUNK_LEAF_MAX_BYTES: usize = 8176;
/// Bits of a chunk.
const CHUNK_BITS: u128 = 1 << 16;

/// The first id of the chunk of `id`.
pub(crate) const fn chunk_start(id: u64) -> u64 {
    id & !0xFFFF
}

/// The last id of the chunk of `id`.
pub(crate) const fn chunk_end(id: u64) -> u64 {
    id | 0xFFFF
}

/// The sums over ascending runs that decide how they are encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) last_start: u64,
    pub(crate) card: u128,
    pub(crate) runs: usize,
    /// The longest run, less one.
    pub(crate) longest: u64,
    /// Bits in which an id differs from `min`.
    pub(crate) varying: u64,
    id_width: u32,
}

impl Shape {
    /// The shape of one run.
    pub(crate) fn of(first: Run) -> Self {
        let varying = low_mask(bit_length(first.start ^ first.end));
        Self {
            min: first.start,
            max: first.end,
            last_start: first.start,
            card: first.cardinality(),
            runs: 1,
            longest: first.end - first.start,
            varying,
            id_width: Layout::width_bound(varying),
        }
    }

    /// The shape of ascending runs; `None` of none.
    pub(crate) fn of_all(runs: impl IntoIterator<Item = Run>) -> Option<Self> {
        let mut runs = runs.into_iter();
        let mut shape = Self::of(runs.next()?);
        runs.for_each(|run| shape.push(run));
        Some(shape)
    }

    /// Adds a run above all so far that does not touch the last one.
    pub(crate) fn push(&mut self, run: Run) {
        self.max = run.end;
        self.last_start = run.start;
        self.card += run.cardinality();
        self.runs += 1;
        self.longest = self.longest.max(run.end - run.start);
        let inside = low_mask(bit_length(run.start ^ run.end));
        self.vary((run.start ^ self.min) | inside);
    }

    /// Lengthens the last run to end at `end`.
    pub(crate) fn extend(&mut self, end: u64) {
        self.card += u128::from(end - self.max);
        self.max = end;
        self.longest = self.longest.max(end - self.last_start);
        self.vary((self.last_start ^ self.min) | low_mask(bit_length(self.last_start ^ end)));
    }

    fn vary(&mut self, bits: u64) {
        if bits & !self.varying != 0 {
            self.varying |= bits;
            self.id_width = Layout::width_bound(self.varying);
        }
    }

    /// Whether all ids are of one chunk.
    pub(crate) fn is_one_chunk(&self) -> bool {
        chunk_start(self.min) == chunk_start(self.max)
    }

    /// The base and layout of the form of ids.
    pub(crate) fn id_layout(&self, room: Room) -> (u64, Layout) {
        Layout::choose(self.min, self.max, self.varying, room)
    }

    /// The widths of start and length in the form of runs.
    pub(crate) fn run_widths(&self) -> (u32, u32) {
        (bit_length(self.last_start - self.min), bit_length(self.longest))
    }

    /// Bits of all entries in the form of ids; may exceed the exact cost by a bit an id.
    fn ids_bits(&self) -> u128 {
        self.card * u128::from(self.id_width)
    }

    /// Bits of all entries in the form of runs.
    pub(crate) fn runs_bits(&self) -> u128 {
        let (start, length) = self.run_widths();
        self.runs as u128 * u128::from(start + length)
    }

    /// Bytes of the cheaper packed form.
    pub(crate) fn packed_bytes(&self) -> u128 {
        self.ids_bits().min(self.runs_bits()).div_ceil(8)
    }

    /// The form that costs least: ids, runs, or bits for one chunk.
    pub(crate) fn best_form(&self) -> Form {
        if self.is_one_chunk() && self.packed_bytes() > CHUNK_LEAF_MAX_BYTES as u128 {
            return Form::Bits;
        }
        let (_, layout) = self.id_layout(Room::Above);
        let exact = self.card * u128::from(layout.width());
        if self.card <= CHUNK_BITS && exact <= self.runs_bits() {
            Form::Ids
        } else {
            Form::Runs
        }
    }

    /// Whether the runs are too much for one leaf and can be cut between chunks.
    pub(crate) fn overflows(&self) -> bool {
        !self.is_one_chunk() && self.packed_bytes() > SHARED_LEAF_MAX_BYTES as u128
    }
}

/// Cuts ascending runs at the chunk boundary `at`, splitting a run that crosses it.
pub(crate) fn cut(runs: &mut Vec<Run>, at: u64) -> Vec<Run> {
    let i = runs.partition_point(|run| run.start < at);
    let mut right = runs.split_off(i);
    if let Some(last) = runs.last_mut().filter(|last| last.end >= at) {
        right.insert(0, Run { start: at, end: last.end });
        last.end = at - 1;
    }
    right
}

/// Appends runs above the last one; a touching one is joined.
pub(crate) fn append(runs: &mut Vec<Run>, more: impl IntoIterator<Item = Run>) {
    for run in more {
        match runs.last_mut() {
            Some(last) if last.end.checked_add(1) == Some(run.start) => last.end = run.end,
            _ => runs.push(run),
        }
    }
}

/// Bytes of a leaf beside its words: header, counts, and its place in a node.
pub(crate) const LEAF_OVERHEAD_BYTES: u128 = 96;

/// The shape of two stretches of runs in one leaf, if that is better than a leaf for
/// each: the ids fit, and are not so far apart that wider entries cost more than a leaf.
pub(crate) fn shape_of_both(left: &[Run], right: &[Run]) -> Option<Shape> {
    let both = Shape::of_all(left.iter().chain(right).copied())?;
    let apart = Shape::of_all(left.iter().copied())?.packed_bytes()
        + Shape::of_all(right.iter().copied())?.packed_bytes();
    Some(both).filter(|both| !both.overflows() && both.packed_bytes() <= apart + LEAF_OVERHEAD_BYTES)
}

/// Ascending runs by their index, wherever they are kept.
pub(crate) trait RunList {
    /// How many there are; never 0.
    fn len(&self) -> usize;
    /// Run `i`.
    fn run(&self, i: usize) -> Run;
    /// How many start below `at`.
    fn starts_below(&self, at: u64) -> usize;
}

impl RunList for Vec<Run> {
    fn len(&self) -> usize {
        self.len()
    }

    fn run(&self, i: usize) -> Run {
        self[i]
    }

    fn starts_below(&self, at: u64) -> usize {
        self.partition_point(|run| run.start < at)
    }
}

/// Ids, each as a run of its own.
impl RunList for Vec<u64> {
    fn len(&self) -> usize {
        self.len()
    }

    fn run(&self, i: usize) -> Run {
        Run { start: self[i], end: self[i] }
    }

    fn starts_below(&self, at: u64) -> usize {
        self.partition_point(|id| *id < at)
    }
}

/// Where to cut runs of several chunks in two when more will follow: at a wide gap,
/// else at the start of the last chunk in which one starts, so that the left part is full.
pub(crate) fn last_boundary(runs: &impl RunList) -> u64 {
    let (n, last) = (runs.len(), runs.run(runs.len() - 1).start);
    inner_boundary(runs, wide_gap(runs, n / 4..n).unwrap_or(last))
}

/// As `last_boundary`, when more will come before: the right part is full.
pub(crate) fn first_boundary(runs: &impl RunList) -> u64 {
    inner_boundary(runs, wide_gap(runs, 0..runs.len() * 3 / 4).unwrap_or(0))
}

/// Where to cut runs of several chunks in two: at a wide gap of the middle half, else
/// at the chunk boundary nearest the median.
pub(crate) fn middle_boundary(runs: &impl RunList) -> u64 {
    let n = runs.len();
    if let Some(id) = wide_gap(runs, n / 4..n * 3 / 4) {
        return inner_boundary(runs, id);
    }
    let below = chunk_start(runs.run(n / 2).start);
    let above = chunk_end(below).checked_add(1).filter(|above| *above <= runs.run(n - 1).end);
    let nearer = above.filter(|above| runs.starts_below(*above) - n / 2 < n / 2 - runs.starts_below(below));
    inner_boundary(runs, nearer.unwrap_or(below))
}

/// The first id after the widest gap before one of the runs `among`, if the gap is so
/// wide that either side of it needs fewer bits: at least a quarter of the whole span.
fn wide_gap(runs: &impl RunList, among: Range<usize>) -> Option<u64> {
    let from = among.start.max(1);
    let mut before = runs.run(from - 1).end;
    let (mut widest, mut at) = (0, None);
    for i in from..among.end {
        let run = runs.run(i);
        if run.start - before >= widest {
            (widest, at) = (run.start - before, Some(run.start));
        }
        before = run.end;
    }
    let span = runs.run(runs.len() - 1).start - runs.run(0).start;
    at.filter(|_| widest >= span / 4)
}

/// The start of the chunk of `id`, or the end of the first chunk where that would leave the left part empty.
fn inner_boundary(runs: &impl RunList, id: u64) -> u64 {
    let first = chunk_start(runs.run(0).start);
    match chunk_start(id) {
        at if at > first => at,
        _ => chunk_end(first) + 1,
    }
}
