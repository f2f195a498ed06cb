//! The cost of one operation against the size of the set, in CPU time.
//!
//! A set is built at once from ascending ids, then aged by shuffled inserts of a
//! tenth of its size, a million at most: leaves are then as they are in use. What
//! is asked and inserted is of the set's own kind.

use std::hint::black_box;
use std::io;

use roarbits_bench::{Goal, Row, Subject as Who};
use roarbits_core::{BitRead, Bitmap};
use roarbits_datasets::{seeded, Arrival, DataSet};

use crate::plan::{row, Plan};
use crate::subject::Subject;
use crate::timing::{timed, Samples};

const SETS: [DataSet; 3] = [DataSet::D1, DataSet::D3_1M, DataSet::D4_SLOW];
const NAMES: [&str; 3] = ["D1", "D3", "D4-1/s"];
const SIZES: [usize; 6] = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// The largest set of a smoke run.
const QUICK_IDS: usize = 10_000;
const AGED_MAX_IDS: usize = 1_000_000;
/// Timed inserts, reads and writes after a snapshot, of one set.
const TIMED_MAX: usize = 10_000;
/// Sets are measured again until so many operations were timed.
const SAMPLES_MIN: usize = 10_000;
const SNAPSHOTS: usize = 1000;
/// At the largest size: of a snapshot in ns, of the first write after one in us.
const SNAPSHOT_MAX_NS: f64 = 1000.0;
const FIRST_WRITE_MAX_US: f64 = 100.0;

pub fn measure(plan: &mut Plan) -> io::Result<()> {
    for (set, name) in SETS.into_iter().zip(NAMES) {
        for size in SIZES {
            if plan.count(size, QUICK_IDS) == size {
                plan.tell(&format!("growth of {name}: {size}"));
                Grown::new(set.resized(size), name).measure(plan);
            }
        }
    }
    Ok(())
}

/// A set of one size, and ids to work with.
struct Grown {
    name: &'static str,
    size: usize,
    aged: Bitmap,
    other: Bitmap,
    /// Members, shuffled.
    members: Vec<u64>,
    /// Ids that it lacks but for a few, shuffled: inserted one by one, and written after snapshots.
    inserted: Vec<u64>,
    written: Vec<u64>,
}

impl Grown {
    fn new(set: DataSet, name: &'static str) -> Self {
        let size = set.cardinality;
        let ids = set.ids(0);
        let mut aged = Bitmap::built(&ids);
        let members = spread(&ids, TIMED_MAX, 1);
        drop(ids);
        let others = set.ids(1);
        let other = Bitmap::built(&others);
        let (aging, timed) = (AGED_MAX_IDS.min(size / 10), TIMED_MAX.min(size / 10));
        let mut strangers = spread(&others, aging + 2 * timed, 2);
        let written = strangers.split_off(strangers.len().min(aging + timed));
        let inserted = strangers.split_off(strangers.len().min(aging));
        insert_all(&mut aged, &strangers);
        Self { name, size, aged, other, members, inserted, written }
    }

    fn measure(&mut self, plan: &mut Plan) {
        self.inserts(plan);
        self.reads(plan);
        self.snapshots(plan);
    }

    fn push(&self, plan: &mut Plan, operation: &str, cost: Samples, unit: &str, goal: Option<Goal>) {
        let row = row(self.name, operation, Who::Roarbits, cost.least, unit);
        plan.push(Row { at: Some(self.size as f64), median: Some(cost.median), goal, ..row });
    }

    /// Into copies that share nothing.
    fn inserts(&self, plan: &mut Plan) {
        let turns = SAMPLES_MIN.div_ceil(self.inserted.len()).clamp(3, plan.count(50, 3));
        let payload = self.aged.encode();
        let costs = (0..turns).map(|_| {
            let mut copy = Bitmap::decode(&payload).unwrap_or_default();
            timed(|| insert_all(&mut copy, &self.inserted)).1 / self.inserted.len() as f64
        });
        self.push(plan, "insert", Samples::of(costs.collect()), "ns", None);
    }

    fn reads(&self, plan: &mut Plan) {
        let set = &self.aged;
        let span = set.max().unwrap_or(0) / 3;
        let step = BitRead::cardinality(set) / self.members.len() as u128;
        let each = |ask: &dyn Fn(u64) -> u64| {
            let all = || self.members.iter().map(|id| ask(*id)).fold(0, u64::wrapping_add);
            self.rounds(plan, || black_box(all()), self.members.len())
        };
        let costs = [
            ("contains", each(&|id| u64::from(BitRead::contains(set, id)))),
            ("count a range", each(&|id| BitRead::count_range(set, id..=id.saturating_add(span)) as u64)),
            ("rank", each(&|id| BitRead::rank(set, id) as u64)),
        ];
        let selected =
            || (0..self.members.len() as u128).map(|i| BitRead::select(set, i * step).unwrap_or(0));
        let select =
            self.rounds(plan, || black_box(selected().fold(0, u64::wrapping_add)), self.members.len());
        let and = self.rounds(plan, || Subject::and(&[set, &self.other]), 2 * self.size);
        for (operation, cost) in costs {
            self.push(plan, operation, cost, "ns", None);
        }
        self.push(plan, "select", select, "ns", None);
        self.push(plan, "AND of 2, an id", and, "ns", None);
    }

    /// What `work` costs, divided by how much there is of it.
    fn rounds<R>(&self, plan: &Plan, mut work: impl FnMut() -> R, parts: usize) -> Samples {
        let rounds = (0..plan.rounds.min(5)).map(|_| timed(&mut work).1 / parts as f64);
        Samples::of(rounds.collect())
    }

    /// Snapshots, and the first write after each, of which the next one knows nothing.
    fn snapshots(&mut self, plan: &mut Plan) {
        let is_largest = SIZES.last() == Some(&self.size);
        let goal = |most| Some(Goal::at_most(most)).filter(|_| is_largest);
        let rounds = (0..plan.rounds.min(5)).map(|_| {
            // The room for them is no part of them, nor what the allocator does for it.
            let mut kept = Vec::with_capacity(SNAPSHOTS);
            timed(|| kept.extend((0..SNAPSHOTS).map(|_| self.aged.clone()))).1 / SNAPSHOTS as f64
        });
        let snapshot = Samples::of(rounds.collect());
        let mut costs = Vec::new();
        for id in &self.written {
            let snapshot = self.aged.clone();
            costs.push(timed(|| self.aged.insert(*id)).1 / 1000.0);
            drop(snapshot);
        }
        costs.sort_by(f64::total_cmp);
        let at = |part: f64| Samples::of(vec![costs[((costs.len() - 1) as f64 * part) as usize]]);
        self.push(plan, "snapshot", snapshot, "ns", goal(SNAPSHOT_MAX_NS));
        self.push(plan, "first write after a snapshot, median", at(0.5), "us", None);
        let most = goal(FIRST_WRITE_MAX_US);
        self.push(plan, "first write after a snapshot, 99th percentile", at(0.99), "us", most);
        self.push(plan, "first write after a snapshot, slowest", at(1.0), "us", None);
    }
}

/// `n` of these at even distances, shuffled.
fn spread(ids: &[u64], n: usize, seed: u64) -> Vec<u64> {
    let step = (ids.len() / n.max(1)).max(1);
    let some = ids.iter().copied().step_by(step).take(n).collect();
    Arrival::Shuffled.order(some, &mut seeded(seed))
}

fn insert_all(set: &mut Bitmap, ids: &[u64]) {
    for id in ids {
        set.insert(*id);
    }
}
