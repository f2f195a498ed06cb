//! The data types of the module: what a key can hold.

mod bitmap;

pub use bitmap::{validate_or_abort, BitmapType, PIECE_BYTES};
