//! What a bitmap is made of: leaves and containers by kind, bytes.

use triomphe::Arc;

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
    /// Bytes of everything reachable, shared or not, in blocks as the allocator gives them.
    pub memory_bytes: u64,
    /// Bytes of it that another bitmap or snapshot reaches too.
    pub shared_bytes: u64,
}

/// The count that stands before whatever an `Arc` holds.
const ARC_HEADER_BYTES: usize = 8;

/// What jemalloc as it is packaged gives for a request of `bytes`: its size class.
pub fn class_bytes(bytes: usize) -> usize {
    class_words(bytes.div_ceil(8)) * 8
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
    pub(crate) fn of(root: Option<&Child>, block_bytes: &dyn Fn(usize) -> usize) -> Self {
        let mut stats = Self::default();
        if let Some(root) = root {
            stats.height = root.height();
            stats.add(root, false, block_bytes);
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

    fn add(&mut self, child: &Child, is_shared: bool, block_bytes: &dyn Fn(usize) -> usize) {
        match child {
            Child::Leaf(leaf) => {
                self.add_bytes(leaf_bytes(leaf, block_bytes), is_shared || Arc::strong_count(leaf) > 1);
                *self.leaves.of(leaf.form()) += 1;
            }
            Child::Node(node) => {
                let is_shared = is_shared || Arc::strong_count(node) > 1;
                self.nodes += 1;
                self.add_bytes(node_bytes(node, block_bytes), is_shared);
                node.children.iter().for_each(|child| self.add(child, is_shared, block_bytes));
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

/// How many leaves a measurement of memory looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// All of them.
    All,
    /// All of a few thousand, else one in so many: 100M scattered ids have 150,000, and
    /// to look at each takes 11 ms.
    Some,
}

/// Up to so many leaves are all looked at, of more at least as many.
const MEASURED_LEAVES: usize = 4096;

/// Bytes of everything reachable, shared or not, where `block_bytes` says what the allocator
/// gives for a request.
pub(crate) fn memory_bytes(
    root: Option<&Child>,
    sample: Sample,
    block_bytes: &dyn Fn(usize) -> usize,
) -> u64 {
    let Some(root) = root else {
        return 0;
    };
    let step = match sample {
        Sample::All => 1,
        Sample::Some => (count_leaves(root) / MEASURED_LEAVES).max(1) as u64,
    };
    let mut measured = Measured { node_bytes: 0, leaves: 0, looked_at: 0, leaf_bytes: 0, block_bytes };
    measured.add(root, step);
    let leaves = u128::from(measured.leaf_bytes) * u128::from(measured.leaves);
    measured.node_bytes + leaves.checked_div(u128::from(measured.looked_at)).unwrap_or(0) as u64
}

fn count_leaves(child: &Child) -> usize {
    match child {
        Child::Leaf(_) => 1,
        Child::Node(node) if node.height == 1 => node.children.len(),
        Child::Node(node) => node.children.iter().map(count_leaves).sum(),
    }
}

/// Which leaf of the `group`-th so many is looked at: spread evenly by the golden ratio,
/// without a beat that leaves of two kinds in turn could keep.
fn offset_in(group: u64, leaves: u64) -> u64 {
    let part = group.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(part) * u128::from(leaves)) >> 64) as u64
}

struct Measured<'a> {
    node_bytes: u64,
    leaves: u64,
    looked_at: u64,
    leaf_bytes: u64,
    block_bytes: &'a dyn Fn(usize) -> usize,
}

impl Measured<'_> {
    /// Adds a subtree, of whose leaves one in `step` is looked at.
    fn add(&mut self, child: &Child, step: u64) {
        match child {
            Child::Leaf(leaf) => {
                if self.leaves % step == offset_in(self.leaves / step, step) {
                    self.looked_at += 1;
                    self.leaf_bytes += leaf_bytes(leaf, self.block_bytes);
                }
                self.leaves += 1;
            }
            Child::Node(node) => {
                self.node_bytes += node_bytes(node, self.block_bytes);
                node.children.iter().for_each(|child| self.add(child, step));
            }
        }
    }
}

fn leaf_bytes(leaf: &Leaf, block_bytes: &dyn Fn(usize) -> usize) -> u64 {
    (block_bytes(ARC_HEADER_BYTES + size_of::<Leaf>()) + block_bytes(leaf.allocated_words() * 8)) as u64
}

fn node_bytes(node: &Node, block_bytes: &dyn Fn(usize) -> usize) -> u64 {
    let blocks = [
        ARC_HEADER_BYTES + size_of::<Node>(),
        node.keys.capacity() * size_of::<u64>(),
        node.counts.capacity() * size_of::<Count>(),
        node.children.capacity() * size_of::<Child>(),
    ];
    blocks.into_iter().map(|bytes| block_bytes(bytes) as u64).sum()
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
