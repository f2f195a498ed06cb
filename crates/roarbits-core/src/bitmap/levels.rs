//! Assembles children of any height, appended in ascending order, into one tree.
//!
//! Finished children gather by height until they fill a node. Before a taller child
//! is appended, the shorter ones gathered so far become nodes; a small rest is
//! joined with the node before it, for which the right edge of the last tall child
//! is opened, or with the node after it, for which the left edge of the arriving
//! one is. So no sequence of appends makes chains of nodes with few children, and
//! the height stays logarithmic. The builder takes the last leaf back in the same way
//! when it has only little to put beside it.

use triomphe::Arc;

use super::leaf::Leaf;
use super::shape::chunk_start;
use super::tree::{Child, Count, Node, FANOUT};

/// Fewer children than this are not left alone in a node if there are neighbours.
const SPARSE_REST: usize = FANOUT / 4;

/// A child with its key and cardinality.
type Item = (u64, Count, Child);

/// Children not yet under a node, by height.
#[derive(Debug, Default)]
pub(crate) struct Levels(Vec<Vec<Item>>);

impl Levels {
    /// Appends a leaf.
    pub(crate) fn push_leaf(&mut self, leaf: Arc<Leaf>) {
        self.push(0, item(Child::Leaf(leaf)));
    }

    /// Appends a subtree, sharing all of it, or all but a left edge; of a node with few
    /// children each is appended by itself.
    pub(crate) fn push_node(&mut self, node: &Arc<Node>) {
        if node.children.len() < SPARSE_REST {
            return node.children.iter().for_each(|child| self.push_child(child));
        }
        let height = usize::from(node.height);
        for level in 0..height {
            match self.0.get(level).map_or(0, Vec::len) {
                0 => (),
                n if n < SPARSE_REST && self.is_empty_above(level) => return self.push_opened(level, node),
                _ => self.close(level),
            }
        }
        self.push(height, item(Child::Node(Arc::clone(node))));
    }

    /// Takes back the last leaf if it has less than `bytes` of payload.
    pub(crate) fn pop_leaf_below(&mut self, bytes: usize) -> Option<Arc<Leaf>> {
        let (_, _, last) = self.0.iter().find_map(|items| items.last())?;
        if last.last_leaf().payload_bytes() >= bytes {
            return None;
        }
        self.open_to(0)?;
        match self.0[0].pop() {
            Some((_, _, Child::Leaf(leaf))) => Some(leaf),
            _ => None,
        }
    }

    /// The tree of everything appended.
    pub(crate) fn into_root(mut self) -> Option<Child> {
        let mut level = 0;
        while level < self.0.len() {
            if self.0[level].len() <= 1 && self.is_empty_above(level) {
                return self.0[level].pop().map(|(_, _, child)| child);
            }
            self.close(level);
            level += 1;
        }
        None
    }

    fn is_empty_above(&self, level: usize) -> bool {
        self.0.iter().skip(level + 1).all(Vec::is_empty)
    }

    fn push(&mut self, level: usize, item: Item) {
        while self.0.len() <= level {
            self.0.push(Vec::new());
        }
        if self.0[level].len() == FANOUT {
            self.close(level);
        }
        self.0[level].push(item);
    }

    /// Appends a subtree of which the leftmost node of height `level + 1` takes up the
    /// rest at `level`, before which there is nothing.
    fn push_opened(&mut self, level: usize, node: &Arc<Node>) {
        if usize::from(node.height) == level + 1 {
            let mut joined = self.gathered(level);
            let key = chunk_start(node.children[0].min());
            children_of(node, key).for_each(|(key, count, child)| joined.push(key, count, child));
            return self.push_halves(joined);
        }
        for (i, child) in node.children.iter().enumerate() {
            match child {
                Child::Node(child) if i == 0 => self.push_opened(level, child),
                child => self.push_child(child),
            }
        }
    }

    fn push_child(&mut self, child: &Child) {
        match child {
            Child::Node(node) => self.push_node(node),
            Child::Leaf(leaf) => self.push_leaf(Arc::clone(leaf)),
        }
    }

    /// Makes a node of what gathered at `level`; a small rest is joined with the node before it.
    fn close(&mut self, level: usize) {
        let mut node = self.gathered(level);
        if node.children.is_empty() {
            return;
        }
        if node.children.len() < SPARSE_REST {
            if let Some(before) = self.pop_node(level + 1) {
                let mut joined = Arc::unwrap_or_clone(before);
                joined.append(node);
                return self.push_halves(joined);
            }
        }
        node.height = level as u8 + 1;
        self.push(level + 1, item(Child::Node(Arc::new(node))));
    }

    /// Takes what gathered at `level`, as a node.
    fn gathered(&mut self, level: usize) -> Node {
        let items = self.0.get_mut(level).map(std::mem::take).unwrap_or_default();
        let mut node = Node::empty(level as u8 + 1, items.len());
        items.into_iter().for_each(|(key, count, child)| node.push(key, count, child));
        node
    }

    /// Takes the last node of height `level`, opening the right edge of a taller one if it lies there.
    fn pop_node(&mut self, level: usize) -> Option<Arc<Node>> {
        self.open_to(level)?;
        match self.0[level].pop() {
            Some((_, _, Child::Node(node))) => Some(node),
            _ => None,
        }
    }

    /// Opens the right edge of what lies above `level`, unless there is something at it.
    fn open_to(&mut self, level: usize) -> Option<()> {
        let tallest = (level..self.0.len()).find(|level| !self.0[*level].is_empty())?;
        for height in (level + 1..=tallest).rev() {
            if let Some((key, _, Child::Node(node))) = self.0[height].pop() {
                self.0[height - 1].extend(children_of(&node, key));
            }
        }
        Some(())
    }

    fn push_halves(&mut self, mut node: Node) {
        let (level, n) = (usize::from(node.height), node.children.len());
        let right = (n > FANOUT).then(|| node.split_off(n / 2));
        for half in std::iter::once(node).chain(right) {
            self.push(level, item(Child::Node(Arc::new(half))));
        }
    }
}

fn item(child: Child) -> Item {
    (chunk_start(child.min()), Count::of(child.cardinality()), child)
}

/// The children of a node, of which the first has `key`; the node itself knows only a lower bound of it.
fn children_of(node: &Node, key: u64) -> impl Iterator<Item = Item> + '_ {
    let keys = std::iter::once(key).chain(node.keys.iter().skip(1).copied());
    let children = node.counts.iter().copied().zip(node.children.iter().cloned());
    keys.zip(children).map(|(key, (count, child))| (key, count, child))
}
