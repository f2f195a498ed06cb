//! STRING: the bitmap as the Redis string that SETBIT would have made, bit 0 the
//! most significant of byte 0, exactly as long as the logical length.

use std::ops::RangeInclusive;

use crate::bitmap::{BitRead, Bitmap, Builder, Span, CHUNK_WORDS};

/// The exact size of `encode(bits, range)`; null where that is. O(1).
pub fn encoded_bytes(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Option<u64> {
    if !range.start().is_multiple_of(8) {
        return None;
    }
    if range.is_empty() {
        return Some(0);
    }
    let end = bits.length_bytes().min(range.end() / 8 + 1);
    Some(end.saturating_sub(range.start() / 8))
}

/// The bytes that hold the closed `range`, cut at the logical length; bits of
/// the last byte beyond the range are 0. Null unless the range starts at a byte.
///
/// The payload is as long as the largest offset asks: callers refuse by
/// `encoded_bytes` what they cannot hold.
pub fn encode(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Option<Vec<u8>> {
    let size = encoded_bytes(bits, range.clone())?;
    let mut out = vec![0; usize::try_from(size).ok()?];
    let base = *range.start();
    for span in bits.spans_in(range) {
        match span {
            Span::Run(run) => set_bits(&mut out, run.start - base, run.end - base),
            Span::Chunk { base: first, words, .. } => {
                copy_bits(&mut out[((first - base) / 8) as usize..], words);
            }
        }
    }
    Some(out)
}

/// Copies the bits of a chunk, whose last words may lie beyond the end and are zero then.
fn copy_bits(out: &mut [u8], words: &[u64]) {
    for (bytes, word) in out.chunks_mut(8).zip(words) {
        let word = word.reverse_bits().to_be_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

/// Decodes a string; its length is the logical length. Any bytes are valid.
/// O(bytes / 8 + runs), at most 2^16 bits at a time.
pub fn decode(payload: &[u8]) -> Bitmap {
    let mut out = Builder::new();
    let mut words = [0; CHUNK_WORDS];
    for (i, chunk) in payload.chunks(CHUNK_WORDS * 8).enumerate() {
        for (word, bytes) in words.iter_mut().zip(chunk.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_be_bytes(padded).reverse_bits();
        }
        words[chunk.len().div_ceil(8)..].fill(0);
        out.push_chunk((i as u64) << 16, &words);
    }
    out.finish(payload.len() as u64)
}

/// Sets the bits `start` to `end`, the most significant bit of a byte first.
fn set_bits(out: &mut [u8], start: u64, end: u64) {
    let (first, last) = ((start / 8) as usize, (end / 8) as usize);
    let from_start = 0xff >> (start % 8);
    let to_end = 0xff << (7 - end % 8);
    if first == last {
        out[first] |= from_start & to_end;
        return;
    }
    out[first] |= from_start;
    out[first + 1..last].fill(0xff);
    out[last] |= to_end;
}
