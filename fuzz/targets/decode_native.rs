//! Any bytes as the body of a NATIVE payload: an error, or a bitmap that is valid
//! and encodes and decodes to itself. The checksum is put right, since a fuzzer
//! would never find one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use roarbits_core::codec::native::{self, Assembler};
use roarbits_core::{BitRead, Bitmap};
use xxhash_rust::xxh3::xxh3_64;

const HEADER: &[u8] = b"RBN\x01";
const CHECKSUM_BYTES: usize = 8;

/// The payload of these bytes; whole payloads, such as the golden ones, stand for themselves.
fn sealed(data: &[u8]) -> Vec<u8> {
    let body = match data.strip_prefix(HEADER) {
        Some(body) => &body[..body.len().saturating_sub(CHECKSUM_BYTES)],
        None => data,
    };
    let mut payload = [HEADER, body].concat();
    let checksum = xxh3_64(&payload);
    payload.extend(checksum.to_le_bytes());
    payload
}

fn assert_same(left: &Bitmap, right: &Bitmap) {
    assert_eq!(left.validate(), Ok(()));
    assert_eq!(left.length_bytes(), right.length_bytes());
    assert!(left.runs_in(0..=u64::MAX).eq(right.runs_in(0..=u64::MAX)));
}

fuzz_target!(|data: &[u8]| {
    let _ = native::decode(data);
    let Ok(bitmap) = native::decode(&sealed(data)) else {
        return;
    };
    assert_same(&bitmap, &bitmap);
    let again = native::encode(&bitmap, 0..=u64::MAX);
    assert_eq!(native::encoded_bytes(&bitmap, 0..=u64::MAX), again.len() as u64);
    assert_same(&native::decode(&again).expect("encoded"), &bitmap);
    let mut assembler = Assembler::new();
    for piece in native::pieces(&bitmap, 100) {
        assembler.push(&piece).expect("cut");
    }
    assert_same(&assembler.finish(), &bitmap);
});
