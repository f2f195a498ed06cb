//! What is wrong with an expression, and where.

use std::fmt;

use super::{MAX_DEPTH, MAX_TERMS, MAX_TEXT_BYTES};

/// Why an expression is none. Its text says what and at which byte, from 1 on:
/// `expression: expected an operand at position 7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub(super) fault: Fault,
    pub(super) position: usize,
    pub(super) hint: Hint,
}

/// Whether the fault may be one of quoting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    None,
    Quoting,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    Expected(&'static str),
    NoSuchKey { digits: String, keys: usize },
    NoKeyZero,
    UnknownFunction(String),
    NotClosed,
    NotOpened,
    NoStreakOfNone,
    NotAnId,
    NotAValue,
    TooLong,
    TooDeep,
    TooManyTerms,
}

impl SyntaxError {
    /// The byte of the expression at which it goes wrong, from 1 on.
    pub fn position(&self) -> usize {
        self.position
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::NoSuchKey { digits, keys: 1 } => write!(f, "${digits} but only 1 key is given"),
            Self::NoSuchKey { digits, keys } => write!(f, "${digits} but only {keys} keys are given"),
            Self::NoKeyZero => write!(f, "$0 but keys are numbered from $1"),
            Self::UnknownFunction(name) => {
                let known = "any, all, xor, atleast, exactly, streak and range";
                write!(f, "unknown function '{name}' (there are {known})")
            }
            Self::NotClosed => write!(f, "unbalanced parentheses: not closed is the one"),
            Self::NotOpened => write!(f, "unbalanced parentheses: not opened is the one"),
            Self::NoStreakOfNone => write!(f, "k must be at least 1"),
            Self::NotAnId => write!(f, "an id is not above 18446744073709551615"),
            Self::NotAValue => write!(f, "a value is not within 64 bits"),
            Self::TooLong => write!(f, "longer than {MAX_TEXT_BYTES} bytes"),
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH}"),
            Self::TooManyTerms => write!(f, "more than {MAX_TERMS} operands and operators"),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expression: {} at position {}", self.fault, self.position)?;
        match self.hint {
            Hint::None => Ok(()),
            Hint::Quoting => {
                write!(f, "; a shell may have replaced $1: put the expression in single quotes")
            }
        }
    }
}

impl std::error::Error for SyntaxError {}
