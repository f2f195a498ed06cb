//! What is wrong with a payload, and where.

use std::fmt;

/// A payload that cannot be trusted: what is wrong, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    what: &'static str,
    at: usize,
}

impl DecodeError {
    /// `what` in words that read well before "at byte N"; `at` is a zero-based offset into the payload.
    pub(crate) fn new(what: &'static str, at: usize) -> Self {
        Self { what, at }
    }

    /// What is wrong, in words.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// The zero-based offset of the byte at which it was noticed.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for DecodeError {}
