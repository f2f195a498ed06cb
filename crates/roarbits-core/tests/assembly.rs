//! However a bitmap is put together, it costs about what the same ids cost built
//! at once, its height stays logarithmic (`validate` bounds it), and it holds them.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use roarbits_core::{BitRead, Bitmap, Builder, Run};

const EVERYTHING: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// The same ids and length, built in one go.
fn built_at_once(bitmap: &Bitmap) -> Bitmap {
    let mut builder = Builder::new();
    bitmap.runs_in(EVERYTHING).for_each(|run| builder.push_run(run));
    builder.finish(bitmap.length_bytes())
}

/// A leaf that is cut and joined again and again stays above three quarters full
/// or meets its neighbours; half as much again, and a few nodes, is the most.
fn assert_is_compact(bitmap: &Bitmap, what: &str) {
    bitmap.validate().unwrap_or_else(|broken| panic!("{what}: {broken}"));
    let (bytes, least) = (bitmap.stats().memory_bytes, built_at_once(bitmap).stats().memory_bytes);
    println!("{what}: {bytes} bytes, built at once {least}, height {}", bitmap.stats().height);
    assert!(bytes <= least * 3 / 2 + 4096, "{what}: {bytes} bytes, built at once {least}");
}

fn runs(n: u64, apart: u64, length: u64) -> Vec<Run> {
    (0..n).map(|i| Run { start: i * apart, end: i * apart + length }).collect()
}

/// Ascending, descending and shuffled, each with its name.
fn orders(runs: &[Run]) -> [(&'static str, Vec<Run>); 3] {
    let mut shuffled = runs.to_vec();
    shuffled.shuffle(&mut StdRng::seed_from_u64(7));
    [
        ("ascending", runs.to_vec()),
        ("descending", runs.iter().rev().copied().collect()),
        ("shuffled", shuffled),
    ]
}

#[test]
fn ranges_added_one_by_one_cost_what_they_hold() {
    for (apart, length) in [(1_000_003, 5000), (70_000, 3), (1 << 40, 1 << 20)] {
        for (order, ranges) in orders(&runs(8000, apart, length)) {
            let mut bitmap: Bitmap = (0..200_000u64).map(|i| (1 << 62) + i * 4_194_304_000).collect();
            let before = bitmap.cardinality();
            for run in &ranges {
                assert_eq!(bitmap.insert_range(run.start..=run.end), run.cardinality());
            }
            assert_eq!(bitmap.cardinality(), before + 8000 * u128::from(length + 1));
            assert_is_compact(&bitmap, &format!("8000 ranges {order}, {apart} apart, {length} long"));
        }
    }
}

#[test]
fn ranges_removed_one_by_one_leave_a_compact_rest() {
    for (order, ranges) in orders(&runs(4000, 50 << 22, 20 << 22)) {
        let mut bitmap: Bitmap = (0..200_000u64).map(|i| i << 22 | (i % 8) << 12).collect();
        for run in &ranges {
            bitmap.remove_range(run.start..=run.end);
        }
        assert_is_compact(&bitmap, &format!("4000 ranges removed {order}"));
    }
}

#[test]
fn ranges_flipped_one_by_one_leave_a_compact_rest() {
    let mut rng = StdRng::seed_from_u64(11);
    let mut bitmap: Bitmap = (0..100_000u64).map(|i| i * 1_000_003).collect();
    for _ in 0..4000 {
        let start = rng.random_range(0..100_000_000_000u64);
        bitmap.flip_range(start..=start + rng.random_range(0..2_000_000));
    }
    assert_is_compact(&bitmap, "4000 ranges flipped");
}

#[test]
fn a_bitmap_that_takes_in_many_small_ones_stays_compact() {
    let snowflake = |i: u64| (1 << 60) + ((i * 1_000_003) << 22) + ((i % 8) << 12);
    for (order, singles) in
        orders(&(0..6000).map(|i| Run { start: snowflake(i), end: 0 }).collect::<Vec<_>>())
    {
        let mut all: Bitmap = (0..50_000u64).map(|i| i * 77_777).collect();
        for single in &singles {
            all = all.or(&[single.start].into_iter().collect());
        }
        assert_eq!(all.cardinality(), 56_000);
        assert_is_compact(&all, &format!("6000 unions with one id, {order}"));
        for single in &singles {
            all = all.diff(&[single.start].into_iter().collect());
        }
        assert_eq!(all.cardinality(), 50_000);
        assert_is_compact(&all, &format!("6000 differences with one id, {order}"));
    }
}

#[test]
fn slices_put_side_by_side_are_as_compact_as_the_whole() {
    let whole: Bitmap = (0..300_000u64).map(|i| i * i % (1 << 40)).collect();
    let mut rng = StdRng::seed_from_u64(13);
    let mut cuts: Vec<u64> = (0..500).map(|_| rng.random_range(0..1u64 << 40)).collect();
    cuts.extend([0, 1 << 40]);
    cuts.sort_unstable();
    let mut joined = Bitmap::new();
    for pair in cuts.windows(2) {
        joined = joined.or(&whole.slice(pair[0]..=pair[1] - 1));
    }
    assert!(joined.runs_in(EVERYTHING).eq(whole.runs_in(EVERYTHING)));
    assert_is_compact(&joined, "500 slices joined");
}

/// Clusters of `n` ids two apart, each in a chunk of its own far from the others: their
/// leaves are small, and two of them fit no leaf together.
fn clusters(count: u64, n: u64) -> Vec<u64> {
    let mut starts: Vec<u64> = (1..=count).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !0xffff).collect();
    starts.sort_unstable();
    starts.into_iter().flat_map(|start| (0..n).map(move |i| start + 2 * i)).collect()
}

#[test]
fn neighbours_that_fit_no_leaf_together_are_left_apart() {
    for n in [3, 40, 400] {
        let ids = clusters(4000, n);
        let built: Bitmap = ids.iter().copied().collect();
        let mut inserted = Bitmap::new();
        ids.iter().for_each(|id| assert!(inserted.insert(*id)));
        for (what, bitmap) in [("built", &built), ("inserted", &inserted)] {
            assert_is_compact(bitmap, &format!("4000 clusters of {n} {what}"));
        }
        // On a stack of 256 KiB: nothing may go from leaf to leaf by recursion.
        let edits = move || {
            let mut bitmap = inserted;
            for id in ids.iter().step_by(ids.len() / 500) {
                bitmap.insert_range(id + 1..=id + 1);
                bitmap = bitmap.or(&[id + 3].into_iter().collect());
            }
            assert_is_compact(&bitmap, &format!("4000 clusters of {n} edited"));
        };
        let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(edits);
        thread.expect("a thread").join().expect("no overflow");
    }
}

#[test]
fn ids_in_descending_order_above_a_dense_chunk_share_leaves() {
    let descending = (1..200_000u64).rev();
    for step in [1u64 << 16, 1 << 22] {
        let mut bitmap: Bitmap = (0..20_000u64).map(|i| i * 3).collect();
        descending.clone().for_each(|i| assert!(bitmap.insert(i * step + 5)));
        assert_is_compact(&bitmap, &format!("descending, {step} apart, above a dense chunk"));
    }
}

#[test]
fn what_thinning_leaves_is_compact_after_ranges_are_removed() {
    let ids: Vec<u64> = {
        let mut rng = StdRng::seed_from_u64(17);
        let mut ids: Vec<u64> = (0..1_000_000).map(|_| rng.random()).collect();
        ids.sort_unstable();
        ids
    };
    let mut bitmap: Bitmap = ids.iter().copied().collect();
    // Of every second stretch of a node's ids one is kept, and all between go by ranges.
    let mut from = 0;
    for stretch in ids.chunks(16_000).skip(1).step_by(2) {
        let kept = stretch[stretch.len() / 2];
        stretch.iter().filter(|id| **id != kept).for_each(|id| assert!(bitmap.remove(*id)));
        bitmap.remove_range(from..=kept - 1);
        from = kept + 1;
    }
    bitmap.remove_range(from..=u64::MAX);
    assert_eq!(bitmap.cardinality(), 31);
    assert_is_compact(&bitmap, "31 ids left of a million");
}

#[test]
fn a_far_id_that_came_and_went_leaves_no_wide_entries() {
    let mut bitmap: Bitmap = clusters(1000, 260).into_iter().collect();
    let before = bitmap.stats().memory_bytes;
    for start in clusters(1000, 1) {
        for far in [start + (1 << 40), start.wrapping_sub(1 << 40)] {
            assert!(bitmap.insert(far) && bitmap.remove(far));
        }
    }
    let after = bitmap.stats().memory_bytes;
    assert!(after <= before * 5 / 4, "{before} bytes before, {after} after");
}

/// An outlier before many even ids, and low bits late: what is right of the outlier is too much for
/// one leaf by itself.
#[test]
fn what_is_left_of_a_cut_is_cut_again() {
    const UNIT: u64 = 1 << 20;
    let late = 4414 * UNIT + 0x8001;
    let ids: Vec<u64> =
        [1000 * UNIT].into_iter().chain((3062..=4414).map(|k| k * UNIT)).chain([late, 4415 * UNIT]).collect();
    for n in [ids.len() - 1, ids.len()] {
        let ids = &ids[..n];
        let mut bitmap: Bitmap = ids.iter().copied().collect();
        bitmap.validate().unwrap();
        assert!(!bitmap.insert(3065 * UNIT));
        assert_eq!(bitmap.cardinality(), n as u128);
        assert!(ids.iter().all(|id| bitmap.contains(*id)));
    }
}
