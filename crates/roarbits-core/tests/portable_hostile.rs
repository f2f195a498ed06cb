//! Payloads that lie: each is an error at the byte that lies, and whatever is
//! accepted is a bitmap that encodes canonically. Foreign formats are named.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::{decode_auto, native, portable32, portable64, DecodeError, Format};
use roarbits_core::{BitRead, Bitmap, Builder};
use roaring::{RoaringBitmap, RoaringTreemap};

const SEED: u64 = 0x0a0b_0002;

/// Little-endian bytes, put together piece by piece.
#[derive(Clone, Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    fn u16s(mut self, values: &[u16]) -> Self {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }
}

/// A body of one array container, whatever its values.
fn array(cardinality: u16, values: &[u16]) -> Vec<u8> {
    Bytes::default().u32(12346).u32(1).u16s(&[0, cardinality - 1]).u32(16).u16s(values).0
}

/// A body of one run container: (start, length - 1) pairs.
fn run_container(cardinality: u16, runs: &[u16]) -> Vec<u8> {
    let header = Bytes::default().u32(12347).u8(1).u16s(&[0, cardinality.wrapping_sub(1)]);
    header.u16s(&[runs.len() as u16 / 2]).u16s(runs).0
}

/// A body of two one-id arrays.
fn two_arrays(keys: [u16; 2], offsets: [u32; 2]) -> Vec<u8> {
    let header = Bytes::default().u32(12346).u32(2).u16s(&[keys[0], 0, keys[1], 0]);
    header.u32(offsets[0]).u32(offsets[1]).u16s(&[7, 7]).0
}

fn bucket(key: u32, body: &[u8]) -> Vec<u8> {
    Bytes::default().u32(key).bytes(body).0
}

fn buckets(count: u64, buckets: &[Vec<u8>]) -> Vec<u8> {
    Bytes::default().u64(count).bytes(&buckets.concat()).0
}

fn bitmap(ids: impl IntoIterator<Item = u64>) -> Bitmap {
    let mut builder = Builder::new();
    ids.into_iter().for_each(|id| builder.push_id(id));
    builder.finish(0)
}

fn runs(bits: &dyn BitRead) -> Vec<(u64, u64)> {
    bits.runs_in(0..=u64::MAX).map(|run| (run.start, run.end)).collect()
}

fn refused(error: Result<Bitmap, DecodeError>) -> (String, usize) {
    let error = error.map(|bitmap| runs(&bitmap)).unwrap_err();
    (error.what().to_owned(), error.at())
}

/// The body is refused alone and within a bucket, at the same byte of it.
fn assert_body_refused(body: &[u8], what: &str, at: usize) {
    assert_eq!(refused(portable32::decode(body)), (what.to_owned(), at));
    let payload = buckets(1, &[bucket(9, body)]);
    assert_eq!(refused(portable64::decode(&payload)), (what.to_owned(), at + 12));
}

#[test]
fn well_formed_bodies_of_these_tests_are_accepted() {
    assert_eq!(runs(&portable32::decode(&array(2, &[3, 9])).unwrap()), [(3, 3), (9, 9)]);
    assert_eq!(runs(&portable32::decode(&run_container(3, &[3, 1, 9, 0])).unwrap()), [(3, 4), (9, 9)]);
    let two = portable32::decode(&two_arrays([1, 2], [24, 26])).unwrap();
    assert_eq!(runs(&two), [(65_543, 65_543), (131_079, 131_079)]);
    let last = u64::from(u32::MAX) << 32 | 65535;
    let payload = buckets(2, &[bucket(0, &array(1, &[3])), bucket(u32::MAX, &run_container(1, &[65535, 0]))]);
    assert_eq!(runs(&portable64::decode(&payload).unwrap()), [(3, 3), (last, last)]);
}

#[test]
fn a_run_past_65535_is_refused() {
    let payload = [0x3b, 0x30, 0, 0, 1, 0, 0, 0xfa, 0x2e, 1, 0, 0, 2, 0xff, 0xff];
    assert_body_refused(&payload, "run goes past the end of its container", 11);
    assert_body_refused(&run_container(2, &[65535, 1]), "run goes past the end of its container", 11);
}

#[test]
fn unsorted_or_repeated_array_values_are_refused() {
    assert_body_refused(&array(3, &[1, 5, 4]), "array values are not ascending", 20);
    assert_body_refused(&array(2, &[5, 5]), "array values are not ascending", 18);
}

#[test]
fn runs_that_touch_overlap_or_go_back_are_refused() {
    let what = "runs overlap, touch or are out of order";
    assert_body_refused(&run_container(4, &[2, 1, 4, 1]), what, 15);
    assert_body_refused(&run_container(6, &[2, 3, 4, 1]), what, 15);
    assert_body_refused(&run_container(4, &[9, 1, 2, 1]), what, 15);
    assert_body_refused(&run_container(2, &[2, 0, 2, 0]), what, 15);
    assert_body_refused(&run_container(2, &[65535, 0, 0, 0]), what, 15);
}

#[test]
fn a_run_container_of_no_run_is_refused() {
    let body = run_container(1, &[]);
    let what = "run container without a run".to_owned();
    assert_eq!(refused(portable32::decode(&body)), (what.clone(), 9));
    let payload = buckets(2, &[bucket(9, &body), bucket(10, &array(2, &[3, 4]))]);
    assert_eq!(refused(portable64::decode(&payload)), (what, 21));
}

#[test]
fn a_false_cardinality_is_refused() {
    assert_body_refused(&run_container(5, &[3, 1, 9, 0]), "runs do not have the stated cardinality", 9);
    let mut body = portable32::encode(&bitmap((0..5000).map(|i| i * 2)), 0..=u64::MAX).unwrap();
    body[10] += 1;
    assert_body_refused(&body, "bitmap does not have the stated cardinality", 16);
    // One value fewer than stated, so the array ends beyond the payload.
    assert_body_refused(&array(3, &[1, 5]), "payload is cut short", 20);
}

#[test]
fn container_keys_that_do_not_ascend_are_refused() {
    assert_body_refused(&two_arrays([2, 1], [24, 26]), "container keys are not ascending", 12);
    assert_body_refused(&two_arrays([2, 2], [24, 26]), "container keys are not ascending", 12);
}

#[test]
fn offsets_that_lie_are_refused() {
    assert_body_refused(&two_arrays([1, 2], [25, 26]), "wrong container offset", 16);
    assert_body_refused(&two_arrays([1, 2], [24, 24]), "wrong container offset", 20);
    assert_body_refused(&two_arrays([1, 2], [24, u32::MAX]), "wrong container offset", 20);
}

#[test]
fn run_flags_without_a_container_are_refused() {
    let mut body = run_container(1, &[3, 0]);
    body[4] = 0b11;
    assert_body_refused(&body, "run flag beyond the last container", 4);
}

#[test]
fn too_many_containers_are_refused_before_they_are_looked_for() {
    let body = Bytes::default().u32(12346).u32(65537).bytes(&[0; 64]).0;
    assert_body_refused(&body, "more than 65536 containers", 4);
    let body = Bytes::default().u32(12346).u32(u32::MAX).bytes(&[0; 64]).0;
    assert_body_refused(&body, "more than 65536 containers", 4);
}

#[test]
fn trailing_bytes_are_refused() {
    let body = Bytes(array(2, &[3, 9])).u8(0).0;
    assert_eq!(refused(portable32::decode(&body)), ("bytes after the end of the bitmap".to_owned(), 20));
    let payload = buckets(1, &[bucket(0, &body)]);
    assert_eq!(refused(portable64::decode(&payload)), ("bytes after the end of the bitmap".to_owned(), 32));
    assert_eq!(refused(portable64::decode(&[0; 9])), ("bytes after the end of the bitmap".to_owned(), 8));
}

#[test]
fn more_buckets_than_bytes_are_refused() {
    let what = "more buckets than the payload has room for";
    for count in [1, 2, 1 << 32, u64::MAX] {
        assert_eq!(refused(portable64::decode(&buckets(count, &[]))), (what.to_owned(), 0));
    }
    let one = bucket(0, &array(1, &[3]));
    assert_eq!(refused(portable64::decode(&buckets(2, &[one]))), (what.to_owned(), 0));
}

#[test]
fn bucket_keys_that_do_not_ascend_are_refused() {
    let one = |key| bucket(key, &array(1, &[3]));
    let what = "bucket keys are not ascending".to_owned();
    assert_eq!(refused(portable64::decode(&buckets(2, &[one(5), one(5)]))), (what.clone(), 30));
    assert_eq!(refused(portable64::decode(&buckets(2, &[one(5), one(4)]))), (what, 30));
}

#[test]
fn an_empty_bucket_is_refused() {
    let empty = bucket(3, &Bytes::default().u32(12346).u32(0).0);
    let payload = buckets(2, &[empty, bucket(5, &array(40, &(0..40).collect::<Vec<_>>()))]);
    assert_eq!(refused(portable64::decode(&payload)), ("empty bucket".to_owned(), 8));
}

/// A small payload of each container kind and of several, as ids.
fn samples() -> Vec<(&'static str, Vec<u64>)> {
    vec![
        ("empty", vec![]),
        ("array", vec![1, 5, 9, 65535]),
        ("run", (100..200).chain(300..400).collect()),
        (
            "bitmap",
            (0..4097)
                .map(|i| i * 13 % 65521)
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect(),
        ),
        ("arrays", (0..5).map(|key| (key << 16) + 7 * key).collect()),
        (
            "runs and arrays",
            (0..5u64).flat_map(|key| (0..key * 3 + 1).map(move |i| (key << 16) + i)).collect(),
        ),
        ("last container", (u64::from(u32::MAX) - 20..=u64::from(u32::MAX)).collect()),
    ]
}

/// The ids, and the same a little way up the 64-bit space, in two buckets.
fn payloads() -> Vec<(&'static str, Format, Vec<u8>)> {
    let mut payloads = Vec::new();
    for (name, ids) in samples() {
        let narrow = bitmap(ids.iter().copied());
        payloads.push((name, Format::Portable32, portable32::encode(&narrow, 0..=u64::MAX).unwrap()));
        payloads.push((name, Format::Portable64, portable64::encode(&narrow, 0..=u64::MAX)));
        let wide = bitmap(ids.iter().copied().chain([3 << 32, u64::MAX]));
        payloads.push((name, Format::Portable64, portable64::encode(&wide, 0..=u64::MAX)));
    }
    payloads
}

fn decode(format: Format, payload: &[u8]) -> Result<Bitmap, DecodeError> {
    match format {
        Format::Portable32 => portable32::decode(payload),
        _ => portable64::decode(payload),
    }
}

fn encode(format: Format, bitmap: &Bitmap) -> Vec<u8> {
    match format {
        Format::Portable32 => portable32::encode(bitmap, 0..=u64::MAX).unwrap(),
        _ => portable64::encode(bitmap, 0..=u64::MAX),
    }
}

#[test]
fn every_truncation_is_refused() {
    for (name, format, payload) in payloads() {
        for end in 0..payload.len() {
            let cut = decode(format, &payload[..end]);
            assert!(cut.is_err(), "{name} as {format:?} cut at {end}");
            assert!(cut.unwrap_err().at() <= end, "{name} as {format:?} cut at {end}");
        }
    }
}

#[test]
fn a_changed_byte_is_refused_or_makes_a_valid_bitmap() {
    let mut rng = StdRng::seed_from_u64(SEED);
    println!("seed {SEED:#x}");
    let (mut accepted, mut refused) = (0, 0);
    for (name, format, payload) in payloads() {
        for at in 0..payload.len() {
            let every = payload.len() < 1000 || at < 40;
            let one = rng.random_range(1..=255);
            for flip in if every { 1..=255 } else { one..=one } {
                let mut bad = payload.clone();
                bad[at] ^= flip;
                match decode(format, &bad) {
                    Err(error) => {
                        assert!(error.at() <= bad.len(), "{name} as {format:?}, {at} ^ {flip}: {error}");
                        refused += 1;
                    }
                    Ok(bitmap) => {
                        assert_valid(format, &bad, &bitmap, &format!("{name} as {format:?}, {at} ^ {flip}"));
                        accepted += 1;
                    }
                }
            }
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// What was decoded is what roaring reads from the same bytes, and encodes canonically.
fn assert_valid(format: Format, payload: &[u8], bitmap: &Bitmap, note: &str) {
    bitmap.validate().unwrap();
    let ids = bitmap.ids_in(0..=u64::MAX);
    match format {
        Format::Portable32 => {
            let oracle = RoaringBitmap::deserialize_from(payload).unwrap();
            assert!(ids.eq(oracle.iter().map(u64::from)), "{note}");
        }
        _ => assert!(ids.eq(RoaringTreemap::deserialize_from(payload).unwrap().iter()), "{note}"),
    }
    let bytes = encode(format, bitmap);
    let again = decode(format, &bytes).unwrap();
    assert!(bitmap.runs_in(0..=u64::MAX).eq(again.runs_in(0..=u64::MAX)), "{note}");
    assert!(encode(format, &again) == bytes, "{note}");
}

#[test]
fn random_bytes_are_refused() {
    let mut rng = StdRng::seed_from_u64(SEED + 1);
    println!("seed {:#x}", SEED + 1);
    for _ in 0..20_000 {
        let mut payload: Vec<u8> = (0..rng.random_range(0..64)).map(|_| rng.random_range(0..4)).collect();
        if rng.random() {
            let cookie: &[u8] = if rng.random() { &[0x3a, 0x30, 0, 0] } else { &[0x3b, 0x30, 0, 0] };
            payload.splice(0..0, cookie.iter().copied());
        }
        for format in [Format::Portable32, Format::Portable64] {
            if let Ok(bitmap) = decode(format, &payload) {
                assert_valid(format, &payload, &bitmap, &format!("{payload:?}"));
            }
        }
    }
}

#[test]
fn auto_finds_each_format_but_string() {
    for (name, format, payload) in payloads() {
        let (found, bitmap) = decode_auto(&payload).unwrap();
        assert_eq!(found, format, "{name}");
        assert_eq!(runs(&bitmap), runs(&decode(format, &payload).unwrap()), "{name}");
    }
    let ours = bitmap([1, 5, 1 << 40]);
    let (found, decoded) = decode_auto(&native::encode(&ours, 0..=u64::MAX)).unwrap();
    assert_eq!((found, runs(&decoded)), (Format::Native, runs(&ours)));
    for string in [&b""[..], b"\x80", b"\0\0\0", b"hello world, a string"] {
        assert!(decode_auto(string).is_err(), "{string:?}");
    }
}

#[test]
fn auto_takes_eight_zero_bytes_for_an_empty_portable64() {
    let (format, bitmap) = decode_auto(&[0; 8]).unwrap();
    assert_eq!((format, bitmap.cardinality(), bitmap.length_bytes()), (Format::Portable64, 0, 0));
    assert!(decode_auto(&[0; 7]).is_err());
    assert!(decode_auto(&[0; 16]).is_err());
}

#[test]
fn auto_tells_the_error_of_the_format_whose_header_fits() {
    let error = |payload: &[u8]| refused(decode_auto(payload).map(|(_, bitmap)| bitmap));
    assert_eq!(error(&array(2, &[5, 5])), ("array values are not ascending".to_owned(), 18));
    assert_eq!(error(&run_container(1, &[])), ("run container without a run".to_owned(), 9));
    let payload = buckets(1, &[bucket(9, &array(2, &[5, 5]))]);
    assert_eq!(error(&payload), ("array values are not ascending".to_owned(), 30));
}

fn portable_bytes(ids: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    RoaringBitmap::from_sorted_iter(ids.iter().copied()).unwrap().serialize_into(&mut out).unwrap();
    out
}

fn assert_named(payload: &[u8], name: &str) {
    let tries = [
        portable32::decode(payload),
        portable64::decode(payload),
        decode_auto(payload).map(|(_, bitmap)| bitmap),
    ];
    for tried in tries {
        let (what, at) = refused(tried);
        assert!(what.contains(name) && at == 0, "{what} at {at}");
    }
}

#[test]
fn a_pilosa_payload_is_named() {
    let payload = Bytes::default().u16s(&[12348, 0]).u32(1).u64(0).u16s(&[1, 0]).u32(24).u16s(&[5]).0;
    assert_named(&payload, "Pilosa");
}

#[test]
fn a_legacy_java_payload_is_named() {
    let body = portable_bytes(&[1, 2, 70_000]);
    let two =
        Bytes::default().bytes(&[0, 0, 0, 0, 2, 0, 0, 0, 0]).bytes(&body).bytes(&[0, 0, 0, 1]).bytes(&body).0;
    assert_named(&two, "legacy Java Roaring64NavigableMap");
    let signed = Bytes::default().bytes(&[1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]).bytes(&body).0;
    assert_named(&signed, "legacy Java Roaring64NavigableMap");
    assert_named(&[0; 5], "legacy Java Roaring64NavigableMap");
}

#[test]
fn a_croaring_native_payload_is_named() {
    let array = Bytes::default().u8(1).u32(3).u32(1).u32(2).u32(70_000).0;
    assert_named(&array, "CRoaring native");
    let containers = Bytes::default().u8(2).bytes(&portable_bytes(&[1, 2, 70_000])).0;
    assert_named(&containers, "CRoaring native");
}

#[test]
fn a_croaring_frozen_payload_is_named() {
    // Two array values, their key, count and type code, then the header at the end.
    let payload = Bytes::default().u16s(&[3, 9, 0, 1]).u8(2).u32(1 << 15 | 13766).0;
    assert_named(&payload, "CRoaring frozen");
}

#[test]
fn bytes_that_end_like_a_foreign_format_are_still_read() {
    // The last word of this valid payload is CRoaring's frozen cookie.
    let payload = array(2, &[13766, 13767]);
    let mut frozen_end = payload.clone();
    frozen_end.truncate(16);
    frozen_end.extend(Bytes::default().u16s(&[100, 13766]).0);
    assert_eq!(runs(&portable32::decode(&payload).unwrap()), [(13766, 13767)]);
    assert_eq!(runs(&portable32::decode(&frozen_end).unwrap()), [(100, 100), (13766, 13766)]);
}
