//! What asks a set: membership, counts, positions, iteration.

use std::hint::black_box;

use criterion::Criterion;
use roarbits_core::{BitRead, Bitmap};
use roarbits_datasets::DataSet;
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::sets::{is_narrow, Sets, BATCH, TIMED};
use crate::subject::Subject;

pub fn benches(criterion: &mut Criterion) {
    for data in TIMED {
        rows::<Bitmap>(criterion, data);
        match is_narrow(data) {
            true => rows::<RoaringBitmap>(criterion, data),
            false => rows::<RoaringTreemap>(criterion, data),
        }
        let sets: Sets<Bitmap> = Sets::new(data);
        sets.row(criterion, "runs", |bencher| {
            let runs = || sets.first().runs_in(0..=u64::MAX);
            bencher.iter(|| runs().fold(0, |sum: u64, run| sum.wrapping_add(run.end)));
        });
    }
}

fn rows<S: Subject>(criterion: &mut Criterion, data: DataSet) {
    let sets: Sets<S> = Sets::new(data);
    sets.row(criterion, "contains 1000", |bencher| {
        let ids = half_members(&sets);
        bencher.iter(|| ids.iter().filter(|id| sets.first().contains(**id)).count());
    });
    sets.row(criterion, "contains many 1000", |bencher| {
        let ids = half_members(&sets);
        bencher.iter(|| sets.first().members_among(black_box(&ids)));
    });
    sets.row(criterion, "cardinality", |bencher| bencher.iter(|| sets.first().cardinality()));
    sets.row(criterion, "rank 1000", |bencher| {
        let ids = half_members(&sets);
        bencher.iter(|| ids.iter().map(|id| sets.first().rank(*id)).sum::<u64>());
    });
    sets.row(criterion, "select 1000", |bencher| {
        let step = sets.first().cardinality() / BATCH as u64;
        let at = |i| sets.first().select(i * step).unwrap_or(0);
        bencher.iter(|| (0..BATCH as u64).map(at).fold(0, u64::wrapping_add));
    });
    sets.row(criterion, "count range 1000", |bencher| {
        let ids = half_members(&sets);
        let span = sets.ids()[sets.ids().len() / 3] - sets.ids()[0];
        bencher.iter(|| ids.iter().map(|id| sets.first().count_range(*id..=id + span)).sum::<u64>());
    });
    sets.row(criterion, "iterate", |bencher| bencher.iter(|| sets.first().sum()));
}

/// A batch of which half are members, as random as they come.
fn half_members<S: Subject>(sets: &Sets<S>) -> Vec<u64> {
    let members = sets.members();
    let strangers = sets.strangers();
    members.iter().zip(&strangers).flat_map(|(member, stranger)| [*member, *stranger]).take(BATCH).collect()
}
