//! Set algebra over two and seven sets of one kind.

use criterion::Criterion;
use roarbits_core::{Bitmap, Combination};
use roarbits_datasets::DataSet;
use roaring::{RoaringBitmap, RoaringTreemap};

use crate::sets::{is_narrow, Sets, OPERANDS, TIMED};
use crate::subject::Subject;

/// What makes an `R` of sets.
type Kernel<S, R> = fn(&[&S]) -> R;

pub fn benches(criterion: &mut Criterion) {
    for data in TIMED {
        rows::<Bitmap>(criterion, data);
        match is_narrow(data) {
            true => rows::<RoaringBitmap>(criterion, data),
            false => rows::<RoaringTreemap>(criterion, data),
        }
        thresholds(criterion, data);
    }
}

/// What only ours has: at least three of seven, and a result in the place of an old one.
fn thresholds(criterion: &mut Criterion, data: DataSet) {
    let sets: Sets<Bitmap> = Sets::new(data);
    let three = Combination::AtLeast(3);
    sets.row(criterion, "at least 3 of 7", |bencher| {
        let operands = sets.some(OPERANDS);
        bencher.iter(|| three.evaluate(&operands));
    });
    sets.row(criterion, "at least 3 of 7, counted", |bencher| {
        let operands = sets.some(OPERANDS);
        bencher.iter(|| three.count(&operands));
    });
    sets.row(criterion, "AND of 2, dest reused", |bencher| {
        let operands = sets.some(2);
        let mut dest = Combination::And.evaluate(&operands);
        bencher.iter(|| Combination::And.evaluate_into(&operands, &mut dest));
    });
}

fn rows<S: Subject>(criterion: &mut Criterion, data: DataSet) {
    let sets: Sets<S> = Sets::new(data);
    let stored: [(&str, Kernel<S, S>); 4] =
        [("AND", S::and), ("OR", S::or), ("XOR", S::xor), ("DIFF", S::diff)];
    let counted: [(&str, Kernel<S, u64>); 2] = [("AND", S::and_count), ("OR", S::or_count)];
    for operands in [2, OPERANDS] {
        for (name, combine) in stored {
            sets.row(criterion, &format!("{name} of {operands}"), |bencher| {
                let operands = sets.some(operands);
                bencher.iter(|| combine(&operands));
            });
        }
        for (name, count) in counted {
            sets.row(criterion, &format!("{name} of {operands}, counted"), |bencher| {
                let operands = sets.some(operands);
                bencher.iter(|| count(&operands));
            });
        }
    }
    sets.row(criterion, "NOT", |bencher| {
        let last = sets.ids().last().map_or(0, |last| last | 7);
        bencher.iter(|| sets.first().not(last));
    });
}
