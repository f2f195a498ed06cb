//! AND, OR, XOR and DIFF of two trees, side by side.
//!
//! Two cursors walk subtrees by the chunks they span. What lies apart is shared
//! or passed over whole; a subtree that both have is recognised by its address;
//! only where leaves overlap are ids looked at, window by window, every window
//! being whole chunks.

use super::bits::{self, CHUNK_WORDS};
use super::build::Builder;
use super::leaf::{Form, Leaf};
use super::shape::{chunk_end, chunk_start};
use super::tree::{Child, Node};
use super::Run;

/// A binary set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    And,
    Or,
    Xor,
    Diff,
}

impl Op {
    pub(crate) fn keeps_left(self) -> bool {
        self != Self::And
    }

    pub(crate) fn keeps_right(self) -> bool {
        matches!(self, Self::Or | Self::Xor)
    }

    fn keeps_both(self) -> bool {
        matches!(self, Self::And | Self::Or)
    }

    fn words(self, left: u64, right: u64) -> u64 {
        match self {
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => left ^ right,
            Self::Diff => left & !right,
        }
    }
}

/// Appends `left op right` to `out`.
pub(crate) fn combine(op: Op, left: &Child, right: &Child, out: &mut Builder) {
    let mut walk = Walk {
        op,
        left: Cursor::new(left),
        right: Cursor::new(right),
        out,
        left_words: Box::new([0; CHUNK_WORDS]),
        right_words: Box::new([0; CHUNK_WORDS]),
    };
    while walk.step() {}
}

/// A subtree and the whole chunks of it that are still ahead.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    child: &'a Child,
    start: u64,
    end: u64,
}

impl<'a> Item<'a> {
    fn of(child: &'a Child) -> Self {
        Self { child, start: chunk_start(child.min()), end: chunk_end(child.max()) }
    }
}

#[derive(Debug)]
struct Cursor<'a> {
    path: Vec<(&'a Node, usize)>,
    item: Option<Item<'a>>,
}

impl<'a> Cursor<'a> {
    fn new(root: &'a Child) -> Self {
        Self { path: Vec::new(), item: Some(Item::of(root)) }
    }

    /// Leaves everything up to `end` behind.
    fn pass(&mut self, end: u64) {
        match &mut self.item {
            Some(item) if item.end > end => item.start = item.start.max(end + 1),
            _ => self.advance(),
        }
    }

    fn advance(&mut self) {
        self.item = None;
        while let Some((node, i)) = self.path.pop() {
            if let Some(child) = node.children.get(i + 1) {
                self.path.push((node, i + 1));
                self.item = Some(Item::of(child));
                return;
            }
        }
    }

    /// Goes to the first child of `node`, the present item, that has chunks ahead.
    fn descend(&mut self, node: &'a Node, start: u64) {
        let i = node.index_of(start);
        self.path.push((node, i));
        let item = Item::of(&node.children[i]);
        if item.end < start {
            self.advance();
        } else {
            self.item = Some(Item { start: item.start.max(start), ..item });
        }
    }
}

/// How much of a window a leaf holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    Empty,
    Partial,
    Full,
}

fn coverage(child: &Child, start: u64, end: u64) -> Coverage {
    let Child::Leaf(leaf) = child else {
        return Coverage::Partial;
    };
    match leaf.next_run(start) {
        Some(run) if run.start == start && run.end >= end => Coverage::Full,
        Some(run) if run.start <= end => Coverage::Partial,
        _ => Coverage::Empty,
    }
}

struct Walk<'a, 'b> {
    op: Op,
    left: Cursor<'a>,
    right: Cursor<'a>,
    out: &'b mut Builder,
    left_words: Box<[u64; CHUNK_WORDS]>,
    right_words: Box<[u64; CHUNK_WORDS]>,
}

impl<'a> Walk<'a, '_> {
    /// Handles one stretch; false when nothing is ahead that could be kept.
    fn step(&mut self) -> bool {
        match (self.left.item, self.right.item) {
            (Some(l), Some(r)) if l.start < r.start => self.left_alone(l, l.end.min(r.start - 1)),
            (Some(l), Some(r)) if r.start < l.start => self.right_alone(r, r.end.min(l.start - 1)),
            (Some(l), Some(r)) => self.meet(l, r),
            (Some(l), None) if self.op.keeps_left() => self.left_alone(l, l.end),
            (None, Some(r)) if self.op.keeps_right() => self.right_alone(r, r.end),
            _ => return false,
        }
        true
    }

    fn left_alone(&mut self, l: Item<'a>, end: u64) {
        if self.op.keeps_left() {
            self.out.push_slice(l.child, l.start, end);
        }
        self.left.pass(end);
    }

    fn right_alone(&mut self, r: Item<'a>, end: u64) {
        if self.op.keeps_right() {
            self.out.push_slice(r.child, r.start, end);
        }
        self.right.pass(end);
    }

    fn pass_both(&mut self, end: u64) {
        self.left.pass(end);
        self.right.pass(end);
    }

    /// Both start at the same chunk.
    fn meet(&mut self, l: Item<'a>, r: Item<'a>) {
        let (start, end) = (l.start, l.end.min(r.end));
        if l.child.is_same(r.child) {
            if self.op.keeps_both() {
                self.out.push_slice(l.child, start, end);
            }
            return self.pass_both(end);
        }
        match (coverage(l.child, start, end), coverage(r.child, start, end)) {
            (Coverage::Empty, _) => {
                self.left.pass(end);
                self.right_alone(r, end);
            }
            (_, Coverage::Empty) => {
                self.right.pass(end);
                self.left_alone(l, end);
            }
            (Coverage::Full, _) if self.op.keeps_left() == self.op.keeps_both() => {
                self.push_whole(start, end);
                self.pass_both(end);
            }
            (_, Coverage::Full) if self.op.keeps_right() == self.op.keeps_both() => {
                self.push_whole(start, end);
                self.pass_both(end);
            }
            (Coverage::Full, _) if self.op == Op::And => {
                self.out.push_slice(r.child, start, end);
                self.pass_both(end);
            }
            (_, Coverage::Full) if self.op == Op::And => {
                self.out.push_slice(l.child, start, end);
                self.pass_both(end);
            }
            _ => self.open(l, r, end),
        }
    }

    /// One side holds the whole window, and what the other has makes no difference.
    fn push_whole(&mut self, start: u64, end: u64) {
        if self.op.keeps_both() {
            self.out.push_run(Run { start, end });
        }
    }

    fn open(&mut self, l: Item<'a>, r: Item<'a>, end: u64) {
        match (l.child, r.child) {
            (Child::Node(a), Child::Node(b)) if a.height < b.height => self.right.descend(b, r.start),
            (Child::Node(node), _) => self.left.descend(node, l.start),
            (Child::Leaf(_), Child::Node(node)) => self.right.descend(node, r.start),
            (Child::Leaf(a), Child::Leaf(b)) => {
                self.leaves(a, b, l.start, end);
                self.pass_both(end);
            }
        }
    }

    fn leaves(&mut self, a: &Leaf, b: &Leaf, start: u64, end: u64) {
        let has_bits = a.form() == Form::Bits || b.form() == Form::Bits;
        if !has_bits || chunk_end(start) != end {
            return merge_runs(self.op, a, b, start, end, self.out);
        }
        let op = self.op;
        let right = chunk_words(b, start, &mut self.right_words);
        let left = chunk_words(a, start, &mut self.left_words);
        let mut words = [0; CHUNK_WORDS];
        for (word, (l, r)) in words.iter_mut().zip(left.iter().zip(right)) {
            *word = op.words(*l, *r);
        }
        self.out.push_chunk(start, &words);
    }
}

/// The chunk at `base` of a leaf as words, in `scratch` unless the leaf has them.
fn chunk_words<'s>(leaf: &'s Leaf, base: u64, scratch: &'s mut [u64; CHUNK_WORDS]) -> &'s [u64] {
    if let Some(words) = leaf.bits() {
        return words;
    }
    scratch.fill(0);
    let mut walk = leaf.runs_from(base);
    let last = chunk_end(base);
    while let Some(run) = walk.next(leaf).filter(|run| run.start <= last) {
        bits::set_range(&mut scratch[..], run.start as u16, run.end.min(last) as u16);
    }
    &scratch[..]
}

/// Merges the runs of two leaves within a window.
fn merge_runs(op: Op, a: &Leaf, b: &Leaf, start: u64, end: u64, out: &mut Builder) {
    let (mut walk_a, mut walk_b) = (a.runs_from(start), b.runs_from(start));
    let within = |run: Run| (run.start <= end).then(|| Run { start: run.start, end: run.end.min(end) });
    let mut next_a = || walk_a.next(a).and_then(within);
    let mut next_b = || walk_b.next(b).and_then(within);
    let (mut left, mut right) = (next_a(), next_b());
    loop {
        match (left, right) {
            (None, None) => return,
            (Some(l), r) if r.is_none_or(|r| l.end < r.start) => {
                if op.keeps_left() {
                    out.push_run(l);
                }
                left = next_a();
            }
            (l, Some(r)) if l.is_none_or(|l| r.end < l.start) => {
                if op.keeps_right() {
                    out.push_run(r);
                }
                right = next_b();
            }
            (Some(l), Some(r)) => {
                let (from, to) = (l.start.max(r.start), l.end.min(r.end));
                if op.keeps_left() && l.start < from {
                    out.push_run(Run { start: l.start, end: from - 1 });
                }
                if op.keeps_right() && r.start < from {
                    out.push_run(Run { start: r.start, end: from - 1 });
                }
                if op.keeps_both() {
                    out.push_run(Run { start: from, end: to });
                }
                left = if l.end == to { next_a() } else { Some(Run { start: to + 1, end: l.end }) };
                right = if r.end == to { next_b() } else { Some(Run { start: to + 1, end: r.end }) };
            }
            (None, Some(_)) | (Some(_), None) => return,
        }
    }
}
