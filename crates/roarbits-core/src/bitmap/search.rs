//! Searching ascending packed numbers: the place is guessed, and searched without a
//! branch around the guess.

use super::packing::{bit_length, bits_from, byte_addressed_bits, entry_mask, is_byte_addressed};

/// Ascending numbers of `width` bits each, one in every `stride` bits from bit `offset` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ascending<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) stride: usize,
    pub(crate) offset: usize,
    pub(crate) width: u32,
    pub(crate) len: usize,
    pub(crate) slope: Slope,
}

/// How fast numbers of a width ascend from 0 to their last, `2^(31 + width) / (last + 1)`:
/// where the place of one is guessed without a look at the others. A stale or missing
/// one makes for a longer search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slope(u32);

impl Slope {
    /// Of numbers of `width` bits, the last of which is `last`.
    pub(crate) fn to(last: u64, width: u32) -> Self {
        let top = 32 - fraction(last, width).leading_zeros();
        // A last number below half of what the width holds is not worth a wider slope.
        if top < 32 {
            return Self(u32::MAX);
        }
        Self(((1u64 << 63) / (u64::from(fraction(last, width)) + 1)).min(u64::from(u32::MAX)) as u32)
    }

    /// The likely number of those of `len` numbers that are below `value`.
    #[inline]
    fn guess(self, value: u64, width: u32, len: usize) -> usize {
        let part = (u64::from(fraction(value, width)) * u64::from(self.0)) >> 31;
        ((part * len as u64) >> 32) as usize
    }
}

/// A number of `width` bits, 1 to 64, as a part of 2^32.
#[inline]
fn fraction(value: u64, width: u32) -> u32 {
    ((value << (width.wrapping_neg() % 64)) >> 32) as u32
}

/// Below this many, numbers are searched without a guess.
const GUESS_MIN_LEN: usize = 24;

impl Ascending<'_> {
    /// Number `i`, of at least one bit. Whether it straddles two words is no branch,
    /// which would be guessed wrong as often as right.
    #[inline]
    fn nonzero_width_at(&self, i: usize) -> u64 {
        bits_from(self.words, self.bit_of(i)) & entry_mask(self.width)
    }

    #[inline]
    fn bit_of(&self, i: usize) -> usize {
        i.wrapping_mul(self.stride).wrapping_add(self.offset)
    }

    /// Number `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> u64 {
        if self.width == 0 {
            return 0;
        }
        self.nonzero_width_at(i)
    }

    /// A word near where a search for `value` ends.
    #[inline]
    pub(crate) fn likely_word(&self, value: u64) -> usize {
        self.bit_of(self.slope.guess(value, self.width, self.len)) / 64
    }

    /// How many are below `value`.
    #[inline]
    pub(crate) fn below(&self, value: u64) -> usize {
        match self.width {
            0 if value > 0 => self.len,
            0 => 0,
            width if is_byte_addressed(width) => {
                let (bytes, mask) = (bytemuck::cast_slice(self.words), entry_mask(width));
                self.search(value, |i| byte_addressed_bits(self.words, bytes, self.bit_of(i)) & mask)
            }
            _ => self.search(value, |i| self.nonzero_width_at(i)),
        }
    }

    /// How many are below `value`. Ids are mostly spread evenly: then the place is guessed,
    /// and lies within two deviations of the guess.
    #[inline(always)]
    fn search(&self, value: u64, at: impl Fn(usize) -> u64) -> usize {
        if self.len < GUESS_MIN_LEN {
            return halve(0, self.len, value, &at);
        }
        let reach = reach(self.len);
        let guess = self.slope.guess(value, self.width, self.len);
        debug_assert!(reach * 2 <= self.len);
        let low = guess.saturating_sub(reach).min(self.len.wrapping_sub(reach.wrapping_mul(2)));
        let (mut place, mut half) = (low, reach);
        while half > 0 {
            let middle = place.wrapping_add(half);
            let is_above = at(middle.wrapping_sub(1)) < value;
            place = std::hint::select_unpredictable(is_above, middle, place);
            half /= 2;
        }
        // Inside of what was searched it is the place; at an end of that, others may be further out.
        let last = low.wrapping_add(reach.wrapping_mul(2).wrapping_sub(1));
        if place == low && low > 0 && at(low.wrapping_sub(1)) >= value {
            return halve(0, low.wrapping_sub(1), value, &at);
        }
        if place == last && at(last) < value {
            let above = last.wrapping_add(1);
            return halve(above, self.len.wrapping_sub(above), value, &at);
        }
        place
    }
}

/// Numbers of this width may be whole.
pub(crate) const WHOLE_BITS: u32 = u16::BITS;
/// Whether packed numbers lie in memory as the machine's own do.
pub(crate) const WHOLE_IN_PLACE: bool = cfg!(target_endian = "little");

/// As `Ascending::below`, of whole numbers: all that lie around the guess are compared at once,
/// and none waits for another.
#[inline]
pub(crate) fn below_whole(numbers: &[u16], value: u16, slope: Slope) -> usize {
    let (len, reach) = (numbers.len(), reach(numbers.len()));
    let span = reach.wrapping_mul(2).min(len);
    let guess = slope.guess(u64::from(value), WHOLE_BITS, len);
    let low = guess.saturating_sub(reach).min(len.wrapping_sub(span));
    let end = low.wrapping_add(span);
    match count_below(numbers.get(low..end).unwrap_or_default(), value) {
        0 => numbers[..low].partition_point(|number| *number < value),
        all if all == span => end.wrapping_add(numbers[end..].partition_point(|number| *number < value)),
        some => low.wrapping_add(some),
    }
}

/// How far from its guess the place among `len` numbers mostly is at most: two deviations, a power of two.
#[inline]
fn reach(len: usize) -> usize {
    1 << (bit_length(len as u64).wrapping_add(1) / 2)
}

/// How many numbers are below `wanted`, without a branch. Wrapping, as vectors add: no count comes
/// near the largest `u16`.
#[inline]
fn count_below(numbers: &[u16], wanted: u16) -> usize {
    usize::from(numbers.iter().fold(0u16, |count, number| count.wrapping_add(u16::from(*number < wanted))))
}

/// How many of ascending numbers are below `value`, where that is in `low..=low + len`.
fn halve(low: usize, len: usize, value: u64, at: &impl Fn(usize) -> u64) -> usize {
    let (mut low, mut len) = (low, len);
    while len > 1 {
        let half = len / 2;
        let middle = low.wrapping_add(half);
        low = std::hint::select_unpredictable(at(middle.wrapping_sub(1)) < value, middle, low);
        len = len.wrapping_sub(half);
    }
    low.wrapping_add(usize::from(len == 1 && at(low) < value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::packing::{low_mask, words_for, write};

    /// Ascending numbers of `width` bits, many of them equal where they do not fit otherwise.
    fn spreads(len: usize, width: u32) -> [Vec<u64>; 4] {
        let top = low_mask(width);
        let scaled = |part: f64| ((top as f64 * part) as u64).min(top);
        let of = |part_at: &dyn Fn(f64) -> f64| -> Vec<u64> {
            (0..len).map(|i| scaled(part_at((i + 1) as f64 / len as f64))).collect()
        };
        [of(&|x| x), of(&|x| x * x * x * x), of(&|x| 1.0 - (1.0 - x).powi(4)), of(&|x| x / 3.0)]
    }

    #[test]
    fn a_search_finds_what_counting_finds_from_whatever_slope() {
        for width in 1..=64u32 {
            for len in [1usize, 2, 23, 24, 31, 32, 63, 64, 65, 500] {
                for numbers in spreads(len, width) {
                    for offset in [0usize, 5] {
                        let stride = width as usize + offset;
                        let mut words = vec![0; words_for(len, stride as u32)];
                        for (i, number) in numbers.iter().enumerate() {
                            write(&mut words, i * stride + offset, width, *number);
                        }
                        let last = numbers[len - 1];
                        let slopes = [
                            Slope::default(),
                            Slope(u32::MAX),
                            Slope::to(last, width),
                            Slope::to(last / 2, width),
                        ];
                        for slope in slopes {
                            let ascending = Ascending { words: &words, stride, offset, width, len, slope };
                            let probes = numbers
                                .iter()
                                .step_by(7)
                                .flat_map(|n| [n.saturating_sub(1), *n, n.saturating_add(1)]);
                            for value in probes.chain([0, 1, last, last.saturating_add(1), u64::MAX]) {
                                let below = numbers.iter().filter(|number| **number < value).count();
                                let told = format!("{value} among {len} of {width} bits, {slope:?}");
                                assert_eq!(ascending.below(value), below, "{told}");
                                if let (WHOLE_BITS, 0, Ok(value)) = (width, offset, u16::try_from(value)) {
                                    let numbers: Vec<u16> = numbers.iter().map(|n| *n as u16).collect();
                                    assert_eq!(below_whole(&numbers, value, slope), below, "whole, {told}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
