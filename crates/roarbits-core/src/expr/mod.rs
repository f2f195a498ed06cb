//! Questions over several bitmaps: "on at least 3 of 7 days, subscribed, not churned: how many? who?"
//!
//! ```text
//! text --> Expression: terms over numbered keys, ranges of ids, predicates   token.rs, parse.rs, error.rs
//!      --> Plan: bound to bitmaps, folded, smallest operand first            fold.rs, plan.rs, estimate.rs
//!      --> count, bitmap, page or tests, by one pass over all operands       bitmap/algebra/nested
//! ```
//!
//! | binds | operators, each grouping to the left | functions over operands or `*`, all keys |
//! |---|---|---|
//! | tightest | `$3 >= 2`, `= == != < <= >`, `in (1, 2)`, `between 1 and 9` | `any(..)`, `all(..)`, `xor(..)` |
//! | | `-` difference | `atleast(k, ..)`, `exactly(k, ..)` |
//! | | `&` | `streak(k, ..)`: in k consecutive ones |
//! | | `^` | `range(a, b)`: the ids from a to b |
//! | loosest | `\|` | |
//!
//! Words may be written in capitals. There is no complement of everything: `range(0, 999) - $1`.

mod error;
mod estimate;
mod fold;
mod parse;
mod plan;
mod token;

pub use crate::bitmap::Watch;
pub use error::SyntaxError;
pub use estimate::Estimate;
pub use parse::{Expression, Predicate, Test};
pub use plan::Plan;

/// Keys that an expression may be given.
pub const MAX_KEYS: usize = 1024;
/// Bytes of an expression at most.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// How deep parentheses and functions may be nested.
pub const MAX_DEPTH: usize = 64;
/// Operands and gates of an expression at most, each key of a `*` counted.
pub const MAX_TERMS: usize = 16 << 10;
