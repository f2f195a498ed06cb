//! The formats by name, and which of them a payload is in.
//!
//! The headers keep them apart: a PORTABLE32 cookie, read as PORTABLE64's bucket
//! count, asks for more bytes than the body that it begins can have, and NATIVE's
//! magic for 97 MB that would also have to bear its checksum. What does validate
//! twice is refused all the same.

use super::portable::begins_with_body;
use super::{native, portable32, portable64, DecodeError};
use crate::bitmap::Bitmap;

/// A coding of bitmaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Ours: compact, self-checking, keeps the logical length.
    Native,
    /// Roaring's, of 64-bit ids.
    Portable64,
    /// Roaring's, of 32-bit ids.
    Portable32,
    /// The equivalent Redis string, most significant bit first.
    String,
}

/// Decodes a payload by every format whose header fits. Never as `Format::String`,
/// which any bytes are.
///
/// # Errors
/// No format validates: the error of the one whose header fits best. More than one
/// does: that the format must be named.
pub fn decode_auto(payload: &[u8]) -> Result<(Format, Bitmap), DecodeError> {
    let tries = [
        (Format::Native, native::decode(payload)),
        (Format::Portable32, portable32::decode(payload)),
        (Format::Portable64, portable64::decode(payload)),
    ];
    let mut found = None;
    let mut best = None;
    for (format, tried) in tries {
        match tried {
            Ok(_) if found.is_some() => {
                return Err(DecodeError::new("more than one format fits, name it with FORMAT,", 0));
            }
            Ok(bitmap) => found = Some((format, bitmap)),
            Err(error) => best = best.or(header_fits(format, payload, &error).then_some(error)),
        }
    }
    found.ok_or(best.unwrap_or(DecodeError::new("payload is in no known format", 0)))
}

/// Whether the error of `format` is the one to tell; the last format takes what is left.
fn header_fits(format: Format, payload: &[u8], error: &DecodeError) -> bool {
    match format {
        // Its magic comes first, so an error further on has passed it.
        Format::Native => error.at() > 0,
        Format::Portable32 => begins_with_body(payload),
        Format::Portable64 | Format::String => true,
    }
}
