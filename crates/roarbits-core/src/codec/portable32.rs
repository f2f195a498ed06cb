//! PORTABLE32: the Roaring format of every 32-bit Roaring library, one body of
//! `portable` and nothing else.

use std::ops::RangeInclusive;

use super::portable::{read_body, BodyWriter, Buckets, Sizer};
use super::{foreign, DecodeError, Reader};
use crate::bitmap::{BitRead, Bitmap, Builder};

/// The first id that the format cannot hold.
const IDS: u64 = 1 << 32;

/// The exact size of `encode(bits, range)`, without building it; null if a member
/// in the closed `range` is beyond 32 bits. O(runs and plain bits).
pub fn encoded_bytes(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Option<u64> {
    let mut buckets = buckets(bits, range)?;
    let mut sizer = Sizer::default();
    while let Some(part) = buckets.next_in(0) {
        sizer.add(part);
    }
    Some(sizer.finish())
}

/// Encodes the members in the closed `range`, each container in its smallest
/// form; null if one of them is beyond 32 bits. The logical length is not kept.
pub fn encode(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Option<Vec<u8>> {
    let size = encoded_bytes(bits, range.clone())?;
    let mut out = Vec::with_capacity(usize::try_from(size).ok()?);
    let (mut ahead, mut behind) = (buckets(bits, range.clone())?, buckets(bits, range)?);
    BodyWriter::default().write(0, &mut ahead, &mut behind, &mut out);
    Some(out)
}

/// Decodes a payload. The logical length is what the largest id needs.
///
/// # Errors
/// The first thing wrong with the payload, or the name of a foreign format.
pub fn decode(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    decode_body(payload).map_err(|error| foreign::recognise(payload).unwrap_or(error))
}

fn decode_body(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    let mut reader = Reader::new(payload);
    let mut out = Builder::new();
    read_body(&mut reader, 0, &mut out)?;
    reader.finish()?;
    Ok(out.finish(0))
}

fn buckets(bits: &dyn BitRead, range: RangeInclusive<u64>) -> Option<Buckets<'_>> {
    let from = IDS.max(*range.start());
    let beyond = bits.next_present(from).is_some_and(|id| range.contains(&id));
    (!beyond).then(|| Buckets::new(bits, range))
}
