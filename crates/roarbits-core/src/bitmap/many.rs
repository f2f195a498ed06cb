//! Many ids at once: set or cleared on one walk, asked for in the order given.
//!
//! A batch is sorted; each node is opened once for all the ids below it, and split
//! once at the end. A leaf takes its ids one by one, unless they are many beside
//! what it has and lie among them: then it is merged with them in one pass. A batch
//! that is large beside the whole bitmap is better merged as a bitmap of its own.

use std::borrow::Cow;

use triomphe::Arc;

use super::edit::InPlace;
use super::leaf::{Form, Leaf};
use super::shape::{chunk_start, SHARED_LEAF_MAX_BYTES};
use super::tree::{edit_leaf, is_shared, Change, Child, Effect, Node, FANOUT, SPARSE_NODE};
use super::{BitRead, Bitmap};

/// Ids are merged as a bitmap unless more than this many are present for each one that a call brings.
const BULK_RATIO: u128 = 8;
/// Fewer ids than this are neither sorted nor merged.
const BATCH_MIN_IDS: usize = 16;
/// A leaf is merged with a batch unless it has more than this many entries for each id.
const MERGE_RATIO: usize = 4;

/// Ids that are looked up together, so that they wait for memory together.
const GROUP: usize = 16;

/// What becomes of the ids of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    Set,
    Clear,
}

impl Edit {
    fn changes(self, child: &Child, id: u64) -> bool {
        child.contains(id) == (self == Self::Clear)
    }

    fn apply(self, child: &mut Child, id: u64, change: Change) -> Effect {
        match self {
            Self::Set => match child.insert_in_place(id) {
                InPlace::Done => Effect::Settled,
                InPlace::Present => Effect::Unchanged,
                InPlace::Impossible => child.insert(id, change),
            },
            Self::Clear => child.remove(id, change),
        }
    }
}

impl Bitmap {
    /// Sets many ids, in any order, and grows the length; the number newly set.
    /// O(k log k + k log n), or O(n + k log k) for many beside what is set.
    pub fn insert_many(&mut self, ids: &[u64]) -> u64 {
        if !self.is_bulk(ids) {
            self.grow_length(ids.iter().max().map_or(0, |max| max / 8 + 1));
            return self.edit_many(Edit::Set, ids);
        }
        let before = self.cardinality();
        *self = self.or(&ids.iter().copied().collect());
        (self.cardinality() - before) as u64
    }

    /// Clears many ids, in any order; the number cleared. The length stays. Cost as `insert_many`.
    pub fn remove_many(&mut self, ids: &[u64]) -> u64 {
        if !self.is_bulk(ids) {
            return self.edit_many(Edit::Clear, ids);
        }
        let (before, length_bytes) = (self.cardinality(), self.length_bytes);
        *self = self.diff(&ids.iter().copied().collect());
        self.length_bytes = length_bytes;
        (before - self.cardinality()) as u64
    }

    /// Whether each of `ids` is a member, in their order. O(k log n).
    pub(super) fn answers(&self, ids: &[u64]) -> Vec<bool> {
        let Some(root) = &self.root else {
            return vec![false; ids.len()];
        };
        let mut answers = Vec::with_capacity(ids.len());
        let (mut leaf, mut range) = root.leaf_and_range(0);
        for ids in ids.chunks(GROUP) {
            let mut leaves = [leaf; GROUP];
            for (place, id) in leaves.iter_mut().zip(ids) {
                if !range.contains(id) {
                    (leaf, range) = root.leaf_and_range(*id);
                }
                *place = leaf;
            }
            leaves.iter().zip(ids).for_each(|(leaf, id)| leaf.glance(*id));
            answers.extend(leaves.iter().zip(ids).map(|(leaf, id)| leaf.contains(*id)));
        }
        answers
    }

    fn is_bulk(&self, ids: &[u64]) -> bool {
        ids.len() > BATCH_MIN_IDS && ids.len() as u128 * BULK_RATIO > self.cardinality()
    }

    fn edit_many(&mut self, edit: Edit, ids: &[u64]) -> u64 {
        if ids.len() < BATCH_MIN_IDS {
            return self.edit_each(edit, ids);
        }
        let sorted = sorted(ids);
        // A root that is a leaf becomes a node when it overflows.
        let mut rest = &sorted[..];
        let mut changed = 0;
        while let (Some(Child::Leaf(_)) | None, [id, after @ ..]) = (&self.root, rest) {
            changed += self.edit_each(edit, std::slice::from_ref(id));
            rest = after;
        }
        match &mut self.root {
            Some(Child::Node(root)) if !rest.is_empty() => {
                let (more, effect) = edit_node(root, edit, rest, Change::Possible);
                self.settle(effect);
                changed + more
            }
            _ => changed,
        }
    }

    fn edit_each(&mut self, edit: Edit, ids: &[u64]) -> u64 {
        let each = ids.iter().map(|id| match edit {
            Edit::Set => self.insert(*id),
            Edit::Clear => self.remove(*id),
        });
        each.filter(|changed| *changed).count() as u64
    }
}

/// The ids ascending and without repetitions.
fn sorted(ids: &[u64]) -> Cow<'_, [u64]> {
    if ids.is_sorted_by(|a, b| a < b) {
        return Cow::Borrowed(ids);
    }
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    Cow::Owned(ids)
}

/// Sets or clears ascending `ids` below `node`; how many changed, and what became of the node.
fn edit_node(node: &mut Arc<Node>, edit: Edit, ids: &[u64], change: Change) -> (u64, Effect) {
    if change == Change::Possible && is_shared(node) {
        let changes = |id: &u64| edit.changes(&node.children[node.index_of(*id)], *id);
        let ids: Vec<u64> = ids.iter().copied().filter(changes).collect();
        if ids.is_empty() {
            return (0, Effect::Unchanged);
        }
        return Arc::make_mut(node).edit_many(edit, &ids, Change::Certain);
    }
    Arc::make_mut(node).edit_many(edit, ids, change)
}

impl Node {
    fn edit_many(&mut self, edit: Edit, ids: &[u64], change: Change) -> (u64, Effect) {
        let (mut rest, mut changed) = (ids, 0);
        while let [id, ..] = rest {
            if self.children.is_empty() {
                break;
            }
            let i = self.index_of(*id);
            let next = self.keys.get(i + 1);
            let below = next.map_or(rest.len(), |next| rest.iter().take_while(|id| *id < next).count());
            let (these, after) = rest.split_at(below);
            changed += match &self.children[i] {
                Child::Node(_) => self.edit_below(i, edit, these, change),
                Child::Leaf(leaf) if edit == Edit::Set && is_merged(leaf, these) => self.merge_into(i, these),
                Child::Leaf(_) => self.edit_each(edit, these, change),
            };
            rest = after;
        }
        (changed, self.settled(changed))
    }

    /// What became of the node when `changed` ids of it have.
    pub(crate) fn settled(&mut self, changed: u64) -> Effect {
        let n = self.children.len();
        if n == 0 {
            return Effect::Emptied;
        }
        if n > FANOUT {
            let parts = n.div_ceil(FANOUT);
            let mut nodes: Vec<_> = (1..parts)
                .rev()
                .map(|part| self.split_off(n * part / parts))
                .map(|node| (node.keys[0], Child::Node(Arc::new(node))))
                .collect();
            nodes.reverse();
            return Effect::Split(nodes);
        }
        match changed {
            0 => Effect::Unchanged,
            _ if n < SPARSE_NODE => Effect::Shrunk,
            _ => Effect::Settled,
        }
    }

    /// Takes up that `changed` ids of child `i` have changed, and to what effect.
    fn take_up(&mut self, i: usize, edit: Edit, changed: u64, effect: Effect) {
        match (edit, &effect) {
            (_, Effect::Unchanged | Effect::Emptied) => (),
            (Edit::Set, _) => self.counts[i].add(changed),
            (Edit::Clear, _) => self.counts[i].take(changed),
        }
        self.absorb(i, effect);
    }

    fn edit_below(&mut self, i: usize, edit: Edit, ids: &[u64], change: Change) -> u64 {
        let Child::Node(child) = &mut self.children[i] else {
            return 0;
        };
        let (changed, effect) = edit_node(child, edit, ids, change);
        if edit == Edit::Set && changed > 0 {
            self.keys[i] = self.keys[i].min(chunk_start(ids[0]));
        }
        self.take_up(i, edit, changed, effect);
        changed
    }

    /// Sets or clears ids one by one, in a node over leaves.
    fn edit_each(&mut self, edit: Edit, ids: &[u64], change: Change) -> u64 {
        let mut changed = 0;
        for id in ids {
            if self.children.is_empty() {
                break;
            }
            let i = match edit {
                Edit::Set => self.open_child(*id),
                Edit::Clear => self.index_of(*id),
            };
            let effect = edit.apply(&mut self.children[i], *id, change);
            if matches!(effect, Effect::Unchanged) {
                continue;
            }
            if edit == Edit::Set {
                self.keys[i] = self.keys[i].min(chunk_start(*id));
            }
            changed += 1;
            self.take_up(i, edit, 1, effect);
        }
        changed
    }

    fn merge_into(&mut self, i: usize, ids: &[u64]) -> u64 {
        let Child::Leaf(leaf) = &mut self.children[i] else {
            return 0;
        };
        if Arc::strong_count(leaf) > 1 && ids.iter().all(|id| leaf.contains(*id)) {
            return 0;
        }
        let before = leaf.cardinality();
        let mut after = 0;
        let effect = edit_leaf(leaf, |leaf| {
            let parts = leaf.merge(ids);
            after = leaf.cardinality() + parts.iter().map(Leaf::cardinality).sum::<u128>();
            parts
        });
        let changed = (after - before) as u64;
        self.keys[i] = self.keys[i].min(chunk_start(ids[0]));
        self.take_up(i, Edit::Set, changed, effect);
        changed
    }
}

/// Whether a leaf is better merged with `ids` than given them one by one: they are
/// many, it is open to any of them, and they are not just appended.
fn is_merged(leaf: &Leaf, ids: &[u64]) -> bool {
    ids.len() >= BATCH_MIN_IDS
        && leaf.form() != Form::Bits
        && leaf.payload_bytes() <= SHARED_LEAF_MAX_BYTES
        && !leaf.is_closed_to(ids[0])
        && !leaf.is_closed_to(ids[ids.len() - 1])
        && leaf.entries() <= ids.len() * MERGE_RATIO
        && ids[0] < leaf.max()
        && ids[ids.len() - 1] > leaf.min()
}
