//! Bytes to bitmaps and back: one file a format.

pub mod native;
mod error;

pub use error::DecodeError;
