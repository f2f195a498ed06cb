//! PORTABLE64: the Roaring format of 64-bit ids that CRoaring, Java, Go and Rust
//! share, by the 64-bit part of <https://github.com/RoaringBitmap/RoaringFormatSpec>.
//!
//! ```text
//! +--------------------+  then, a bucket,  +---------------------+----------------------+
//! | u64 buckets        |  keys ascending:  | u32 key: id >> 32   | body of `portable`   |
//! +--------------------+                   +---------------------+----------------------+
//! ```

use std::ops::RangeInclusive;

use super::portable::{read_body, BodyWriter, Buckets, Sizer, FULL_BODY_BYTES};
use super::{foreign, DecodeError, Reader};
use crate::bitmap::{BitRead, Bitmap, Builder};

/// The size of the bucket count and of a bucket's key.
const COUNT_BYTES: usize = 8;
const KEY_BYTES: u64 = 4;
/// A key and the smallest body with an id in it: one run container of one run.
const MIN_BUCKET_BYTES: u64 = KEY_BYTES + 15;

/// The exact size of `encode(bits, range)`, without building it. O(runs and plain bits),
/// however long the runs are.
pub fn encoded_bytes(bits: &dyn BitRead, range: RangeInclusive<u64>) -> u64 {
    let mut buckets = Buckets::new(bits, range);
    let mut size = COUNT_BYTES as u64;
    while let Some(key) = buckets.key() {
        let full = buckets.take_full();
        if full > 0 {
            size += full * (KEY_BYTES + FULL_BODY_BYTES);
            continue;
        }
        let mut sizer = Sizer::default();
        while let Some(part) = buckets.next_in(key) {
            sizer.add(part);
        }
        size += KEY_BYTES + sizer.finish();
    }
    size
}

/// Encodes the members in the closed `range`, each container in its smallest
/// form. The logical length is not kept.
///
/// A run of 2^63 ids is 2^31 buckets of 900 KB: callers refuse by `encoded_bytes`
/// what they cannot hold. Beside the payload it holds the description of one
/// bucket's containers, at most 512 KB.
pub fn encode(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Vec<u8> {
    let size = encoded_bytes(bits, range.clone());
    let mut out = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    out.extend_from_slice(&[0; COUNT_BYTES]);
    let mut ahead = Buckets::new(bits, range.clone());
    let mut behind = Buckets::new(bits, range);
    let mut writer = BodyWriter::default();
    let mut count = 0u64;
    while let Some(key) = ahead.key() {
        out.extend_from_slice(&key.to_le_bytes());
        writer.write(key, &mut ahead, &mut behind, &mut out);
        count += 1;
    }
    out[..COUNT_BYTES].copy_from_slice(&count.to_le_bytes());
    out
}

/// Decodes a payload. The logical length is what the largest id needs.
///
/// # Errors
/// The first thing wrong with the payload, or the name of a foreign format.
pub fn decode(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    decode_buckets(payload).map_err(|error| foreign::recognise(payload).unwrap_or(error))
}

fn decode_buckets(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    let mut reader = Reader::new(payload);
    let buckets = u64::from_le_bytes(reader.take_array()?);
    if buckets > reader.remaining() as u64 / MIN_BUCKET_BYTES {
        return Err(DecodeError::new("more buckets than the payload has room for", 0));
    }
    let mut out = Builder::new();
    let mut last = None;
    for _ in 0..buckets {
        let at = reader.at();
        let key = u32::from_le_bytes(reader.take_array()?);
        if last.is_some_and(|last| key <= last) {
            return Err(DecodeError::new("bucket keys are not ascending", at));
        }
        last = Some(key);
        if read_body(&mut reader, u64::from(key) << 32, &mut out)? == 0 {
            return Err(DecodeError::new("empty bucket", at));
        }
    }
    reader.finish()?;
    Ok(out.finish(0))
}
