//! What a bitmap is made of: leaves and containers by kind, bytes.

use std::sync::Arc;

use super::leaf::{Form, Leaf};
use super::packing::class_words;
use super::tree::{Child, Count, Node};
use super::walk::Leaves;

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
    /// Above 256 leaves this is an estimate from as many, evenly spread: a count of
    /// 100M scattered ids takes 1.7 s.
    pub containers: ByForm<u64>,
    /// Inner nodes of the tree.
    pub nodes: u64,
    /// Inner nodes on the way from the root to a leaf.
    pub height: u8,
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

/// Leaves whose containers are counted.
const SAMPLED_LEAVES: u64 = 256;

impl<T> ByForm<T> {
    fn of(&mut self, form: Form) -> &mut T {
        match form {
            Form::Ids => &mut self.ids,
            Form::Runs => &mut self.runs,
            Form::Bits => &mut self.bits,
        }
    }
}

impl Stats {
    pub(crate) fn of(root: Option<&Child>) -> Self {
        let mut stats = Self::default();
        if let Some(root) = root {
            stats.height = root.height();
            stats.add(root, false);
        }
        let leaves = stats.leaves.ids + stats.leaves.runs + stats.leaves.bits;
        let step = leaves.div_ceil(SAMPLED_LEAVES).max(1);
        let mut sampled = ByForm::default();
        for leaf in Leaves::from(root, 0).step_by(step as usize) {
            *sampled.of(leaf.form()) += 1;
            *stats.containers.of(leaf.form()) += leaf.containers();
        }
        for form in [Form::Ids, Form::Runs, Form::Bits] {
            let all = u128::from(*stats.leaves.of(form));
            let found = u128::from(*stats.containers.of(form));
            let estimate = (found * all).checked_div(*sampled.of(form)).unwrap_or(all);
            *stats.containers.of(form) = estimate.min(1 << 48) as u64;
        }
        stats
    }

    fn add(&mut self, child: &Child, is_shared: bool) {
        match child {
            Child::Leaf(leaf) => {
                self.add_bytes(leaf_bytes(leaf), is_shared || Arc::strong_count(leaf) > 1);
                *self.leaves.of(leaf.form()) += 1;
            }
            Child::Node(node) => {
                let is_shared = is_shared || Arc::strong_count(node) > 1;
                self.nodes += 1;
                self.add_bytes(node_bytes(node), is_shared);
                node.children.iter().for_each(|child| self.add(child, is_shared));
            }
        }
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
        if self.form() == Form::Bits {
            return 1;
        }
        let mut chunks = 0;
        let mut last = None;
        for run in self.runs_iter() {
            let (first, end) = (run.start >> 16, run.end >> 16);
            chunks += end - first + u64::from(last != Some(first));
            last = Some(end);
        }
        chunks
    }
}
