//! Bytes to bitmaps and back: one file a format.

pub mod native;
pub mod portable32;
pub mod portable64;
pub mod string;

mod detect;
mod error;
mod foreign;
mod portable;

pub use detect::{decode_auto, Format};
pub use error::DecodeError;
