//! Combining one chunk of several operands as plain words.

use super::rule::Rule;
use crate::bitmap::bits::CHUNK_WORDS;

/// Words that are combined at a time, so that counters stay in the nearest cache.
const BLOCK: usize = 64;

/// One chunk's words.
pub(crate) type Chunk = [u64; CHUNK_WORDS];

/// Writes to `out` what `rule` keeps of `operands`; any others have nothing of the
/// chunk. Where the rule tells a first operand from the others, it is the first here.
pub(crate) fn combine(rule: Rule, operands: &[&[u64]], out: &mut Chunk) {
    let [first, rest @ ..] = operands else {
        return out.fill(0);
    };
    let n = operands.len() as u32;
    match rule {
        Rule::Between { low, .. } if low > n => out.fill(0),
        Rule::Between { low, .. } if low == n => fold(first, rest, out, |a, b| a & b),
        Rule::Between { low: 1, high } if high >= n => fold(first, rest, out, |a, b| a | b),
        Rule::Between { low: 1, high: 1 } => exactly_one(operands, out),
        Rule::Between { low, high } => threshold(operands, low, high, out),
        Rule::Odd => fold(first, rest, out, |a, b| a ^ b),
        Rule::FirstOnly => fold(first, rest, out, |a, b| a & !b),
        Rule::FirstAndOther => {
            any(rest, out);
            out.iter_mut().zip(*first).for_each(|(any, first)| *any &= first);
        }
        Rule::OtherOnly => {
            any(rest, out);
            out.iter_mut().zip(*first).for_each(|(any, first)| *any &= !first);
        }
    }
}

fn any(operands: &[&[u64]], out: &mut Chunk) {
    match operands {
        [] => out.fill(0),
        [first, rest @ ..] => fold(first, rest, out, |a, b| a | b),
    }
}

fn fold(first: &[u64], rest: &[&[u64]], out: &mut Chunk, op: impl Fn(u64, u64) -> u64) {
    let [second, rest @ ..] = rest else {
        return out.copy_from_slice(first);
    };
    out.iter_mut().zip(first.iter().zip(*second)).for_each(|(out, (a, b))| *out = op(*a, *b));
    for words in rest {
        out.iter_mut().zip(*words).for_each(|(out, word)| *out = op(*out, *word));
    }
}

fn exactly_one(operands: &[&[u64]], out: &mut Chunk) {
    for (k, once) in out.chunks_exact_mut(BLOCK).enumerate() {
        once.fill(0);
        let mut more = [0u64; BLOCK];
        for words in operands {
            let words = &words[k * BLOCK..(k + 1) * BLOCK];
            for ((once, more), word) in once.iter_mut().zip(&mut more).zip(words) {
                *more |= *once & word;
                *once |= word;
            }
        }
        once.iter_mut().zip(more).for_each(|(once, more)| *once &= !more);
    }
}

/// Keeps what `low` to `high` operands have: each bit is counted in bit-sliced
/// counters, one plane for each binary digit, added to by carries.
fn threshold(operands: &[&[u64]], low: u32, high: u32, out: &mut Chunk) {
    let digits = digits_of(operands.len());
    let mut planes = vec![[0u64; BLOCK]; digits];
    for (k, out) in out.chunks_exact_mut(BLOCK).enumerate() {
        planes.iter_mut().for_each(|plane| plane.fill(0));
        for (i, words) in operands.iter().enumerate() {
            let mut carry = [0u64; BLOCK];
            carry.copy_from_slice(&words[k * BLOCK..(k + 1) * BLOCK]);
            // The sum is i + 1 at most, so only so many digits can take a carry.
            for plane in &mut planes[..digits_of(i + 1)] {
                for (digit, carry) in plane.iter_mut().zip(&mut carry) {
                    (*digit, *carry) = (*digit ^ *carry, *digit & *carry);
                }
            }
        }
        between(&planes, low, high, out);
    }
}

/// The binary digits of `n`.
pub(crate) fn digits_of(n: usize) -> usize {
    (usize::BITS - n.leading_zeros()) as usize
}

/// Sets the bits whose count, of which `planes` are the binary digits from the lowest on, is from `low` to `high`.
fn between(planes: &[[u64; BLOCK]], low: u32, high: u32, out: &mut [u64]) {
    let reached = |k: u32| {
        let mut reached = [u64::MAX; BLOCK];
        for (place, plane) in planes.iter().enumerate() {
            let is_set = k >> place & 1 == 1;
            for (reached, digit) in reached.iter_mut().zip(plane) {
                *reached = at_least_digit(*reached, *digit, is_set);
            }
        }
        reached
    };
    let is_bounded = (high as usize) < (1 << planes.len()) - 1;
    let above = if is_bounded { reached(high + 1) } else { [0; BLOCK] };
    for ((out, low), above) in out.iter_mut().zip(reached(low)).zip(above) {
        *out = low & !above;
    }
}

/// A step of comparing counts with a number, from the lowest digit to the highest:
/// whether the digits so far are at least those of the number, one bit a count.
pub(crate) fn at_least_digit(so_far: u64, digit: u64, is_set_in_number: bool) -> u64 {
    if is_set_in_number {
        digit & so_far
    } else {
        digit | so_far
    }
}
