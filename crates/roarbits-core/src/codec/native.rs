//! NATIVE: our versioned, self-checking coding (PLACEHOLDER BYTES behind the final API).

use std::ops::RangeInclusive;

use super::DecodeError;
use crate::bitmap::{BitRead, Bitmap, Builder, Run};

/// Encodes the members in the closed `range` as one NATIVE payload, with the logical length.
pub fn encode(bitmap: &Bitmap, range: RangeInclusive<u64>) -> Vec<u8> {
    let mut out = b"RBN\x01".to_vec();
    for x in [bitmap.length_bytes(), *range.start(), *range.end()] {
        out.extend(x.to_le_bytes());
    }
    for r in bitmap.runs_in(range) {
        out.extend(r.start.to_le_bytes());
        out.extend(r.end.to_le_bytes());
    }
    out
}

/// The exact size in bytes of `encode(bitmap, range)`, without building it.
pub fn encoded_bytes(bitmap: &Bitmap, range: RangeInclusive<u64>) -> u64 {
    encode(bitmap, range).len() as u64
}

/// Cuts the bitmap into NATIVE payloads of at most about `target_bytes`, whose
/// closed ranges are consecutive from 0 and of which the last ends at 2^64-1.
/// At least one, also of an empty bitmap.
pub fn pieces(bitmap: &Bitmap, target_bytes: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let _ = target_bytes;
    std::iter::once(encode(bitmap, 0..=u64::MAX))
}

/// Decodes one NATIVE payload.
///
/// # Errors
/// The first thing wrong with it; nothing larger than the payload justifies is allocated before.
pub fn decode(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    let mut a = Assembler::new();
    a.push(payload)?;
    Ok(a.finish())
}

/// Joins the payloads that `pieces` cut, in order, as an RDB holds them.
#[derive(Debug, Default)]
pub struct Assembler {
    builder: Builder,
    length_bytes: u64,
    complete: bool,
}

impl Assembler {
    /// An empty assembler that expects a piece from id 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the next piece; true once the pieces are complete.
    ///
    /// # Errors
    /// As `decode`, or a piece that does not continue where the last one ended.
    pub fn push(&mut self, piece: &[u8]) -> Result<bool, DecodeError> {
        if !piece.starts_with(b"RBN\x01") || piece.len() < 28 || (piece.len() - 28) % 16 != 0 {
            return Err(DecodeError::new("not a NATIVE payload", 0));
        }
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|k| piece[i + k]));
        self.length_bytes = word(4);
        for i in (28..piece.len()).step_by(16) {
            self.builder.push_run(Run { start: word(i), end: word(i + 8) });
        }
        self.complete = word(20) == u64::MAX;
        Ok(self.complete)
    }

    /// The bitmap of all pieces pushed.
    pub fn finish(self) -> Bitmap {
        self.builder.finish(self.length_bytes)
    }
}
