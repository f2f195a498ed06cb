//! Arguments to values.
//!
//! Ids may have leading zeros and nothing else that is not a digit. Every other
//! number is parsed exactly as the server parses numbers, so that key specs, ACL
//! and the command see the same call.

use std::ops::RangeInclusive;

use crate::ffi::{Arg, Args, Refusal};

/// The native text for an option that is unknown, incomplete or repeated.
pub const SYNTAX: Refusal = Refusal::new("ERR syntax error");

/// A list reply would hold more ids than `max-reply` allows.
pub const TOO_LARGE: Refusal = Refusal::new("ERR reply too large, use LIMIT or RB.SCAN");

const ID: Refusal = Refusal::new("ERR id is not an integer or out of range");
const NUMBER: Refusal = Refusal::new("ERR value is not an integer or out of range");
const OFFSET: Refusal = Refusal::new("ERR bit offset is not an integer or out of range");
const BIT: Refusal = Refusal::new("ERR bit is not an integer or out of range");

/// The argument at `position`.
///
/// # Errors
/// There is none, where the row's arity allows that: a syntax error.
pub fn required(args: Args<'_>, position: usize) -> Result<Arg<'_>, Refusal> {
    args.get(position).ok_or(SYNTAX)
}

/// An id.
///
/// # Errors
/// Not a decimal from 0 to 2^64-1.
pub fn id(arg: Arg<'_>) -> Result<u64, Refusal> {
    unsigned(arg).ok_or(ID)
}

/// Ids, all of the arguments from `position` on.
///
/// # Errors
/// One of them is none.
pub fn ids(args: Args<'_>, position: usize) -> Result<Vec<u64>, Refusal> {
    args.from(position).map(id).collect()
}

/// The offset of a bit.
///
/// # Errors
/// Not a decimal from 0 to 2^64-1.
pub fn offset(arg: Arg<'_>) -> Result<u64, Refusal> {
    unsigned(arg).ok_or(OFFSET)
}

/// A bit to write.
///
/// # Errors
/// Neither 0 nor 1.
pub fn bit(arg: Arg<'_>) -> Result<bool, Refusal> {
    match arg.bytes() {
        b"0" => Ok(false),
        b"1" => Ok(true),
        _ => Err(BIT),
    }
}

/// A cursor of RB.SCAN.
///
/// # Errors
/// Not a decimal from 0 to 2^64-1.
pub fn cursor(arg: Arg<'_>) -> Result<u64, Refusal> {
    unsigned(arg).ok_or(Refusal::new("ERR invalid cursor"))
}

/// A closed range of ids from two bounds, `-` and `+` included. It may be reversed,
/// which is empty.
///
/// # Errors
/// A bound is neither an id nor `-` nor `+`.
pub fn id_range(start: Arg<'_>, end: Arg<'_>) -> Result<RangeInclusive<u64>, Refusal> {
    Ok(bound(start)?..=bound(end)?)
}

fn bound(arg: Arg<'_>) -> Result<u64, Refusal> {
    match arg.bytes() {
        b"-" => Ok(0),
        b"+" => Ok(u64::MAX),
        _ => id(arg),
    }
}

/// A number, as the server parses numbers.
///
/// # Errors
/// Not one, or outside of -2^63..2^63-1.
pub fn number(arg: Arg<'_>) -> Result<i64, Refusal> {
    let digits = arg.bytes().strip_prefix(b"-").unwrap_or(arg.bytes());
    let negative = digits.len() < arg.bytes().len();
    let strict = match digits {
        [b'0'] => !negative,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let text = std::str::from_utf8(arg.bytes()).ok().filter(|_| strict);
    text.and_then(|text| text.parse().ok()).ok_or(NUMBER)
}

/// The offset and count of LIMIT, as ZRANGE reads them: a negative offset replies nothing, a
/// negative count, which is null here, everything.
pub fn limit((offset, count): (i64, i64)) -> (u64, Option<u64>) {
    match u64::try_from(offset) {
        Ok(skip) => (skip, u64::try_from(count).ok()),
        Err(_) => (0, Some(0)),
    }
}

/// Digits that are in range whatever they are.
const SAFE_DIGITS: usize = 19;

fn unsigned(arg: Arg<'_>) -> Option<u64> {
    let digits = arg.bytes();
    if digits.is_empty() {
        return None;
    }
    let (safe, rest) = digits.split_at(digits.len().min(SAFE_DIGITS));
    let mut value = 0u64;
    for byte in safe {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    rest.iter().try_fold(value, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Options after the fixed arguments, read one after the other.
pub struct Options<'a> {
    args: Args<'a>,
    position: usize,
}

impl<'a> Options<'a> {
    /// The options from `position` on.
    pub fn from(args: Args<'a>, position: usize) -> Self {
        Self { args, position }
    }

    /// The next argument, if there is one.
    pub fn next(&mut self) -> Option<Arg<'a>> {
        let arg = self.args.get(self.position)?;
        self.position += 1;
        Some(arg)
    }

    /// All arguments that are left.
    pub fn rest(&mut self) -> impl Iterator<Item = Arg<'a>> + 'a {
        self.args.from(std::mem::replace(&mut self.position, self.args.len()))
    }

    /// The value of the option just read.
    ///
    /// # Errors
    /// It has none: a syntax error.
    pub fn value(&mut self) -> Result<Arg<'a>, Refusal> {
        self.next().ok_or(SYNTAX)
    }
}

/// Takes an option's value once.
///
/// # Errors
/// The option was given before: a syntax error.
pub fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Refusal> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(SYNTAX),
    }
}
