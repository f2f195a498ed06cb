//! Drivers that go to and fro over one threshold, which a random walk meets too
//! rarely; the table at the top of `bitmap/edit.rs` has the thresholds.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::bitmap::Stats;
use roarbits_core::Run;

use super::census::Census;
use super::twin::{Ids, Twin};
use super::world::{Binary, Op, World};

/// Crossings in each direction.
const CYCLES: usize = 110;
/// Crossings of the dearer thresholds.
const NODE_CYCLES: usize = 24;
const DENSE_CYCLES: usize = 50;
/// Steps within which each crossing must come.
const STEPS_MAX: usize = 400;

/// Whether the structure, with so many ids still to be moved, is as wanted.
type Wanted = fn(&Stats, usize) -> bool;

/// A set that swings between `floor` and `floor + swing`, in steps of up to `step` ids.
struct Swing {
    floor: Vec<u64>,
    swing: Vec<u64>,
    step: usize,
    cycles: usize,
}

impl Swing {
    /// Sets ids of the swing until `is_up`, clears them until `is_down`, and so on.
    fn run(self, seed: u64, is_up: Wanted, is_down: Wanted) -> Census {
        let mut world = World::<Ids>::new(StdRng::seed_from_u64(seed));
        world.apply(&Op::Insert(self.floor));
        let (mut out, mut inside) = (self.swing, Vec::new());
        for cycle in 0..self.cycles {
            step_until(&mut world, &mut out, &mut inside, self.step, Op::Insert, is_up);
            around(&mut world, cycle);
            step_until(&mut world, &mut inside, &mut out, self.step, Op::Remove, is_down);
            around(&mut world, cycle);
        }
        world.check_kept();
        world.census
    }
}

/// Moves ids of `from` to `to` by `op` until the structure is as wanted.
fn step_until(
    world: &mut World<Ids>,
    from: &mut Vec<u64>,
    to: &mut Vec<u64>,
    step: usize,
    op: fn(Vec<u64>) -> Op,
    is_there: Wanted,
) {
    let turned = world.rng.random_range(0..=from.len());
    from.rotate_left(turned);
    for _ in 0..STEPS_MAX {
        if is_there(&world.bitmap.stats(), from.len()) {
            return;
        }
        let n = world.rng.random_range(1..=step).min(from.len());
        let moved = from.split_off(from.len() - n);
        to.extend(&moved);
        world.apply(&op(moved));
    }
    panic!("not reached: {:?}", world.bitmap.stats());
}

/// Between two crossings: a snapshot to be left behind, or a load.
fn around(world: &mut World<Ids>, cycle: usize) {
    world.apply(&[Op::Snapshot, Op::Load, Op::LoadPieces(3000)][cycle % 3]);
}

/// `n` different ids below `span` beside `base`.
fn scattered(base: u64, span: u64, n: usize, rng: &mut StdRng) -> Vec<u64> {
    let places = rand::seq::index::sample(rng, span as usize, n);
    places.into_iter().map(|i| base + i as u64).collect()
}

/// Random ids of one chunk, some more and less than 4,088 of 16 bits.
pub fn ids_and_bits(seed: u64) -> Census {
    let ids = scattered(7 << 16, 1 << 16, 5000, &mut StdRng::seed_from_u64(seed));
    Swing { floor: ids[..2000].to_vec(), swing: ids[2000..].to_vec(), step: 300, cycles: CYCLES }.run(
        seed,
        |stats, _| stats.leaves.bits == 1,
        |stats, _| stats.leaves.ids == 1,
    )
}

/// A long run and islands beside it in one chunk: setting islands makes bits, clearing them runs.
pub fn islands(seed: u64) -> Census {
    Swing {
        floor: (0..30_000).collect(),
        swing: (16_000..18_400).map(|i| i * 2).collect(),
        step: 400,
        cycles: CYCLES,
    }
    .run(seed, |stats, _| stats.leaves.bits == 1, |stats, _| stats.leaves.runs == 1)
}

/// Holes in a full chunk: clearing makes bits, setting runs. The floor is every
/// other id of a half and the whole rest.
pub fn holes(seed: u64) -> Census {
    let hole = |id: &u64| *id < 4600 && id % 2 == 1;
    Swing {
        floor: (0..1 << 16).filter(|id| !hole(id)).collect(),
        swing: (0..1 << 16).filter(hole).collect(),
        step: 400,
        cycles: CYCLES,
    }
    .run(seed, |stats, _| stats.leaves.runs == 1, |stats, _| stats.leaves.bits == 1)
}

/// Single ids that become runs of eight and single ids again.
pub fn ids_and_runs(seed: u64) -> Census {
    let base = 0x0123_4567_89AB_0000;
    let singles = (0..20).map(|i| base + i * 12);
    Swing {
        floor: singles.clone().collect(),
        swing: singles.flat_map(|id| id + 1..id + 8).collect(),
        step: 16,
        cycles: CYCLES,
    }
    .run(
        seed,
        |stats, left| stats.leaves.runs == 1 && left == 0,
        |stats, left| stats.leaves.ids == 1 && left == 0,
    )
}

/// Ids over sixteen chunks that outgrow one leaf and fit it again.
pub fn splits_and_merges(seed: u64) -> Census {
    let ids = scattered(1 << 40, 1 << 20, 1400, &mut StdRng::seed_from_u64(seed));
    Swing { floor: ids[..150].to_vec(), swing: ids[150..].to_vec(), step: 60, cycles: CYCLES }.run(
        seed,
        |stats, _| stats.height == 1,
        |stats, _| stats.height == 0,
    )
}

/// Chunks far apart, eight ids each, that need one node more and one less.
pub fn nodes(seed: u64) -> Census {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut chunks: Vec<u64> = (0..1700).map(|_| rng.random::<u64>() >> 17 << 16).collect();
    chunks.sort_unstable();
    chunks.dedup();
    let bound = chunks[chunks.len() * 2 / 3];
    let low: Vec<u64> = (0..8).map(|_| rng.random_range(1..1 << 16)).collect();
    let in_chunk = |chunk: &u64| low.iter().map(|low| chunk + low).collect::<Vec<_>>();
    let upper = chunks.iter().filter(|chunk| **chunk >= bound);
    Swing {
        floor: chunks.iter().copied().chain(upper.flat_map(in_chunk)).collect(),
        swing: chunks.iter().filter(|chunk| **chunk < bound).flat_map(in_chunk).collect(),
        step: 1500,
        cycles: NODE_CYCLES,
    }
    .run(seed, |stats, _| stats.height == 2, |stats, _| stats.height == 1)
}

/// Algebra and bulk insertion over chunks dense enough for bits.
pub fn dense_algebra(seed: u64) -> Census {
    let mut world = World::<Ids>::new(StdRng::seed_from_u64(seed));
    for cycle in 0..DENSE_CYCLES {
        world.apply(&Op::Slice(1, 0));
        for binary in [Binary::Or, Binary::Or, Binary::Xor, Binary::And, Binary::Diff] {
            let n = world.rng.random_range(1000..8000);
            let ids = scattered(3 << 16, 1 << 17, n, &mut world.rng);
            let run = Run { start: (3 << 16) + 40_000, end: (4 << 16) + world.rng.random_range(0..5000) };
            let mut other = Ids::of(if cycle % 2 == 0 { &[] } else { std::slice::from_ref(&run) });
            ids.iter().for_each(|id| {
                other.insert(*id);
            });
            world.apply(&Op::Combine(binary, other.runs()));
        }
        let ids = scattered(9 << 16, 1 << 16, 6000, &mut world.rng);
        world.apply(&Op::InsertMany(ids));
        world.apply(&Op::Load);
    }
    world.census
}
