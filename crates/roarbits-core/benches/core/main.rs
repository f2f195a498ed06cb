//! The core by operation and shape, with the roaring crate as a row beside each:
//!
//! ```text
//! make bench                      everything, minutes
//! make bench FILTER='AND'         what has this in its name: operation/set/subject
//! ```
//!
//! A time is that of the whole operation on the set, or of a batch of a thousand
//! ids where the name says "1000".

mod algebra;
mod edits;
mod reads;
mod sets;
mod subject;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .nresamples(2000)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .configure_from_args();
    edits::benches(&mut criterion);
    reads::benches(&mut criterion);
    algebra::benches(&mut criterion);
    criterion.final_summary();
}
