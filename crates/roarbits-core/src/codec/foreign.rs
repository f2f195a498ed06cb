//! Names the Roaring codings that we do not read, so that whoever exported one by
//! mistake is told what to call instead.
//!
//! Asked only about payloads that failed to decode: none of these has a magic
//! number that a portable payload could not begin with.

use super::portable::begins_with_body;
use super::DecodeError;

const PILOSA_COOKIE: u16 = 12348;
/// The lower 15 bits of the last word of CRoaring's frozen form.
const FROZEN_COOKIE: u32 = 13766;

/// The error that names the format of `payload`, if it is one of the known ones.
pub(super) fn recognise(payload: &[u8]) -> Option<DecodeError> {
    let what = if is_pilosa(payload) {
        "this is a Pilosa payload, export the portable format"
    } else if is_legacy_java(payload) {
        "this is a legacy Java Roaring64NavigableMap payload, serialize it in portable mode"
    } else if is_croaring_native(payload) {
        "this is a CRoaring native payload, use the portable serialization"
    } else if is_croaring_frozen(payload) {
        "this is a CRoaring frozen payload, use the portable serialization"
    } else {
        return None;
    };
    Some(DecodeError::new(what, 0))
}

fn is_pilosa(payload: &[u8]) -> bool {
    payload.starts_with(&PILOSA_COOKIE.to_le_bytes())
}

/// A signedness byte, a big-endian i32 count, then (big-endian i32 key, 32-bit body).
fn is_legacy_java(payload: &[u8]) -> bool {
    let Some((&signed, rest)) = payload.split_first() else {
        return false;
    };
    let Some((count, rest)) = rest.split_first_chunk::<4>() else {
        return false;
    };
    match i32::from_be_bytes(*count) {
        _ if signed > 1 => false,
        0 => rest.is_empty(),
        1.. => rest.get(4..).is_some_and(begins_with_body),
        _ => false,
    }
}

/// A byte 1, a u32 count and that many u32 ids; or a byte 2 and a 32-bit body.
fn is_croaring_native(payload: &[u8]) -> bool {
    match payload.split_first() {
        Some((1, array)) => array
            .split_first_chunk::<4>()
            .is_some_and(|(count, ids)| ids.len() as u64 == 4 * u64::from(u32::from_le_bytes(*count))),
        Some((2, body)) => begins_with_body(body),
        _ => false,
    }
}

fn is_croaring_frozen(payload: &[u8]) -> bool {
    payload.last_chunk::<4>().is_some_and(|end| u32::from_le_bytes(*end) & 0x7fff == FROZEN_COOKIE)
}
