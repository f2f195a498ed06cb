//! Builds a tree from ascending input: ids, runs, whole chunks and shared subtrees.
//!
//! Ids gather in `staged`, or runs in `pending` if ids do not do, until they outgrow a
//! leaf and are cut between chunks; finished children gather by height in `levels`
//! until they fill a node.

use triomphe::Arc;

use super::bits;
use super::leaf::Leaf;
use super::levels::Levels;
use super::packing::{bit_length, Layout};
use super::shape::{
    append, chunk_end, chunk_start, cut, last_boundary, shape_of_both, Shape, CHUNK_LEAF_MAX_BYTES,
    LEAF_OVERHEAD_BYTES, SHARED_LEAF_MAX_BYTES,
};
use super::spare::Spare;
use super::staged::Staged;
use super::tree::Child;
use super::walk::Leaves;
use super::{BitRead, Bitmap, Run};

/// Bits of the start of a run where many fill a chunk.
const DENSE_START_BITS: u32 = 16;
/// Leaves below this are joined with one that is being made beside them.
const SMALL_LEAF_BYTES: usize = SHARED_LEAF_MAX_BYTES / 4;
/// Leaves below this are joined with a small one that is being made beside them.
const FULL_LEAF_BYTES: usize = SHARED_LEAF_MAX_BYTES * 3 / 4;

/// Builds a bitmap from ascending, disjoint ids and runs, in O(1) amortised an id or run.
#[derive(Debug, Default)]
pub struct Builder {
    /// Ids of the leaf being made, unless there are runs pending.
    staged: Staged,
    pending: Vec<Run>,
    shape: Option<Shape>,
    levels: Levels,
    scratch: Vec<u64>,
    /// Words to be used for new leaves.
    pub(crate) spare: Spare,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one id, above everything appended before.
    pub fn push_id(&mut self, id: u64) {
        self.push_ids(&[id]);
    }

    /// Appends ascending ids, above everything appended before.
    pub(crate) fn push_ids(&mut self, ids: &[u64]) {
        let mut rest = ids;
        while let Some((id, others)) = rest.split_first() {
            if !self.pending.is_empty() {
                self.push_run(Run { start: *id, end: *id });
                rest = others;
                continue;
            }
            let added = self.staged.extend(rest);
            rest = &rest[added..];
            if !self.staged.overflows() {
                if !rest.is_empty() {
                    self.flush();
                }
                continue;
            }
            // What is right of a cut may be too much by itself.
            while self.staged.overflows() {
                self.relieve();
            }
        }
    }

    /// Makes leaves of staged ids, or runs of them if there are long ones.
    fn relieve(&mut self) {
        if self.staged.has_long_runs() {
            self.unstage();
            return self.cut_overflowing();
        }
        if let Some(leaf) = self.staged.cut_leaf(&mut self.spare) {
            self.levels.push_leaf(Arc::new(leaf));
        }
    }

    /// Makes pending runs of staged ids.
    fn unstage(&mut self) {
        if !self.staged.is_empty() {
            self.pending = self.staged.take_runs();
            self.shape = Shape::of_all(self.pending.iter().copied());
        }
    }

    /// Appends a run that starts above everything appended before; a touching one is joined.
    pub fn push_run(&mut self, run: Run) {
        if run.start == run.end && self.pending.is_empty() {
            return self.push_id(run.start);
        }
        self.unstage();
        if self.shape.is_some_and(|shape| is_better_without(shape, run)) {
            self.flush();
        }
        match (self.pending.last_mut(), &mut self.shape) {
            (Some(last), Some(shape)) if last.end.checked_add(1) == Some(run.start) => {
                last.end = run.end;
                shape.extend(run.end);
            }
            (Some(_), Some(shape)) => {
                self.pending.push(run);
                shape.push(run);
            }
            _ => {
                self.pending.push(run);
                self.shape = Some(Shape::of(run));
            }
        }
        self.cut_overflowing();
    }

    fn cut_overflowing(&mut self) {
        while self.shape.is_some_and(|shape| shape.overflows()) {
            self.cut_leaf();
        }
    }

    /// Appends the ids of one chunk, given as 1,024 words; `base` is its first id.
    pub(crate) fn push_chunk(&mut self, base: u64, words: &[u64]) {
        let (card, runs) = (bits::count(words), bits::count_runs(words));
        if is_dense(words, card, runs) {
            self.flush();
            let mut own = self.spare.take(words.len());
            own.copy_from_slice(words);
            return self.levels.push_leaf(Arc::new(Leaf::from_chunk(base, own, card, runs)));
        }
        if card < runs * 2 {
            return self.push_bits(base, words);
        }
        let mut at = 0u32;
        while let Some(run) = u16::try_from(at).ok().and_then(|at| bits::next_run(words, base, at)) {
            at = (run.end - base) as u32 + 1;
            self.push_run(run);
        }
    }

    /// Appends the ids of the bits set, one by one.
    fn push_bits(&mut self, base: u64, words: &[u64]) {
        let mut ids = std::mem::take(&mut self.scratch);
        ids.clear();
        for (k, word) in words.iter().enumerate() {
            let (first, mut left) = (base + k as u64 * 64, *word);
            while left != 0 {
                ids.push(first + u64::from(left.trailing_zeros()));
                left &= left - 1;
            }
        }
        self.push_ids(&ids);
        self.scratch = ids;
    }

    /// Appends a leaf as it is, also a small one: what is loaded is encoded again as it was.
    pub(crate) fn push_loaded_leaf(&mut self, leaf: Leaf) {
        self.flush();
        self.levels.push_leaf(Arc::new(leaf));
    }

    /// Appends a leaf of chunks above everything appended before: shared, unless it is
    /// better joined with what is pending.
    fn push_leaf(&mut self, leaf: Arc<Leaf>) {
        if self.is_joined_with(&leaf) {
            return leaf.runs_iter().for_each(|run| self.push_run(run));
        }
        self.flush();
        self.levels.push_leaf(leaf);
    }

    /// Whether a leaf that follows is small, or not full after little, and fits one leaf
    /// with what is pending. A small one after nothing is taken apart too: it may fit
    /// the leaf before.
    fn is_joined_with(&mut self, leaf: &Leaf) -> bool {
        if leaf.payload_bytes() >= FULL_LEAF_BYTES {
            return false;
        }
        self.unstage();
        let limit = if self.has_little_pending() { FULL_LEAF_BYTES } else { SMALL_LEAF_BYTES };
        let fits = || shape_of_both(&self.pending, &leaf.runs_iter().collect::<Vec<_>>()).is_some();
        leaf.payload_bytes() < limit && (self.pending.is_empty() || fits())
    }

    /// Appends the members of `child` in `start..=end`, sharing every subtree whose chunks all lie inside.
    pub(crate) fn push_slice(&mut self, child: &Child, start: u64, end: u64) {
        if chunk_start(child.min()) >= start && chunk_end(child.max()) <= end {
            return self.push_shared(child);
        }
        match child {
            Child::Leaf(leaf) => self.push_part(leaf, start, end),
            Child::Node(node) => {
                let from = node.index_of(start);
                for (key, child) in node.keys[from..].iter().zip(&node.children[from..]) {
                    if *key > end {
                        break;
                    }
                    self.push_slice(child, start, end);
                }
            }
        }
    }

    fn push_part(&mut self, leaf: &Leaf, start: u64, end: u64) {
        let mut walk = leaf.runs_from(start);
        while let Some(run) = walk.next(leaf).filter(|run| run.start <= end) {
            self.push_run(Run { start: run.start, end: run.end.min(end) });
        }
    }

    fn push_shared(&mut self, child: &Child) {
        match child {
            Child::Leaf(leaf) => self.push_leaf(Arc::clone(leaf)),
            Child::Node(node) if !self.is_between_leaves() && self.is_joined_with(child.first_leaf()) => {
                node.children.iter().for_each(|child| self.push_shared(child));
            }
            Child::Node(node) => {
                self.flush();
                self.levels.push_node(node);
            }
        }
    }

    fn is_between_leaves(&self) -> bool {
        self.pending.is_empty() && self.staged.is_empty()
    }

    /// Whether what is pending would make a small leaf.
    fn has_little_pending(&self) -> bool {
        if !self.staged.is_empty() {
            return self.staged.packed_bytes() < SMALL_LEAF_BYTES;
        }
        self.shape.is_some_and(|shape| shape.packed_bytes() < SMALL_LEAF_BYTES as u128)
    }

    /// The bitmap, its length `length_bytes` or what covers the largest id, whichever is more.
    pub fn finish(mut self, length_bytes: u64) -> Bitmap {
        self.flush();
        let mut bitmap = Bitmap { root: self.levels.into_root(), length_bytes };
        bitmap.cover();
        bitmap
    }

    /// Makes a leaf of the pending runs that come first.
    fn cut_leaf(&mut self) {
        let at = last_boundary(&self.pending);
        let rest = cut(&mut self.pending, at);
        self.shape = Shape::of_all(self.pending.iter().copied());
        self.flush();
        self.shape = Shape::of_all(rest.iter().copied());
        self.pending = rest;
        self.restage();
    }

    /// Makes staged ids of pending runs if each is one id.
    fn restage(&mut self) {
        if self.shape.is_some_and(|shape| shape.card == shape.runs as u128 && !shape.overflows()) {
            let ids: Vec<u64> = self.pending.drain(..).map(|run| run.start).collect();
            self.shape = None;
            self.push_ids(&ids);
        }
    }

    /// Makes a leaf of the pending runs; of only a few, together with a leaf before them that is not full.
    fn flush(&mut self) {
        if self.has_little_pending() {
            if let Some(before) = self.levels.pop_leaf_below(FULL_LEAF_BYTES) {
                self.unstage();
                self.join_with(before);
            }
        }
        if let Some(leaf) = self.staged.take_leaf(&mut self.spare) {
            self.levels.push_leaf(Arc::new(leaf));
        }
        if let Some(shape) = self.shape.take() {
            let leaf = Leaf::from_runs(&shape, self.pending.drain(..));
            self.levels.push_leaf(Arc::new(leaf));
        }
    }

    /// Takes the leaf before what is pending into it, or puts it back if they are better apart.
    fn join_with(&mut self, before: Arc<Leaf>) {
        let mut runs: Vec<Run> = before.runs_iter().collect();
        if shape_of_both(&runs, &self.pending).is_none() {
            return self.levels.push_leaf(before);
        }
        append(&mut runs, self.pending.drain(..));
        self.shape = Shape::of_all(runs.iter().copied());
        self.pending = runs;
    }
}

/// Whether runs are better closed before `run`: it would make all entries wider by more
/// than a leaf of its own costs.
fn is_better_without(shape: Shape, run: Run) -> bool {
    if run.start.saturating_sub(1) <= chunk_end(shape.max) {
        return false;
    }
    let mut with = shape;
    with.push(run);
    let alone = Shape::of(run).packed_bytes();
    with.packed_bytes() > shape.packed_bytes() + alone + LEAF_OVERHEAD_BYTES
}

/// Whether a chunk is too large for packed leaves. The longest run needs at least the bits of the mean one.
fn is_dense(words: &[u64], card: u32, runs: u32) -> bool {
    const MAX_BITS: u32 = CHUNK_LEAF_MAX_BYTES as u32 * 8;
    let Some(mean) = card.checked_div(runs) else {
        return false;
    };
    // No entries of `card` different ids have fewer bits than their number.
    if runs * DENSE_START_BITS > MAX_BITS && card * bit_length(u64::from(card) - 1) > MAX_BITS {
        return true;
    }
    let run_width = DENSE_START_BITS + bit_length(u64::from(mean) - 1);
    runs * run_width > MAX_BITS && card * Layout::width_bound(bits::varying(words)) > MAX_BITS
}

/// Appends what `root` lacks of `start..=end`; whole chunks of plain bits as words.
pub(crate) fn push_complement(out: &mut Builder, root: Option<&Child>, start: u64, end: u64) {
    let mut from = Some(start);
    let mut push_gap_before = |out: &mut Builder, run: Run| {
        if let Some(gap) = from.filter(|from| *from < run.start) {
            out.push_run(Run { start: gap, end: run.start - 1 });
        }
        from = run.end.checked_add(1);
    };
    for leaf in Leaves::from(root, start) {
        if leaf.min() > end {
            break;
        }
        let chunk = Run { start: chunk_start(leaf.min()), end: chunk_end(leaf.min()) };
        match leaf.bits().filter(|_| chunk.start >= start && chunk.end <= end) {
            Some(words) => {
                push_gap_before(out, chunk);
                let inverted: Vec<u64> = words.iter().map(|word| !word).collect();
                out.push_chunk(chunk.start, &inverted);
            }
            None => {
                let mut walk = leaf.runs_from(start);
                while let Some(run) = walk.next(leaf).filter(|run| run.start <= end) {
                    push_gap_before(out, Run { start: run.start, end: run.end.min(end) });
                }
            }
        }
    }
    if let Some(gap) = from.filter(|from| *from <= end) {
        out.push_run(Run { start: gap, end });
    }
}

impl FromIterator<u64> for Bitmap {
    /// A bitmap of ids in any order, with repetitions. O(n log n).
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        let mut ids: Vec<u64> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let mut builder = Builder::new();
        ids.into_iter().for_each(|id| builder.push_id(id));
        let bitmap = builder.finish(0);
        debug_assert!(bitmap.length_bytes() > 0 || bitmap.is_empty());
        bitmap
    }
}
