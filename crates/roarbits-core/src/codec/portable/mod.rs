//! The 32-bit Roaring body that PORTABLE32 is and that PORTABLE64 holds once a
//! bucket, by <https://github.com/RoaringBitmap/RoaringFormatSpec>. All integers
//! are little-endian; a container is the 2^16 ids that share their upper bits.
//!
//! ```text
//! no run container                      at least one run container
//! +--------------+-------------+        +---------------+---------------+------------------+
//! | u32 12346    | u32 n       |        | u16 12347     | u16 n - 1     | n bits, padded   |
//! +--------------+-------------+        +---------------+---------------+------------------+
//! then for both
//! +--------------------------------+ +------------------------------------+ +----------------+
//! | n x (u16 key, u16 card - 1)    | | n x u32 offset of the container    | | n containers   |
//! +--------------------------------+ +------------------------------------+ +----------------+
//!                                      left out if runs are there and n < 4
//!
//! array   card <= 4096   card x u16 value
//! bitmap  card >  4096   8192 bytes, bit i of byte j is value 8j + i
//! run     flag bit set   u16 runs, runs x (u16 start, u16 length - 1)
//! ```
//!
//! `writer` makes these bytes straight from the spans of a bitmap: through the
//! in-memory form of a Roaring library, 100M Snowflake ids would take 14 GB.
//! `reader` trusts nothing.

mod reader;
mod writer;

pub(super) use reader::read_body;
pub(super) use writer::{BodyWriter, Buckets, Sizer, FULL_BODY_BYTES};

/// The first word of a body without run containers.
const COOKIE: u32 = 12346;
/// The lower half of the first word of a body with run containers.
const RUN_COOKIE: u32 = 12347;
/// Bodies with run containers have no offsets below this many containers.
const OFFSETS_FROM_CONTAINERS: usize = 4;
/// The most containers that a body can hold.
const MAX_CONTAINERS: usize = 1 << 16;
/// The largest cardinality of an array container.
const MAX_ARRAY_CARDINALITY: u32 = 4096;
/// The size of a bitmap container.
const BITMAP_BYTES: usize = 8192;

/// Whether the payload starts as a 32-bit body does.
pub(super) fn begins_with_body(payload: &[u8]) -> bool {
    payload.first_chunk::<4>().is_some_and(|cookie| {
        let cookie = u32::from_le_bytes(*cookie);
        cookie == COOKIE || cookie & 0xffff == RUN_COOKIE
    })
}
