//! Bytes an id, as an allocator counts them in its size classes.

use std::io;

use roarbits_bench::{Goal, Row, Subject as Who};
use roarbits_core::{Bitmap, Builder};
use roarbits_datasets::{calendars, real, seeded, Arrival, DataSet};
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::counting::counted;
use crate::peers::is_narrow;
use crate::plan::{goal_row, row, Plan};
use crate::subject::Subject;

/// Named sets, the most that an id may cost, and what would be better still.
const GOALS: [(DataSet, f64, Option<f64>); 10] = [
    (DataSet::D1, 0.422, None),
    (DataSet::D2, 2.95, Some(2.0)),
    (DataSet::D3_10K, 4.3, None),
    (DataSet::D3_1M, 3.3, Some(2.2)),
    (DataSet::D4_SLOW, 4.5, Some(3.3)),
    (DataSet::D4_SLOW_RANDOM, 6.1, None),
    (DataSet::D4_FAST, 3.3, Some(2.2)),
    (DataSet::D4_FAST_RANDOM, 4.6, None),
    (DataSet::U63, 7.6, Some(6.4)),
    (DataSet::D5, 0.1, None),
];
/// The most that an id of the real sets may cost, in the order of `real::ARCHIVES`.
const REAL_GOALS: [f64; 4] = [2.25, 0.085, 0.9, 8.0];
/// Between two orders of arrival, the cost differs by at most this part of the least, or this an id.
const ARRIVAL_MAX_PART: f64 = 0.25;
const ARRIVAL_MAX_BYTES: f64 = 0.05;
/// Calendars: their names, days set and days. What the server adds to a key is not in these.
const CALENDARS: [(&str, usize, usize); 2] = [("D7, 31 days", 5, 31), ("D7, 365 days", 30, 365)];
const CALENDAR_KEYS: usize = 100_000;

pub fn measure(plan: &mut Plan) -> io::Result<()> {
    for (set, most, stretch) in GOALS {
        plan.tell(&format!("memory of {}", set.name));
        let goal = Goal { stretch, ..Goal::at_most(most) };
        named(plan, set, goal);
    }
    calendar_rows(plan);
    if let Some(folder) = plan.data.clone() {
        for (archive, most) in real::ARCHIVES.into_iter().zip(REAL_GOALS) {
            plan.tell(&format!("memory of {archive}"));
            let sets = real::load(&folder, archive)?.into_iter().map(|set| ascending(set.values));
            real_rows(plan, archive, &sets.collect::<Vec<_>>(), most);
        }
    }
    Ok(())
}

/// What inserting these ids one by one leaves allocated, in bytes of size classes.
fn inserted_bytes<S: Subject>(ids: &[u64]) -> i64 {
    let insert = || {
        let mut set = S::empty();
        for id in ids {
            set.insert(*id);
        }
        set
    };
    counted(insert).1.live_class_bytes
}

fn named(plan: &mut Plan, set: DataSet, goal: Goal) {
    let ids = plan.sized(set).ids(0);
    let an_id = |bytes: i64| bytes as f64 / ids.len() as f64;
    let costs = Arrival::ALL.map(|arrival| {
        let ordered = arrival.order(ids.clone(), &mut seeded(1));
        (arrival, an_id(inserted_bytes::<Bitmap>(&ordered)))
    });
    for (arrival, cost) in costs {
        let operation = format!("memory, {}", named_arrival(arrival));
        plan.push(match arrival {
            Arrival::Shuffled => goal_row(set.name, &operation, cost, "bytes/id", goal.clone()),
            _ => row(set.name, &operation, Who::Roarbits, cost, "bytes/id"),
        });
    }
    arrival_row(plan, set.name, costs.map(|(_, cost)| cost));
    let built = counted(|| ids.iter().copied().fold(Builder::new(), with_id).finish(0)).1;
    plan.push(row(
        set.name,
        "memory, built at once",
        Who::Roarbits,
        an_id(built.live_class_bytes),
        "bytes/id",
    ));
    let shuffled = Arrival::Shuffled.order(ids.clone(), &mut seeded(1));
    let peer = match is_narrow(set) {
        true => inserted_bytes::<RoaringBitmap>(&shuffled),
        false => inserted_bytes::<RoaringTreemap>(&shuffled),
    };
    plan.push(row(set.name, "memory, shuffled", Who::Roaring, an_id(peer), "bytes/id"));
}

fn with_id(mut builder: Builder, id: u64) -> Builder {
    builder.push_id(id);
    builder
}

fn named_arrival(arrival: Arrival) -> String {
    format!("{arrival:?}").to_lowercase()
}

fn arrival_row(plan: &mut Plan, set: &str, costs: [f64; Arrival::ALL.len()]) {
    let least = costs.into_iter().fold(f64::MAX, f64::min);
    let most = costs.into_iter().fold(0.0, f64::max);
    let goal = Goal::at_most((least * ARRIVAL_MAX_PART).max(ARRIVAL_MAX_BYTES));
    plan.push(goal_row(set, "memory, most less least order of arrival", most - least, "bytes/id", goal));
}

fn calendar_rows(plan: &mut Plan) {
    let keys = plan.count(CALENDAR_KEYS, 1000);
    for (name, present, days) in CALENDARS {
        let sets = calendars(keys, present, days, &mut seeded(0));
        let bytes: i64 = sets.iter().map(|set| inserted_bytes::<Bitmap>(set)).sum();
        let a_key = bytes as f64 / keys as f64 + size_of::<Bitmap>() as f64;
        let note = "the value alone: what the server needs for a key is not in it".to_owned();
        plan.push(Row { note, ..row(name, "memory", Who::Roarbits, a_key, "bytes/key") });
    }
}

fn ascending(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values.dedup();
    values
}

fn real_rows(plan: &mut Plan, archive: &str, sets: &[Vec<u64>], most: f64) {
    let ids = sets.iter().map(Vec::len).sum::<usize>() as f64;
    let all = |cost: &dyn Fn(&[u64]) -> i64, own: usize| {
        sets.iter().map(|set| cost(set)).sum::<i64>() as f64 + (own * sets.len()) as f64
    };
    let costs = Arrival::ALL.map(|arrival| {
        let cost = |set: &[u64]| inserted_bytes::<Bitmap>(&arrival.order(set.to_vec(), &mut seeded(1)));
        (arrival, all(&cost, size_of::<Bitmap>()) / ids)
    });
    for (arrival, cost) in costs {
        let operation = format!("memory, {}", named_arrival(arrival));
        plan.push(match arrival {
            Arrival::Shuffled => goal_row(archive, &operation, cost, "bytes/id", Goal::at_most(most)),
            _ => row(archive, &operation, Who::Roarbits, cost, "bytes/id"),
        });
    }
    arrival_row(plan, archive, costs.map(|(_, cost)| cost));
    let optimized = |set: &[u64]| counted(|| RoaringBitmap::built(set)).1.live_class_bytes;
    let cost = all(&optimized, size_of::<RoaringBitmap>()) / ids;
    let note = "after optimize".to_owned();
    plan.push(Row { note, ..row(archive, "memory, shuffled", Who::Roaring, cost, "bytes/id") });
}
