//! Batches of ids set, cleared and asked for at once, against a set that takes them
//! one by one; a clone taken before each batch stays as it was.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use roarbits_core::{BitRead, Bitmap};
use roarbits_datasets::Shape;

const SEED: u64 = 20_261_130;

fn inserted(ids: &[u64]) -> Bitmap {
    let mut bitmap = Bitmap::new();
    for id in ids {
        bitmap.insert(*id);
    }
    bitmap
}

fn assert_same(bitmap: &Bitmap, twin: &BTreeSet<u64>, when: &str) {
    assert_eq!(bitmap.validate(), Ok(()), "{when}");
    assert_eq!(bitmap.cardinality(), twin.len() as u128, "{when}");
    assert!(bitmap.ids_in(0..=u64::MAX).eq(twin.iter().copied()), "{when}");
}

/// Ids in and around those of `pool`, with repetitions, in a random order or ascending.
fn batch(pool: &[u64], rng: &mut StdRng) -> Vec<u64> {
    let n = [1, 3, 15, 16, 17, 100, 1000, 4000][rng.random_range(0..8)];
    let clustered = rng.random_range(0..3) == 0;
    let from = rng.random_range(0..pool.len());
    let mut ids: Vec<u64> = (0..n)
        .map(|i| {
            let at = if clustered { (from + i) % pool.len() } else { rng.random_range(0..pool.len()) };
            pool[at].saturating_add(rng.random_range(0..3))
        })
        .collect();
    ids.push([0, u64::MAX, pool[from], 1 << 63][rng.random_range(0..4)]);
    match rng.random_range(0..3) {
        0 => ids.sort_unstable(),
        1 => ids.shuffle(rng),
        _ => ids.extend_from_within(..n / 2),
    }
    ids
}

#[test]
fn batches_do_what_their_ids_do_one_by_one() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for shape in Shape::ALL {
        let pool = shape.ids(40_000, &mut rng);
        let half: Vec<u64> = pool.iter().copied().step_by(2).collect();
        let (mut bitmap, mut twin) = (inserted(&half), half.iter().copied().collect::<BTreeSet<u64>>());
        for step in 0..60 {
            let when = format!("{shape:?}, batch {step}");
            let ids = batch(&pool, &mut rng);
            let asked: Vec<bool> = ids.iter().map(|id| twin.contains(id)).collect();
            assert_eq!(bitmap.contains_many(&ids), asked, "{when}");
            let kept = (step % 2 == 0).then(|| (bitmap.clone(), twin.clone()));
            let before = twin.len();
            if rng.random() {
                let set = bitmap.insert_many(&ids);
                twin.extend(&ids);
                assert_eq!(set, (twin.len() - before) as u64, "{when}");
            } else {
                let cleared = bitmap.remove_many(&ids);
                ids.iter().for_each(|id| {
                    twin.remove(id);
                });
                assert_eq!(cleared, (before - twin.len()) as u64, "{when}");
            }
            assert_same(&bitmap, &twin, &when);
            if let Some((bitmap, twin)) = kept {
                assert_same(&bitmap, &twin, &format!("a clone before {when}"));
            }
        }
    }
}

#[test]
fn a_bitmap_grows_from_and_shrinks_to_nothing_in_batches() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for shape in Shape::ALL {
        let mut ids = shape.ids(30_000, &mut rng);
        ids.shuffle(&mut rng);
        let mut bitmap = Bitmap::new();
        for (i, batch) in ids.chunks(200).enumerate() {
            assert_eq!(bitmap.insert_many(batch), batch.len() as u64);
            assert_eq!(bitmap.insert_many(batch), 0);
            assert_eq!(bitmap.validate(), Ok(()), "{shape:?}, batch {i}");
        }
        assert!(bitmap.contains_many(&ids).iter().all(|answer| *answer));
        let length_bytes = bitmap.length_bytes();
        for (i, batch) in ids.chunks(200).enumerate() {
            assert_eq!(bitmap.remove_many(batch), batch.len() as u64);
            assert_eq!(bitmap.validate(), Ok(()), "{shape:?}, batch {i}");
        }
        assert!(bitmap.is_empty());
        assert_eq!(bitmap.length_bytes(), length_bytes);
    }
}

#[test]
fn many_ids_between_dense_chunks_make_as_many_leaves_as_they_need() {
    let mut bitmap = Bitmap::new();
    for chunk in 0..70u64 {
        bitmap.insert_range(chunk << 40..=(chunk << 40) + 40_000);
        bitmap.remove_range((chunk << 40) + 7..=(chunk << 40) + 7);
    }
    let ids: Vec<u64> = (0..200_000u64).map(|i| ((i % 70) << 40) + ((i * 7919) << 17) + 70_000).collect();
    assert_eq!(bitmap.insert_many(&ids), ids.len() as u64);
    assert_eq!(bitmap.validate(), Ok(()));
    assert_eq!(bitmap.remove_many(&ids), ids.len() as u64);
    assert_eq!(bitmap.validate(), Ok(()));
    assert_eq!(bitmap.cardinality(), 70 * 40_000);
}
