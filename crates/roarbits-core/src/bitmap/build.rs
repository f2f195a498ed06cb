//! Builds a tree from ascending input: ids, runs, whole chunks and shared subtrees.
//!
//! Runs gather in `pending` until they outgrow a leaf and are cut between chunks;
//! finished children gather by height in `levels` until they fill a node.

use std::sync::Arc;

use super::bits;
use super::leaf::Leaf;
use super::shape::{chunk_end, chunk_start, cut, Shape, CHUNK_LEAF_MAX_BYTES, SHARED_LEAF_MAX_BYTES};
use super::tree::{Child, Count, Node, FANOUT};
use super::walk::Runs;
use super::{BitRead, Bitmap, Run};

/// Fewer children than this, left over at the end of a level, are shared out with the node before.
const SPARSE_REST: usize = FANOUT / 4;
/// A chunk of this many ids in this many runs is cheapest as bits whatever its ids are.
const DENSE_CHUNK_IDS: u32 = 4096;
const DENSE_CHUNK_RUNS: u32 = (CHUNK_LEAF_MAX_BYTES * 8 / 17) as u32;

/// Leaves below this are worth more joined than shared.
const SMALL_LEAF_BYTES: usize = SHARED_LEAF_MAX_BYTES / 4;

type Item = (u64, Count, Child);

/// Builds a bitmap from ascending, disjoint ids and runs, in O(1) amortised an id or run.
#[derive(Debug, Default)]
pub struct Builder {
    pending: Vec<Run>,
    shape: Option<Shape>,
    levels: Vec<Vec<Item>>,
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
        while self.shape.is_some_and(|shape| shape.overflows()) {
            self.cut_leaf();
        }
    }

    /// Appends the ids of one chunk, given as 1,024 words; `base` is its first id.
    pub(crate) fn push_chunk(&mut self, base: u64, words: &[u64]) {
        let card = bits::count(words);
        if card >= DENSE_CHUNK_IDS {
            let runs = bits::count_runs(words);
            if runs > DENSE_CHUNK_RUNS {
                self.flush();
                self.emit_leaf(Arc::new(Leaf::from_chunk(base, words.into(), card, runs)));
                return;
            }
        }
        let mut at = 0u32;
        while let Some(run) = u16::try_from(at).ok().and_then(|at| bits::next_run(words, base, at)) {
            at = (run.end - base) as u32 + 1;
            self.push_run(run);
        }
    }

    /// Appends a leaf of chunks above everything appended before; a small one is joined with its neighbours.
    pub(crate) fn push_leaf(&mut self, leaf: Arc<Leaf>) {
        if leaf.payload_bytes() < SMALL_LEAF_BYTES {
            return leaf.runs_iter().for_each(|run| self.push_run(run));
        }
        self.flush();
        self.emit_leaf(leaf);
    }

    /// Appends the members of `child` in `start..=end`, sharing every subtree whose chunks all lie inside.
    pub(crate) fn push_slice(&mut self, child: &Child, start: u64, end: u64) {
        if chunk_start(child.min()) >= start && chunk_end(child.max()) <= end {
            return self.push_shared(child.clone());
        }
        match child {
            Child::Leaf(leaf) => {
                let mut walk = leaf.runs_from(start);
                while let Some(run) = walk.next(leaf).filter(|run| run.start <= end) {
                    self.push_run(Run { start: run.start, end: run.end.min(end) });
                }
            }
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

    fn push_shared(&mut self, child: Child) {
        match child {
            Child::Leaf(leaf) => self.push_leaf(leaf),
            Child::Node(node) => {
                self.flush();
                let height = usize::from(node.height);
                for level in 0..height {
                    self.close_level(level);
                }
                let child = Child::Node(node);
                let item = (chunk_start(child.min()), Count::of(child.cardinality()), child);
                self.emit(height, item);
            }
        }
    }

    /// The bitmap, its length `length_bytes` or what covers the largest id, whichever is more.
    pub fn finish(mut self, length_bytes: u64) -> Bitmap {
        self.flush();
        let mut bitmap = Bitmap { root: self.root(), length_bytes };
        bitmap.cover();
        bitmap
    }

    fn root(&mut self) -> Option<Child> {
        let mut level = 0;
        loop {
            let above_is_empty = self.levels.iter().skip(level + 1).all(Vec::is_empty);
            match self.levels.get_mut(level) {
                None => return None,
                Some(items) if above_is_empty && items.len() <= 1 => {
                    return items.pop().map(|(_, _, child)| child)
                }
                Some(_) => self.close_level(level),
            }
            level += 1;
        }
    }

    /// Makes a leaf of the pending runs below the last chunk in which one starts.
    fn cut_leaf(&mut self) {
        let (Some(first), Some(last)) = (self.pending.first(), self.pending.last()) else {
            return;
        };
        let first_chunk = chunk_start(first.start);
        let at = match chunk_start(last.start) {
            at if at > first_chunk => at,
            _ => chunk_end(first_chunk) + 1,
        };
        let rest = cut(&mut self.pending, at);
        self.shape = Shape::of_all(self.pending.iter().copied());
        self.flush();
        self.shape = Shape::of_all(rest.iter().copied());
        self.pending = rest;
    }

    /// Makes a leaf of the pending runs.
    fn flush(&mut self) {
        if let Some(shape) = self.shape.take() {
            let leaf = Leaf::from_runs(&shape, self.pending.drain(..));
            self.emit_leaf(Arc::new(leaf));
        }
    }

    fn emit_leaf(&mut self, leaf: Arc<Leaf>) {
        let item = (chunk_start(leaf.min()), Count::of(leaf.cardinality()), Child::Leaf(leaf));
        self.emit(0, item);
    }

    fn emit(&mut self, level: usize, item: Item) {
        while self.levels.len() <= level {
            self.levels.push(Vec::new());
        }
        if self.levels[level].len() == FANOUT {
            self.close_level(level);
        }
        self.levels[level].push(item);
    }

    /// Makes a node of what gathered at `level`; a small rest is shared out with the node before it.
    fn close_level(&mut self, level: usize) {
        let Some(items) = self.levels.get_mut(level).filter(|items| !items.is_empty()) else {
            return;
        };
        let mut node = Node::empty(level as u8 + 1, items.len());
        for (key, count, child) in items.drain(..) {
            node.push(key, count, child);
        }
        if node.children.len() < SPARSE_REST {
            if let Some((_, _, Child::Node(before))) = self.levels.get_mut(level + 1).and_then(Vec::pop) {
                return self.share_out(before, node);
            }
        }
        self.emit_node(node);
    }

    fn share_out(&mut self, before: Arc<Node>, rest: Node) {
        let mut node = Arc::unwrap_or_clone(before);
        node.append(rest);
        let n = node.children.len();
        if n > FANOUT {
            let right = node.split_off(n / 2);
            self.emit_node(node);
            self.emit_node(right);
        } else {
            self.emit_node(node);
        }
    }

    fn emit_node(&mut self, node: Node) {
        let level = usize::from(node.height);
        let child = Child::Node(Arc::new(node));
        let item = (chunk_start(child.min()), Count::of(child.cardinality()), child);
        self.emit(level, item);
    }
}

/// The members of `runs` within `start..=end` left out, the others put in.
pub(crate) fn push_complement(out: &mut Builder, runs: Runs<'_>, start: u64, end: u64) {
    let mut from = Some(start);
    for run in runs {
        if let Some(gap) = from.filter(|from| *from < run.start) {
            out.push_run(Run { start: gap, end: run.start - 1 });
        }
        from = run.end.checked_add(1);
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
