//! Set algebra over any number of bitmaps, in one pass.
//!
//! ```text
//! Combination --> Rule: which ids are kept                      rule.rs
//! sweep over cursors, one an operand, to the next stretch       sweep.rs, cursor.rs
//!   decided as a whole: nothing, everything, one's subtree ---> sink.rs: a tree, or a sum
//!   leaves over one window                                      window.rs
//!     words of a chunk | arrays | planes of bits | runs         words.rs, merge.rs, planes.rs, spans.rs
//! nested combinations, beside it                              nested/
//! ```

mod cursor;
mod merge;
mod nested;
mod page;
mod planes;
mod rule;
mod sink;
mod spans;
mod sweep;
mod watch;
mod window;
mod words;

use triomphe::Arc;

use super::leaf::Leaf;
use super::spare::Spare;
use super::tree::Child;
use super::{BitRead, Bitmap, Builder};
use rule::Rule;
use sink::{Sink, Tally};

pub(crate) use nested::{Formula, Gate};
pub use watch::Watch;

/// Which ids a combination of bitmaps keeps. Of no bitmap at all none keeps any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combination {
    /// Those in every bitmap.
    And,
    /// Those in one bitmap at least.
    Or,
    /// Those in an odd number of bitmaps.
    Xor,
    /// Those in the first bitmap and in no other.
    Diff,
    /// Those in another bitmap and not in the first.
    Diff1,
    /// Those in the first bitmap and in another.
    AndOr,
    /// Those in exactly one bitmap.
    One,
    /// Those in so many bitmaps at least; of 0 it would be every id there is, and keeps none.
    AtLeast(u32),
    /// Those in exactly so many bitmaps; as above for 0.
    Exactly(u32),
}

/// More operands than this are combined in groups first, if the groups' results can be
/// combined: a stretch ends wherever a leaf of one of them does, and each costs a look
/// at every operand.
const GROUPED_OPERANDS: usize = 32;
/// Operands of a group.
const GROUP_OPERANDS: usize = 16;

/// What is left of a bitmap whose storage was reused: to be dropped, where that may take time.
#[derive(Debug)]
pub struct Remains {
    tree: Option<Child>,
    unused: Vec<Box<[u64]>>,
}

impl Remains {
    /// Roughly how many allocations dropping it frees. O(1).
    pub fn free_effort(&self) -> u64 {
        super::free_effort(self.tree.as_ref()) + self.unused.len() as u64
    }
}

/// Leaves whose words are taken at most: to take those of 100M scattered ids would hold
/// the caller up for 10 ms.
const REUSED_LEAVES: usize = 8192;

/// Takes the words out of leaves that nothing else reaches.
fn spare_words(root: Option<&mut Child>) -> Spare {
    let mut spare = Spare::default();
    let mut trees: Vec<&mut Child> = root.into_iter().collect();
    let mut leaves = 0;
    while let Some(tree) = trees.pop().filter(|_| leaves < REUSED_LEAVES) {
        match tree {
            Child::Leaf(leaf) => {
                leaves += 1;
                Arc::get_mut(leaf).and_then(Leaf::take_words).into_iter().for_each(|words| spare.put(words));
            }
            Child::Node(node) => {
                trees.extend(Arc::get_mut(node).into_iter().flat_map(|node| &mut node.children))
            }
        }
    }
    spare
}

impl Combination {
    /// The rule over `operands` bitmaps, or `None` if it can keep nothing.
    fn rule(self, operands: usize) -> Option<Rule> {
        let n = u32::try_from(operands).ok().filter(|n| *n > 0)?;
        let between = |low, high| (1..=n).contains(&low).then_some(Rule::Between { low, high });
        match self {
            Self::And => between(n, n),
            Self::Or => between(1, n),
            Self::One => between(1, 1),
            Self::AtLeast(k) => between(k, n),
            Self::Exactly(k) => between(k, k),
            Self::Xor => Some(Rule::Odd),
            Self::Diff => Some(Rule::FirstOnly),
            Self::Diff1 => Some(Rule::OtherOnly),
            Self::AndOr => Some(Rule::FirstAndOther),
        }
    }

    /// The ids kept, as a bitmap as long as the longest operand. One pass over all
    /// operands: what one alone has, or all share, is shared and not looked at;
    /// else O(ids of leaves that overlap x log operands) and, for a threshold over many
    /// operands, O(leaves x operands).
    pub fn evaluate(self, operands: &[&Bitmap]) -> Bitmap {
        self.build(operands, Builder::new(), &Watch::new()).0
    }

    /// As `evaluate`, in the place of `dest`, whose storage is reused as far as nothing
    /// shares it: that saves the page faults of a large result. Operands may be equal to
    /// `dest`, as clones of it. What is left of the old value is returned.
    pub fn evaluate_into(self, operands: &[&Bitmap], dest: &mut Bitmap) -> Remains {
        let mut old = std::mem::take(dest);
        let mut out = Builder::new();
        out.spare = spare_words(old.root.as_mut());
        let (result, unused) = self.build(operands, out, &Watch::new());
        *dest = result;
        Remains { tree: old.root, unused }
    }

    fn build(self, operands: &[&Bitmap], mut out: Builder, watch: &Watch) -> (Bitmap, Vec<Box<[u64]>>) {
        self.give(operands, &mut out, watch);
        let length_bytes = operands.iter().map(|operand| operand.length_bytes()).max().unwrap_or(0);
        let unused = std::mem::take(&mut out.spare).into_words();
        (Bitmap { root: out.finish(0).root, length_bytes }, unused)
    }

    /// The number of ids kept, 0 to 2^64. Builds nothing; as fast as `evaluate` or faster.
    pub fn count(self, operands: &[&Bitmap]) -> u128 {
        self.count_watched(operands, &Watch::new()).unwrap_or_default()
    }

    /// As `count`; null once `watch` is cancelled.
    pub fn count_watched(self, operands: &[&Bitmap], watch: &Watch) -> Option<u128> {
        let mut tally = Tally::default();
        self.give(operands, &mut tally, watch);
        (!watch.is_cancelled()).then_some(tally.ids)
    }

    /// As `evaluate`; null once `watch` is cancelled.
    pub fn evaluate_watched(self, operands: &[&Bitmap], watch: &Watch) -> Option<Bitmap> {
        let (result, _) = self.build(operands, Builder::new(), watch);
        (!watch.is_cancelled()).then_some(result)
    }

    /// Gives to `out` the ids kept, until `watch` is cancelled.
    fn give(self, operands: &[&Bitmap], out: &mut impl Sink, watch: &Watch) {
        if operands.len() > GROUPED_OPERANDS {
            match self {
                Self::And | Self::Or | Self::Xor => {
                    let groups: Vec<Bitmap> =
                        operands.chunks(GROUP_OPERANDS).map(|group| self.built(group, watch)).collect();
                    return self.give(&groups.iter().collect::<Vec<_>>(), out, watch);
                }
                Self::Diff | Self::Diff1 | Self::AndOr => {
                    let others = Self::Or.built(&operands[1..], watch);
                    return self.give(&[operands[0], &others], out, watch);
                }
                Self::One | Self::AtLeast(_) | Self::Exactly(_) => {}
            }
        }
        self.give_ungrouped(operands, 0, out, watch);
    }

    /// As `give`, in one pass over all operands from the chunk of `from` on, until `out` is full.
    fn give_ungrouped(self, operands: &[&Bitmap], from: u64, out: &mut impl Sink, watch: &Watch) {
        if let Some(rule) = self.rule(operands.len()) {
            let roots: Vec<Option<&Child>> = operands.iter().map(|operand| operand.root.as_ref()).collect();
            sweep::sweep(rule, &roots, from, out, watch);
        }
    }

    /// As `evaluate`, as long as the largest id needs; nothing of use once `watch` is cancelled.
    fn built(self, operands: &[&Bitmap], watch: &Watch) -> Bitmap {
        let mut out = Builder::new();
        self.give(operands, &mut out, watch);
        out.finish(0)
    }
}
