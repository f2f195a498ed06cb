//! What holds of all sets: the laws of set algebra over every pair of kinds, the
//! cases of public reports on which bitmaps of others failed, and every call over
//! the full range of ids, where whatever visits them one by one never ends.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::{native, portable32, portable64, string};
use roarbits_core::{BitRead, Bitmap, Builder, Run};
use roarbits_datasets::{Arrival, Shape};

const SEED: u64 = 20_261_130;
const EVERYTHING: RangeInclusive<u64> = 0..=u64::MAX;

fn of(ids: impl IntoIterator<Item = u64>) -> Bitmap {
    ids.into_iter().collect()
}

fn inserted(ids: &[u64]) -> Bitmap {
    let mut bitmap = Bitmap::new();
    ids.iter().for_each(|id| {
        bitmap.insert(*id);
    });
    bitmap
}

fn of_range(range: RangeInclusive<u64>) -> Bitmap {
    let mut bitmap = Bitmap::new();
    bitmap.insert_range(range);
    bitmap
}

fn full() -> Bitmap {
    of_range(EVERYTHING)
}

fn ids(bitmap: &Bitmap) -> Vec<u64> {
    bitmap.ids_in(EVERYTHING).collect()
}

fn runs(bitmap: &Bitmap) -> Vec<(u64, u64)> {
    bitmap.runs_in(EVERYTHING).map(|run| (run.start, run.end)).collect()
}

fn assert_same(left: &Bitmap, right: &Bitmap, law: &str) {
    assert_eq!(left.validate(), Ok(()), "{law}");
    assert_eq!(right.validate(), Ok(()), "{law}");
    assert_eq!(left.cardinality(), right.cardinality(), "{law}");
    assert!(left.runs_in(EVERYTHING).eq(right.runs_in(EVERYTHING)), "{law}");
}

/// The complement within all 2^64 ids.
fn complement(bitmap: &Bitmap) -> Bitmap {
    let mut out = bitmap.clone();
    out.flip_range(EVERYTHING);
    out
}

/// Sets of every kind at a few sizes, some overlapping, some of mixed forms.
fn sets() -> Vec<Bitmap> {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut sets = vec![Bitmap::new(), full(), of([0, u64::MAX]), of_range(1 << 20..=1 << 50)];
    for shape in Shape::ALL {
        for n in [30, 6000] {
            let ids = Arrival::Shuffled.order(shape.ids(n, &mut rng), &mut rng);
            let mut bitmap = inserted(&ids);
            bitmap.insert_range(ids[0]..=ids[0].saturating_add(rng.random_range(0..200_000)));
            bitmap.remove_range(ids[1]..=ids[1].saturating_add(rng.random_range(0..2000)));
            sets.push(bitmap);
        }
    }
    sets
}

#[test]
fn two_sets_obey_the_laws_of_algebra() {
    let sets = sets();
    for a in &sets {
        for b in &sets {
            let (and, or, xor, diff) = (a.and(b), a.or(b), a.xor(b), a.diff(b));
            assert_same(&and, &b.and(a), "AND commutes");
            assert_same(&or, &b.or(a), "OR commutes");
            assert_same(&xor, &b.xor(a), "XOR commutes");
            assert_same(&diff, &a.and(&complement(b)), "a - b = a and not b");
            assert_same(&xor, &or.diff(&and), "a xor b = (a or b) - (a and b)");
            assert_same(&complement(&or), &complement(a).and(&complement(b)), "De Morgan of OR");
            assert_same(&complement(&and), &complement(a).or(&complement(b)), "De Morgan of AND");
            assert_same(&and.or(&diff), a, "a = (a and b) or (a - b)");
            assert_same(&and.or(a), a, "absorption");
            assert_eq!(or.cardinality() + and.cardinality(), a.cardinality() + b.cardinality());
            assert_eq!(xor.cardinality(), or.cardinality() - and.cardinality());
            assert_eq!(diff.cardinality(), a.cardinality() - and.cardinality());
            assert_eq!(or.length_bytes(), a.length_bytes().max(b.length_bytes()));
        }
    }
}

#[test]
fn one_set_obeys_the_laws_of_algebra() {
    for a in sets() {
        assert_same(&complement(&complement(&a)), &a, "a complement undoes itself");
        assert_same(&a.and(&complement(&a)), &Bitmap::new(), "nothing is in both");
        assert_same(&a.or(&complement(&a)), &full(), "everything is in either");
        assert_same(&a.and(&a), &a, "AND of itself");
        assert_same(&a.or(&a), &a, "OR of itself");
        assert_same(&a.xor(&a), &Bitmap::new(), "XOR of itself");
        assert_same(&a.diff(&a), &Bitmap::new(), "DIFF of itself");
        assert_same(&a.and(&full()), &a, "AND of everything");
        assert_same(&a.diff(&full()), &Bitmap::new(), "DIFF of everything");
        assert_same(&full().diff(&a), &complement(&a), "everything but");
        assert_same(&a.not().not(), &a, "NOT undoes itself");
        if let Some(last) = a.last_addressable() {
            assert_eq!(a.not().cardinality(), u128::from(last) + 1 - a.cardinality());
        }
    }
}

#[test]
fn three_sets_associate_and_distribute() {
    let sets = sets();
    let mut rng = StdRng::seed_from_u64(SEED);
    for _ in 0..200 {
        let mut any = || &sets[rng.random_range(0..sets.len())];
        let (a, b, c) = (any(), any(), any());
        assert_same(&a.and(&b.and(c)), &a.and(b).and(c), "AND associates");
        assert_same(&a.or(&b.or(c)), &a.or(b).or(c), "OR associates");
        assert_same(&a.xor(&b.xor(c)), &a.xor(b).xor(c), "XOR associates");
        assert_same(&a.and(&b.or(c)), &a.and(b).or(&a.and(c)), "AND over OR");
        assert_same(&a.or(&b.and(c)), &a.or(b).and(&a.or(c)), "OR over AND");
    }
}

#[test]
fn slices_join_to_the_whole_and_counts_add() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for a in sets() {
        for _ in 0..20 {
            let cut = a
                .select(rng.random_range(0..a.cardinality().max(1)))
                .unwrap_or(7)
                .saturating_add(rng.random_range(0..2));
            let Some(below) = cut.checked_sub(1) else {
                continue;
            };
            let (left, right) = (a.slice(0..=below), a.slice(cut..=u64::MAX));
            assert_same(&left.or(&right), &a, "slices join");
            assert_eq!(left.cardinality(), a.count_range(0..=below));
            assert_eq!(right.cardinality(), a.count_range(cut..=u64::MAX));
            assert_eq!(a.rank(below) + right.cardinality(), a.cardinality());
        }
    }
}

#[test]
fn or_of_nothing_shares_memory_and_decoding_does_not() {
    for a in sets() {
        let again = native::decode(&native::encode(&a, EVERYTHING)).unwrap();
        assert_eq!(again.stats().shared_bytes, 0, "a decoded one shares nothing");
        let with_nothing = a.or(&Bitmap::new());
        assert_same(&with_nothing, &a, "OR of nothing");
        let (shared, all) = (with_nothing.stats().shared_bytes, a.stats().memory_bytes);
        assert!(all < 4096 || shared > 0, "OR of nothing shares");
    }
}

#[test]
fn snapshots_never_change() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for a in sets().into_iter().filter(|a| !a.is_empty()) {
        let before = runs(&a);
        let mut written = a.clone();
        let mut snapshots = Vec::new();
        for _ in 0..40 {
            let id = a.select(rng.random_range(0..a.cardinality())).unwrap();
            written.remove(id);
            written.insert(id ^ 1);
            written.flip_range(id.saturating_sub(300)..=id);
            snapshots.push((written.clone(), runs(&written)));
        }
        written.remove_range(EVERYTHING);
        assert_eq!(runs(&a), before);
        for (snapshot, runs_then) in &snapshots {
            assert_eq!(&runs(snapshot), runs_then);
            assert_eq!(snapshot.validate(), Ok(()));
        }
    }
}

/// <https://github.com/RoaringBitmap/roaring-rs/issues/327>
#[test]
fn a_difference_keeps_the_first_id() {
    let a = of([0, 35, 80, 104, 138, 214, 235, 258]);
    let b = of([9, 35, 42, 51, 111, 134, 231, 239]);
    assert_eq!(ids(&a.diff(&b)), [0, 80, 104, 138, 214, 235, 258]);
}

/// <https://github.com/RoaringBitmap/roaring-rs/issues/352>
#[test]
fn select_finds_the_last_of_single_id_runs() {
    let a = of((0..=246).step_by(2));
    assert_eq!(a.select(123), Some(246));
    assert_eq!(a.select(124), None);
}

#[test]
fn a_range_that_bridges_two_runs_leaves_one() {
    let mut a = of_range(2..=10);
    a.insert_range(12..=700);
    assert_eq!(a.insert_range(2..=11), 1);
    assert_eq!(runs(&a), [(2, 700)]);
}

/// <https://github.com/RoaringBitmap/roaring-rs/pull/75>
#[test]
fn an_id_in_each_of_65536_containers_survives_a_round_trip() {
    let a = of((0..1 << 16).map(|chunk| chunk << 16 | chunk));
    let back = |decoded: Bitmap| assert_same(&decoded, &a, "round trip");
    back(native::decode(&native::encode(&a, EVERYTHING)).unwrap());
    back(portable32::decode(&portable32::encode(&a, EVERYTHING).unwrap()).unwrap());
    back(portable64::decode(&portable64::encode(&a, EVERYTHING)).unwrap());
    assert_eq!(a.stats().containers.ids, 1 << 16);
}

/// <https://github.com/RoaringBitmap/CRoaring/issues/150>
#[test]
fn flipping_all_32_bit_ids_of_nothing_sets_them_all() {
    let mut a = Bitmap::new();
    a.flip_range(0..=u64::from(u32::MAX));
    assert_eq!(a.cardinality(), 1 << 32);
    assert_eq!(a.stats().leaves.runs + a.stats().leaves.ids + a.stats().leaves.bits, 1);
}

/// <https://github.com/RoaringBitmap/CRoaring/issues/152>
#[test]
fn one_id_or_a_range_ending_at_a_chunk_counts_both() {
    let range = of_range(0..=4_294_901_760);
    assert_eq!(of([0]).or(&range).cardinality(), 4_294_901_761);
    assert_eq!(range.or(&of([0])).cardinality(), 4_294_901_761);
}

/// <https://github.com/RoaringBitmap/CRoaring/issues/593>
#[test]
fn ids_at_every_height_of_a_tree_are_all_counted() {
    let ids = [0, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1 << 48, 1 << 56];
    for a in [of(ids), inserted(&ids)] {
        assert_eq!(a.cardinality(), 7);
        assert_eq!(a.ids_in(EVERYTHING).collect::<Vec<_>>(), ids);
    }
}

/// <https://github.com/RoaringBitmap/roaring-rs/pull/360>
#[test]
fn a_cursor_across_2_to_the_32_skips_nothing() {
    let seam = 1u64 << 32;
    for a in [
        of([seam - 1, seam]),
        of(seam - 1000..seam + 1000),
        of((seam - 1000..seam + 1000).step_by(2).chain([seam + 1])),
    ] {
        let all: BTreeSet<u64> = ids(&a).into_iter().collect();
        for from in seam - 5..seam + 5 {
            assert_eq!(a.next_present(from), all.range(from..).next().copied());
            assert!(a.ids_in(from..=seam + 5).eq(all.range(from..=seam + 5).copied()));
        }
    }
}

/// <https://github.com/ClickHouse/ClickHouse/issues/109974>
#[test]
fn ranks_follow_the_order_of_ids_not_of_arrival() {
    let a = inserted(&[5, 4, 1, 2, 3]);
    assert_eq!((a.select(2), a.select(3)), (Some(3), Some(4)));
}

/// Peers take 16 to 28 s for each of these calls, or die of memory. Here whatever
/// visits ids or chunks one by one would not end.
#[test]
fn every_read_of_all_ids_ends() {
    let a = full();
    assert_eq!(a.cardinality(), 1 << 64);
    assert_eq!(a.length_bytes(), 1 << 61);
    assert_eq!((a.min(), a.max()), (Some(0), Some(u64::MAX)));
    assert_eq!((a.next_present(5), a.next_absent(0)), (Some(5), None));
    assert_eq!(a.select((1 << 64) - 1), Some(u64::MAX));
    assert_eq!((a.select(1 << 64), a.select(u128::MAX)), (None, None));
    assert_eq!((a.rank(u64::MAX), a.count_range(EVERYTHING)), (1 << 64, 1 << 64));
    assert_eq!(runs(&a), [(0, u64::MAX)]);
    assert!(a.ids_in(EVERYTHING).take(3).eq([0, 1, 2]));
    assert!(a.ids_in(u64::MAX - 1..=u64::MAX).eq([u64::MAX - 1, u64::MAX]));
    assert_eq!(a.last_addressable(), Some(u64::MAX));
    assert_eq!(a.stats().containers.runs, 1 << 48);
    assert!(a.free_effort() < 100);
    assert_eq!(a.validate(), Ok(()));
    assert!(a.contains(u64::MAX));
}

#[test]
fn every_write_of_all_ids_ends() {
    let write = |change: fn(&mut Bitmap), expected: &[(u64, u64)]| {
        let mut a = full();
        change(&mut a);
        assert_eq!(a.validate(), Ok(()));
        assert_eq!(runs(&a), expected);
    };
    let max = u64::MAX;
    let everything = [(0, max)];
    write(|a| assert!(!a.insert(5)), &everything);
    write(|a| assert!(a.remove(0)), &[(1, max)]);
    write(|a| assert!(a.remove(u64::MAX)), &[(0, max - 1)]);
    write(|a| assert!(a.remove(1 << 40)), &[(0, (1 << 40) - 1), ((1 << 40) + 1, max)]);
    write(|a| assert_eq!(a.insert_range(EVERYTHING), 0), &everything);
    write(|a| assert_eq!(a.remove_range(EVERYTHING), 1 << 64), &[]);
    write(|a| assert_eq!(a.remove_range(1..=u64::MAX - 1), (1 << 64) - 2), &[(0, 0), (max, max)]);
    write(|a| a.flip_range(EVERYTHING), &[]);
    write(|a| a.flip_range(70_000..=1 << 63), &[(0, 69_999), ((1 << 63) + 1, max)]);
    write(|a| assert_eq!(a.insert_many(&[1; 40]), 0), &everything);
    write(|a| assert_eq!(a.remove_many(&[0, u64::MAX]), 2), &[(1, max - 1)]);
    write(|a| assert!(!a.grow_length(1 << 61)), &everything);
    write(|a| *a = a.not(), &[]);
    write(|a| *a = a.slice(9..=99), &[(9, 99)]);
    write(|a| *a = a.and(&full()), &everything);
    write(|a| *a = a.or(&of([3])), &everything);
    write(|a| *a = of([3]).or(a), &everything);
    write(|a| *a = a.xor(&of([0])), &[(1, max)]);
    write(|a| *a = a.diff(&full()), &[]);
    write(|a| *a = of([1 << 50]).and(a), &[(1 << 50, 1 << 50)]);
    write(|a| *a = of([1 << 50]).diff(a), &[]);
}

#[test]
fn every_coding_of_all_ids_ends() {
    let a = full();
    let payload = native::encode(&a, EVERYTHING);
    assert!(payload.len() < 64);
    assert_eq!(native::encoded_bytes(&a, EVERYTHING), payload.len() as u64);
    assert_same(&native::decode(&payload).unwrap(), &a, "NATIVE");
    assert_eq!(native::pieces(&a, 1000).count(), 1);
    assert!(portable64::encoded_bytes(&a, EVERYTHING) > 1 << 48);
    assert_eq!(portable32::encoded_bytes(&a, EVERYTHING), None);
    assert_eq!(string::encoded_bytes(&a, EVERYTHING), Some(1 << 61));
    let mut built = Builder::new();
    built.push_run(Run { start: 0, end: u64::MAX });
    assert_same(&built.finish(0), &a, "built");
}

/// Peers materialise what lies between.
#[test]
fn the_complement_of_one_snowflake_id_is_two_runs() {
    let id = 0x1234_5678_9ABC_D000;
    let a = of([id]).not();
    assert_eq!(runs(&a), [(0, id - 1), (id + 1, id | 7)]);
    assert!(a.stats().memory_bytes < 1024);
}

#[test]
fn the_last_thousand_of_a_million_snowflakes_are_found_by_rank() {
    let snowflakes = Shape::SnowflakeSlow.ids(1_000_000, &mut StdRng::seed_from_u64(SEED));
    let a = of(snowflakes.iter().copied());
    let from = a.select(999_000).unwrap();
    assert!(a.ids_in(from..=u64::MAX).eq(snowflakes[999_000..].iter().copied()));
    assert_same(&a.not().not(), &a, "NOT of a million undoes itself");
}
