//! What answers cost: leaves looked at, bytes allocated, and how soon they end when cancelled.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::expr::Watch;
use roarbits_core::{BitRead, Bitmap, Builder};

use super::answers::plan;
use super::counting::counted;

/// Ids below `below`, each with a chance of one in `one_in`.
fn scattered(below: u64, one_in: u64, seed: u64) -> Bitmap {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut out = Builder::new();
    let mut at = rng.random_range(0..one_in);
    while at < below {
        out.push_id(at);
        at += 1 + rng.random_range(0..one_in * 2 - 1);
    }
    out.finish(0)
}

fn several(n: u64, below: u64, one_in: u64) -> Vec<Bitmap> {
    (0..n).map(|seed| scattered(below, one_in, seed)).collect()
}

fn leaves(operands: &[Bitmap]) -> u64 {
    let of = |bitmap: &Bitmap| {
        let leaves = bitmap.stats().leaves;
        leaves.ids + leaves.runs + leaves.bits
    };
    operands.iter().map(of).sum()
}

#[test]
fn counting_over_dense_operands_allocates_little() {
    let dense = several(7, 4 << 20, 2);
    for text in ["atleast(3, *)", "($1 | $2) & $3 - $4 ^ streak(2, *)", "any(*) - all($1, $2)"] {
        let plan = plan(text, &dense);
        let (count, usage) = counted(|| plan.count(&Watch::new()));
        assert!(count.is_some_and(|count| count > 0));
        assert!(usage.peak_bytes < 1 << 20, "{text}: {usage:?}");
    }
}

#[test]
fn a_first_page_over_many_operands_touches_few_leaves() {
    let operands = several(30, 64 << 20, 600);
    let all = leaves(&operands);
    for text in ["any(*)", "atleast(2, *)", "exactly(1, *)", "streak(2, *) - $5", "($1 | $2) - $3 | all(*)"] {
        let watch = Watch::new();
        let page = plan(text, &operands).page(None, 0, 10, &watch).unwrap();
        assert_eq!(page.len(), 10, "{text}");
        assert!(watch.leaves() * 100 < all, "{text}: {} of {all}", watch.leaves());
    }
}

#[test]
fn a_page_in_the_middle_touches_what_lies_there() {
    let operands = several(3, 64 << 20, 600);
    let all = leaves(&operands);
    let watch = Watch::new();
    let page = plan("($1 | $2) - $3", &operands).page(Some(32 << 20), 0, 100, &watch).unwrap();
    assert!(page.len() == 100 && page[0] > 32 << 20);
    assert!(watch.leaves() * 20 < all, "{} of {all}", watch.leaves());
    // What one operand has alone is passed by its count.
    let watch = Watch::new();
    let page = plan("$1 | range(5, 4)", &operands).page(None, 50_000, 10, &watch).unwrap();
    assert_eq!(page[0], operands[0].select(50_000).unwrap());
    assert!(watch.leaves() <= 2, "{}", watch.leaves());
}

#[test]
fn operands_are_not_looked_at_where_they_decide_nothing() {
    let large = several(3, 64 << 20, 600);
    let few: Bitmap = [5_000_000, 40_000_000].into_iter().collect();
    let operands: Vec<Bitmap> = large.into_iter().chain([few]).collect();
    for text in [
        "$4 & $1",
        "$4 - $2",
        "$4 & ($1 | $2 ^ $3)",
        "$4 & ($1 - $2)",
        "$4 - ($1 & $3)",
        "($1 | $2) & ($4 | $4 & $3)",
    ] {
        let watch = Watch::new();
        assert!(plan(text, &operands).count(&watch).is_some());
        assert!(watch.leaves() <= 10, "{text}: {}", watch.leaves());
        let estimate = plan(text, &operands).estimate();
        assert!((1..=40).contains(&estimate.leaves), "{text}: {estimate:?}");
    }
}

#[test]
fn a_range_limits_what_is_looked_at() {
    let operands = several(3, 64 << 20, 600);
    let all = leaves(&operands);
    let watch = Watch::new();
    let text = "atleast(2, *) & range(1000000, 2000000)";
    assert!(plan(text, &operands).count(&watch).is_some_and(|count| count > 0));
    assert!(watch.leaves() * 25 < all, "{} of {all}", watch.leaves());
    let estimate = plan(text, &operands).estimate().leaves;
    assert!(
        watch.leaves() / 3 <= estimate && estimate <= watch.leaves() * 3,
        "{estimate} for {}",
        watch.leaves()
    );
}

#[test]
fn an_estimate_is_near_what_is_touched() {
    for operands in [several(5, 64 << 20, 600), several(5, 4 << 20, 2)] {
        for text in ["($1 | $2) & $3 - $4", "atleast(3, *)", "$1 ^ $2 ^ $3", "streak(2, *)"] {
            let plan = plan(text, &operands);
            let watch = Watch::new();
            assert!(plan.count(&watch).is_some());
            let (estimate, touched) = (plan.estimate().leaves, watch.leaves());
            assert!(touched / 2 <= estimate && estimate <= touched * 2, "{text}: {estimate} for {touched}");
        }
    }
}

#[test]
fn subtrees_that_are_shared_or_counted_whole_touch_nothing() {
    let one = scattered(64 << 20, 600, 1);
    let operands = [one.clone(), one];
    for text in ["$1 & $2", "$1 | $2", "$1 ^ $2", "$1", "($1 | $2) & ($1 | range(0, 5))"] {
        let watch = Watch::new();
        assert!(plan(text, &operands).count(&watch).is_some());
        // The leaf at which the range ends, and the range itself.
        assert!(watch.leaves() <= 3, "{text}: {}", watch.leaves());
    }
}

#[test]
fn a_cancelled_question_has_no_answer() {
    let operands = several(3, 1 << 20, 2);
    let watch = Watch::new();
    watch.cancel();
    for text in ["$1", "$1 & $2", "($1 | $2) - $3", "atleast(2, *)"] {
        let plan = plan(text, &operands);
        assert_eq!(plan.count(&watch), None);
        assert!(plan.evaluate(&watch).is_none());
        assert_eq!(plan.page(None, 0, 10, &watch), None);
    }
    assert_eq!(watch.leaves(), 0);
}

#[test]
fn a_question_ends_soon_when_it_is_cancelled() {
    let operands = several(40, 16 << 20, 600);
    for text in ["atleast(20, *) ^ $1", "atleast(20, *)", "any(*)"] {
        let watch = Arc::new(Watch::new());
        let (begun, theirs) = (Instant::now(), Arc::clone(&watch));
        let plan = plan(text, &operands);
        // Asks until it is cancelled: no single question is sure to take longer than the other thread needs.
        let asking = std::thread::spawn(move || {
            while plan.count(&theirs).is_some() {}
            Instant::now()
        });
        std::thread::sleep(Duration::from_millis(30));
        let cancelled = Instant::now();
        watch.cancel();
        let ended = asking.join().unwrap();
        assert!(
            ended - cancelled < Duration::from_millis(500),
            "{text}: {:?} of {:?}",
            ended - cancelled,
            ended - begun
        );
    }
}
