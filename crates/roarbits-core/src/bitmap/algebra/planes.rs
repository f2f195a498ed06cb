//! Combining many sparse operands whose ids lie close together: a scratch area of
//! plain bits over a window, with a summary of the words in use.
//!
//! How many operands have an id is counted in bit-sliced counters: the digits of a
//! word's counters lie side by side, the lowest first. Where a rule tells a first
//! operand from the others there are two: whether any other has the id, and the first;
//! of what only the first has there is one, out of which the others are taken.

use std::ops::RangeInclusive;

use super::rule::Rule;
use super::words::{at_least_digit, digits_of};

/// Bits of the widest window.
pub(crate) const WINDOW_BITS: u64 = 1 << 19;
const WINDOW_WORDS: usize = (WINDOW_BITS / 64) as usize;
const USED_WORDS: usize = WINDOW_WORDS / 64;

/// Scratch planes, zero between uses.
#[derive(Debug, Default)]
pub(crate) struct Planes {
    words: Vec<u64>,
    used: Vec<u64>,
}

impl Planes {
    /// Appends to `out` what `rule` keeps of ascending `arrays`, whose ids are within
    /// `WINDOW_BITS` of `base`. Where the rule tells a first operand from the others,
    /// it is the first here.
    pub(crate) fn combine(&mut self, rule: Rule, arrays: &[Vec<u64>], base: u64, out: &mut Vec<u64>) {
        let digits = match rule {
            Rule::Between { low: 1, high } if high as usize >= arrays.len() => 1,
            Rule::Between { .. } => digits_of(arrays.len()),
            Rule::Odd | Rule::FirstOnly => 1,
            Rule::FirstAndOther | Rule::OtherOnly => 2,
        };
        self.words.resize((WINDOW_WORDS * digits).max(self.words.len()), 0);
        self.used.resize(USED_WORDS, 0);
        match rule {
            Rule::Between { .. } if digits > 1 => match digits {
                2 => self.add_counted(2, arrays, base),
                3 => self.add_counted(3, arrays, base),
                4 => self.add_counted(4, arrays, base),
                _ => self.add_counted(digits, arrays, base),
            },
            Rule::Between { .. } => self.add(1, 0, arrays, base, |word, bit| word | bit),
            Rule::Odd => self.add(1, 0, arrays, base, |word, bit| word ^ bit),
            Rule::FirstOnly => {
                let first = usize::from(!arrays.is_empty());
                self.add(1, 0, &arrays[..first], base, |word, bit| word | bit);
                self.clear(&arrays[first..], base);
            }
            Rule::FirstAndOther | Rule::OtherOnly => {
                let first = usize::from(!arrays.is_empty());
                self.add(2, 1, &arrays[..first], base, |word, bit| word | bit);
                self.add(2, 0, &arrays[first..], base, |word, bit| word | bit);
            }
        }
        self.take(rule, digits, base, out);
    }

    fn add(
        &mut self,
        digits: usize,
        digit: usize,
        arrays: &[Vec<u64>],
        base: u64,
        put: impl Fn(u64, u64) -> u64,
    ) {
        self.mark(arrays, base, |words, at| {
            let word = &mut words[(at >> 6).wrapping_mul(digits).wrapping_add(digit)];
            *word = put(*word, 1 << (at & 63));
        });
    }

    /// Notes the words of ids as used, and lets `put` change them: it is given all words and the id's bit.
    #[inline(always)]
    fn mark(&mut self, arrays: &[Vec<u64>], base: u64, mut put: impl FnMut(&mut [u64], usize)) {
        let Some(used) = self.used.first_chunk_mut::<USED_WORDS>() else {
            return debug_assert!(false, "resized before");
        };
        let words = &mut self.words[..];
        for ids in arrays {
            for id in ids {
                let at = place(*id, base);
                used[at >> 12] |= 1 << (at >> 6 & 63);
                put(words, at);
            }
        }
    }

    /// Takes ids out of the only digit.
    fn clear(&mut self, arrays: &[Vec<u64>], base: u64) {
        let Some(words) = self.words.first_chunk_mut::<WINDOW_WORDS>() else {
            return debug_assert!(false, "resized before");
        };
        for id in arrays.iter().flat_map(|ids| ids.iter()) {
            let at = place(*id, base);
            words[at >> 6] &= !(1 << (at & 63));
        }
    }

    /// Adds one to the counter of each id. Inlined, for the few numbers of digits that are usual:
    /// then the compiler knows them.
    #[inline(always)]
    fn add_counted(&mut self, digits: usize, arrays: &[Vec<u64>], base: u64) {
        self.mark(arrays, base, |words, at| {
            let (mut carry, first) = (1 << (at & 63), (at >> 6).wrapping_mul(digits));
            for word in &mut words[first..first.wrapping_add(digits)] {
                (*word, carry) = (*word ^ carry, *word & carry);
            }
        });
    }

    /// Appends the ids kept, and leaves the scratch zero.
    fn take(&mut self, rule: Rule, digits: usize, base: u64, out: &mut Vec<u64>) {
        if digits == 1 {
            // The only digit is what is kept.
            return self.take_words(1, base, out, |word| std::mem::take(&mut word[0]));
        }
        match (rule, digits) {
            (Rule::Between { low, high }, 2) => self.take_between::<2>(low..=high, base, out),
            (Rule::Between { low, high }, 3) => self.take_between::<3>(low..=high, base, out),
            (Rule::Between { low, high }, 4) => self.take_between::<4>(low..=high, base, out),
            _ => self.take_words(digits, base, out, |counters| {
                let kept = kept(rule, counters);
                counters.fill(0);
                kept
            }),
        }
    }

    /// As `take` of a rule between two counts, for the few digits that are usual.
    fn take_between<const DIGITS: usize>(
        &mut self,
        kept: RangeInclusive<u32>,
        base: u64,
        out: &mut Vec<u64>,
    ) {
        let low = masks_of::<DIGITS>(*kept.start());
        // A count that no counter reaches is above all of them.
        let is_bounded = *kept.end() < (1 << DIGITS) - 1;
        let above = masks_of::<DIGITS>(if is_bounded { kept.end() + 1 } else { 0 });
        let unbounded = if is_bounded { 0 } else { u64::MAX };
        self.take_words(DIGITS, base, out, |counters| match counters.first_chunk_mut::<DIGITS>() {
            Some(counters) => {
                let kept = at_least(counters, &low) & (unbounded | !at_least(counters, &above));
                *counters = [0; DIGITS];
                kept
            }
            None => 0,
        });
    }

    /// Appends the ids of the bits that `take` takes out of each word's counters.
    #[inline(always)]
    fn take_words(
        &mut self,
        digits: usize,
        base: u64,
        out: &mut Vec<u64>,
        mut take: impl FnMut(&mut [u64]) -> u64,
    ) {
        for (k, used) in self.used.iter_mut().enumerate() {
            let mut left = std::mem::take(used);
            while left != 0 {
                let word = k * 64 + left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                let first = word.wrapping_mul(digits);
                let mut kept = take(&mut self.words[first..first.wrapping_add(digits)]);
                let first = base.wrapping_add(word as u64 * 64);
                while kept != 0 {
                    out.push(first.wrapping_add(u64::from(kept.trailing_zeros())));
                    kept &= kept.wrapping_sub(1);
                }
            }
        }
    }
}

/// The bit of `id` in a window from `base` on.
#[inline(always)]
fn place(id: u64, base: u64) -> usize {
    let delta = id.wrapping_sub(base);
    debug_assert!(delta < WINDOW_BITS, "{id} is not within the window from {base} on");
    // Tells the compiler what is so anyway.
    (delta % WINDOW_BITS) as usize
}

/// The binary digits of a number, each as all bits of a word.
fn masks_of<const DIGITS: usize>(number: u32) -> [u64; DIGITS] {
    std::array::from_fn(|place| if number >> place & 1 == 1 { u64::MAX } else { 0 })
}

/// The bits whose counters are a number at least, of which `masks` are the digits.
#[inline(always)]
fn at_least<const DIGITS: usize>(counters: &[u64; DIGITS], masks: &[u64; DIGITS]) -> u64 {
    counters
        .iter()
        .zip(masks)
        .fold(u64::MAX, |so_far, (digit, mask)| digit & so_far | !mask & (digit | so_far))
}

/// The bits that `rule` keeps by their counters.
fn kept(rule: Rule, digits: &[u64]) -> u64 {
    match (rule, digits) {
        (Rule::Between { low, high }, _) => {
            let reached = |k: u32| {
                let digits = digits.iter().enumerate();
                digits.fold(u64::MAX, |so_far, (place, digit)| {
                    at_least_digit(so_far, *digit, k >> place & 1 == 1)
                })
            };
            let is_bounded = (high as usize) < (1 << digits.len()) - 1;
            reached(low) & if is_bounded { !reached(high + 1) } else { u64::MAX }
        }
        (Rule::FirstAndOther, [any, first]) => first & any,
        (Rule::OtherOnly, [any, first]) => any & !first,
        _ => {
            debug_assert!(false, "two digits where the first operand is told from the others");
            0
        }
    }
}
