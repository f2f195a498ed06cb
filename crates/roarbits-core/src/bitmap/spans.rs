//! A walk for those who write ids down: plain bits as they lie, everything else as runs.

use std::ops::RangeInclusive;

use super::leaf::{Form, Leaf, LeafRuns};
use super::shape::chunk_end;
use super::tree::Child;
use super::walk::Leaves;
use super::{Run, Span};

/// Ascending spans of a tree, cut to a closed range. Runs that leaves cut are joined,
/// but not with the bits of a chunk.
pub(super) struct Spans<'a> {
    leaves: Leaves<'a>,
    current: Option<(&'a Leaf, LeafRuns)>,
    pending: Option<Span<'a>>,
    from: u64,
    last: u64,
}

impl<'a> Spans<'a> {
    pub(super) fn new(root: Option<&'a Child>, range: RangeInclusive<u64>) -> Self {
        let (from, last) = (*range.start(), *range.end());
        let root = root.filter(|_| !range.is_empty());
        Self { leaves: Leaves::from(root, from), current: None, pending: None, from, last }
    }

    /// The next span within one leaf, cut to the range.
    fn piece(&mut self) -> Option<Span<'a>> {
        loop {
            if let Some((leaf, walk)) = &mut self.current {
                if let Some(run) = walk.next(leaf) {
                    let end = run.end.min(self.last);
                    return (run.start <= end).then_some(Span::Run(Run { start: run.start, end }));
                }
            }
            let leaf: &Leaf = self.leaves.next()?;
            if leaf.form() == Form::Bits && leaf.base >= self.from && chunk_end(leaf.base) <= self.last {
                self.current = None;
                return Some(Span::Chunk { base: leaf.base, words: &leaf.words, runs: leaf.runs });
            }
            self.current = Some((leaf, leaf.runs_from(self.from)));
        }
    }
}

impl<'a> Iterator for Spans<'a> {
    type Item = Span<'a>;

    fn next(&mut self) -> Option<Span<'a>> {
        let mut run = match self.pending.take().or_else(|| self.piece())? {
            Span::Run(run) => run,
            chunk => return Some(chunk),
        };
        while run.end < self.last {
            match self.piece() {
                Some(Span::Run(next)) if next.start == run.end + 1 => run.end = next.end,
                next => {
                    self.pending = next;
                    break;
                }
            }
        }
        Some(Span::Run(run))
    }
}
