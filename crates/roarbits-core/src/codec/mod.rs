//! Bytes to bitmaps and back: one file a format.

pub mod native;
pub mod portable32;
pub mod portable64;
pub mod string;

mod detect;
mod error;
mod foreign;
mod portable;
mod reader;

pub use detect::{decode_auto, Format};
pub use error::DecodeError;
pub(crate) use reader::{put_varint, varint_bytes, Reader};
