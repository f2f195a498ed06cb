//! The slowest single inserts: what a client waits for when a leaf splits or is
//! encoded anew, not the mean.

use std::io;

use roarbits_bench::{Row, Subject as Who};
use roarbits_core::Bitmap;
use roarbits_datasets::{seeded, Arrival, DataSet};

use crate::plan::{row, Plan};
use crate::timing::timed;

const INSERTS: usize = 10_000_000;
const QUICK_INSERTS: usize = 5000;

pub fn measure(plan: &mut Plan) -> io::Result<()> {
    for (set, name) in [(DataSet::D3_1M, "D3"), (DataSet::D4_SLOW, "D4-1/s")] {
        let size = plan.count(INSERTS, QUICK_INSERTS);
        plan.tell(&format!("{size} inserts of {name}, each timed"));
        let ids = Arrival::Shuffled.order(set.resized(size).ids(0), &mut seeded(1));
        let mut bitmap = Bitmap::new();
        let mut costs: Vec<f64> = ids.iter().map(|id| timed(|| bitmap.insert(*id)).1).collect();
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        costs.sort_by(f64::total_cmp);
        let at = |part: f64| costs[((costs.len() - 1) as f64 * part) as usize];
        let note = format!("of {size} shuffled inserts; reading the clock is in it");
        for (operation, cost) in
            [("insert, mean", mean), ("insert, 99.99th percentile", at(0.9999)), ("insert, slowest", at(1.0))]
        {
            let row = row(name, operation, Who::Roarbits, cost / 1000.0, "us");
            plan.push(Row { at: Some(size as f64), note: note.clone(), ..row });
        }
    }
    Ok(())
}
