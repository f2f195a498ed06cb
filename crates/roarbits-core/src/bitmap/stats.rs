//! What a bitmap is made of: leaves and containers by kind, bytes.

use std::sync::Arc;

use super::leaf::{Form, Leaf};
use super::packing::class_words;
use super::shape::chunk_start;
use super::tree::{Child, Count, Node};

/// A figure for each form of leaf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByForm<T> {
    /// Leaves of bit-packed ids.
    pub ids: T,
    /// Leaves of bit-packed runs.
    pub runs: T,
    /// Leaves of plain bits.
    pub bits: T,
}

/// What a bitmap is made of, for introspection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Leaves of each form.
    pub leaves: ByForm<u64>,
    /// Chunks of 2^16 ids with a member, by the form of their leaf; at most 2^48 in all.
    pub containers: ByForm<u64>,
    /// Bytes of everything reachable, shared or not, in the allocator's size classes.
    pub memory_bytes: u64,
    /// Bytes of it that another bitmap or snapshot reaches too.
    pub shared_bytes: u64,
}

/// The two counts that stand before whatever an `Arc` holds.
const ARC_HEADER_BYTES: usize = 16;

fn allocated(bytes: usize) -> u64 {
    (class_words(bytes.div_ceil(8)) * 8) as u64
}

impl Stats {
    pub(crate) fn of(root: Option<&Child>) -> Self {
        let mut stats = Self::default();
        if let Some(root) = root {
            stats.add(root, false);
        }
        stats
    }

    fn add(&mut self, child: &Child, is_shared: bool) {
        match child {
            Child::Leaf(leaf) => self.add_leaf(leaf, is_shared || Arc::strong_count(leaf) > 1),
            Child::Node(node) => {
                let is_shared = is_shared || Arc::strong_count(node) > 1;
                self.add_bytes(node_bytes(node), is_shared);
                node.children.iter().for_each(|child| self.add(child, is_shared));
            }
        }
    }

    fn add_leaf(&mut self, leaf: &Leaf, is_shared: bool) {
        self.add_bytes(leaf_bytes(leaf), is_shared);
        let containers = leaf.containers();
        let (leaves, chunks) = match leaf.form() {
            Form::Ids => (&mut self.leaves.ids, &mut self.containers.ids),
            Form::Runs => (&mut self.leaves.runs, &mut self.containers.runs),
            Form::Bits => (&mut self.leaves.bits, &mut self.containers.bits),
        };
        *leaves += 1;
        *chunks += containers;
    }

    fn add_bytes(&mut self, bytes: u64, is_shared: bool) {
        self.memory_bytes += bytes;
        if is_shared {
            self.shared_bytes += bytes;
        }
    }
}

fn leaf_bytes(leaf: &Leaf) -> u64 {
    allocated(ARC_HEADER_BYTES + size_of::<Leaf>()) + allocated(leaf.allocated_words() * 8)
}

fn node_bytes(node: &Node) -> u64 {
    allocated(ARC_HEADER_BYTES + size_of::<Node>())
        + allocated(node.keys.capacity() * size_of::<u64>())
        + allocated(node.counts.capacity() * size_of::<Count>())
        + allocated(node.children.capacity() * size_of::<Child>())
}

impl Leaf {
    /// Chunks in which the leaf has an id.
    fn containers(&self) -> u64 {
        let mut chunks = 0;
        let mut last = None;
        for run in self.runs_iter() {
            let (first, end) = (run.start >> 16, run.end >> 16);
            chunks += end - first + u64::from(last != Some(first));
            last = Some(end);
        }
        debug_assert!(
            self.form() != Form::Bits || chunks == 1 && chunk_start(self.min()) == chunk_start(self.max())
        );
        chunks
    }
}
