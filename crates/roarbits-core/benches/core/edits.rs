//! What changes a set: inserts and removals by one and by many, snapshots and the
//! write after them. A set that is timed holds, before and after, what it held
//! first: what a batch sets is cleared again outside the measured time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion};
use roarbits_core::Bitmap;
use roarbits_datasets::{Arrival, DataSet};
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::sets::{is_narrow, Sets, TIMED};
use crate::subject::Subject;

pub fn benches(criterion: &mut Criterion) {
    for data in TIMED {
        rows::<Bitmap>(criterion, data);
        match is_narrow(data) {
            true => rows::<RoaringBitmap>(criterion, data),
            false => rows::<RoaringTreemap>(criterion, data),
        }
    }
}

fn rows<S: Subject>(criterion: &mut Criterion, data: DataSet) {
    let sets: Sets<S> = Sets::new(data);
    for (operation, arrival) in
        [("insert 100k ascending", Arrival::Ascending), ("insert 100k shuffled", Arrival::Shuffled)]
    {
        sets.row(criterion, operation, |bencher| {
            let ids = sets.some_ids(arrival);
            bencher.iter(|| inserted::<S>(&ids));
        });
    }
    sets.row(criterion, "bulk build", |bencher| bencher.iter(|| S::built(black_box(sets.ids()))));
    sets.row(criterion, "insert 1000", |bencher| timed(bencher, &sets, insert_each, remove_each));
    sets.row(criterion, "insert many 1000", |bencher| timed(bencher, &sets, insert_many, remove_each));
    sets.row(criterion, "remove 1000", |bencher| timed(bencher, &sets, remove_each, insert_each));
    sets.row(criterion, "clone", |bencher| bencher.iter(|| sets.first().clone()));
    sets.row(criterion, "clone and write", |bencher| {
        let strangers = sets.strangers();
        let mut next = strangers.iter().cycle();
        bencher.iter(|| {
            let mut written = sets.first().clone();
            next.next().map(|id| written.insert(*id));
            written
        });
    });
    sets.row(criterion, "encode", |bencher| bencher.iter(|| sets.first().encode()));
    sets.row(criterion, "decode", |bencher| {
        let payload = sets.first().encode();
        bencher.iter(|| S::decode(black_box(&payload)));
    });
}

fn inserted<S: Subject>(ids: &[u64]) -> S {
    let mut set = S::empty();
    insert_each(&mut set, ids);
    set
}

fn insert_each<S: Subject>(set: &mut S, ids: &[u64]) {
    for id in ids {
        set.insert(*id);
    }
}

fn insert_many<S: Subject>(set: &mut S, ids: &[u64]) {
    set.insert_many(ids);
}

fn remove_each<S: Subject>(set: &mut S, ids: &[u64]) {
    for id in ids {
        set.remove(*id);
    }
}

/// Times `change` by a batch that the set lacks, or has if `change` removes; `undo` is not timed.
fn timed<S: Subject>(
    bencher: &mut Bencher,
    sets: &Sets<S>,
    change: impl Fn(&mut S, &[u64]),
    undo: impl Fn(&mut S, &[u64]),
) {
    let ids = sets.strangers();
    let mut set = S::built(sets.ids());
    // One turn both ways, so that a removal finds the batch there.
    undo(&mut set, &ids);
    bencher.iter_custom(|turns| {
        let mut spent = Duration::ZERO;
        for _ in 0..turns {
            let begun = Instant::now();
            change(&mut set, black_box(&ids));
            spent += begun.elapsed();
            undo(&mut set, &ids);
        }
        spent
    });
}
