//! The invariants of the structure, checked from scratch.

use super::bits::{self, CHUNK_WORDS};
use super::leaf::{Form, Leaf};
use super::packing::{class_words, low_mask};
use super::shape::{chunk_end, chunk_start, CHUNK_LEAF_MAX_BYTES, SHARED_LEAF_MAX_BYTES};
use super::tree::{Child, Node, FANOUT};
use super::walk::Leaves;

type Check = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(what())
    }
}

/// Checks a subtree whose ids must lie in `start..=end`.
pub(crate) fn child(child: &Child, start: u64, end: u64) -> Check {
    match child {
        Child::Leaf(leaf) => validate_leaf(leaf, start, end),
        Child::Node(node) => validate_node(node, start, end),
    }
}

/// Checks that the height is logarithmic: every level but the lowest at least doubles the leaves.
pub(crate) fn height(root: &Child) -> Check {
    let (leaves, height) = (Leaves::from(Some(root), 0).count(), root.height());
    ensure(height <= 1 + leaves.ilog2() as u8, || format!("height {height} over {leaves} leaves"))
}

fn validate_node(node: &Node, start: u64, end: u64) -> Check {
    let n = node.children.len();
    ensure((1..=FANOUT).contains(&n), || format!("a node of {n} children"))?;
    ensure(node.keys.len() == n && node.counts.len() == n, || "arrays of a node differ in length".into())?;
    ensure(node.height >= 1, || "a node of height 0".into())?;
    ensure(node.keys[0] <= chunk_start(node.children[0].min()), || {
        format!("key {} above its ids", node.keys[0])
    })?;
    for (i, below) in node.children.iter().enumerate() {
        let key = node.keys[i];
        ensure(key == chunk_start(key), || format!("key {key} is not a multiple of 2^16"))?;
        ensure(i == 0 || node.keys[i - 1] < key, || format!("key {key} does not rise"))?;
        ensure(below.height() + 1 == node.height, || "leaves at different depths".into())?;
        ensure(node.counts[i].get() == below.cardinality(), || format!("the count of child {key} is wrong"))?;
        let first = if i == 0 { start } else { key };
        child(below, first, node.keys.get(i + 1).map_or(end, |next| next - 1))?;
    }
    Ok(())
}

fn validate_leaf(leaf: &Leaf, start: u64, end: u64) -> Check {
    ensure(leaf.min() >= start, || format!("id {} below the key {start}", leaf.min()))?;
    ensure(leaf.max() <= end, || format!("id {} above the range's end {end}", leaf.max()))?;
    let (mut card, mut runs, mut above) = (0u128, 0u64, None);
    for run in leaf.runs_iter() {
        ensure(run.start <= run.end, || format!("run {run:?} is reversed"))?;
        ensure(above.is_none_or(|above| run.start > above), || {
            format!("run {run:?} touches the one before")
        })?;
        above = Some(run.end.saturating_add(1));
        card += run.cardinality();
        runs += 1;
    }
    ensure(card == leaf.cardinality(), || {
        format!("a leaf counts {} ids but has {card}", leaf.cardinality())
    })?;
    ensure(runs == u64::from(leaf.runs), || format!("a leaf counts {} runs but has {runs}", leaf.runs))?;
    match leaf.form() {
        Form::Bits => validate_bits(leaf),
        Form::Ids | Form::Runs => validate_packed(leaf),
    }
}

fn validate_bits(leaf: &Leaf) -> Check {
    ensure(leaf.words.len() == CHUNK_WORDS, || format!("{} words of bits", leaf.words.len()))?;
    ensure(leaf.base == chunk_start(leaf.base), || format!("bits from {}", leaf.base))?;
    ensure(leaf.max() <= chunk_end(leaf.base), || "bits beyond their chunk".into())?;
    ensure(u128::from(bits::count(&leaf.words)) == leaf.cardinality(), || "bits miscounted".into())
}

fn validate_packed(leaf: &Leaf) -> Check {
    let width = leaf.entry_width();
    ensure(leaf.layout.width() <= 64 && leaf.length_width <= 64, || format!("entries of {width} bits"))?;
    let used = leaf.used_words();
    ensure(used <= leaf.words.len(), || "entries beyond the words".into())?;
    ensure(leaf.words.len() == class_words(leaf.words.len()), || {
        format!("{} words are no size class", leaf.words.len())
    })?;
    let bits = leaf.entries() * width as usize;
    let tail_is_zero = leaf.words.iter().enumerate().all(|(i, word)| {
        let kept = bits.saturating_sub(i * 64).min(64) as u32;
        word & !low_mask(kept) == 0
    });
    ensure(tail_is_zero, || "bits set beyond the last entry".into())?;
    let most = if leaf.is_one_chunk() { CHUNK_LEAF_MAX_BYTES } else { SHARED_LEAF_MAX_BYTES };
    ensure(leaf.payload_bytes() <= most, || {
        format!("{} bytes in a leaf of at most {most}", leaf.payload_bytes())
    })
}
