//! What goals say of operations that the core alone can answer: set algebra, counts,
//! positions, batches, encodings; the peers' crates take turns with ours.

use std::hint::black_box;
use std::io;

use roarbits_bench::{Goal, Subject as Who};
use roarbits_core::{BitRead, Bitmap, Combination};
use roarbits_datasets::{days_later, seeded, Arrival, DataSet};
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::peers::is_narrow;
use crate::plan::{goal_row, Plan};
use crate::subject::Subject;
use crate::timing::{timed, turn, Match, Turn};

const OPERANDS: usize = 7;
const BATCH: usize = 1000;
const NS_A_US: f64 = 1e3;
const NS_A_MS: f64 = 1e6;

/// The sets whose algebra has goals.
const COMBINED: [DataSet; 3] = [DataSet::D1, DataSet::D3_1M, DataSet::D4_SLOW];

/// One way to combine sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    And,
    Or,
    Xor,
    Diff,
    AndCount,
    OrCount,
}

impl Kernel {
    const ALL: [Self; 6] = [Self::And, Self::Or, Self::Xor, Self::Diff, Self::AndCount, Self::OrCount];

    fn name(self, operands: usize) -> String {
        match self {
            Self::And => format!("AND of {operands}, stored"),
            Self::Or => format!("OR of {operands}, stored"),
            Self::Xor => format!("XOR of {operands}, stored"),
            Self::Diff => format!("DIFF of {operands}, stored"),
            Self::AndCount => format!("AND of {operands}, counted"),
            Self::OrCount => format!("OR of {operands}, counted"),
        }
    }

    /// A turn of one subject at this; dropping the result is not timed.
    fn turn<'a, S: Subject + 'a>(self, who: Who, sets: &'a [S], operands: usize) -> Turn<'a> {
        let sets: Vec<&S> = sets.iter().take(operands).collect();
        match self {
            Self::And => turn(who, move || S::and(&sets)),
            Self::Or => turn(who, move || S::or(&sets)),
            Self::Xor => turn(who, move || S::xor(&sets)),
            Self::Diff => turn(who, move || S::diff(&sets)),
            Self::AndCount => turn(who, move || S::and_count(&sets)),
            Self::OrCount => turn(who, move || S::or_count(&sets)),
        }
    }

    /// The most ms that it may take.
    fn goal(self, set: DataSet, operands: usize) -> Option<Goal> {
        let most = match (set.name, self, operands) {
            ("D1", Self::And | Self::Or, OPERANDS) => 15.0,
            ("D1", Self::AndCount, 2) => 2.5,
            ("D1", Self::AndCount | Self::OrCount, OPERANDS) => 10.0,
            ("D3-1M", Self::And, 2) => 10.0,
            ("D3-1M", Self::Or, 2) => 17.0,
            ("D3-1M", Self::Or, OPERANDS) => 80.0,
            ("D4-1/s", Self::And, 2) => 12.0,
            ("D4-1/s", Self::Or, 2) => 20.0,
            _ => return None,
        };
        Some(Goal::at_most(most))
    }
}

pub fn measure(plan: &mut Plan) -> io::Result<()> {
    for set in COMBINED {
        plan.tell(&format!("kernels on {}", set.name));
        match is_narrow(set) {
            true => combined::<RoaringBitmap, croaring::Bitmap>(plan, set),
            false => combined::<RoaringTreemap, croaring::Bitmap64>(plan, set),
        }
    }
    plan.tell("days that are disjoint");
    disjoint_days(plan);
    plan.tell("single reads and writes");
    counts(plan);
    last_by_rank(plan);
    first_writes(plan);
    batches(plan);
    lookups(plan);
    plan.tell("encodings");
    encodings(plan);
    Ok(())
}

fn combined<R: Subject, C: Subject>(plan: &mut Plan, set: DataSet) {
    let (mut ours, mut roaring, mut croaring) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..OPERANDS as u64 {
        let ids = plan.sized(set).ids(seed);
        ours.push(Bitmap::built(&ids));
        roaring.push(R::built(&ids));
        croaring.push(C::built(&ids));
    }
    for operands in [2, OPERANDS] {
        for kernel in Kernel::ALL {
            let operation = kernel.name(operands);
            let turns = vec![
                kernel.turn(Who::Roarbits, &ours, operands),
                kernel.turn(Who::Roaring, &roaring, operands),
                kernel.turn(Who::Croaring, &croaring, operands),
            ];
            let goal = kernel.goal(set, operands);
            in_ms(set.name, &operation, goal).play(plan, turns);
        }
    }
    only_ours(plan, set, &ours);
}

/// At least three of seven, and a result in the place of an old one, as BITOP to a key does.
fn only_ours(plan: &mut Plan, set: DataSet, ours: &[Bitmap]) {
    let sets: Vec<&Bitmap> = ours.iter().collect();
    let most = match set.name {
        "D1" => Some(Goal::at_most(20.0)),
        "D3-1M" => Some(Goal::at_most(60.0)),
        _ => None,
    };
    let three = Combination::AtLeast(3);
    in_ms(set.name, "at least 3 of 7, stored", most.clone())
        .play(plan, vec![turn(Who::Roarbits, || three.evaluate(&sets))]);
    in_ms(set.name, "at least 3 of 7, counted", most)
        .play(plan, vec![turn(Who::Roarbits, || three.count(&sets))]);
    let reused = [
        ("AND of 2, stored, dest reused", Combination::And, 2, Some(6.0).filter(|_| set.name == "D1")),
        ("AND of 7, stored, dest reused", Combination::And, OPERANDS, None),
        ("OR of 7, stored, dest reused", Combination::Or, OPERANDS, None),
    ];
    for (operation, combination, operands, most) in reused {
        let sets = &sets[..operands];
        let mut dest = combination.evaluate(sets);
        let reuse = turn(Who::Roarbits, || combination.evaluate_into(sets, &mut dest));
        in_ms(set.name, operation, most.map(Goal::at_most)).play(plan, vec![reuse]);
    }
}

fn in_ms<'a>(set: &'a str, operation: &'a str, goal: Option<Goal>) -> Match<'a> {
    Match { set, operation, unit: "ms", divisor: NS_A_MS, goal }
}

/// Two sets of Snowflake ids whose times do not overlap.
fn disjoint_days(plan: &mut Plan) {
    let ids = plan.sized(DataSet::D4_SLOW).ids(0);
    let later = days_later(&ids, 30);
    let ours = [Bitmap::built(&ids), Bitmap::built(&later)];
    let roaring = [RoaringTreemap::built(&ids), RoaringTreemap::built(&later)];
    for kernel in [Kernel::And, Kernel::Or] {
        let operation = format!("{}, disjoint days", kernel.name(2));
        let turns = vec![kernel.turn(Who::Roarbits, &ours, 2), kernel.turn(Who::Roaring, &roaring, 2)];
        in_ms("D4-1/s", &operation, Some(Goal::at_most(0.2))).play(plan, turns);
    }
}

/// A turn that does `work` a thousand times, in ns each.
fn repeated<'a>(who: Who, mut work: impl FnMut() + 'a) -> Turn<'a> {
    (who, Box::new(move || timed(|| (0..BATCH).for_each(|_| work())).1 / BATCH as f64))
}

fn counts(plan: &mut Plan) {
    for set in [DataSet::D1, DataSet::D4_SLOW] {
        let ours = Bitmap::built(&plan.sized(set).ids(0));
        let count = || {
            black_box(BitRead::cardinality(black_box(&ours)));
        };
        let goal = Some(Goal::at_most(1.0));
        Match { set: set.name, operation: "cardinality", unit: "us", divisor: NS_A_US, goal }
            .play(plan, vec![repeated(Who::Roarbits, count)]);
    }
}

/// The treemaps of others walk all their buckets for each: nobody would measure that twice.
fn last_by_rank(plan: &mut Plan) {
    let ids = plan.sized(DataSet::D4_SLOW).ids(0);
    let ours = Bitmap::built(&ids);
    let first = ids.len().saturating_sub(BATCH) as u64;
    let ours = turn(Who::Roarbits, || {
        let from = BitRead::select(&ours, u128::from(first)).unwrap_or(0);
        ours.ids_in(from..=u64::MAX).collect::<Vec<u64>>()
    });
    let goal = Some(Goal::at_most(100.0));
    let operation = "last 1000 ids by rank";
    Match { set: "D4-1/s", operation, unit: "us", divisor: NS_A_US, goal }.play(plan, vec![ours]);
}

fn first_writes(plan: &mut Plan) {
    for (name, id) in [("1e8", 100_000_000), ("2e9", 2_000_000_000), ("2^32-1", u64::from(u32::MAX))] {
        let write = move || {
            Bitmap::new().insert(black_box(id));
        };
        let operation = format!("first write at {name}");
        let goal = Some(Goal::at_most(15.0));
        Match { set: "empty", operation: &operation, unit: "us", divisor: NS_A_US, goal }
            .play(plan, vec![repeated(Who::Roarbits, write)]);
    }
}

/// A thousand ids a call, which the set lacks and half of which it has.
fn batches(plan: &mut Plan) {
    let ids = plan.sized(DataSet::D3_1M).ids(0);
    let strangers = strangers(&ids, plan.sized(DataSet::D3_1M).ids(1));
    let asked: Vec<u64> = strangers.iter().copied().step_by(2).chain(some(&ids, BATCH / 2)).collect();
    let mut ours = Bitmap::built(&ids);
    let mut roaring = RoaringBitmap::built(&ids);
    let turns = vec![
        (Who::Roarbits, Box::new(|| batch_inserted(&mut ours, &strangers)) as Box<dyn FnMut() -> f64>),
        (Who::Roaring, Box::new(|| batch_inserted(&mut roaring, &strangers))),
    ];
    an_id("insert 1000 ids a call", 400.0).play(plan, turns);
    let turns = vec![
        turn(Who::Roarbits, || ours.members_among(&asked)),
        turn(Who::Roaring, || roaring.members_among(&asked)),
    ];
    an_id("contains 1000 ids a call", 250.0).play(plan, turns);
}

fn an_id(operation: &str, most: f64) -> Match<'_> {
    let goal = Some(Goal::at_most(most));
    Match { set: "D3-1M", operation, unit: "ns/id", divisor: BATCH as f64, goal }
}

/// The time of inserting a batch, which is taken out again.
fn batch_inserted<S: Subject>(set: &mut S, ids: &[u64]) -> f64 {
    let spent = timed(|| set.insert_many(ids)).1;
    ids.iter().for_each(|id| {
        set.remove(*id);
    });
    spent
}

/// A batch of `others` that are not in `ids`, shuffled.
fn strangers(ids: &[u64], mut others: Vec<u64>) -> Vec<u64> {
    others.retain(|id| ids.binary_search(id).is_err());
    some(&others, BATCH)
}

/// `n` of these, shuffled.
fn some(ids: &[u64], n: usize) -> Vec<u64> {
    let mut ids = Arrival::Shuffled.order(ids.to_vec(), &mut seeded(3));
    ids.truncate(n);
    ids
}

fn lookups(plan: &mut Plan) {
    for set in [DataSet::D1, DataSet::D3_1M, DataSet::D4_SLOW] {
        let ids = plan.sized(set).ids(0);
        let asked = some(&ids, BATCH);
        let ours = Bitmap::built(&ids);
        let found = || asked.iter().filter(|id| BitRead::contains(&ours, **id)).count();
        let operation = "contains, one by one";
        Match { set: set.name, operation, unit: "ns/id", divisor: BATCH as f64, goal: None }
            .play(plan, vec![turn(Who::Roarbits, found)]);
    }
}

fn encodings(plan: &mut Plan) {
    let set = DataSet::D4_SLOW;
    let ids = Arrival::Shuffled.order(plan.sized(set).ids(0), &mut seeded(1));
    let mut ours = Bitmap::new();
    for id in &ids {
        ours.insert(*id);
    }
    let payload = ours.encode();
    let bytes = payload.len() as f64 / ids.len() as f64;
    plan.push(goal_row(set.name, "encoded, arrived shuffled", bytes, "bytes/id", Goal::at_most(4.4)));
    let goal = |most| Some(Goal::at_most(most));
    in_ms(set.name, "encode", goal(10.0)).play(plan, vec![turn(Who::Roarbits, || ours.encode())]);
    in_ms(set.name, "decode", goal(15.0))
        .play(plan, vec![turn(Who::Roarbits, || Bitmap::decode(black_box(&payload)))]);
    in_ms(set.name, "copy", goal(5.0)).play(plan, vec![turn(Who::Roarbits, || ours.clone())]);
}
