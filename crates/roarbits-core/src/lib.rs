//! The structures of Roarbits, with no server, no I/O and no clock.
//!
//! `bitmap` is the adaptive set of 64-bit ids; `codec` turns it into bytes and
//! back; `expr` answers questions over several. Anything that knows a server, an allocator or a command belongs to the
//! module crate.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bitmap;
pub mod codec;
pub mod expr;

pub use bitmap::{BitRead, Bitmap, Builder, Combination, Run, StringBits, Watch};
