//! Relocation: every leaf that nobody shares is handed out once, a shared one never,
//! and no id changes, wherever the walk is stopped.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::{BitRead, Bitmap, Builder, Run};

const SEED: u64 = 0x0de_f4a6;

/// Leaves of every form, in a tree of three levels: packed ids, then plain bits, then runs.
fn every_form(rng: &mut StdRng) -> Bitmap {
    let mut out = Builder::new();
    for second in 0..250_000 {
        out.push_id((second * 1000) << 22 | rng.random_range(0..8) << 12);
    }
    let dense = (1u64 << 62)..(1 << 62) + 40 * 65_536;
    dense.filter(|id| id % 3 == 0).for_each(|id| out.push_id(id));
    for i in 0..20_000 {
        let start = (1 << 63) + i * 1_000_003;
        out.push_run(Run { start, end: start + rng.random_range(1000..9000) });
    }
    out.finish(0)
}

fn leaves(bitmap: &Bitmap) -> u64 {
    let leaves = bitmap.stats().leaves;
    leaves.ids + leaves.runs + leaves.bits
}

fn runs(bitmap: &Bitmap) -> Vec<Run> {
    bitmap.runs_in(0..=u64::MAX).collect()
}

/// Relocates all, stopping whenever `should_stop` says so; how many leaves moved and how many calls that took.
fn relocate(bitmap: &mut Bitmap, mut should_stop: impl FnMut() -> bool) -> (u64, u64) {
    let (mut moved, mut calls, mut from) = (0, 0, 0);
    loop {
        calls += 1;
        let stopped = bitmap.relocate(from, &mut |words| elsewhere(&words, &mut moved), &mut should_stop);
        match stopped {
            None => break,
            Some(next) => {
                assert!(next > from, "stopped at {next}, not above {from}");
                from = next;
            }
        }
    }
    bitmap.validate().unwrap();
    (moved, calls)
}

fn elsewhere(words: &[u64], moved: &mut u64) -> Box<[u64]> {
    *moved += 1;
    words.into()
}

#[test]
fn every_leaf_of_an_unshared_bitmap_moves_once_and_no_id_changes() {
    let mut bitmap = every_form(&mut StdRng::seed_from_u64(SEED));
    let (before, stats) = (runs(&bitmap), bitmap.stats());
    assert!(stats.leaves.ids > 256 && stats.leaves.bits == 40 && stats.leaves.runs > 0, "{stats:?}");
    assert_eq!(relocate(&mut bitmap, || false), (leaves(&bitmap), 1));
    assert!(runs(&bitmap) == before);
    assert_eq!(bitmap.stats(), stats);
}

#[test]
fn a_walk_that_is_always_stopped_moves_one_leaf_a_call() {
    let mut bitmap = every_form(&mut StdRng::seed_from_u64(SEED));
    bitmap.remove_range(1 << 58..=1 << 61);
    let (before, leaves) = (runs(&bitmap), leaves(&bitmap));
    assert_eq!(relocate(&mut bitmap, || true), (leaves, leaves));
    assert!(runs(&bitmap) == before);
}

#[test]
fn a_walk_resumes_behind_the_last_leaf_moved() {
    let mut bitmap = every_form(&mut StdRng::seed_from_u64(SEED));
    let leaves = leaves(&bitmap);
    let mut asked = 0;
    let every_hundredth = || {
        asked += 1;
        asked % 100 == 0
    };
    let (moved, calls) = relocate(&mut bitmap, every_hundredth);
    assert_eq!(moved, leaves);
    assert!(calls > leaves / 110, "{calls} calls for {leaves} leaves");
}

#[test]
fn nothing_under_a_snapshot_moves() {
    let mut bitmap = every_form(&mut StdRng::seed_from_u64(SEED));
    let snapshot = bitmap.clone();
    assert_eq!(relocate(&mut bitmap, || true), (0, 1));
    drop(snapshot);
    assert_eq!(relocate(&mut bitmap, || false).0, leaves(&bitmap));
}

#[test]
fn only_leaves_written_since_a_snapshot_move() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut bitmap = every_form(&mut rng);
    let (snapshot, before) = (bitmap.clone(), runs(&bitmap));
    let (first, last) = (bitmap.select(0).unwrap(), bitmap.max().unwrap());
    assert!(bitmap.remove(first) && bitmap.remove(last));
    assert_eq!(relocate(&mut bitmap, || false), (2, 1));
    assert_eq!(relocate(&mut bitmap, || true).0, 2);
    snapshot.validate().unwrap();
    assert!(runs(&snapshot) == before);
    assert!(!bitmap.contains(first) && !bitmap.contains(last));
}

#[test]
fn writes_between_two_calls_do_no_harm() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut bitmap: Bitmap = (0..20_000).map(|_| rng.random_range(0..1u64 << 34)).collect();
    let mut twin: BTreeSet<u64> = bitmap.runs_in(0..=u64::MAX).flat_map(|run| run.start..=run.end).collect();
    let (mut from, mut moved) = (0, 0);
    for _ in 0..2000 {
        from = bitmap.relocate(from, &mut |words| elsewhere(&words, &mut moved), &mut || true).unwrap_or(0);
        bitmap.validate().unwrap();
        let start = rng.random_range(0..1u64 << 34);
        if rng.random_bool(0.5) {
            assert_eq!(bitmap.insert(start), twin.insert(start));
        } else {
            bitmap.remove_range(start..=start + (1 << 20));
            twin.retain(|id| !(start..=start + (1 << 20)).contains(id));
        }
    }
    assert_eq!(moved, 2000);
    assert!(bitmap.runs_in(0..=u64::MAX).flat_map(|run| run.start..=run.end).eq(twin));
}

#[test]
fn small_bitmaps_move_too() {
    assert_eq!(relocate(&mut Bitmap::new(), || true), (0, 1));
    let mut one: Bitmap = [u64::MAX].into_iter().collect();
    assert_eq!(relocate(&mut one, || true), (1, 1));
    assert!(one.contains(u64::MAX));
}
