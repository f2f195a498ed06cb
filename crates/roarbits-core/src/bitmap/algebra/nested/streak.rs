//! What `k` consecutive children have. What `m` in a row have, and what the `m` after them have,
//! makes what `2 m` have: log k rounds over all rows.

use crate::bitmap::algebra::merge;
use crate::bitmap::algebra::rule::Rule;
use crate::bitmap::algebra::words::Chunk;
use crate::bitmap::bits::CHUNK_WORDS;

/// What a child has of a window.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<T> {
    /// Nothing.
    Absent,
    /// These.
    Some(T),
    /// Everything.
    Full,
}

static FULL: Chunk = [u64::MAX; CHUNK_WORDS];

/// Writes to `out` the bits that `k` consecutive children have.
pub(super) fn of_words<const WORDS: usize>(k: usize, parts: &[Part<&[u64]>], out: &mut [u64; WORDS]) {
    out.fill(0);
    for row in parts.split(|part| matches!(part, Part::Absent)).filter(|row| row.len() >= k.max(1)) {
        let words = row.iter().map(|part| match part {
            Part::Some(words) => *words,
            Part::Full | Part::Absent => &FULL[..WORDS.min(CHUNK_WORDS)],
        });
        let mut rows: Vec<[u64; WORDS]> = words.map(|words| *words.first_chunk().unwrap_or(out)).collect();
        let mut have = 1;
        while have < k {
            let step = have.min(k - have);
            have += step;
            for i in 0..=row.len() - have {
                let (left, right) = rows.split_at_mut(i + step);
                left[i].iter_mut().zip(&right[0]).for_each(|(word, later)| *word &= later);
            }
        }
        for words in &rows[..=row.len() - have] {
            out.iter_mut().zip(words).for_each(|(out, word)| *out |= word);
        }
    }
}

/// Appends to `out` the ids that `k` consecutive children have, but for those that full ones have alone.
pub(super) fn of_arrays(k: usize, parts: Vec<Part<Vec<u64>>>, out: &mut Vec<u64>) {
    let mut kept = Vec::new();
    let mut row = Vec::new();
    for part in parts.into_iter().chain([Part::Absent]) {
        match part {
            Part::Absent => kept.append(&mut of_row(k, std::mem::take(&mut row))),
            Part::Full => row.push(None),
            Part::Some(ids) => row.push(Some(ids)),
        }
    }
    match &mut kept[..] {
        [] => {}
        [only] => out.append(only),
        _ => {
            let any = Rule::Between { low: 1, high: kept.len() as u32 };
            merge::combine(any, &mut kept, out);
        }
    }
}

/// What each `k` of a row have, of which `None` is everything.
fn of_row(k: usize, row: Vec<Option<Vec<u64>>>) -> Vec<Vec<u64>> {
    if row.len() < k.max(1) {
        return Vec::new();
    }
    let mut rows = row;
    let mut have = 1;
    while have < k {
        let step = have.min(k - have);
        have += step;
        for i in 0..rows.len() - step {
            let (left, right) = rows.split_at_mut(i + step);
            left[i] = match (left[i].take(), &right[0]) {
                (Some(ids), Some(later)) => {
                    let mut both = Vec::new();
                    merge::intersect(&ids, later, &mut both);
                    Some(both)
                }
                (None, later) => later.clone(),
                (ids, None) => ids,
            };
        }
        rows.truncate(rows.len() - step);
    }
    rows.into_iter().flatten().filter(|ids| !ids.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_arrays_have_the_same_streaks() {
        // Bit `id` of part `i` is bit `i` of the id, so that every combination of children occurs.
        let n = 7;
        for (k, special) in (1..=n).flat_map(|k| (0..=2 * n).map(move |special| (k, special))) {
            let words: Vec<[u64; 2]> = (0..n)
                .map(|i| {
                    (0..128u64).filter(|id| id >> i & 1 == 1).fold([0; 2], |mut words, id| {
                        words[id as usize / 64] |= 1 << (id % 64);
                        words
                    })
                })
                .collect();
            let ids: Vec<Vec<u64>> =
                (0..n).map(|i| (0..128u64).filter(|id| id >> i & 1 == 1).collect()).collect();
            let (is_full, is_absent) = (|i| special == i, |i| special == n + i);
            fn part<T>(of: T, is_full: bool, is_absent: bool) -> Part<T> {
                match (is_full, is_absent) {
                    (true, _) => Part::Full,
                    (_, true) => Part::Absent,
                    _ => Part::Some(of),
                }
            }
            let mut out = [7; 2];
            let parts: Vec<Part<&[u64]>> =
                (0..n).map(|i| part(&words[i][..], is_full(i), is_absent(i))).collect();
            of_words(k, &parts, &mut out);
            let mut kept = Vec::new();
            let parts: Vec<Part<Vec<u64>>> =
                (0..n).map(|i| part(ids[i].clone(), is_full(i), is_absent(i))).collect();
            of_arrays(k, parts, &mut kept);
            let has = |id: u64, i: usize| is_full(i) || !is_absent(i) && id >> i & 1 == 1;
            let expected: Vec<u64> = (0..128u64)
                .filter(|id| (0..=n - k).any(|from| (from..from + k).all(|i| has(*id, i))))
                .collect();
            let of_words: Vec<u64> =
                (0..128u64).filter(|id| out[*id as usize / 64] >> (id % 64) & 1 == 1).collect();
            assert_eq!(of_words, expected, "words, {k}, {special}");
            let in_some: Vec<u64> =
                expected.into_iter().filter(|id| (0..n).any(|i| !is_full(i) && has(*id, i))).collect();
            assert_eq!(kept, in_some, "arrays, {k}, {special}");
        }
    }
}
