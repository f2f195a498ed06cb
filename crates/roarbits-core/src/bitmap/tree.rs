//! The tree: shared nodes over leaves, copied along one path when a shared one changes.
//!
//! ```text
//! Node  height 2   keys     [0, 5 << 16, 9 << 16]     multiples of 2^16, at most the least id below
//!                  counts   [ids below each child]
//!                  children [Node, Node, Node]        height 1, whose children are leaves
//! ```
//!
//! The first key of a node is a lower bound only, and not needed to find a child:
//! whatever is below the second key belongs to the first child.
//!
//! Every leaf is at the same depth. A node has 1 to 64 children; small neighbours
//! are joined when one shrinks, so that the height stays logarithmic. Reference
//! counts stand before headers of 48 bytes, never before the words of a leaf.

use std::ops::RangeInclusive;

use triomphe::Arc;

use super::edit::{merged, InPlace};
use super::leaf::Leaf;
use super::packing::class_words;
use super::shape::chunk_start;

/// Children of a node at most.
pub(crate) const FANOUT: usize = 64;
/// A node that shrinks below this tries to join a neighbour.
pub(crate) const SPARSE_NODE: usize = FANOUT / 4;

/// Keys compared at once: first whole blocks, then those within one. Halving waits for six loads in a row.
const BLOCK: usize = 8;

/// A non-empty subtree.
#[derive(Debug, Clone)]
pub(crate) enum Child {
    Leaf(Arc<Leaf>),
    Node(Arc<Node>),
}

/// A number from 1 to 2^64, kept less one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(u64);

impl Count {
    /// `n` must be 1 to 2^64.
    pub(crate) fn of(n: u128) -> Self {
        Self(n.wrapping_sub(1) as u64)
    }

    pub(crate) fn get(self) -> u128 {
        u128::from(self.0) + 1
    }

    pub(crate) fn add(&mut self, n: u64) {
        self.0 = self.0.wrapping_add(n);
    }

    pub(crate) fn take(&mut self, n: u64) {
        self.0 = self.0.wrapping_sub(n);
    }
}

/// An inner node: parallel arrays over its children.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) height: u8,
    pub(crate) keys: Vec<u64>,
    pub(crate) counts: Vec<Count>,
    pub(crate) children: Vec<Child>,
}

/// What a change did to a subtree, beyond its ids.
pub(crate) enum Effect {
    /// None: nothing changed, and nothing was copied.
    Unchanged,
    /// Nothing that concerns the parent.
    Settled,
    /// It takes less than before and may be joined with a neighbour.
    Shrunk,
    /// It overflowed: these stand to its right.
    Split(Vec<(u64, Child)>),
    /// Its last id is gone.
    Emptied,
}

/// What is known of a change before it is made. A path that is shared is not copied
/// for a change that may turn out to be none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It may change nothing.
    Possible,
    /// It changes something.
    Certain,
}

impl Child {
    pub(crate) fn leaf(leaf: Leaf) -> Self {
        Self::Leaf(Arc::new(leaf))
    }

    /// 0 of a leaf.
    pub(crate) fn height(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Node(node) => node.height,
        }
    }

    /// The number of ids. O(children).
    pub(crate) fn cardinality(&self) -> u128 {
        match self {
            Self::Leaf(leaf) => leaf.cardinality(),
            Self::Node(node) => node.counts.iter().map(|c| c.get()).sum(),
        }
    }

    pub(crate) fn min(&self) -> u64 {
        self.first_leaf().min()
    }

    pub(crate) fn max(&self) -> u64 {
        self.last_leaf().max()
    }

    pub(crate) fn first_leaf(&self) -> &Leaf {
        self.leaf_of(0)
    }

    pub(crate) fn last_leaf(&self) -> &Leaf {
        self.leaf_of(u64::MAX)
    }

    /// Roughly how many leaves there are, by two of the children of each node. O(2^height).
    pub(crate) fn leaves_estimated(&self) -> u64 {
        match self {
            Self::Leaf(_) => 1,
            Self::Node(node) if node.height <= 1 => node.children.len() as u64,
            Self::Node(node) => {
                let n = node.children.len();
                let sampled = [0, n / 2].map(|i| node.children[i].leaves_estimated());
                (sampled[0].saturating_add(sampled[1]) / 2).saturating_mul(n as u64)
            }
        }
    }

    /// Whether both are the very same subtree.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Leaf(a), Self::Leaf(b)) => Arc::ptr_eq(a, b),
            (Self::Node(a), Self::Node(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The leaf in which `id` is or would be.
    pub(crate) fn leaf_of(&self, id: u64) -> &Leaf {
        let mut child = self;
        loop {
            match child {
                Self::Leaf(leaf) => return leaf,
                Self::Node(node) => child = &node.children[node.index_of(id)],
            }
        }
    }

    /// The leaf in which `id` is or would be, and the ids of which that holds.
    pub(crate) fn leaf_and_range(&self, id: u64) -> (&Leaf, RangeInclusive<u64>) {
        let (mut child, mut first, mut last) = (self, 0, u64::MAX);
        loop {
            match child {
                Self::Leaf(leaf) => return (leaf, first..=last),
                Self::Node(node) => {
                    let i = node.index_of(id);
                    if i > 0 {
                        first = node.keys[i];
                    }
                    last = node.keys.get(i + 1).map_or(last, |next| next - 1);
                    child = &node.children[i];
                }
            }
        }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.leaf_of(id).contains(id)
    }

    /// The number of ids that are `id` or below.
    pub(crate) fn rank(&self, id: u64) -> u128 {
        let (mut child, mut before) = (self, 0);
        loop {
            match child {
                Self::Leaf(leaf) => return before + leaf.rank(id),
                Self::Node(node) => {
                    let i = node.index_of(id);
                    before += node.counts[..i].iter().map(|c| c.get()).sum::<u128>();
                    child = &node.children[i];
                }
            }
        }
    }

    /// The number of ids in `start..=end`.
    pub(crate) fn count_between(&self, start: u64, end: u64) -> u128 {
        let below = start.checked_sub(1).map_or(0, |last| self.rank(last));
        self.rank(end) - below
    }

    /// The `n`-th smallest id, zero-based; `n` must be below the cardinality.
    pub(crate) fn select(&self, n: u128) -> u64 {
        let (mut child, mut left) = (self, n);
        'down: loop {
            match child {
                Self::Leaf(leaf) => return leaf.select(left),
                Self::Node(node) => {
                    for (count, below) in node.counts.iter().zip(&node.children) {
                        if left < count.get() {
                            child = below;
                            continue 'down;
                        }
                        left -= count.get();
                    }
                    return self.max();
                }
            }
        }
    }

    /// The smallest id that is `from` or above.
    pub(crate) fn next_present(&self, from: u64) -> Option<u64> {
        match self {
            Self::Leaf(leaf) => leaf.next_present(from),
            Self::Node(node) => {
                let i = node.index_of(from);
                let here = node.children[i].next_present(from);
                here.or_else(|| node.children.get(i + 1).map(Self::min))
            }
        }
    }

    /// The smallest id from `from` to `last` that is not a member, where `last`
    /// ends the range of this subtree. Full subtrees are passed by their counts.
    pub(crate) fn next_absent(&self, from: u64, last: u64) -> Option<u64> {
        let node = match self {
            Self::Leaf(leaf) => return leaf.next_absent(from).filter(|id| *id <= last),
            Self::Node(node) => node,
        };
        let first = node.index_of(from);
        (first..node.children.len()).find_map(|i| {
            let start = if i == first { from } else { node.keys[i] };
            let end = node.keys.get(i + 1).map_or(last, |key| key - 1);
            let is_full = start >= node.keys[i] && node.counts[i].get() == u128::from(end - node.keys[i]) + 1;
            if is_full {
                None
            } else {
                node.children[i].next_absent(start, end)
            }
        })
    }

    /// Sets `id` where nothing on the way is shared and no leaf or node changes its shape, as mostly:
    /// the short way, from which `insert` starts over.
    #[inline]
    pub(crate) fn insert_in_place(&mut self, id: u64) -> InPlace {
        match self {
            Self::Leaf(leaf) => {
                Arc::get_mut(leaf).map_or(InPlace::Impossible, |leaf| leaf.insert_in_place(id))
            }
            Self::Node(node) => {
                Arc::get_mut(node).map_or(InPlace::Impossible, |node| node.insert_in_place(id))
            }
        }
    }

    /// Sets `id`; `Unchanged` if it is a member.
    pub(crate) fn insert(&mut self, id: u64, mut change: Change) -> Effect {
        match self {
            Self::Leaf(leaf) if leaf.is_closed_to(id) => self.set_beside(id),
            Self::Leaf(leaf) => match leaf.place_of(id) {
                Some(place) => edit_leaf(leaf, |leaf| leaf.insert(id, place)),
                None => Effect::Unchanged,
            },
            Self::Node(node) => {
                if change == Change::Possible && is_shared(node) {
                    if node.children[node.index_of(id)].contains(id) {
                        return Effect::Unchanged;
                    }
                    change = Change::Certain;
                }
                let node = Arc::make_mut(node);
                node.insert(id, change)
            }
        }
    }

    /// Clears `id`; `Unchanged` if it is no member.
    pub(crate) fn remove(&mut self, id: u64, mut change: Change) -> Effect {
        match self {
            Self::Leaf(leaf) => match leaf.position_of(id) {
                None => Effect::Unchanged,
                Some(_) if leaf.has_one_id() => Effect::Emptied,
                Some(position) => edit_leaf(leaf, |leaf| leaf.remove(id, position)),
            },
            Self::Node(node) => {
                if change == Change::Possible && is_shared(node) {
                    if !node.children[node.index_of(id)].contains(id) {
                        return Effect::Unchanged;
                    }
                    change = Change::Certain;
                }
                let node = Arc::make_mut(node);
                let i = node.index_of(id);
                let effect = node.children[i].remove(id, change);
                match effect {
                    Effect::Unchanged => return effect,
                    Effect::Emptied => (),
                    Effect::Settled | Effect::Shrunk | Effect::Split(_) => node.counts[i].take(1),
                }
                node.settle_and_tell(i, effect)
            }
        }
    }

    /// Gives `id` a leaf of its own beside this leaf.
    fn set_beside(&mut self, id: u64) -> Effect {
        let alone = Self::leaf(Leaf::single(id));
        if id > self.min() {
            return Effect::Split(vec![(chunk_start(id), alone)]);
        }
        let key = chunk_start(self.min());
        let this = std::mem::replace(self, alone);
        Effect::Split(vec![(key, this)])
    }
}

/// Whether another tree has the node too. There are no weak references.
pub(crate) fn is_shared(node: &Arc<Node>) -> bool {
    Arc::strong_count(node) > 1
}

/// Changes a leaf, which may give others to its right.
pub(crate) fn edit_leaf(leaf: &mut Arc<Leaf>, change: impl FnOnce(&mut Leaf) -> Vec<Leaf>) -> Effect {
    let leaf = Arc::make_mut(leaf);
    let (words_before, patience_before) = (leaf.allocated_words(), leaf.patience);
    let parts = change(leaf);
    if !parts.is_empty() {
        let keyed = parts.into_iter().map(|leaf| (chunk_start(leaf.min()), Child::leaf(leaf)));
        return Effect::Split(keyed.collect());
    }
    // With an exam comes a look at the neighbours, which costs as much.
    if leaf.allocated_words() < words_before || leaf.patience > patience_before {
        return Effect::Shrunk;
    }
    Effect::Settled
}

impl Node {
    /// A node without children, to be filled.
    pub(crate) fn empty(height: u8, children: usize) -> Self {
        Self {
            height,
            keys: Vec::with_capacity(children),
            counts: Vec::with_capacity(children),
            children: Vec::with_capacity(children),
        }
    }

    /// The child in which `id` is or would be.
    pub(crate) fn index_of(&self, id: u64) -> usize {
        let (blocks, _) = self.keys.as_chunks::<BLOCK>();
        let below = blocks.iter().fold(0usize, |n, keys| n.wrapping_add(usize::from(keys[BLOCK - 1] <= id)));
        let whole = below.wrapping_mul(BLOCK);
        let rest = self.keys.get(whole..).unwrap_or_default();
        let count = |keys: &[u64]| keys.iter().fold(0usize, |n, key| n.wrapping_add(usize::from(*key <= id)));
        let at_most = rest.first_chunk::<BLOCK>().map_or_else(|| count(rest), |keys| count(keys));
        whole.wrapping_add(at_most).saturating_sub(1)
    }

    fn insert_in_place(&mut self, id: u64) -> InPlace {
        let i = self.index_of(id);
        let in_place = self.children[i].insert_in_place(id);
        if in_place == InPlace::Done {
            self.note_set(i, id);
        }
        in_place
    }

    /// Takes up that `id` was set below child `i`.
    fn note_set(&mut self, i: usize, id: u64) {
        if id < self.keys[i] {
            self.keys[i] = chunk_start(id);
        }
        self.counts[i].add(1);
    }

    fn insert(&mut self, id: u64, change: Change) -> Effect {
        let i = self.open_child(id);
        let effect = self.children[i].insert(id, change);
        if matches!(effect, Effect::Unchanged) {
            return effect;
        }
        self.note_set(i, id);
        if matches!(effect, Effect::Settled) {
            return effect;
        }
        self.settle_and_tell(i, effect)
    }

    /// The child that takes `id`. Where the leaf that it belongs to is closed to it,
    /// that is the next one, if it is open: ids that arrive in descending order above
    /// a dense chunk then share leaves.
    pub(crate) fn open_child(&self, id: u64) -> usize {
        let i = self.index_of(id);
        match (&self.children[i], self.children.get(i + 1)) {
            (Child::Leaf(leaf), Some(Child::Leaf(next)))
                if leaf.is_closed_to(id) && id > leaf.max() && !next.is_closed_to(id) =>
            {
                i + 1
            }
            _ => i,
        }
    }

    pub(crate) fn push(&mut self, key: u64, count: Count, child: Child) {
        self.insert_at(self.children.len(), key, count, child);
    }

    fn insert_at(&mut self, i: usize, key: u64, count: Count, child: Child) {
        if self.children.len() == self.children.capacity() {
            // As many as the allocator gives anyway: of each size class, none is left unused.
            let more = class_words(self.children.len() + 1) - self.children.len();
            self.keys.reserve_exact(more);
            self.counts.reserve_exact(more);
            self.children.reserve_exact(more);
        }
        self.keys.insert(i, key);
        self.counts.insert(i, count);
        self.children.insert(i, child);
    }

    fn remove_at(&mut self, i: usize) {
        self.keys.remove(i);
        self.counts.remove(i);
        self.children.remove(i);
        if self.children.capacity() > self.children.len() + SPARE_PLACES {
            self.shrink();
        }
    }

    /// As `settle`, and tells the parent where few children are left.
    fn settle_and_tell(&mut self, i: usize, effect: Effect) -> Effect {
        match self.settle(i, effect) {
            Effect::Settled if self.children.len() < SPARSE_NODE => Effect::Shrunk,
            effect => effect,
        }
    }

    /// Takes up what a change did to child `i`.
    fn settle(&mut self, i: usize, effect: Effect) -> Effect {
        if matches!(effect, Effect::Unchanged | Effect::Settled) {
            return effect;
        }
        self.absorb(i, effect);
        if self.children.is_empty() {
            return Effect::Emptied;
        }
        self.split_if_large(i)
    }

    /// As `settle`, but leaves the node as many or few children as it then has.
    pub(crate) fn absorb(&mut self, i: usize, effect: Effect) {
        match effect {
            Effect::Unchanged | Effect::Settled => (),
            Effect::Shrunk => self.join_around(i),
            Effect::Emptied => {
                self.remove_at(i);
                self.join_around(i);
            }
            Effect::Split(parts) => {
                let mut moved = 0;
                for (k, (key, child)) in parts.into_iter().enumerate() {
                    let count = child.cardinality();
                    moved += count;
                    self.insert_at(i + 1 + k, key, Count::of(count), child);
                }
                self.counts[i] = Count::of(self.counts[i].get() - moved);
            }
        }
    }

    fn split_if_large(&mut self, changed: usize) -> Effect {
        let n = self.children.len();
        if n <= FANOUT {
            return Effect::Settled;
        }
        let at = if changed + 2 >= n { FANOUT - 1 } else { n / 2 };
        let right = self.split_off(at);
        Effect::Split(vec![(right.keys[0], Child::Node(Arc::new(right)))])
    }

    /// The children from `at` on, as a node beside this one; both keep exact allocations.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let right = Self {
            height: self.height,
            keys: self.keys.split_off(at),
            counts: self.counts.split_off(at),
            children: self.children.split_off(at),
        };
        self.shrink();
        right
    }

    fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.counts.shrink_to_fit();
        self.children.shrink_to_fit();
    }

    /// Appends the children of a right neighbour.
    pub(crate) fn append(&mut self, mut right: Self) {
        let n = right.children.len();
        self.keys.reserve_exact(n);
        self.counts.reserve_exact(n);
        self.children.reserve_exact(n);
        self.keys.append(&mut right.keys);
        self.counts.append(&mut right.counts);
        self.children.append(&mut right.children);
    }

    /// Joins child `i`, which may have shrunk, with a neighbour if both are small.
    fn join_around(&mut self, i: usize) {
        if i + 1 < self.children.len() && self.join_at(i) {
            return;
        }
        if i > 0 && i < self.children.len() {
            self.join_at(i - 1);
        }
    }

    /// Joins children `i` and `i + 1` if one is small; whether one child is gone.
    fn join_at(&mut self, i: usize) -> bool {
        let (joined, rest) = match (&self.children[i], &self.children[i + 1]) {
            (Child::Leaf(a), Child::Leaf(b)) => (merged(a, b).map(Child::leaf), None),
            (Child::Node(a), Child::Node(b)) => joined_nodes(a, b, self.keys[i + 1]),
            _ => (None, None),
        };
        let Some(joined) = joined else {
            return false;
        };
        self.counts[i] = Count::of(joined.cardinality());
        self.children[i] = joined;
        match rest {
            Some((key, rest)) => {
                self.keys[i + 1] = key;
                self.counts[i + 1] = Count::of(rest.cardinality());
                self.children[i + 1] = rest;
                false
            }
            None => {
                self.remove_at(i + 1);
                true
            }
        }
    }
}

/// More unused places than this are given back when a child is gone.
const SPARE_PLACES: usize = 16;

/// One node, or two of equal size with the key of the second, in the place of two
/// neighbours of which one is small; `key` is what their parent knows of the second.
fn joined_nodes(a: &Node, b: &Node, key: u64) -> (Option<Child>, Option<(u64, Child)>) {
    let (n, m) = (a.children.len(), b.children.len());
    if n.min(m) >= SPARSE_NODE {
        return (None, None);
    }
    let mut joined = Node::empty(a.height, n + m);
    for node in [a, b] {
        joined.keys.extend_from_slice(&node.keys);
        joined.counts.extend_from_slice(&node.counts);
        joined.children.extend_from_slice(&node.children);
    }
    joined.keys[n] = key;
    let rest = (n + m > FANOUT).then(|| joined.split_off((n + m) / 2));
    let node = |node: Node| Child::Node(Arc::new(node));
    let rest = rest.map(|rest| (rest.keys[0], node(rest)));
    (Some(node(joined)), rest)
}
