//! Combining one chunk of several operands as plain words.

use super::rule::Rule;
use crate::bitmap::bits::CHUNK_WORDS;

/// Words that are combined at a time, so that counters stay in the nearest cache.
const BLOCK: usize = 64;

const NOTHING: [u64; BLOCK] = [0; BLOCK];

/// One chunk's words.
pub(crate) type Chunk = [u64; CHUNK_WORDS];

/// Writes to `out` what `rule` keeps of `operands`, a chunk or whole blocks of one, as many words each;
/// any others have nothing of it. Where the rule tells a first operand from the others, it is the first here.
pub(crate) fn combine<const WORDS: usize>(rule: Rule, operands: &[&[u64]], out: &mut [u64; WORDS]) {
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

fn any<const WORDS: usize>(operands: &[&[u64]], out: &mut [u64; WORDS]) {
    match operands {
        [] => out.fill(0),
        [first, rest @ ..] => fold(first, rest, out, |a, b| a | b),
    }
}

fn fold<const WORDS: usize>(
    first: &[u64],
    rest: &[&[u64]],
    out: &mut [u64; WORDS],
    op: impl Fn(u64, u64) -> u64,
) {
    let [second, rest @ ..] = rest else {
        return out.copy_from_slice(first);
    };
    out.iter_mut().zip(first.iter().zip(*second)).for_each(|(out, (a, b))| *out = op(*a, *b));
    for words in rest {
        out.iter_mut().zip(*words).for_each(|(out, word)| *out = op(*out, *word));
    }
}

fn exactly_one<const WORDS: usize>(operands: &[&[u64]], out: &mut [u64; WORDS]) {
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
/// counters, one plane for each binary digit. Operands are added two at a time, by a
/// full adder, which halves the carries (Knuth, TAOCP 4A, section 7.1.2).
fn threshold<const WORDS: usize>(operands: &[&[u64]], low: u32, high: u32, out: &mut [u64; WORDS]) {
    let mut planes = vec![[0u64; BLOCK]; digits_of(operands.len())];
    for (k, out) in out.chunks_exact_mut(BLOCK).enumerate() {
        planes.iter_mut().for_each(|plane| plane.fill(0));
        let mut added = 0;
        for pair in operands.chunks(2) {
            let [lowest, higher @ ..] = &mut planes[..] else {
                return debug_assert!(false, "a digit for one operand at least");
            };
            let mut carry = match pair {
                [a, b] => add_two(lowest, block(a, k), block(b, k)),
                _ => pair.first().map_or(NOTHING, |words| add(lowest, block(words, k))),
            };
            added += pair.len();
            // The sum is `added` at most, so only so many digits can take a carry.
            for plane in &mut higher[..digits_of(added) - 1] {
                carry = add(plane, &carry);
            }
        }
        between(&planes, low, high, out);
    }
}

fn block(words: &[u64], k: usize) -> &[u64; BLOCK] {
    words.get(k * BLOCK..).and_then(|words| words.first_chunk()).unwrap_or(&NOTHING)
}

/// Adds one bit to each digit; the carries.
#[inline(always)]
fn add(digits: &mut [u64; BLOCK], bits: &[u64; BLOCK]) -> [u64; BLOCK] {
    let mut carry = [0; BLOCK];
    for (carry, (digit, bit)) in carry.iter_mut().zip(digits.iter_mut().zip(bits)) {
        (*digit, *carry) = (*digit ^ bit, *digit & bit);
    }
    carry
}

/// Adds two bits to each digit; the carries.
#[inline(always)]
fn add_two(digits: &mut [u64; BLOCK], a: &[u64; BLOCK], b: &[u64; BLOCK]) -> [u64; BLOCK] {
    let mut carry = [0; BLOCK];
    for ((carry, digit), (a, b)) in carry.iter_mut().zip(digits.iter_mut()).zip(a.iter().zip(b)) {
        let either = *digit ^ a;
        (*digit, *carry) = (either ^ b, *digit & a | either & b);
    }
    carry
}

/// The binary digits of `n`.
pub(crate) fn digits_of(n: usize) -> usize {
    (usize::BITS - n.leading_zeros()) as usize
}

/// Sets the bits whose count, of which `planes` are the binary digits from the lowest on, is from
/// `low` to `high`.
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
