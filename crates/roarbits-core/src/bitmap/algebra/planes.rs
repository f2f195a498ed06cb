//! Combining many sparse operands whose ids lie close together: a scratch area of
//! plain bits over a window, with a summary of the words in use.
//!
//! How many operands have an id is counted in bit-sliced counters: the digits of a
//! word's counters lie side by side, the lowest first. Where a rule tells a first
//! operand from the others there are two: whether any other has the id, and the first.

use super::rule::Rule;
use super::words::{at_least_digit, digits_of};

/// Bits of the widest window.
pub(crate) const WINDOW_BITS: u64 = 1 << 19;
const WINDOW_WORDS: usize = (WINDOW_BITS / 64) as usize;

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
            Rule::Odd => 1,
            Rule::FirstOnly | Rule::FirstAndOther | Rule::OtherOnly => 2,
        };
        self.words.resize((WINDOW_WORDS * digits).max(self.words.len()), 0);
        self.used.resize(WINDOW_WORDS / 64, 0);
        match rule {
            Rule::Between { .. } if digits > 1 => self.add_counted(digits, arrays, base),
            Rule::Between { .. } => self.add(1, 0, arrays, base, |word, bit| word | bit),
            Rule::Odd => self.add(1, 0, arrays, base, |word, bit| word ^ bit),
            Rule::FirstOnly | Rule::FirstAndOther | Rule::OtherOnly => {
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
        for id in arrays.iter().flatten() {
            let at = (id - base) as usize;
            self.used[at >> 12] |= 1 << (at >> 6 & 63);
            let word = &mut self.words[(at >> 6) * digits + digit];
            *word = put(*word, 1 << (at & 63));
        }
    }

    fn add_counted(&mut self, digits: usize, arrays: &[Vec<u64>], base: u64) {
        for id in arrays.iter().flatten() {
            let at = (id - base) as usize;
            self.used[at >> 12] |= 1 << (at >> 6 & 63);
            let mut carry = 1 << (at & 63);
            for word in &mut self.words[(at >> 6) * digits..][..digits] {
                (*word, carry) = (*word ^ carry, *word & carry);
            }
        }
    }

    /// Appends the ids kept, and leaves the scratch zero.
    fn take(&mut self, rule: Rule, digits: usize, base: u64, out: &mut Vec<u64>) {
        for (k, used) in self.used.iter_mut().enumerate() {
            let mut left = std::mem::take(used);
            while left != 0 {
                let word = k * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let counters = &mut self.words[word * digits..][..digits];
                let mut kept = kept(rule, counters);
                counters.fill(0);
                let first = base + word as u64 * 64;
                while kept != 0 {
                    out.push(first + u64::from(kept.trailing_zeros()));
                    kept &= kept - 1;
                }
            }
        }
    }
}

/// The bits that `rule` keeps by their counters.
fn kept(rule: Rule, digits: &[u64]) -> u64 {
    match (rule, digits) {
        (Rule::Between { .. } | Rule::Odd, [word]) => *word,
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
        (Rule::FirstOnly, [any, first]) => first & !any,
        (Rule::FirstAndOther, [any, first]) => first & any,
        (Rule::OtherOnly, [any, first]) => any & !first,
        _ => {
            debug_assert!(false, "two digits where the first operand is told from the others");
            0
        }
    }
}
