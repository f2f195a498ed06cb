//! NATIVE: our versioned, self-checking coding. RDB, AOF, replication by value and
//! RB.EXPORT share it. `docs/design/format.md` draws the bytes.
//!
//! ```text
//! 0  "RBN"               magic
//! 3  0x01                version
//! 4  length*             the logical length in bytes, at most 2^61
//!    start*              the closed range of ids that this payload speaks for:
//!    2^64 - 1 - end*       from start to end; ids outside are not stated
//!    leaves*
//!    leaf record ...     bitmap/record.rs; ascending, no chunk in two of them
//!    8 bytes             xxh3-64 of everything before, little-endian
//! ```
//!
//! `*` is a LEB128 number. A large bitmap is cut into pieces with consecutive
//! ranges from 0 to 2^64-1, each a payload of its own, so that neither side ever
//! holds a second copy of it.

use std::ops::RangeInclusive;

use triomphe::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{put_varint, varint_bytes, DecodeError, Reader};
use crate::bitmap::{chunk_end, chunk_start, BitRead, Bitmap, Builder, Leaf};

const MAGIC: &[u8] = b"RBN";
const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;
/// The logical length of a bitmap with the id 2^64-1.
const LENGTH_MAX_BYTES: u64 = 1 << 61;

/// Encodes the members in the closed `range` as one NATIVE payload, with the logical length.
pub fn encode(bitmap: &Bitmap, range: RangeInclusive<u64>) -> Vec<u8> {
    let part = bitmap.slice(range.clone());
    let leaves: Vec<&Leaf> = part.leaves().map(Arc::as_ref).collect();
    Piece { length_bytes: bitmap.length_bytes(), range, leaves: &leaves }.encode()
}

/// The exact size in bytes of `encode(bitmap, range)`, without building it. O(leaves).
pub fn encoded_bytes(bitmap: &Bitmap, range: RangeInclusive<u64>) -> u64 {
    let part = bitmap.slice(range.clone());
    let leaves: Vec<&Leaf> = part.leaves().map(Arc::as_ref).collect();
    Piece { length_bytes: bitmap.length_bytes(), range, leaves: &leaves }.encoded_bytes()
}

/// One payload to be written.
struct Piece<'a> {
    length_bytes: u64,
    range: RangeInclusive<u64>,
    leaves: &'a [&'a Leaf],
}

impl Piece<'_> {
    /// The numbers after magic and version.
    fn header(&self) -> [u64; 4] {
        [self.length_bytes, *self.range.start(), u64::MAX - *self.range.end(), self.leaves.len() as u64]
    }

    fn encoded_bytes(&self) -> u64 {
        let header: usize = self.header().into_iter().map(varint_bytes).sum();
        let leaves: u64 = self.leaves.iter().map(|leaf| leaf.record_bytes() as u64).sum();
        (MAGIC.len() + 1 + header + CHECKSUM_BYTES) as u64 + leaves
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_bytes() as usize);
        out.extend(MAGIC);
        out.push(VERSION);
        self.header().into_iter().for_each(|number| put_varint(&mut out, number));
        self.leaves.iter().for_each(|leaf| leaf.write_record(&mut out));
        let checksum = xxh3_64(&out);
        out.extend(checksum.to_le_bytes());
        out
    }
}

/// Cuts the bitmap into NATIVE payloads of at most `target_bytes`, or of one leaf
/// (up to 8.3 KB) where that is more. Their closed ranges are consecutive from 0, and
/// the last ends at 2^64-1. At least one, also of an empty bitmap.
///
/// Touches no reference count, so that a forked child may walk it without copying pages.
pub fn pieces(bitmap: &Bitmap, target_bytes: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let mut leaves = bitmap.leaves().map(Arc::as_ref).peekable();
    let mut start = Some(0);
    let mut gathered: Vec<&Leaf> = Vec::new();
    std::iter::from_fn(move || {
        let from = start?;
        gathered.clear();
        let mut bytes = MAGIC.len() + 1 + 4 * varint_bytes(u64::MAX) + CHECKSUM_BYTES;
        while let Some(leaf) =
            leaves.next_if(|leaf| gathered.is_empty() || bytes + leaf.record_bytes() <= target_bytes)
        {
            bytes += leaf.record_bytes();
            gathered.push(leaf);
        }
        start = leaves.peek().map(|next| chunk_start(next.min()));
        let range = from..=start.map_or(u64::MAX, |next| next - 1);
        Some(Piece { length_bytes: bitmap.length_bytes(), range, leaves: &gathered }.encode())
    })
}

/// Decodes one NATIVE payload, whatever range it speaks for.
///
/// # Errors
/// The first thing wrong with it; nothing larger than the payload justifies is
/// allocated before (a leaf of one id takes 8 bytes here and about 110 in memory). Byte 0 is named only where the magic is missing.
pub fn decode(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    let mut assembler = Assembler::new();
    assembler.append(payload)?;
    Ok(assembler.finish())
}

/// Joins the payloads that `pieces` cut, in order, as an RDB holds them.
#[derive(Debug, Default)]
pub struct Assembler {
    builder: Builder,
    length_bytes: Option<u64>,
    /// The last id of the last chunk so far.
    last: Option<u64>,
    /// The end of the last piece's range.
    end: Option<u64>,
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
        let expected = match self.end {
            None => 0,
            Some(end) => end.checked_add(1).ok_or(DecodeError::new("a piece after the last one", 1))?,
        };
        let range = self.append(piece)?;
        if *range.start() != expected {
            return Err(DecodeError::new("a piece that does not continue the one before", MAGIC.len() + 1));
        }
        self.end = Some(*range.end());
        Ok(*range.end() == u64::MAX)
    }

    /// The bitmap of all pieces pushed.
    pub fn finish(self) -> Bitmap {
        self.builder.finish(self.length_bytes.unwrap_or(0))
    }

    fn append(&mut self, payload: &[u8]) -> Result<RangeInclusive<u64>, DecodeError> {
        let mut reader = Reader::new(checked_body(payload)?);
        reader.take(MAGIC.len() + 1)?;
        let at = reader.at();
        let length_bytes = reader.take_varint()?;
        if length_bytes > LENGTH_MAX_BYTES || self.length_bytes.is_some_and(|length| length != length_bytes) {
            return Err(DecodeError::new("impossible logical length", at));
        }
        self.length_bytes = Some(length_bytes);
        let range_at = reader.at();
        let range = reader.take_varint()?..=u64::MAX - reader.take_varint()?;
        if range.is_empty() {
            return Err(DecodeError::new("reversed range", range_at));
        }
        let last_addressable = (length_bytes > 0).then(|| length_bytes.wrapping_mul(8).wrapping_sub(1));
        for _ in 0..reader.take_varint()? {
            let at = reader.at();
            let leaf = Leaf::read_record(&mut reader)?;
            let (min, max) = (leaf.min(), leaf.max());
            if min < *range.start() || max > *range.end() {
                return Err(DecodeError::new("a leaf outside the payload's range", at));
            }
            if last_addressable.is_none_or(|last| max > last) {
                return Err(DecodeError::new("an id beyond the logical length", at));
            }
            if self.last.is_some_and(|last| chunk_start(min) <= last) {
                return Err(DecodeError::new("leaves are not ascending", at));
            }
            self.last = Some(chunk_end(max));
            self.builder.push_loaded_leaf(leaf);
        }
        reader.finish()?;
        Ok(range)
    }
}

/// The payload without its checksum, which must be right.
fn checked_body(payload: &[u8]) -> Result<&[u8], DecodeError> {
    if !payload.starts_with(MAGIC) {
        return Err(DecodeError::new("not a NATIVE payload", 0));
    }
    match payload.get(MAGIC.len()) {
        Some(&VERSION) => (),
        Some(_) => return Err(DecodeError::new("unknown NATIVE version", MAGIC.len())),
        None => return Err(DecodeError::new("payload is cut short", payload.len())),
    }
    let Some((body, checksum)) = payload.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err(DecodeError::new("payload is cut short", payload.len()));
    };
    if body.len() <= MAGIC.len() || xxh3_64(body) != u64::from_le_bytes(*checksum) {
        return Err(DecodeError::new("wrong checksum", body.len()));
    }
    Ok(body)
}
