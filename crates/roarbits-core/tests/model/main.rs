//! The bitmap against naive twins: random operations, and drivers over every
//! threshold, validated and compared after each; and a census that fails where
//! some form or change of form was never met.

#[path = "../twin/mod.rs"]
mod twin;

mod census;
mod drivers;
mod walks;
mod world;

use std::sync::Mutex;

use census::Census;
use roarbits_datasets::Shape;

/// The least number of operations in all, and of crossings of each kind.
const OPERATIONS_MIN: u64 = 100_000;
const CROSSINGS_MIN: u64 = 100;
/// Nodes take ten thousand ids a crossing.
const NODE_CROSSINGS_MIN: u64 = 20;
/// Operations of a walk over one kind of set.
const WALK_OPERATIONS: u64 = 5000;

/// Printed, and set by `ROARBITS_SEED`.
const SEED: u64 = 20_261_130;

type Driver = fn(u64) -> Census;
type Job = Box<dyn FnOnce() -> Census + Send>;

fn jobs(seed: u64) -> Vec<(String, Job)> {
    let mut jobs: Vec<(String, Job)> = Vec::new();
    for shape in Shape::ALL {
        jobs.push((
            format!("{shape:?} by ids"),
            Box::new(move || walks::by_ids(shape, WALK_OPERATIONS, seed)),
        ));
        jobs.push((
            format!("{shape:?} by intervals"),
            Box::new(move || walks::by_intervals(shape, WALK_OPERATIONS, seed)),
        ));
    }
    let drivers: [(&str, Driver); 7] = [
        ("ids and bits", drivers::ids_and_bits),
        ("islands", drivers::islands),
        ("holes", drivers::holes),
        ("ids and runs", drivers::ids_and_runs),
        ("splits and merges", drivers::splits_and_merges),
        ("nodes", drivers::nodes),
        ("dense algebra", drivers::dense_algebra),
    ];
    for (name, driver) in drivers {
        jobs.push((name.into(), Box::new(move || driver(seed))));
    }
    jobs
}

fn next(queue: &Mutex<Vec<(String, Job)>>) -> Option<(String, Job)> {
    let mut jobs = queue.lock().unwrap();
    jobs.pop()
}

/// Runs all jobs on two threads; the sum of what they counted.
fn run(jobs: Vec<(String, Job)>) -> Census {
    let queue = Mutex::new(jobs);
    let total = Mutex::new(Census::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, job)) = next(&queue) {
                    let started = std::time::Instant::now();
                    let census = job();
                    println!("{name}: {} operations, {:?}", census.operations, started.elapsed());
                    total.lock().unwrap().add(&census);
                }
            });
        }
    });
    total.into_inner().unwrap()
}

#[test]
fn random_operations_answer_as_the_twin_and_cross_every_threshold() {
    let seed = std::env::var("ROARBITS_SEED").map_or(SEED, |seed| seed.parse().unwrap());
    println!("ROARBITS_SEED={seed}");
    let census = run(jobs(seed));
    println!("{} operations", census.operations);
    let rows = census.rows(CROSSINGS_MIN, NODE_CROSSINGS_MIN);
    for (what, count, least) in &rows {
        println!("{count:>8} {what} (at least {least})");
    }
    let missing: Vec<_> = rows.iter().filter(|(_, count, least)| count < least).collect();
    assert!(missing.is_empty(), "not met often enough: {missing:?}");
    assert!(census.operations >= OPERATIONS_MIN);
}
