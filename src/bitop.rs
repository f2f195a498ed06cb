//! BITOP over any number of sources, from core's operations on two.
//!
//! Many sources are combined as a balanced tree, so that no intermediate result is
//! walked more often than log2 of their number; AND starts with the smallest.

use std::collections::VecDeque;

use roarbits_core::{BitRead, Bitmap};

/// An operation of RB.BITOP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// In every source.
    And,
    /// In at least one source.
    Or,
    /// In an odd number of sources.
    Xor,
    /// Not in the one source, within its logical length.
    Not,
    /// In the first source and in none of the others.
    Diff,
    /// In one of the others and not in the first source.
    Diff1,
    /// In the first source and in at least one of the others.
    AndOr,
    /// In exactly one source.
    One,
}

/// The result of `operation`; its length is the longest source's. Missing sources
/// are given as empty bitmaps.
pub fn combine(operation: Operation, sources: Vec<Bitmap>) -> Bitmap {
    let length_bytes = sources.iter().map(Bitmap::length_bytes).max().unwrap_or(0);
    let mut result = match operation {
        Operation::And => intersection(sources),
        Operation::Or => balanced(sources, |a, b| a.or(b)),
        Operation::Xor => balanced(sources, |a, b| a.xor(b)),
        Operation::Not => sources.first().map(Bitmap::not).unwrap_or_default(),
        Operation::Diff => with_rest(sources, |first, rest| first.diff(rest)),
        Operation::Diff1 => with_rest(sources, |first, rest| rest.diff(first)),
        Operation::AndOr => with_rest(sources, |first, rest| first.and(rest)),
        Operation::One => exactly_one(sources),
    };
    result.grow_length(length_bytes);
    result
}

/// Smallest first: the result only shrinks, and nothing is read once it is empty.
fn intersection(mut sources: Vec<Bitmap>) -> Bitmap {
    sources.sort_by_key(Bitmap::cardinality);
    let mut rest = sources.into_iter();
    let mut result = rest.next().unwrap_or_default();
    for source in rest {
        if result.is_empty() {
            break;
        }
        result = result.and(&source);
    }
    result
}

/// The first source against the union of the others.
fn with_rest(sources: Vec<Bitmap>, combine: impl Fn(&Bitmap, &Bitmap) -> Bitmap) -> Bitmap {
    let mut sources = sources.into_iter();
    let first = sources.next().unwrap_or_default();
    combine(&first, &balanced(sources.collect(), |a, b| a.or(b)))
}

/// What a part of the sources says of an id.
struct Seen {
    /// In exactly one of them.
    once: Bitmap,
    /// In more.
    more: Bitmap,
}

fn exactly_one(sources: Vec<Bitmap>) -> Bitmap {
    let seen = sources.into_iter().map(|once| Seen { once, more: Bitmap::new() }).collect();
    let all = reduce(seen, |a, b| {
        let more = a.more.or(&b.more);
        Seen { once: a.once.xor(&b.once).diff(&more), more: more.or(&a.once.and(&b.once)) }
    });
    all.map(|seen| seen.once).unwrap_or_default()
}

fn balanced(sources: Vec<Bitmap>, combine: impl Fn(&Bitmap, &Bitmap) -> Bitmap) -> Bitmap {
    reduce(sources, |a, b| combine(a, b)).unwrap_or_default()
}

/// Combines neighbours until one is left. `combine` is associative and commutative.
fn reduce<T>(parts: Vec<T>, combine: impl Fn(&T, &T) -> T) -> Option<T> {
    let mut queue = VecDeque::from(parts);
    while queue.len() > 1 {
        if let (Some(a), Some(b)) = (queue.pop_front(), queue.pop_front()) {
            queue.push_back(combine(&a, &b));
        }
    }
    queue.pop_front()
}
