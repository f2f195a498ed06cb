//! Any bytes as PORTABLE32 and PORTABLE64: an error, or a bitmap that is valid and
//! encodes and decodes to itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use roarbits_core::codec::{decode_auto, portable32, portable64};
use roarbits_core::{BitRead, Bitmap};

const EVERYTHING: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

fn assert_same(left: &Bitmap, right: &Bitmap) {
    assert_eq!(left.validate(), Ok(()));
    assert!(left.runs_in(EVERYTHING).eq(right.runs_in(EVERYTHING)));
}

fuzz_target!(|data: &[u8]| {
    let _ = decode_auto(data);
    if let Ok(bitmap) = portable32::decode(data) {
        let again = portable32::encode(&bitmap, EVERYTHING).expect("32-bit ids");
        assert_eq!(portable32::encoded_bytes(&bitmap, EVERYTHING), Some(again.len() as u64));
        assert_same(&portable32::decode(&again).expect("encoded"), &bitmap);
    }
    if let Ok(bitmap) = portable64::decode(data) {
        let again = portable64::encode(&bitmap, EVERYTHING);
        assert_eq!(portable64::encoded_bytes(&bitmap, EVERYTHING), again.len() as u64);
        assert_same(&portable64::decode(&again).expect("encoded"), &bitmap);
    }
});
