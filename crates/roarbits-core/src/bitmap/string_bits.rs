//! A plain Redis string read as a bitmap where it lies: bit 0 is the most
//! significant of byte 0.
//!
//! Everything goes by big-endian 64-bit words, in which the order of bits is the
//! order of ids; the word that the end of the string cuts is filled with zeros.

use std::ops::RangeInclusive;

use super::{BitRead, Run};

const WORD_BITS: u64 = 64;
const WORD_BYTES: usize = 8;
/// The size of the header of a native HyperLogLog, and what it begins with.
const HLL_HEADER_BYTES: usize = 16;
const HLL_MAGIC: &[u8] = b"HYLL";

/// The bytes of a string, as a set of the ids of its set bits.
#[derive(Debug, Clone, Copy)]
pub struct StringBits<'a> {
    bytes: &'a [u8],
}

impl<'a> StringBits<'a> {
    /// Borrows the bytes of a string; any bytes are a bitmap.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes of the string.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the string begins as a native HyperLogLog does, whose bits are no ids.
    pub fn has_hll_header(&self) -> bool {
        self.bytes.len() >= HLL_HEADER_BYTES && self.bytes.starts_with(HLL_MAGIC)
    }

    /// The number of ids that the string covers, which is the first id beyond it.
    fn bits(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    /// The 64 bits from id `64 * i` on, the smallest id most significant.
    fn word(&self, i: u64) -> u64 {
        let rest = usize::try_from(i).ok().and_then(|i| self.bytes.get(i.checked_mul(WORD_BYTES)?..));
        let Some(rest) = rest else {
            return 0;
        };
        let mut word = [0; WORD_BYTES];
        match rest.first_chunk::<WORD_BYTES>() {
            Some(whole) => word = *whole,
            None => word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from),
        }
        u64::from_be_bytes(word)
    }

    /// The smallest id from `from` on whose bit, flipped by `flip` (0 or all ones),
    /// is set; the first id beyond the string if there is none within.
    fn find(&self, from: u64, flip: u64) -> u64 {
        let bits = self.bits();
        if from >= bits {
            return bits;
        }
        let mut i = from / WORD_BITS;
        let mut word = (self.word(i) ^ flip) & (u64::MAX >> (from % WORD_BITS));
        while word == 0 {
            i += 1;
            if i * WORD_BITS >= bits {
                return bits;
            }
            word = self.word(i) ^ flip;
        }
        (i * WORD_BITS + u64::from(word.leading_zeros())).min(bits)
    }

    /// The set bits of the words `from` up to but without `to`.
    fn count_words(&self, from: u64, to: u64) -> u64 {
        let bytes = self.bytes.get(from as usize * WORD_BYTES..to as usize * WORD_BYTES);
        let words = bytes.unwrap_or_default().chunks_exact(WORD_BYTES);
        words.map(|word| u64::from(word.try_into().map_or(0, u64::from_ne_bytes).count_ones())).sum()
    }
}

impl BitRead for StringBits<'_> {
    fn length_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn cardinality(&self) -> u128 {
        self.count_range(0..=u64::MAX)
    }

    fn contains(&self, id: u64) -> bool {
        self.word(id / WORD_BITS) << (id % WORD_BITS) >> (WORD_BITS - 1) == 1
    }

    fn count_range(&self, range: RangeInclusive<u64>) -> u128 {
        let (start, end) = range.into_inner();
        let Some(end) = self.bits().checked_sub(1).map(|last| end.min(last)).filter(|end| start <= *end)
        else {
            return 0;
        };
        let (first, last) = (start / WORD_BITS, end / WORD_BITS);
        let from_start = u64::MAX >> (start % WORD_BITS);
        let to_end = u64::MAX << (WORD_BITS - 1 - end % WORD_BITS);
        let ones = |word: u64| u64::from(word.count_ones());
        let count = if first == last {
            ones(self.word(first) & from_start & to_end)
        } else {
            ones(self.word(first) & from_start)
                + self.count_words(first + 1, last)
                + ones(self.word(last) & to_end)
        };
        u128::from(count)
    }

    fn select(&self, n: u128) -> Option<u64> {
        let mut n = u64::try_from(n).ok()?;
        for i in 0..self.bits().div_ceil(WORD_BITS) {
            let word = self.word(i);
            let ones = u64::from(word.count_ones());
            if n < ones {
                return Some(i * WORD_BITS + select_in_word(word, n));
            }
            n -= ones;
        }
        None
    }

    fn next_present(&self, from: u64) -> Option<u64> {
        Some(self.find(from, 0)).filter(|id| *id < self.bits())
    }

    fn next_absent(&self, from: u64) -> Option<u64> {
        Some(self.find(from, u64::MAX).max(from))
    }

    fn max(&self) -> Option<u64> {
        let words = self.bits().div_ceil(WORD_BITS);
        let i = (0..words).rev().find(|i| self.word(*i) != 0)?;
        Some(i * WORD_BITS + WORD_BITS - 1 - u64::from(self.word(i).trailing_zeros()))
    }

    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_> {
        let (start, end) = range.into_inner();
        Box::new(StringRuns { string: *self, at: start, end: end.min(self.bits().saturating_sub(1)) })
    }
}

/// The runs of a string from `at` to `end`, found as they are asked for.
struct StringRuns<'a> {
    string: StringBits<'a>,
    at: u64,
    end: u64,
}

impl Iterator for StringRuns<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let start = self.string.next_present(self.at).filter(|start| *start <= self.end)?;
        let absent = self.string.find(start, u64::MAX);
        // `absent` is no member, so the next run can start after it at the soonest.
        self.at = absent.saturating_add(1);
        Some(Run { start, end: self.end.min(absent - 1) })
    }
}

/// The place in `word`, from its most significant bit, of the set bit that `n` set ones precede.
fn select_in_word(word: u64, n: u64) -> u64 {
    let mut rest = word;
    for _ in 0..n {
        rest &= !(1 << (WORD_BITS - 1) >> rest.leading_zeros());
    }
    u64::from(rest.leading_zeros())
}
