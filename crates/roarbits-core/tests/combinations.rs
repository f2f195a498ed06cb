//! Set algebra over any number of bitmaps: every combination against a sweep over
//! elementary intervals that knows membership only, and against the roaring crate.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roarbits_core::bitmap::Combination;
use roarbits_core::{BitRead, Bitmap, Builder, Run};
use roaring::RoaringTreemap;

const SEED: u64 = 31;

/// How the ids of an operand lie.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Nothing,
    Few,
    /// A random part of every chunk of a few.
    Dense,
    /// Thin over many chunks.
    Sparse,
    /// Millions apart, with constant bits between.
    Snowflake,
    /// Anywhere in 64 bits.
    Hashed,
    Runs,
    /// Some huge ranges.
    Ranges,
    /// Dense clusters far apart.
    Clusters,
    /// Whole chunks, and chunks that lack one id.
    NearlyFull,
    Everything,
}

const SHAPES: [Shape; 11] = [
    Shape::Nothing,
    Shape::Few,
    Shape::Dense,
    Shape::Sparse,
    Shape::Snowflake,
    Shape::Hashed,
    Shape::Runs,
    Shape::Ranges,
    Shape::Clusters,
    Shape::NearlyFull,
    Shape::Everything,
];

impl Shape {
    fn bitmap(self, rng: &mut StdRng) -> Bitmap {
        let mut bitmap = Bitmap::new();
        let mut ids: Vec<u64> = Vec::new();
        match self {
            Self::Nothing => {}
            Self::Few => ids.extend((0..rng.random_range(1..20)).map(|_| rng.random_range(0..200_000u64))),
            Self::Dense => {
                let one_in = rng.random_range(2..20);
                ids.extend((0..3 << 16).filter(|_| rng.random_ratio(1, one_in)));
            }
            Self::Sparse => ids.extend((0..3000).map(|_| rng.random_range(0..5_000_000u64))),
            Self::Snowflake => {
                let first = rng.random_range(0..500u64);
                ids.extend(
                    (0..2000).map(|i| (((first + i) * 1009) << 22) | (rng.random_range(0..4u64) << 12)),
                );
            }
            Self::Hashed => ids.extend((0..1500).map(|_| rng.random::<u64>() & rng.random::<u64>())),
            Self::Runs => {
                for _ in 0..300 {
                    let start = rng.random_range(0..3_000_000u64);
                    bitmap.insert_range(start..=start + rng.random_range(0..500));
                }
            }
            Self::Ranges => {
                for _ in 0..rng.random_range(1..6) {
                    let start = rng.random::<u64>() >> rng.random_range(0..64);
                    let length = rng.random::<u64>() >> rng.random_range(1..64);
                    bitmap.insert_range(start..=start.saturating_add(length));
                }
            }
            Self::Clusters => {
                for _ in 0..20 {
                    let at = (rng.random::<u64>() >> rng.random_range(0..50)) & !0xFFF;
                    ids.extend((0..200).map(|_| at.saturating_add(rng.random_range(0..400))));
                }
            }
            Self::NearlyFull => {
                bitmap.insert_range(0..=(4 << 16) - 1);
                (0..rng.random_range(0..4)).for_each(|_| {
                    bitmap.remove(rng.random_range(0..4 << 16));
                });
            }
            Self::Everything => {
                bitmap.insert_range(0..=u64::MAX);
            }
        }
        bitmap.insert_many(&ids);
        bitmap
    }
}

/// Operands of any shape; some share subtrees with those before them.
fn operands(n: usize, rng: &mut StdRng) -> Vec<Bitmap> {
    let mut operands: Vec<Bitmap> = Vec::new();
    while operands.len() < n {
        let next = match operands.choose(rng) {
            Some(before) if rng.random_ratio(1, 4) => {
                let mut copy = before.clone();
                for _ in 0..rng.random_range(0..4) {
                    let id = copy.select(copy.cardinality() / 2).unwrap_or(rng.random());
                    copy.remove(id);
                    copy.insert(id ^ 1 << rng.random_range(0..20));
                }
                copy
            }
            _ => SHAPES[rng.random_range(0..SHAPES.len())].bitmap(rng),
        };
        operands.push(next);
    }
    operands
}

fn combinations(n: usize, rng: &mut StdRng) -> Vec<Combination> {
    use Combination::*;
    let k = rng.random_range(0..=n as u32 + 1);
    vec![And, Or, Xor, Diff, Diff1, AndOr, One, AtLeast(k), Exactly(k), AtLeast(2), Exactly(2)]
}

fn keeps(combination: Combination, members: &[bool]) -> bool {
    let count = members.iter().filter(|is_member| **is_member).count();
    let others = members[1..].iter().any(|is_member| *is_member);
    match combination {
        Combination::And => count == members.len(),
        Combination::Or => count > 0,
        Combination::Xor => count % 2 == 1,
        Combination::Diff => members[0] && !others,
        Combination::Diff1 => !members[0] && others,
        Combination::AndOr => members[0] && others,
        Combination::One => count == 1,
        Combination::AtLeast(k) => k > 0 && count >= k as usize,
        Combination::Exactly(k) => k > 0 && count == k as usize,
    }
}

/// The runs kept, by membership at the start of every interval over which nothing changes.
fn naive(combination: Combination, operands: &[Bitmap]) -> Vec<Run> {
    let mut starts = BTreeSet::from([0]);
    for operand in operands {
        for run in operand.runs_in(0..=u64::MAX) {
            starts.insert(run.start);
            starts.extend(run.end.checked_add(1));
        }
    }
    let starts: Vec<u64> = starts.into_iter().collect();
    let mut kept: Vec<Run> = Vec::new();
    for (i, start) in starts.iter().enumerate() {
        let members: Vec<bool> = operands.iter().map(|operand| operand.contains(*start)).collect();
        if !keeps(combination, &members) {
            continue;
        }
        let end = starts.get(i + 1).map_or(u64::MAX, |next| next - 1);
        match kept.last_mut() {
            Some(last) if last.end.checked_add(1) == Some(*start) => last.end = end,
            _ => kept.push(Run { start: *start, end }),
        }
    }
    kept
}

fn runs(bitmap: &Bitmap) -> Vec<Run> {
    bitmap.runs_in(0..=u64::MAX).collect()
}

#[test]
fn combinations_keep_what_membership_says() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for round in 0..96 {
        let n = [1, 2, 2, 3, 3, 5, 7, 20][round % 8];
        let operands = operands(n, &mut rng);
        let before: Vec<Vec<Run>> = operands.iter().map(runs).collect();
        let references: Vec<&Bitmap> = operands.iter().collect();
        for combination in combinations(n, &mut rng) {
            let expected = naive(combination, &operands);
            let what = format!("round {round}: {combination:?} of {n}");
            let result = combination.evaluate(&references);
            assert_eq!(result.validate(), Ok(()), "{what}");
            assert!(runs(&result) == expected, "{what}");
            let ids: u128 = expected.iter().map(|run| run.cardinality()).sum();
            assert_eq!(result.cardinality(), ids, "{what}");
            assert_eq!(combination.count(&references), ids, "{what}, counted");
            assert_eq!(result.length_bytes(), operands.iter().map(BitRead::length_bytes).max().unwrap_or(0));
            // Into a bitmap of its own, one that shares with an operand, and one that did until a write.
            let mut written = operands[0].clone();
            written.insert(5);
            for mut dest in [Shape::Dense.bitmap(&mut rng), operands[n - 1].clone(), written] {
                drop(combination.evaluate_into(&references, &mut dest));
                assert_eq!(dest.validate(), Ok(()), "{what}, into");
                assert!(runs(&dest) == expected, "{what}, into");
            }
        }
        assert!(operands.iter().map(runs).eq(before), "round {round}: an operand changed");
    }
}

#[test]
fn combinations_agree_with_the_roaring_crate() {
    use roaring::MultiOps;
    let mut rng = StdRng::seed_from_u64(SEED + 1);
    let shapes = [Shape::Dense, Shape::Sparse, Shape::Snowflake, Shape::Hashed, Shape::Runs, Shape::Clusters];
    for shape in shapes {
        for n in [2, 3, 7] {
            let operands: Vec<Bitmap> = (0..n).map(|_| shape.bitmap(&mut rng)).collect();
            let treemap = |bitmap: &Bitmap| -> RoaringTreemap {
                bitmap.runs_in(0..=u64::MAX).flat_map(|run| run.start..=run.end).collect()
            };
            let treemaps: Vec<RoaringTreemap> = operands.iter().map(treemap).collect();
            let references: Vec<&Bitmap> = operands.iter().collect();
            for (combination, expected) in [
                (Combination::And, treemaps.iter().intersection()),
                (Combination::Or, treemaps.iter().union()),
                (Combination::Xor, treemaps.iter().symmetric_difference()),
                (Combination::Diff, treemaps.iter().difference()),
            ] {
                let result = combination.evaluate(&references);
                assert!(treemap(&result) == expected, "{combination:?} of {n} {shape:?}");
                assert_eq!(combination.count(&references), u128::from(expected.len()));
            }
        }
    }
}

#[test]
fn no_operands_and_impossible_thresholds_keep_nothing() {
    let full: Bitmap = Shape::Everything.bitmap(&mut StdRng::seed_from_u64(SEED));
    for combination in
        [Combination::And, Combination::Or, Combination::AtLeast(0), Combination::AtLeast(u32::MAX)]
    {
        assert_eq!(combination.count(&[]), 0);
        assert!(combination.evaluate(&[]).is_empty());
    }
    for combination in [Combination::AtLeast(0), Combination::Exactly(0), Combination::AtLeast(3)] {
        assert_eq!(combination.count(&[&full, &full]), 0, "{combination:?}");
    }
    assert_eq!(Combination::AtLeast(2).count(&[&full, &full]), 1 << 64);
    assert_eq!(Combination::Exactly(1).count(&[&full, &full]), 0);
}

#[test]
fn what_one_operand_alone_has_is_shared() {
    let days: Vec<Bitmap> = (0..7)
        .map(|day| {
            let mut builder = Builder::new();
            (0..50_000u64).for_each(|i| builder.push_id((day << 50) + ((i * 997) << 22)));
            builder.finish(0)
        })
        .collect();
    let references: Vec<&Bitmap> = days.iter().collect();
    let all = Combination::Or.evaluate(&references);
    let stats = all.stats();
    assert!(stats.shared_bytes * 10 > stats.memory_bytes * 9, "{stats:?}");
    assert!(Combination::And.evaluate(&references).is_empty());
    assert_eq!(Combination::One.count(&references), 350_000);
}

/// Thousands of operands with next to no ids must not be walked by their span.
#[test]
fn many_operands_of_few_ids_far_apart_take_no_time() {
    for n in [511, 512, 600, 2000] {
        let operands: Vec<Bitmap> = (0..n).map(|i| [i, (1 << 62) + i].into_iter().collect()).collect();
        let all: Vec<&Bitmap> = operands.iter().collect();
        // Two keys named again and again.
        let repeated: Vec<&Bitmap> = (0..n as usize).map(|i| &operands[i % 2]).collect();
        for combination in combinations(n as usize, &mut StdRng::seed_from_u64(SEED)) {
            let members = |references: &[&Bitmap], id: u64| -> Vec<bool> {
                references.iter().map(|operand| operand.contains(id)).collect()
            };
            for references in [&all, &repeated] {
                let ids = (0..n).chain((0..n).map(|i| (1 << 62) + i));
                let expected = ids.filter(|id| keeps(combination, &members(references, *id))).count() as u128;
                assert_eq!(combination.count(references), expected, "{combination:?} of {n}");
                assert_eq!(
                    combination.evaluate(references).cardinality(),
                    expected,
                    "{combination:?} of {n}"
                );
            }
        }
    }
}

#[test]
fn groups_of_many_operands_keep_what_membership_says() {
    let mut rng = StdRng::seed_from_u64(SEED + 2);
    let operands: Vec<Bitmap> = (0..70)
        .map(|i| [Shape::Few, Shape::Sparse, Shape::Runs, Shape::Dense][i % 4].bitmap(&mut rng))
        .collect();
    let references: Vec<&Bitmap> = operands.iter().collect();
    for combination in combinations(70, &mut rng) {
        let result = combination.evaluate(&references);
        assert_eq!(result.validate(), Ok(()), "{combination:?}");
        for id in (0..6_000_000).step_by(977) {
            let members: Vec<bool> = operands.iter().map(|operand| operand.contains(id)).collect();
            assert_eq!(result.contains(id), keeps(combination, &members), "{combination:?} {id}");
        }
        assert_eq!(combination.count(&references), result.cardinality(), "{combination:?}");
    }
}

#[test]
fn ranks_in_a_leaf_of_runs_are_all_found_in_one_walk() {
    let mut bitmap = Bitmap::new();
    (0..2000u64).for_each(|i| {
        bitmap.insert_range(i * 30..=i * 30 + i % 13);
    });
    let ranks: Vec<u128> = (0..bitmap.cardinality()).rev().chain([u128::MAX, 0]).collect();
    let expected: Vec<u64> = ranks.iter().filter_map(|rank| bitmap.select(*rank)).collect();
    assert_eq!(bitmap.select_all(&ranks), expected);
}
