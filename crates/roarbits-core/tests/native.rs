//! NATIVE: what is encoded decodes to itself, in one payload or in pieces; what is
//! damaged or forged is refused, or a valid bitmap, and never costs more memory
//! than its size justifies.

mod counting;

use std::ops::RangeInclusive;

use counting::counted;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::native::{self, Assembler};
use roarbits_core::codec::DecodeError;
use roarbits_core::{BitRead, Bitmap, Builder, Run};
use roarbits_datasets::{Arrival, Shape};
use xxhash_rust::xxh3::xxh3_64;

const SEED: u64 = 20_261_130;
const EVERYTHING: RangeInclusive<u64> = 0..=u64::MAX;
const CHECKSUM_BYTES: usize = 8;
/// A payload of one leaf at most.
const LEAF_MAX_BYTES: usize = 8300;
/// Decoding may hold so many bytes for each of the payload, and these in any case.
const MEMORY_FACTOR: i64 = 64;
const MEMORY_FLOOR_BYTES: i64 = 64 * 1024;

/// Decodes within the bound on memory.
fn decode(payload: &[u8]) -> Result<Bitmap, DecodeError> {
    let (decoded, usage) = counted(|| native::decode(payload));
    let bound = MEMORY_FACTOR * payload.len() as i64 + MEMORY_FLOOR_BYTES;
    assert!(usage.peak_bytes <= bound, "{usage:?} for {} bytes", payload.len());
    decoded
}

fn decoded(payload: &[u8]) -> Bitmap {
    decode(payload).expect("what was encoded decodes")
}

fn assert_same(left: &Bitmap, right: &Bitmap, what: &str) {
    assert_eq!(left.length_bytes(), right.length_bytes(), "{what}");
    assert_eq!(left.cardinality(), right.cardinality(), "{what}");
    assert!(left.runs_in(EVERYTHING).eq(right.runs_in(EVERYTHING)), "{what}");
}

fn built(ids: &[u64]) -> Bitmap {
    let mut builder = Builder::new();
    ids.iter().for_each(|id| builder.push_id(*id));
    builder.finish(0)
}

fn inserted(ids: &[u64]) -> Bitmap {
    let mut bitmap = Bitmap::new();
    ids.iter().for_each(|id| {
        bitmap.insert(*id);
    });
    bitmap
}

/// A small bitmap of each form of leaf, and one of all.
fn small() -> Vec<(&'static str, Bitmap)> {
    let ids: Vec<u64> = (0..40u64).map(|i| (1 << 40) + i * i * 4096 + i % 3).collect();
    let mut runs = Bitmap::new();
    (0..20u64).for_each(|i| {
        runs.insert_range(i * 900..=i * 900 + 40 * i);
    });
    let bits: Vec<u64> = (0..1 << 16).filter(|id| id * id % 11 < 3 || id % 7 == 0).collect();
    let bits = built(&bits);
    assert_eq!(bits.stats().leaves.bits, 1);
    let mut mixed = bits.clone();
    mixed.insert_many(&ids);
    mixed.insert_range(1 << 30..=1 << 34);
    mixed.grow_length(1 << 50);
    let leaves = mixed.stats().leaves;
    assert!(leaves.bits == 1 && leaves.ids + leaves.runs >= 1, "{leaves:?}");
    let mut full = Bitmap::new();
    full.insert_range(EVERYTHING);
    vec![
        ("empty", Bitmap::new()),
        ("one id", built(&[5])),
        ("the last id", built(&[u64::MAX])),
        ("ids", built(&ids)),
        ("runs", runs),
        ("bits", bits),
        ("everything", full),
        ("mixed", mixed),
    ]
}

/// Puts the right checksum at the end of what may have been changed before it.
fn reseal(payload: &mut [u8]) {
    let body = payload.len() - CHECKSUM_BYTES;
    let checksum = xxh3_64(&payload[..body]);
    payload[body..].copy_from_slice(&checksum.to_le_bytes());
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A payload with these header fields and leaf records, and the right checksum.
fn forged(length_bytes: u64, range: RangeInclusive<u64>, leaves: u64, records: &[Vec<u8>]) -> Vec<u8> {
    let mut payload = b"RBN\x01".to_vec();
    for number in [length_bytes, *range.start(), u64::MAX - *range.end(), leaves] {
        payload.extend(varint(number));
    }
    records.iter().for_each(|record| payload.extend(record));
    payload.extend([0; CHECKSUM_BYTES]);
    reseal(&mut payload);
    payload
}

fn record(head: &[u8], base: u64, rest: &[&[u8]]) -> Vec<u8> {
    [head, &varint(base), &rest.concat()].concat()
}

/// What decodes must be a valid bitmap that encodes and decodes to itself.
fn assert_sound(payload: &[u8]) {
    let Ok(bitmap) = decode(payload) else {
        return;
    };
    assert_eq!(bitmap.validate(), Ok(()), "{payload:02x?}");
    let again = native::encode(&bitmap, EVERYTHING);
    assert_same(&decoded(&again), &bitmap, "encoded again");
}

#[test]
fn every_shape_comes_back() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for shape in Shape::ALL {
        for n in [1, 2, 50, 1000, 20_000] {
            let ids = shape.ids(n, &mut rng);
            for arrival in Arrival::ALL {
                let mut bitmap = inserted(&arrival.order(ids.clone(), &mut rng));
                bitmap.grow_length(rng.random_range(0..1 << 61));
                let payload = native::encode(&bitmap, EVERYTHING);
                assert_eq!(native::encoded_bytes(&bitmap, EVERYTHING), payload.len() as u64);
                let back = decoded(&payload);
                assert_eq!(back.validate(), Ok(()));
                assert_same(&back, &bitmap, &format!("{shape:?} {n} {arrival:?}"));
                assert!(native::encode(&back, EVERYTHING) == payload, "{shape:?} {n} {arrival:?} again");
            }
        }
    }
}

#[test]
fn a_range_holds_what_a_slice_does() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for (what, bitmap) in small() {
        let edges: Vec<u64> = bitmap.runs_in(EVERYTHING).flat_map(|run| [run.start, run.end]).collect();
        for _ in 0..300 {
            let mut end = || match rng.random_range(0..4) {
                0 => rng.random(),
                1 => rng.random_range(0..1 << 17),
                _ if edges.is_empty() => 0,
                _ => edges[rng.random_range(0..edges.len())],
            };
            let (a, b) = (end(), end());
            let range = a.min(b)..=a.max(b);
            let payload = native::encode(&bitmap, range.clone());
            assert_eq!(
                native::encoded_bytes(&bitmap, range.clone()),
                payload.len() as u64,
                "{what} {range:?}"
            );
            assert_same(&decoded(&payload), &bitmap.slice(range), what);
        }
    }
}

#[test]
fn pieces_of_any_size_join_again() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let shaped = Shape::ALL.map(|shape| ("a shape", built(&shape.ids(30_000, &mut rng))));
    for (what, bitmap) in small().into_iter().chain(shaped) {
        for target_bytes in [0, 1, 100, 1000, 8300, 20_000, 1 << 20, usize::MAX] {
            let pieces: Vec<Vec<u8>> = native::pieces(&bitmap, target_bytes).collect();
            let mut assembler = Assembler::new();
            let complete: Vec<bool> = pieces.iter().map(|piece| assembler.push(piece).unwrap()).collect();
            let last = pieces.len() - 1;
            assert!(complete.iter().enumerate().all(|(i, complete)| *complete == (i == last)));
            assert!(pieces.iter().all(|piece| piece.len() <= target_bytes.max(LEAF_MAX_BYTES)));
            let back = assembler.finish();
            assert_eq!(back.validate(), Ok(()));
            assert_same(&back, &bitmap, what);
            assert!(native::pieces(&back, target_bytes).eq(pieces), "{what} in pieces again");
        }
    }
}

#[test]
fn pieces_out_of_order_are_refused() {
    let bitmap = built(&(0..20_000).map(|i| i * 1000).collect::<Vec<_>>());
    let pieces: Vec<Vec<u8>> = native::pieces(&bitmap, 1000).collect();
    let mut longer = bitmap.clone();
    longer.grow_length(1 << 40);
    let foreign: Vec<Vec<u8>> = native::pieces(&longer, 1000).collect();
    let refused = |pieces: &[&Vec<u8>]| {
        let mut assembler = Assembler::new();
        let (last, before) = pieces.split_last().unwrap();
        before.iter().for_each(|piece| {
            assembler.push(piece).unwrap();
        });
        assembler.push(last).unwrap_err().what()
    };
    let gap = "a piece that does not continue the one before";
    assert_eq!(refused(&[&pieces[1]]), gap);
    assert_eq!(refused(&[&pieces[0], &pieces[2]]), gap);
    assert_eq!(refused(&[&pieces[0], &pieces[0]]), "leaves are not ascending");
    assert_eq!(refused(&[&pieces[0], &foreign[1]]), "impossible logical length");
    let all: Vec<&Vec<u8>> = pieces.iter().chain([&pieces[0]]).collect();
    assert_eq!(refused(&all), "a piece after the last one");
}

#[test]
fn every_truncation_is_refused_also_with_a_right_checksum() {
    for (what, bitmap) in small() {
        let payload = native::encode(&bitmap, EVERYTHING);
        for bytes in 0..payload.len() {
            let mut cut = payload[..bytes].to_vec();
            assert!(decode(&cut).is_err(), "{what} cut to {bytes}");
            if bytes > CHECKSUM_BYTES {
                reseal(&mut cut);
                assert!(decode(&cut).is_err(), "{what} cut to {bytes} and resealed");
            }
        }
    }
}

#[test]
fn every_changed_byte_is_noticed_by_the_checksum() {
    for (what, bitmap) in small() {
        let payload = native::encode(&bitmap, EVERYTHING);
        let mut changed = payload.clone();
        for (at, old) in payload.iter().enumerate() {
            for new in (0..=255).filter(|new| new != old) {
                changed[at] = new;
                assert!(native::decode(&changed).is_err(), "{what}: {new} at {at}");
            }
            changed[at] = *old;
        }
    }
}

/// A payload of a leaf of ids and one of runs.
fn two_leaves() -> Vec<u8> {
    let ids = record(&[0x08], 1 << 20, &[&[4], &[0, 3, 12, 5], &[0x01, 0x12, 0x53, 0xf4]]);
    let runs = record(&[0x01], 1 << 40, &[&[3], &[9, 7], &[0x05, 0x01, 0x06, 0x11, 0x7f, 0xff]]);
    forged(1 << 38, EVERYTHING, 2, &[ids, runs])
}

/// The byte at `at` to each of `values`, resealed.
fn assert_sound_with(payload: &[u8], at: usize, values: impl Iterator<Item = u8>) {
    let mut changed = payload.to_vec();
    for new in values {
        changed[at] = new;
        reseal(&mut changed);
        assert_sound(&changed);
    }
}

#[test]
fn every_changed_byte_under_a_right_checksum_is_an_error_or_a_valid_bitmap() {
    assert_eq!(decoded(&two_leaves()).cardinality(), 4 + 6 + 7 + 128);
    let packed = small().into_iter().filter(|(_, bitmap)| bitmap.stats().leaves.bits == 0);
    let payloads = packed.map(|(_, bitmap)| native::encode(&bitmap, EVERYTHING));
    for payload in payloads.chain([two_leaves()]) {
        for at in 0..payload.len() - CHECKSUM_BYTES {
            assert_sound_with(&payload, at, 0..=255);
        }
    }
}

/// Of the 8,192 bytes of plain bits any value is valid: one of each byte is tried,
/// every fifth where other leaves surround them, and all values of what precedes them.
#[test]
fn every_changed_byte_of_plain_bits_is_an_error_or_a_valid_bitmap() {
    for (what, bitmap) in small().into_iter().filter(|(_, bitmap)| bitmap.stats().leaves.bits > 0) {
        let payload = native::encode(&bitmap, EVERYTHING);
        let body = payload.len() - CHECKSUM_BYTES;
        let header = if what == "bits" { body - 8192 } else { 0 };
        (0..header).for_each(|at| assert_sound_with(&payload, at, 0..=255));
        for at in (header..body).step_by(if what == "bits" { 1 } else { 5 }) {
            assert_sound_with(&payload, at, [payload[at] ^ 1].into_iter());
        }
    }
}

#[test]
fn soup_after_a_right_header_is_an_error_or_a_valid_bitmap() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut accepted = 0;
    for _ in 0..60_000 {
        let leaves = rng.random_range(0..4);
        let mut soup: Vec<u8> = (0..rng.random_range(0..60)).map(|_| rng.random()).collect();
        if let Some(head) = soup.first_mut() {
            *head &= 0x0d;
        }
        let few = soup.len().min(rng.random_range(1..12));
        soup[..few].iter_mut().for_each(|byte| *byte &= 0x1f);
        let payload = forged(1 << 61, EVERYTHING, leaves, &[soup]);
        accepted += u32::from(decode(&payload).is_ok());
        assert_sound(&payload);
    }
    assert!(accepted > 100, "the soup is not all refused at the first byte: {accepted}");
}

#[test]
fn bytes_exchanged_between_payloads_are_an_error_or_a_valid_bitmap() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let payloads: Vec<Vec<u8>> = small()
        .iter()
        .map(|(_, bitmap)| native::encode(bitmap, EVERYTHING))
        .filter(|payload| payload.len() < 1000)
        .collect();
    for _ in 0..60_000 {
        let mut payload = payloads[rng.random_range(0..payloads.len())].clone();
        let other = &payloads[rng.random_range(0..payloads.len())];
        for _ in 0..rng.random_range(1..4) {
            let from = rng.random_range(4..other.len());
            let to = rng.random_range(4..payload.len());
            let n = rng.random_range(0..12).min(other.len() - from).min(payload.len() - to);
            payload[to..to + n].copy_from_slice(&other[from..from + n]);
        }
        reseal(&mut payload);
        assert_sound(&payload);
    }
}

/// Forged payloads, and what each is refused for.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    const LENGTH: u64 = 1 << 61;
    let one = |record: Vec<u8>| forged(LENGTH, EVERYTHING, 1, &[record]);
    let two = |a: Vec<u8>, b: Vec<u8>| forged(LENGTH, EVERYTHING, 2, &[a, b]);
    let single = |id: u64| record(&[0x00], id, &[&[1]]);
    let bits = |words: u8| vec![words; 8192];
    let endless = varint(u64::MAX);
    vec![
        ("a leaf of a wrong size", one(record(&[0x04], 0, &[&endless, &[0, 64]]))),
        ("a leaf of a wrong size", one(record(&[0x00], 0, &[&endless]))),
        ("a leaf of a wrong size", one(record(&[0x00], 0, &[&[0]]))),
        ("a leaf of a wrong size", one(record(&[0x04], 0, &[&[0], &[0, 8]]))),
        ("a leaf of a wrong size", one(record(&[0x01], 0, &[&endless, &[64, 64]]))),
        ("a leaf of a wrong size", one(record(&[0x01], 0, &[&[0], &[8, 8]]))),
        ("a leaf of a wrong size", one(record(&[0x01], 0, &[&[2], &[0, 0]]))),
        ("payload is cut short", one(record(&[0x04], 0, &[&varint(1000), &[0, 64]]))),
        ("payload is cut short", forged(LENGTH, EVERYTHING, u64::MAX, &[single(5)])),
        ("malformed number", one(record(&[0x00], 0, &[&[0x81, 0x00]]))),
        ("malformed number", one(vec![0x00, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2])),
        ("fields out of order", one(record(&[0x04], 0, &[&[2], &[0, 255], &[0; 64]]))),
        ("fields out of order", one(record(&[0x04], 0, &[&[2], &[255, 8], &[1, 2]]))),
        ("fields out of order", one(record(&[0x04], 0, &[&[2], &[60, 5], &[1, 2]]))),
        ("fields out of order", one(record(&[0x08], 0, &[&[1], &[0, 4], &[3, 4], &[1]]))),
        ("fields out of order", one(record(&[0x08], 0, &[&[1], &[8, 4], &[0, 4], &[1]]))),
        ("an empty field", one(record(&[0x04], 0, &[&[1], &[0, 0], &[0]]))),
        ("ids are not ascending", one(record(&[0x04], u64::MAX, &[&[1], &[0, 8], &[1]]))),
        ("ids are not ascending", one(record(&[0x04], 0, &[&[2], &[0, 8], &[5, 5]]))),
        ("ids are not ascending", one(record(&[0x04], 0, &[&[2], &[0, 8], &[6, 5]]))),
        ("bits set beyond the last entry", one(record(&[0x04], 0, &[&[1], &[0, 4], &[0x15]]))),
        ("bits set beyond the last entry", one(record(&[0x01], 0, &[&[1], &[2, 1], &[0x08]]))),
        ("a field of more than 64 bits", one(record(&[0x01], 0, &[&[1], &[65, 0], &[0; 9]]))),
        ("a field of more than 64 bits", one(record(&[0x01], 0, &[&[1], &[0, 255], &[0; 32]]))),
        // Start 0 length 3, then start 3: touching. Entries are length less one, then start.
        ("runs are not ascending and apart", one(record(&[0x01], 0, &[&[2], &[4, 4], &[0x02, 0x30]]))),
        ("runs are not ascending and apart", one(record(&[0x01], 0, &[&[2], &[4, 4], &[0x02, 0x10]]))),
        ("runs are not ascending and apart", one(record(&[0x01], 0, &[&[2], &[4, 4], &[0x90, 0x10]]))),
        ("runs are not ascending and apart", one(record(&[0x01], u64::MAX, &[&[1], &[0, 8], &[1]]))),
        ("runs are not ascending and apart", one(record(&[0x01], u64::MAX, &[&[1], &[8, 0], &[1]]))),
        ("an empty leaf", one(record(&[0x02], 0, &[&bits(0)]))),
        ("bits that do not start a chunk", one(record(&[0x02], 1, &[&bits(1)]))),
        ("unknown form of a leaf", one(record(&[0x03], 0, &[&[1]]))),
        ("unknown form of a leaf", one(record(&[0x10], 0, &[&[1]]))),
        ("unknown form of a leaf", one(record(&[0x05], 0, &[&[1]]))),
        ("leaves are not ascending", two(single(1 << 16), single(5))),
        ("leaves are not ascending", two(single(5), single(6))),
        ("leaves are not ascending", two(single(5), single(5))),
        ("leaves are not ascending", two(record(&[0x02], 0, &[&bits(1)]), single(65_535))),
        ("an id beyond the logical length", forged(0, EVERYTHING, 1, &[single(0)])),
        ("an id beyond the logical length", forged(1, EVERYTHING, 1, &[single(8)])),
        ("impossible logical length", forged((1 << 61) + 1, EVERYTHING, 0, &[])),
        ("impossible logical length", forged(u64::MAX, EVERYTHING, 0, &[])),
        ("a leaf outside the payload's range", forged(LENGTH, 6..=u64::MAX, 1, &[single(5)])),
        ("a leaf outside the payload's range", forged(LENGTH, 0..=4, 1, &[single(5)])),
        ("reversed range", forged(LENGTH, RangeInclusive::new(5, 4), 0, &[])),
        ("bytes after the end of the bitmap", forged(LENGTH, EVERYTHING, 0, &[single(5)])),
        ("a leaf of several chunks is too large", one(too_large())),
        ("not a NATIVE payload", Vec::new()),
        ("not a NATIVE payload", b"RB".to_vec()),
        ("unknown NATIVE version", b"RBN\x02\0\0\0\0aaaaaaaa".to_vec()),
        ("payload is cut short", b"RBN".to_vec()),
        ("wrong checksum", b"RBN\x01\0\0\0\0aaaaaaaa".to_vec()),
    ]
}

/// 600 ids of 32 bits over 600 chunks.
fn too_large() -> Vec<u8> {
    let ids: Vec<u8> = (0..600u32).flat_map(|i| (i << 16).to_le_bytes()).collect();
    record(&[0x04], 0, &[&varint(600), &[0, 32], &ids])
}

#[test]
fn what_is_forged_is_refused_for_what_it_is() {
    for (i, (expected, payload)) in hostile().into_iter().enumerate() {
        match decode(&payload) {
            Err(error) => assert_eq!(error.what(), expected, "{i}: {payload:02x?}"),
            Ok(bitmap) => panic!("{i}, {expected}: accepted as {:?}", bitmap.stats()),
        }
    }
}

/// The most ids, runs and chunks that few bytes can stand for.
#[test]
fn dense_payloads_stay_within_the_memory_they_justify() {
    let singles = |n: u64| -> Vec<Vec<u8>> { (0..n).map(|i| record(&[0x00], i << 16, &[&[1]])).collect() };
    let wide = |n: u64| -> Vec<Vec<u8>> {
        let long = |i: u64| record(&[0x01], i << 40, &[&[1], &[0, 39], &[255, 255, 255, 255, 127]]);
        (0..n).map(long).collect()
    };
    for n in [1, 10, 1000, 50_000] {
        decoded(&forged(1 << 61, EVERYTHING, n, &singles(n)));
        decoded(&forged(1 << 61, EVERYTHING, n, &wide(n)));
    }
    let mut rng = StdRng::seed_from_u64(SEED);
    for shape in Shape::ALL {
        let payload = native::encode(&built(&shape.ids(50_000, &mut rng)), EVERYTHING);
        assert_eq!(decoded(&payload).validate(), Ok(()));
    }
}

#[test]
fn a_run_over_everything_is_a_few_bytes() {
    let mut full = Bitmap::new();
    full.insert_range(EVERYTHING);
    let payload = native::encode(&full, EVERYTHING);
    assert!(payload.len() <= 64, "{} bytes", payload.len());
    let back = decoded(&payload);
    let run = Run { start: 0, end: u64::MAX };
    assert!(back.runs_in(EVERYTHING).eq([run]));
}
