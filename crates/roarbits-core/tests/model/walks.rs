//! Random walks: any operation at any time, over one kind of set.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roarbits_core::codec::portable64;
use roarbits_core::Run;

use super::census::Census;
use super::twin::{Ids, Intervals, Twin};
use super::world::{Binary, Op, World};
use roarbits_datasets::{Arrival, Shape};

/// Ids that a walk draws from, and runs that it holds before it is cut back.
const POOL: usize = 4000;
const RUNS_MAX: usize = 1200;
/// Bytes of the portable formats, which cannot hold long runs briefly, that a walk writes at most.
const PORTABLE_MAX_BYTES: u64 = 1 << 20;

/// A walk with a `BTreeSet`, whose ranges are short enough for one.
pub fn by_ids(shape: Shape, operations: u64, seed: u64) -> Census {
    let arrival = Arrival::ALL[shape as usize % Arrival::ALL.len()];
    walk::<Ids>(shape, arrival, operations, seed, |rng| rng.random_range(0..2000))
}

/// A walk with an interval list, with ranges of any length.
pub fn by_intervals(shape: Shape, operations: u64, seed: u64) -> Census {
    let arrival = Arrival::ALL[(shape as usize + 1) % Arrival::ALL.len()];
    walk::<Intervals>(shape, arrival, operations, seed, |rng| rng.random::<u64>() >> rng.random_range(0..64))
}

/// The longest range to draw.
type Span = fn(&mut StdRng) -> u64;

fn walk<T: Twin>(shape: Shape, arrival: Arrival, operations: u64, seed: u64, span: Span) -> Census {
    let mut rng = StdRng::seed_from_u64(seed ^ shape as u64);
    let ids = shape.ids(POOL, &mut rng);
    let mut walk = Walk { ids: arrival.order(ids, &mut rng), next: 0, span, world: World::<T>::new(rng) };
    for _ in 0..operations {
        let op = walk.choose();
        walk.world.apply(&op);
    }
    walk.world.check_kept();
    walk.world.census
}

struct Walk<T> {
    ids: Vec<u64>,
    next: usize,
    span: Span,
    world: World<T>,
}

impl<T: Twin> Walk<T> {
    fn choose(&mut self) -> Op {
        let runs = self.world.runs();
        if runs.len() > RUNS_MAX {
            return self.cut_back(&runs);
        }
        match self.world.rng.random_range(0..100) {
            0..24 => Op::Insert(self.arriving(1)),
            24..34 => Op::Insert(self.beside(&runs)),
            34..46 => Op::Remove(self.present(&runs, 1)),
            46..54 => Op::Insert(self.arriving(100)),
            54..60 => Op::Remove(self.present(&runs, 100)),
            60..64 => Op::InsertMany(self.arriving(400)),
            64..67 => Op::RemoveMany(self.present(&runs, 200)),
            67..83 => self.on_range(&runs),
            83..88 => self.on_other(&runs),
            _ => self.as_a_whole(),
        }
    }

    fn cut_back(&mut self, runs: &[Run]) -> Op {
        let half = runs[runs.len() / 2].start;
        match self.world.rng.random_range(0..4) {
            0 => Op::Slice(0, half),
            1 => Op::Slice(half, u64::MAX),
            2 => Op::RemoveRange(0, half),
            _ => Op::RemoveMany(self.present(runs, RUNS_MAX)),
        }
    }

    /// The next ids of the kind of set, 1 to `most`.
    fn arriving(&mut self, most: usize) -> Vec<u64> {
        let n = self.world.rng.random_range(1..=most);
        let from = self.next;
        self.next += n;
        (from..self.next).map(|i| self.ids[i % self.ids.len()]).collect()
    }

    /// An id that touches a run, or is in it.
    fn beside(&mut self, runs: &[Run]) -> Vec<u64> {
        match runs.choose(&mut self.world.rng) {
            Some(run) if self.world.rng.random() => vec![run.end.saturating_add(1)],
            Some(run) => vec![run.start.saturating_sub(1)],
            None => self.arriving(1),
        }
    }

    /// Members, 1 to `most`, and now and then one that is none.
    fn present(&mut self, runs: &[Run], most: usize) -> Vec<u64> {
        let rng = &mut self.world.rng;
        let n = rng.random_range(1..=most);
        if runs.is_empty() || rng.random_range(0..50) == 0 {
            return self.ids[..n.min(self.ids.len())].to_vec();
        }
        let from = rng.random_range(0..runs.len());
        let ids = runs[from..].iter().flat_map(|run| [run.start, run.end]);
        ids.take(n).collect()
    }

    fn range(&mut self, runs: &[Run]) -> (u64, u64) {
        let rng = &mut self.world.rng;
        let from = match runs.choose(rng) {
            Some(run) if rng.random() => run.start,
            Some(run) if rng.random() => run.end,
            Some(run) if rng.random() => run.start & !0xFFFF,
            _ => *self.ids.choose(rng).unwrap_or(&0),
        };
        let span = (self.span)(rng);
        match rng.random_range(0..20) {
            0 => (from, from.saturating_sub(1)),
            1..10 => (from.saturating_sub(span), from),
            _ => (from, from.saturating_add(span)),
        }
    }

    fn on_range(&mut self, runs: &[Run]) -> Op {
        let (start, end) = self.range(runs);
        match self.world.rng.random_range(0..3) {
            0 => Op::InsertRange(start, end),
            1 => Op::RemoveRange(start, end),
            _ => Op::FlipRange(start, end),
        }
    }

    /// Set algebra with a part of the same kind of set, of what is there, or of both.
    fn on_other(&mut self, runs: &[Run]) -> Op {
        let binary = Binary::ALL[self.world.rng.random_range(0..Binary::ALL.len())];
        let mut other: Vec<Run> = Vec::new();
        if self.world.rng.random() {
            let from = self.world.rng.random_range(0..=runs.len());
            other.extend(&runs[from..]);
        } else if matches!(binary, Binary::And) {
            other.extend(runs.iter().filter(|run| run.start % 8 != 0));
        }
        let ids = self.arriving(300);
        let mut twin = Intervals::of(&other);
        ids.iter().for_each(|id| {
            twin.insert(*id);
        });
        Op::Combine(binary, twin.runs())
    }

    fn as_a_whole(&mut self) -> Op {
        let length_bytes = roarbits_core::BitRead::length_bytes(&self.world.bitmap);
        match self.world.rng.random_range(0..9) {
            0 | 1 => Op::Load,
            2 => Op::LoadPieces(self.world.rng.random_range(0..5000)),
            3 if portable64::encoded_bytes(&self.world.bitmap, 0..=u64::MAX) <= PORTABLE_MAX_BYTES => {
                Op::Portable
            }
            4 => Op::Snapshot,
            5 => Op::Swap,
            6 => Op::GrowLength(self.world.rng.random::<u64>() >> self.world.rng.random_range(3..60)),
            7 if length_bytes <= (self.span)(&mut self.world.rng) => Op::Not,
            _ => Op::Snapshot,
        }
    }
}
