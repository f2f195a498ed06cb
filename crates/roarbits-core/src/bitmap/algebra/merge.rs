//! Combining ascending arrays of distinct ids.
//!
//! The loops have no branch that depends on ids: which array advances, and whether
//! an id is kept, is computed. Of longer arrays two parts are merged in one loop, so
//! that each hides the latency of the other.

use super::rule::Rule;

/// Arrays shorter than this are merged as one part.
const TWO_PARTS: usize = 32;

/// Appends to `out` what `rule` keeps of `arrays`; any others have nothing. Where the
/// rule tells a first operand from the others, it is the first here. Empties `arrays`.
pub(crate) fn combine(rule: Rule, arrays: &mut Vec<Vec<u64>>, out: &mut Vec<u64>) {
    let n = arrays.len() as u32;
    match (rule, &arrays[..]) {
        (Rule::Between { low, .. }, _) if low > n => (),
        (Rule::Between { low: 2.., .. }, [a, b]) => merge::<And>(a, b, out),
        (Rule::Between { high: 1, .. } | Rule::Odd, [a, b]) => merge::<Xor>(a, b, out),
        (Rule::Between { .. }, [a, b]) => merge::<Or>(a, b, out),
        (Rule::Between { .. } | Rule::Odd, _) => {
            let all = merged(std::mem::take(arrays));
            keep_counted(&all, |count| rule.keeps(false, count), out);
        }
        (Rule::FirstOnly | Rule::FirstAndOther | Rule::OtherOnly, _) => against_first(rule, arrays, out),
    }
}

/// Appends to `out` the ids that two arrays share.
pub(crate) fn intersect(a: &[u64], b: &[u64], out: &mut Vec<u64>) {
    merge::<And>(a, b, out);
}

fn against_first(rule: Rule, arrays: &mut Vec<Vec<u64>>, out: &mut Vec<u64>) {
    if arrays.is_empty() {
        return;
    }
    let first = arrays.remove(0);
    let mut others = merged(std::mem::take(arrays));
    others.dedup();
    match rule {
        Rule::FirstOnly => merge::<Diff>(&first, &others, out),
        Rule::FirstAndOther => merge::<And>(&first, &others, out),
        _ => merge::<Diff>(&others, &first, out),
    }
}

/// All ids of ascending arrays, ascending, as often as they occur.
fn merged(mut arrays: Vec<Vec<u64>>) -> Vec<u64> {
    while arrays.len() > 1 {
        let mut pairs = arrays.chunks(2);
        let mut joined = Vec::with_capacity(pairs.len());
        for pair in &mut pairs {
            let mut all = Vec::new();
            match pair {
                [a, b] => merge::<Keep>(a, b, &mut all),
                pair => all.extend(pair.iter().flatten()),
            }
            joined.push(all);
        }
        arrays = joined;
    }
    arrays.pop().unwrap_or_default()
}

/// Appends each id once of which `keeps` accepts how often it occurs in ascending `ids`.
fn keep_counted(ids: &[u64], keeps: impl Fn(u32) -> bool, out: &mut Vec<u64>) {
    let from = out.len();
    out.resize(from + ids.len(), 0);
    let kept = &mut out[from..];
    let (mut k, mut count) = (0, 0);
    for (i, id) in ids.iter().enumerate() {
        count += 1;
        let is_last = ids.get(i + 1) != Some(id);
        kept[k] = *id;
        k += usize::from(is_last && keeps(count));
        count = if is_last { 0 } else { count };
    }
    out.truncate(from + k);
}

/// What a merge of two arrays keeps.
trait Kept {
    /// Whether the smaller of `a` and `b` is kept.
    fn keeps(a: u64, b: u64) -> bool;
    /// Whether the second array waits when both have the same id.
    const ONE_AT_A_TIME: bool = false;
    /// Whether the first array's ids are kept when the second has ended, and the other way round.
    const TAILS: (bool, bool);
}

struct And;
struct Diff;
struct Or;
struct Xor;
struct Keep;

impl Kept for And {
    fn keeps(a: u64, b: u64) -> bool {
        a == b
    }
    const TAILS: (bool, bool) = (false, false);
}

impl Kept for Diff {
    fn keeps(a: u64, b: u64) -> bool {
        a < b
    }
    const TAILS: (bool, bool) = (true, false);
}

impl Kept for Or {
    fn keeps(_: u64, _: u64) -> bool {
        true
    }
    const TAILS: (bool, bool) = (true, true);
}

impl Kept for Xor {
    fn keeps(a: u64, b: u64) -> bool {
        a != b
    }
    const TAILS: (bool, bool) = (true, true);
}

impl Kept for Keep {
    fn keeps(_: u64, _: u64) -> bool {
        true
    }
    const ONE_AT_A_TIME: bool = true;
    const TAILS: (bool, bool) = (true, true);
}

/// Two arrays, how far each is merged, and how much is kept so far.
struct Part<'a> {
    a: &'a [u64],
    b: &'a [u64],
    out: &'a mut [u64],
    i: usize,
    j: usize,
    kept: usize,
}

impl Part<'_> {
    /// One id of either; false when an array has ended.
    #[inline(always)]
    fn step<K: Kept>(&mut self) -> bool {
        let (Some(a), Some(b)) = (self.a.get(self.i), self.b.get(self.j)) else {
            return false;
        };
        let (a, b) = (*a, *b);
        self.out[self.kept] = a.min(b);
        self.kept += usize::from(K::keeps(a, b));
        self.i += usize::from(a <= b);
        self.j += usize::from(if K::ONE_AT_A_TIME { b < a } else { b <= a });
        true
    }

    /// Merges the rest; the number of ids kept.
    fn finish<K: Kept>(mut self) -> usize {
        while self.step::<K>() {}
        let tails = [(K::TAILS.0, &self.a[self.i..]), (K::TAILS.1, &self.b[self.j..])];
        for (_, tail) in tails.into_iter().filter(|(is_kept, _)| *is_kept) {
            self.out[self.kept..self.kept + tail.len()].copy_from_slice(tail);
            self.kept += tail.len();
        }
        self.kept
    }
}

/// Appends to `out` what is kept of two ascending arrays.
fn merge<K: Kept>(a: &[u64], b: &[u64], out: &mut Vec<u64>) {
    let from = out.len();
    // One place more for each part: an id is written before it is known to be kept.
    out.resize(from + a.len() + b.len() + 2, 0);
    let area = &mut out[from..];
    if a.len().min(b.len()) < TWO_PARTS {
        let kept = Part { a, b, out: area, i: 0, j: 0, kept: 0 }.finish::<K>();
        return out.truncate(from + kept);
    }
    let middle = a.len() / 2;
    let at = b.partition_point(|id| *id < a[middle]);
    let place = middle + at + 1;
    let (low, high) = area.split_at_mut(place);
    let mut low = Part { a: &a[..middle], b: &b[..at], out: low, i: 0, j: 0, kept: 0 };
    let mut high = Part { a: &a[middle..], b: &b[at..], out: high, i: 0, j: 0, kept: 0 };
    while low.step::<K>() && high.step::<K>() {}
    let (low, high) = (low.finish::<K>(), high.finish::<K>());
    area.copy_within(place..place + high, low);
    out.truncate(from + low + high);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn arrays(n: usize, seed: u64) -> Vec<Vec<u64>> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..n)
            .map(|_| {
                let len = [0, 1, 20, 70, 300][next() as usize % 5];
                (0..len).map(|_| next() % 400).collect::<BTreeSet<_>>().into_iter().collect()
            })
            .collect()
    }

    #[test]
    fn arrays_combine_as_the_rule_says() {
        let mut rules = vec![Rule::Odd, Rule::FirstOnly, Rule::FirstAndOther, Rule::OtherOnly];
        rules.extend((1..=6).flat_map(|low| (low..=6).map(move |high| Rule::Between { low, high })));
        for n in 1..=6 {
            for seed in 0..60 {
                let arrays = arrays(n, seed);
                for rule in &rules {
                    let is_in = |array: &Vec<u64>, id| array.binary_search(&id).is_ok();
                    let others = &arrays[usize::from(rule.has_first())..];
                    let expected: Vec<u64> = (0..400)
                        .filter(|id| {
                            let count = others.iter().filter(|array| is_in(array, *id)).count();
                            rule.keeps(is_in(&arrays[0], *id), count as u32)
                        })
                        .collect();
                    let mut out = vec![7];
                    combine(*rule, &mut arrays.clone(), &mut out);
                    assert_eq!(out[1..], expected, "{rule:?} of {n}, seed {seed}");
                }
            }
        }
    }
}
