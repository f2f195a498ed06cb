//! PORTABLE32 and PORTABLE64 against the `roaring` crate, byte for byte and in both
//! directions, over every container kind and the sizes around their thresholds.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::index;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::{portable32, portable64};
use roarbits_core::{BitRead, Bitmap, Builder, Run};
use roaring::{RoaringBitmap, RoaringTreemap};

const SEED: u64 = 0x0a0b_0001;
const IDS_PER_BUCKET: u64 = 1 << 32;

fn bitmap(ids: &[u64]) -> Bitmap {
    let mut builder = Builder::new();
    ids.iter().for_each(|id| builder.push_id(*id));
    builder.finish(0)
}

fn bitmap_of_runs(runs: &[(u64, u64)]) -> Bitmap {
    let mut builder = Builder::new();
    runs.iter().for_each(|(start, end)| builder.push_run(Run { start: *start, end: *end }));
    builder.finish(0)
}

fn runs(bits: &dyn BitRead) -> Vec<(u64, u64)> {
    bits.runs_in(0..=u64::MAX).map(|run| (run.start, run.end)).collect()
}

/// The oracle's bytes of 32-bit ids, from arrays and bitmaps optimised once.
fn oracle32(ids: &[u64]) -> Vec<u8> {
    let mut oracle = RoaringBitmap::from_sorted_iter(ids.iter().map(|id| *id as u32)).unwrap();
    oracle.optimize();
    let mut out = Vec::new();
    oracle.serialize_into(&mut out).unwrap();
    out
}

fn oracle64(ids: &[u64]) -> Vec<u8> {
    let buckets = ids.chunk_by(|a, b| a >> 32 == b >> 32).map(|bucket| {
        let mut oracle = RoaringBitmap::from_sorted_iter(bucket.iter().map(|id| *id as u32)).unwrap();
        oracle.optimize();
        ((bucket[0] >> 32) as u32, oracle)
    });
    let mut out = Vec::new();
    RoaringTreemap::from_bitmaps(buckets).serialize_into(&mut out).unwrap();
    out
}

/// Both directions of both formats, as far as the ids allow.
fn check(ids: &[u64], note: &str) {
    let ours = bitmap(ids);
    let expected = oracle64(ids);
    let bytes = portable64::encode(&ours, 0..=u64::MAX);
    assert!(bytes == expected, "PORTABLE64 bytes of {note}");
    assert_eq!(portable64::encoded_bytes(&ours, 0..=u64::MAX), bytes.len() as u64, "size of {note}");
    check_decoded(&portable64::decode(&expected).unwrap(), ids, note);
    if ids.last().is_none_or(|last| *last < IDS_PER_BUCKET) {
        let expected = oracle32(ids);
        let bytes = portable32::encode(&ours, 0..=u64::MAX).unwrap();
        assert!(bytes == expected, "PORTABLE32 bytes of {note}");
        assert_eq!(
            portable32::encoded_bytes(&ours, 0..=u64::MAX),
            Some(bytes.len() as u64),
            "size of {note}"
        );
        check_decoded(&portable32::decode(&expected).unwrap(), ids, note);
    } else {
        assert_eq!(portable32::encoded_bytes(&ours, 0..=u64::MAX), None, "{note}");
        assert_eq!(portable32::encode(&ours, 0..=u64::MAX), None, "{note}");
    }
}

fn check_decoded(decoded: &Bitmap, ids: &[u64], note: &str) {
    decoded.validate().unwrap();
    assert!(decoded.ids_in(0..=u64::MAX).eq(ids.iter().copied()), "ids of {note}");
    assert_eq!(decoded.length_bytes(), ids.last().map_or(0, |last| last / 8 + 1), "length of {note}");
}

/// `count` values of a container, no rule in them.
fn scattered(rng: &mut StdRng, count: usize) -> Vec<u16> {
    let mut values: Vec<u16> =
        index::sample(rng, 65536, count).into_iter().map(|value| value as u16).collect();
    values.sort_unstable();
    values
}

/// `count` runs of 1 to `longest` values, as far as the container has room.
fn in_runs(rng: &mut StdRng, count: usize, longest: u32) -> Vec<u16> {
    let mut values = Vec::new();
    let gap = (65536 / count as u32).saturating_sub(longest).max(2);
    let mut at = rng.random_range(0..gap);
    for _ in 0..count {
        let length = rng.random_range(1..=longest);
        values.extend((at..at + length).filter_map(|value| u16::try_from(value).ok()));
        at += length + rng.random_range(1..=gap);
    }
    values
}

fn any_container(rng: &mut StdRng) -> Vec<u16> {
    let few = rng.random_range(1..40);
    let many = rng.random_range(1..65536);
    let runs = rng.random_range(1..3000);
    match rng.random_range(0..12) {
        0..3 => scattered(rng, few),
        3 => scattered(rng, many),
        4 => scattered(rng, 4095),
        5 => scattered(rng, 4096),
        6 => scattered(rng, 4097),
        7 => in_runs(rng, few, 300),
        8 => in_runs(rng, runs, 20),
        9 => (0..=u16::MAX).collect(),
        10 => vec![0, u16::MAX],
        _ => in_runs(rng, few, 3),
    }
}

fn any_key(rng: &mut StdRng) -> u64 {
    let near = [0, 1, 0xffff, 0x1_0000, 0x1_0001, 0x7fff_ffff, 0xffff_ffff_fffe, 0xffff_ffff_ffff];
    match rng.random_range(0..4) {
        0 => near[rng.random_range(0..near.len())],
        1 => rng.random_range(0..20),
        2 => 0x1_0000 * rng.random_range(0..3) + rng.random_range(0..4),
        _ => rng.random_range(0..1 << 48),
    }
}

fn any_ids(rng: &mut StdRng, key: impl Fn(&mut StdRng) -> u64) -> Vec<u64> {
    let keys: BTreeSet<u64> = (0..rng.random_range(0..12)).map(|_| key(rng)).collect();
    let containers = keys.into_iter().map(|key| (key, any_container(rng)));
    containers
        .flat_map(|(key, values)| values.into_iter().map(move |value| key << 16 | u64::from(value)))
        .collect()
}

#[test]
fn random_shapes_equal_roaring_in_both_directions() {
    let mut rng = StdRng::seed_from_u64(SEED);
    println!("seed {SEED:#x}");
    for round in 0..150 {
        let ids = any_ids(&mut rng, any_key);
        check(&ids, &format!("64-bit round {round}"));
        let ids = any_ids(&mut rng, |rng| any_key(rng) & 0xffff);
        check(&ids, &format!("32-bit round {round}"));
    }
}

#[test]
fn every_number_of_containers_around_the_offset_rule_equals_roaring() {
    for containers in 0..20u64 {
        let arrays: Vec<u64> = (0..containers).map(|key| key << 16).collect();
        check(&arrays, "arrays");
        let one_run: Vec<u64> = (0..containers)
            .flat_map(|key| (0..if key == containers / 2 { 9 } else { 1 }).map(move |i| key << 16 | i))
            .collect();
        check(&one_run, "one run among arrays");
        let runs: Vec<u64> =
            (0..containers).flat_map(|key| (0..9).map(move |i| (key << 16) + i * (key % 2 + 1))).collect();
        check(&runs, "runs and arrays in turn");
    }
}

#[test]
fn a_tie_between_run_and_array_is_an_array() {
    // Three adjacent ids: 6 bytes as an array, 2 + 4 as a run. CRoaring keeps whichever form it has.
    check(&[5, 6, 7], "a tie");
    assert_eq!(portable32::encode(&bitmap(&[5, 6, 7]), 0..=10).unwrap()[..2], 12346u16.to_le_bytes());
    check(&[5, 6, 7, 8], "one id above the tie");
    assert_eq!(portable32::encode(&bitmap(&[5, 6, 7, 8]), 0..=10).unwrap()[..2], 12347u16.to_le_bytes());
}

#[test]
fn runs_give_way_to_a_bitmap_from_2048_runs() {
    for count in [2046, 2047, 2048, 2049] {
        let ids: Vec<u64> = (0..count).flat_map(|run| (0..4).map(move |i| run * 8 + i)).collect();
        check(&ids, &format!("{count} runs"));
    }
    let size = |count: u64| {
        let ids: Vec<u64> = (0..count).flat_map(|run| (0..4).map(move |i| run * 8 + i)).collect();
        portable32::encoded_bytes(&bitmap(&ids), 0..=u64::MAX).unwrap()
    };
    assert_eq!((size(2047), size(2048)), (4 + 1 + 4 + 8190, 8 + 8 + 8192));
}

#[test]
fn cardinalities_around_4096_equal_roaring() {
    for cardinality in [1, 2, 4095, 4096, 4097, 32768] {
        let ids: Vec<u64> = (0..cardinality).map(|i| i * 2).collect();
        check(&ids, &format!("{cardinality} even ids"));
    }
    for cardinality in [4095u64, 4096, 4097, 65535, 65536, 65537] {
        check(&(0..cardinality).collect::<Vec<_>>(), &format!("{cardinality} adjacent ids"));
    }
}

#[test]
fn one_id_in_each_of_65536_containers_survives() {
    // github.com/RoaringBitmap/roaring-rs/pull/75
    let ids: Vec<u64> = (0..1 << 16).map(|key| (key << 16) + key % 7).collect();
    check(&ids, "65,536 containers");
    let mut with_run = ids.clone();
    with_run.extend(ids.last().unwrap() + 1..ids.last().unwrap() + 50);
    check(&with_run, "65,536 containers, one of them a run");
}

#[test]
fn ids_around_bucket_borders_equal_roaring() {
    let border = IDS_PER_BUCKET;
    check(&[border - 1], "the last 32-bit id");
    check(&[border], "the first id beyond 32 bits");
    check(&[border - 1, border], "both sides");
    check(&(border - 70_000..border + 70_000).collect::<Vec<_>>(), "a run across the border");
    check(&[0, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1 << 48, 1 << 56], "one id a power");
    check(&[0, u64::MAX], "both ends");
    check(&(u64::MAX - 100_000..=u64::MAX).collect::<Vec<_>>(), "the end of the id space");
}

#[test]
fn snowflake_ids_one_a_bucket_equal_roaring() {
    let ids: Vec<u64> = (0..20_000u64).map(|i| (1_700_000_000_000 + i * 1000) << 22 | 5 << 12).collect();
    check(&ids, "snowflakes");
}

#[test]
fn a_full_bucket_is_the_same_bytes_as_roaring() {
    let mut oracle = RoaringBitmap::full();
    oracle.optimize();
    let mut expected = Vec::new();
    oracle.serialize_into(&mut expected).unwrap();
    let ours = bitmap_of_runs(&[(0, IDS_PER_BUCKET - 1)]);
    assert!(portable32::encode(&ours, 0..=u64::MAX).unwrap() == expected);
    assert_eq!(runs(&portable32::decode(&expected).unwrap()), [(0, IDS_PER_BUCKET - 1)]);
}

#[test]
fn long_runs_are_sized_by_arithmetic_as_they_are_written() {
    let b = IDS_PER_BUCKET;
    let shapes: [&[(u64, u64)]; 7] = [
        &[(0, 3 * b - 1)],
        &[(0, 3 * b)],
        &[(1, 3 * b - 1)],
        &[(b - 1, 2 * b)],
        &[(0, b - 1), (b + 1, 2 * b - 1), (2 * b + 5, 3 * b + 70_000)],
        &[(65_535, 65_536), (65_538, 131_071), (131_073, b + 3 * 65_536)],
        &[(u64::MAX - 2 * b + 1, u64::MAX)],
    ];
    for shape in shapes {
        let bitmap = bitmap_of_runs(shape);
        let bytes = portable64::encode(&bitmap, 0..=u64::MAX);
        assert_eq!(portable64::encoded_bytes(&bitmap, 0..=u64::MAX), bytes.len() as u64, "{shape:?}");
        assert_eq!(runs(&portable64::decode(&bytes).unwrap()), shape);
        let oracle = RoaringTreemap::deserialize_from(&bytes[..]).unwrap();
        assert_eq!(u128::from(oracle.len()), bitmap.cardinality(), "{shape:?}");
    }
}

#[test]
fn the_whole_id_space_is_sized_at_once() {
    let everything = bitmap_of_runs(&[(0, u64::MAX)]);
    let bucket = portable64::encoded_bytes(&everything, 0..=IDS_PER_BUCKET - 1) - 8;
    assert_eq!(portable64::encoded_bytes(&everything, 0..=u64::MAX), 8 + IDS_PER_BUCKET * bucket);
    let holes: Vec<(u64, u64)> =
        (0..100_000u64).map(|i| (i << 40 | u64::from(i > 0), ((i + 1) << 40) - 1)).collect();
    let size = portable64::encoded_bytes(&bitmap_of_runs(&holes), 0..=u64::MAX);
    // A hole takes nothing away but the full first run of its bucket, which starts one later.
    assert_eq!(size, 8 + (100_000 << 8) * bucket);
}

#[test]
fn a_range_is_what_roaring_has_within_it() {
    let mut rng = StdRng::seed_from_u64(SEED + 1);
    println!("seed {:#x}", SEED + 1);
    for round in 0..60 {
        let ids = any_ids(&mut rng, any_key);
        let ours = bitmap(&ids);
        let mut bound = || match ids.len() {
            0 => rng.random(),
            n => ids[rng.random_range(0..n)].saturating_add(rng.random_range(0..3)).saturating_sub(1),
        };
        let (a, b) = (bound(), bound());
        let (start, end) = (a.min(b), a.max(b));
        let within: Vec<u64> = ids.iter().copied().filter(|id| (start..=end).contains(id)).collect();
        let bytes = portable64::encode(&ours, start..=end);
        assert!(bytes == oracle64(&within), "round {round}");
        assert_eq!(portable64::encoded_bytes(&ours, start..=end), bytes.len() as u64);
        let narrow = portable32::encode(&ours, start..=end);
        let fits = within.last().is_none_or(|last| *last < IDS_PER_BUCKET);
        assert!(narrow == fits.then(|| oracle32(&within)), "round {round}");
    }
}

#[test]
fn a_reversed_range_is_empty() {
    let ours = bitmap(&[1, 2, 3, 1 << 40]);
    #[allow(clippy::reversed_empty_ranges)]
    let range = 3..=1;
    assert_eq!(portable64::encode(&ours, range.clone()), [0; 8]);
    assert_eq!(portable32::encode(&ours, range), Some(oracle32(&[])));
}

#[test]
fn what_roaring_writes_unoptimised_is_read() {
    let mut rng = StdRng::seed_from_u64(SEED + 2);
    println!("seed {:#x}", SEED + 2);
    for round in 0..60 {
        let ids = any_ids(&mut rng, any_key);
        let mut bytes = Vec::new();
        RoaringTreemap::from_sorted_iter(ids.iter().copied()).unwrap().serialize_into(&mut bytes).unwrap();
        check_decoded(&portable64::decode(&bytes).unwrap(), &ids, &format!("round {round}"));
    }
}
