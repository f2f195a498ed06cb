//! Walks over leaves and over maximal runs, ascending.

use std::ops::RangeInclusive;

use triomphe::Arc;

use super::leaf::{Leaf, LeafRuns};
use super::tree::{Child, Node};
use super::Run;

/// The leaves of a tree from one place on.
#[derive(Debug, Clone)]
pub(crate) struct Leaves<'a> {
    path: Vec<(&'a Node, usize)>,
    next: Option<&'a Arc<Leaf>>,
}

impl<'a> Leaves<'a> {
    /// The leaves from the one in which `from` is or would be.
    pub(crate) fn from(root: Option<&'a Child>, from: u64) -> Self {
        let mut leaves = Self { path: Vec::new(), next: None };
        if let Some(root) = root {
            leaves.down(root, |node| node.index_of(from));
        }
        leaves
    }

    fn down(&mut self, child: &'a Child, which: impl Fn(&Node) -> usize) {
        let mut child = child;
        loop {
            match child {
                Child::Leaf(leaf) => {
                    self.next = Some(leaf);
                    return;
                }
                Child::Node(node) => {
                    let i = which(node);
                    self.path.push((node, i));
                    child = &node.children[i];
                }
            }
        }
    }
}

impl<'a> Iterator for Leaves<'a> {
    type Item = &'a Arc<Leaf>;

    fn next(&mut self) -> Option<Self::Item> {
        let leaf = self.next.take()?;
        while let Some((node, i)) = self.path.pop() {
            if let Some(child) = node.children.get(i + 1) {
                self.path.push((node, i + 1));
                self.down(child, |_| 0);
                break;
            }
        }
        Some(leaf)
    }
}

/// The maximal runs of a tree, cut to a closed range; runs that leaves cut at a chunk boundary are joined.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    leaves: Leaves<'a>,
    current: Option<(&'a Leaf, LeafRuns)>,
    pending: Option<Run>,
    from: u64,
    last: u64,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(root: Option<&'a Child>, range: RangeInclusive<u64>) -> Self {
        let (from, last) = (*range.start(), *range.end());
        let root = root.filter(|_| !range.is_empty());
        Self { leaves: Leaves::from(root, from), current: None, pending: None, from, last }
    }

    /// The next run within one leaf.
    fn piece(&mut self) -> Option<Run> {
        loop {
            if let Some((leaf, walk)) = &mut self.current {
                if let Some(run) = walk.next(leaf) {
                    return Some(run);
                }
            }
            let leaf = self.leaves.next()?;
            self.current = Some((leaf, leaf.runs_from(self.from)));
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut run = self.pending.take().or_else(|| self.piece())?;
        if run.start > self.last {
            self.pending = Some(run);
            return None;
        }
        while run.end < self.last {
            match self.piece() {
                Some(next) if next.start == run.end + 1 => run.end = next.end,
                next => {
                    self.pending = next;
                    break;
                }
            }
        }
        if run.end >= self.last {
            run.end = self.last;
            self.pending = None;
            self.current = None;
            self.leaves = Leaves { path: Vec::new(), next: None };
        }
        Some(run)
    }
}
