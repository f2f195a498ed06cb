//! The string codec and the string view against a model of one `bool` a bit.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::string;
use roarbits_core::{BitRead, Bitmap, Builder, Run, StringBits};

const SEED: u64 = 0x0a0b_0003;

/// The bits of a string in the order of their ids.
fn model(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 == 1)).collect()
}

fn ids(model: &[bool]) -> Vec<u64> {
    model.iter().enumerate().filter(|(_, bit)| **bit).map(|(id, _)| id as u64).collect()
}

fn runs_of(ids: &[u64]) -> Vec<Run> {
    let runs = ids.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| Run { start: run[0], end: run[run.len() - 1] }).collect()
}

fn random_string(rng: &mut StdRng) -> Vec<u8> {
    let length = match rng.random_range(0..4) {
        0 => rng.random_range(0..4),
        1 => 8 * rng.random_range(0..6),
        _ => rng.random_range(0..80),
    };
    let kind = rng.random_range(0..5);
    let mut byte = || match kind {
        0 => 0,
        1 => 0xff,
        2 => rng.random(),
        3 => [0, 0, 0, 0, 0, 0, 0, 1 << rng.random_range(0..8)][rng.random_range(0..8)],
        _ => [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, rng.random()][rng.random_range(0..8)],
    };
    (0..length).map(|_| byte()).collect()
}

/// Every question at every id of the string and some way beyond it.
fn assert_reads_as(bits: &dyn BitRead, model: &[bool]) {
    let members = ids(model);
    let covered = model.len() as u64;
    assert_eq!(bits.length_bytes(), covered / 8);
    assert_eq!(bits.cardinality(), members.len() as u128);
    assert_eq!((bits.min(), bits.max()), (members.first().copied(), members.last().copied()));
    for id in (0..covered + 130).chain([1 << 32, 1 << 61, u64::MAX - 1, u64::MAX]) {
        let member = usize::try_from(id).ok().and_then(|id| model.get(id)) == Some(&true);
        assert_eq!(bits.contains(id), member, "contains {id}");
        let next = members.iter().copied().find(|member| *member >= id);
        assert_eq!(bits.next_present(id), next, "next present from {id}");
        let absent = (id..covered).find(|id| !model[*id as usize]).unwrap_or(id.max(covered));
        assert_eq!(bits.next_absent(id), Some(absent), "next absent from {id}");
        let rank = members.iter().filter(|member| **member <= id).count();
        assert_eq!(bits.rank(id), rank as u128, "rank of {id}");
    }
    for (n, id) in members.iter().enumerate() {
        assert_eq!(bits.select(n as u128), Some(*id), "select {n}");
    }
    assert_eq!(bits.select(members.len() as u128), None);
    assert_eq!(bits.select(u128::MAX), None);
}

fn assert_ranges_read_as(bits: &dyn BitRead, model: &[bool], rng: &mut StdRng) {
    let members = ids(model);
    for _ in 0..40 {
        let bound = |rng: &mut StdRng| match rng.random_range(0..8) {
            0 => u64::MAX,
            1 => model.len() as u64,
            _ => rng.random_range(0..model.len() as u64 + 20),
        };
        let (start, end) = (bound(rng), bound(rng));
        let within: Vec<u64> = members.iter().copied().filter(|id| (start..=end).contains(id)).collect();
        assert_eq!(bits.count_range(start..=end), within.len() as u128, "count {start}..={end}");
        assert_eq!(bits.runs_in(start..=end).collect::<Vec<_>>(), runs_of(&within), "runs {start}..={end}");
        assert_eq!(bits.ids_in(start..=end).collect::<Vec<_>>(), within, "ids {start}..={end}");
    }
}

#[test]
fn a_string_answers_as_its_bits() {
    let mut rng = StdRng::seed_from_u64(SEED);
    println!("seed {SEED:#x}");
    for _ in 0..300 {
        let bytes = random_string(&mut rng);
        let model = model(&bytes);
        assert_reads_as(&StringBits::new(&bytes), &model);
        assert_ranges_read_as(&StringBits::new(&bytes), &model, &mut rng);
    }
}

#[test]
fn a_decoded_string_answers_as_its_bits_and_encodes_as_it_was() {
    let mut rng = StdRng::seed_from_u64(SEED + 1);
    println!("seed {:#x}", SEED + 1);
    for _ in 0..300 {
        let bytes = random_string(&mut rng);
        let model = model(&bytes);
        let bitmap = string::decode(&bytes);
        bitmap.validate().unwrap();
        assert_reads_as(&bitmap, &model);
        assert_ranges_read_as(&bitmap, &model, &mut rng);
        assert_eq!(string::encode(&bitmap, 0..=u64::MAX), Some(bytes.clone()));
        assert_eq!(string::encode(&StringBits::new(&bytes), 0..=u64::MAX), Some(bytes));
    }
}

#[test]
fn a_range_of_whole_bytes_is_a_part_of_the_string() {
    let mut rng = StdRng::seed_from_u64(SEED + 2);
    println!("seed {:#x}", SEED + 2);
    for _ in 0..300 {
        let bytes = random_string(&mut rng);
        let bitmap = string::decode(&bytes);
        for first in 0..bytes.len() + 2 {
            for last in first..bytes.len() + 2 {
                let range = first as u64 * 8..=last as u64 * 8 + 7;
                let expected = bytes.get(first..(last + 1).min(bytes.len())).unwrap_or_default();
                assert_eq!(string::encoded_bytes(&bitmap, range.clone()), Some(expected.len() as u64));
                assert_eq!(string::encode(&bitmap, range).as_deref(), Some(expected));
            }
        }
    }
}

#[test]
fn a_range_that_ends_within_a_byte_leaves_the_rest_of_it_clear() {
    let bitmap = string::decode(&[0xff, 0xff, 0xff]);
    assert_eq!(string::encode(&bitmap, 8..=11), Some(vec![0xf0]));
    assert_eq!(string::encode(&bitmap, 0..=16), Some(vec![0xff, 0xff, 0x80]));
    assert_eq!(string::encode(&bitmap, 16..=u64::MAX), Some(vec![0xff]));
    assert_eq!(string::encode(&bitmap, 24..=30), Some(vec![]));
}

#[test]
fn a_range_that_starts_within_a_byte_has_no_string() {
    let bitmap = string::decode(&[0xff; 3]);
    for start in (0..24u64).filter(|start| start % 8 != 0) {
        assert_eq!(string::encoded_bytes(&bitmap, start..=u64::MAX), None);
        assert_eq!(string::encode(&bitmap, start..=u64::MAX), None);
    }
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 8..=7;
    assert_eq!(string::encode(&bitmap, reversed), Some(vec![]));
}

#[test]
fn the_logical_length_survives_without_a_bit() {
    let empty = string::decode(&[0; 126]);
    assert_eq!((empty.cardinality(), empty.length_bytes()), (0, 126));
    assert_eq!(string::encode(&empty, 0..=u64::MAX), Some(vec![0; 126]));
    assert_eq!(string::decode(&[]).length_bytes(), 0);
    assert_eq!(string::encode(&Bitmap::new(), 0..=u64::MAX), Some(vec![]));
}

#[test]
fn the_last_id_is_sized_and_read_in_pieces() {
    let mut builder = Builder::new();
    builder.push_run(Run { start: u64::MAX - 10, end: u64::MAX });
    let bitmap = builder.finish(0);
    assert_eq!(string::encoded_bytes(&bitmap, 0..=u64::MAX), Some(1 << 61));
    assert_eq!(string::encode(&bitmap, u64::MAX - 15..=u64::MAX), Some(vec![0x07, 0xff]));
}

#[test]
fn positions_are_those_of_redis() {
    // github.com/redis/redis-doc/issues/2336
    let string = StringBits::new(&[0x00, 0xff, 0xf0]);
    assert_eq!((string.next_present(0), string.next_present(16)), (Some(8), Some(16)));
    assert_eq!(StringBits::new(&[0xff, 0xf0, 0x00]).next_absent(0), Some(12));
    assert_eq!(StringBits::new(&[0, 0, 0]).next_present(0), None);
    assert_eq!(StringBits::new(&[0xff; 3]).next_absent(0), Some(24));
    assert_eq!(StringBits::new(&[0xff; 3]).count_range(5..=30), 19);
}

#[test]
fn only_a_whole_hyperloglog_header_counts_as_one() {
    let mut header = b"HYLL\x01".to_vec();
    header.resize(16, 0);
    assert!(StringBits::new(&header).has_hll_header());
    assert!(!StringBits::new(&header[..15]).has_hll_header());
    assert!(!StringBits::new(b"HYLM------------").has_hll_header());
    assert!(!StringBits::new(b"").has_hll_header());
}
