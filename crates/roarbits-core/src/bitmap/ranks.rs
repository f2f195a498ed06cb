//! The members of many ranks by one descent: each node and leaf on the way is met
//! once, however many of the ranks are below it.

use super::leaf::{Form, Leaf};
use super::tree::Child;

/// A rank below the cardinality, and its place in the answer.
type Wanted = (u64, usize);

/// The members of the given ranks, in the order given; ranks past the end are left out.
/// O(n log n) for n ranks, and a visit of the nodes and leaves in which they are.
pub(super) fn select_all(root: &Child, ranks: &[u128]) -> Vec<u64> {
    let cardinality = root.cardinality();
    let within = ranks.iter().filter(|rank| **rank < cardinality);
    let mut wanted: Vec<Wanted> = within.enumerate().map(|(at, rank)| (*rank as u64, at)).collect();
    wanted.sort_unstable();
    let mut members = vec![0; wanted.len()];
    descend(root, 0, &wanted, &mut members);
    members
}

/// Answers ascending ranks, all of ids below `child`, before which there are `before`.
fn descend(child: &Child, before: u64, wanted: &[Wanted], members: &mut [u64]) {
    let node = match child {
        Child::Leaf(leaf) => return leaf.select_each(before, wanted, members),
        Child::Node(node) => node,
    };
    let (mut before, mut rest) = (u128::from(before), wanted);
    for (count, below) in node.counts.iter().zip(&node.children) {
        if rest.is_empty() {
            return;
        }
        let end = before + count.get();
        let (here, further) = rest.split_at(rest.partition_point(|(rank, _)| u128::from(*rank) < end));
        if !here.is_empty() {
            descend(below, before as u64, here, members);
        }
        (before, rest) = (end, further);
    }
}

impl Leaf {
    fn select_each(&self, before: u64, wanted: &[Wanted], members: &mut [u64]) {
        match self.form() {
            Form::Ids => {
                wanted.iter().for_each(|(rank, at)| members[*at] = self.select(u128::from(rank - before)));
            }
            Form::Runs => self.select_each_of_runs(before, wanted, members),
            Form::Bits => self.select_each_bit(before, wanted, members),
        }
    }

    /// One pass over the runs, as far as the highest rank.
    fn select_each_of_runs(&self, before: u64, wanted: &[Wanted], members: &mut [u64]) {
        let mut rest = wanted.iter().peekable();
        let mut before = u128::from(before);
        for run in self.runs_iter() {
            let end = before + run.cardinality();
            while let Some((rank, at)) = rest.next_if(|(rank, _)| u128::from(*rank) < end) {
                members[*at] = run.start + (u128::from(*rank) - before) as u64;
            }
            if rest.peek().is_none() {
                return;
            }
            before = end;
        }
    }

    /// One pass over the words, whose counts a rank of its own would add up again.
    fn select_each_bit(&self, before: u64, wanted: &[Wanted], members: &mut [u64]) {
        let mut rest = wanted.iter().peekable();
        let mut before = before;
        for (k, word) in self.words.iter().enumerate() {
            let end = before + u64::from(word.count_ones());
            while let Some((rank, at)) = rest.next_if(|(rank, _)| *rank < end) {
                let ones_below = (0..rank - before).fold(*word, |word, _| word & (word - 1));
                members[*at] = self.base + (k * 64) as u64 + u64::from(ones_below.trailing_zeros());
            }
            if rest.peek().is_none() {
                return;
            }
            before = end;
        }
    }
}
