//! One chunk as plain bits: 1,024 words, bit `i` of word `k` is the id `64k + i` of the chunk.

use super::Run;

/// Words of a chunk.
pub(crate) const CHUNK_WORDS: usize = 1024;

/// The number of bits set.
pub(crate) fn count(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum()
}

/// The number of maximal runs of set bits.
pub(crate) fn count_runs(words: &[u64]) -> u32 {
    let mut carry = 0;
    let mut runs = 0;
    for w in words {
        runs += (w & !((w << 1) | carry)).count_ones();
        carry = w >> 63;
    }
    runs
}

/// The bits in which positions of set bits differ from the lowest one.
pub(crate) fn varying(words: &[u64]) -> u64 {
    let any = words.iter().fold(0, |any, word| any | word);
    let within = match any {
        0 => 0,
        any => (0..64)
            .filter(|bit| any >> bit & 1 == 1)
            .fold(0, |bits, at| bits | (at ^ u64::from(any.trailing_zeros()))),
    };
    let first = words.iter().position(|word| *word != 0).unwrap_or(0);
    let differing = |(k, word): (usize, &u64)| if *word == 0 { 0 } else { k ^ first };
    let between = words.iter().enumerate().map(differing).fold(0, |bits, k| bits | k);
    (between as u64) << 6 | within
}

/// The number of bits set at `at` or below.
pub(crate) fn rank(words: &[u64], at: u16) -> u32 {
    let (word, bit) = (usize::from(at / 64), u32::from(at % 64));
    count(&words[..word]) + (words[word] << (63 - bit)).count_ones()
}

/// The position of the `n`-th set bit, zero-based; `n` must be below the count.
pub(crate) fn select(words: &[u64], n: u32) -> u16 {
    let mut left = n;
    for (k, w) in words.iter().enumerate() {
        let ones = w.count_ones();
        if left < ones {
            let mut w = *w;
            for _ in 0..left {
                w &= w - 1;
            }
            return (k * 64) as u16 + w.trailing_zeros() as u16;
        }
        left -= ones;
    }
    u16::MAX
}

/// Whether bit `at` is set.
pub(crate) fn contains(words: &[u64], at: u16) -> bool {
    words[usize::from(at / 64)] >> (at % 64) & 1 == 1
}

/// The first set bit at `from` or above.
pub(crate) fn next_set(words: &[u64], from: u16) -> Option<u16> {
    let first = usize::from(from / 64);
    let head = words[first] & (u64::MAX << (from % 64));
    find(words, first, head, |w| w)
}

/// The first clear bit at `from` or above.
pub(crate) fn next_clear(words: &[u64], from: u16) -> Option<u16> {
    let first = usize::from(from / 64);
    let head = !words[first] & (u64::MAX << (from % 64));
    find(words, first, head, |w| !w)
}

fn find(words: &[u64], first: usize, head: u64, view: impl Fn(u64) -> u64) -> Option<u16> {
    if head != 0 {
        return Some((first * 64) as u16 + head.trailing_zeros() as u16);
    }
    let k = first + 1 + words[first + 1..].iter().position(|w| view(*w) != 0)?;
    Some((k * 64) as u16 + view(words[k]).trailing_zeros() as u16)
}

/// The last set bit.
pub(crate) fn last_set(words: &[u64]) -> Option<u16> {
    let k = words.iter().rposition(|w| *w != 0)?;
    Some((k * 64) as u16 + 63 - words[k].leading_zeros() as u16)
}

/// Sets every bit of `start..=end`.
pub(crate) fn set_range(words: &mut [u64], start: u16, end: u16) {
    let (first, last) = (usize::from(start / 64), usize::from(end / 64));
    let head = u64::MAX << (start % 64);
    let tail = u64::MAX >> (63 - end % 64);
    if first == last {
        words[first] |= head & tail;
        return;
    }
    words[first] |= head;
    words[first + 1..last].fill(u64::MAX);
    words[last] |= tail;
}

/// The first maximal run that ends at `from` or above, its start cut to `from`.
pub(crate) fn next_run(words: &[u64], base: u64, from: u16) -> Option<Run> {
    let start = next_set(words, from)?;
    let end = next_clear(words, start).map_or(u16::MAX, |at| at - 1);
    Some(Run { start: base + u64::from(start), end: base + u64::from(end) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_all_positions_share_do_not_vary() {
        let mut words = vec![0u64; CHUNK_WORDS];
        for at in (7..65_536).step_by(4096).map(|at| at as u16) {
            set_range(&mut words, at, at);
        }
        assert_eq!(varying(&words), 0xf000);
    }

    #[test]
    fn words_answer_as_their_bits_do() {
        let mut words = vec![0u64; CHUNK_WORDS];
        let members = [0u16, 1, 63, 64, 65, 1000, 4095, 65472, 65535];
        for at in members {
            set_range(&mut words, at, at);
        }
        assert_eq!(count(&words), members.len() as u32);
        assert_eq!(count_runs(&words), 6);
        for (n, at) in members.iter().enumerate() {
            assert_eq!(select(&words, n as u32), *at);
            assert_eq!(rank(&words, *at), n as u32 + 1);
            assert!(contains(&words, *at));
        }
        assert_eq!(varying(&words), 0xffff);
        assert_eq!(next_set(&words, 66), Some(1000));
        assert_eq!(next_clear(&words, 63), Some(66));
        assert_eq!(next_clear(&words, 65535), None);
        assert_eq!(last_set(&words), Some(65535));
        assert_eq!(next_run(&words, 1 << 16, 64), Some(Run { start: 65600, end: 65601 }));
        set_range(&mut words, 0, 65535);
        assert_eq!((count(&words), count_runs(&words)), (65536, 1));
    }
}
