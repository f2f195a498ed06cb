//! A place in a walk over a tree by whole subtrees.

use crate::bitmap::shape::{chunk_end, chunk_start};
use crate::bitmap::tree::{Child, Node};

/// A subtree and the whole chunks of it that are still ahead: `start..=end`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) child: &'a Child,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl<'a> Item<'a> {
    fn of(child: &'a Child) -> Self {
        Self { child, start: chunk_start(child.min()), end: chunk_end(child.max()) }
    }
}

/// Walks a tree in order; its item is the largest subtree that need not be looked into yet.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    path: Vec<(&'a Node, usize)>,
    item: Option<Item<'a>>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(root: Option<&'a Child>) -> Self {
        Self { path: Vec::new(), item: root.map(Item::of) }
    }

    /// What comes next; `None` at the end.
    pub(crate) fn item(&self) -> Option<Item<'a>> {
        self.item
    }

    /// Leaves everything up to `end` behind.
    pub(crate) fn pass(&mut self, end: u64) {
        while let Some(item) = &mut self.item {
            if item.start > end {
                return;
            }
            if item.end > end {
                item.start = end + 1;
                return;
            }
            self.advance();
        }
    }

    /// Goes to the first item that has chunks from `start` on, past whole subtrees by their keys;
    /// `start` begins a chunk.
    pub(crate) fn seek(&mut self, start: u64) {
        match &mut self.item {
            Some(item) if item.end < start => self.item = None,
            Some(item) => return item.start = item.start.max(start),
            None => return,
        }
        while let Some((node, i)) = self.path.pop() {
            for next in node.index_of(start).max(i + 1)..node.children.len() {
                let item = Item::of(&node.children[next]);
                if item.end >= start {
                    self.path.push((node, next));
                    self.item = Some(Item { start: item.start.max(start), ..item });
                    return;
                }
            }
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

    /// Goes from an inner node to its first child that has chunks ahead.
    pub(crate) fn descend(&mut self) {
        let Some(Item { child: Child::Node(node), start, .. }) = self.item else {
            return;
        };
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
