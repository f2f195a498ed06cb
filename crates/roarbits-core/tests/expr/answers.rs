//! What expressions answer: as a naive evaluator does, and by the laws of counting.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::expr::{Expression, Plan, Watch};
use roarbits_core::{BitRead, Bitmap, Run};

use super::world::{Scale, World};

/// A plan of an expression that is valid.
pub fn plan(text: &str, operands: &[Bitmap]) -> Plan {
    let expression = Expression::parse(text.as_bytes(), operands.len());
    Plan::new(&expression.unwrap_or_else(|error| panic!("{text}: {error}")), operands)
}

fn cardinality(runs: &[Run]) -> u128 {
    runs.iter().map(|run| run.cardinality()).sum()
}

/// At most `limit` ids of runs that are above `after`, after `offset` of those.
fn page_of(runs: &[Run], after: Option<u64>, offset: u64, limit: usize) -> Vec<u64> {
    let Some(from) = after.map_or(Some(0), |after| after.checked_add(1)) else {
        return Vec::new();
    };
    let (mut left, mut ids) = (u128::from(offset), Vec::new());
    for run in runs.iter().filter(|run| run.end >= from) {
        let run = Run { start: run.start.max(from), end: run.end };
        if run.cardinality() <= left {
            left -= run.cardinality();
            continue;
        }
        let first = run.start + std::mem::take(&mut left) as u64;
        ids.extend((first..=run.end).take(limit - ids.len()));
        if ids.len() == limit {
            break;
        }
    }
    ids
}

fn check_pages(plan: &Plan, expected: &[Run], told: &str, rng: &mut StdRng) {
    let count = u64::try_from(cardinality(expected)).unwrap_or(u64::MAX);
    for _ in 0..3 {
        let near = expected.get(rng.random_range(0..expected.len().max(1)));
        let after = match rng.random_range(0..5) {
            0 | 1 => None,
            2 => Some(rng.random::<u64>() >> rng.random_range(0..64)),
            3 => near.map(|run| run.start + (run.end - run.start) / 2),
            _ => near.map(|run| [run.start.saturating_sub(1), run.end, u64::MAX][rng.random_range(0..3)]),
        };
        let offset = match rng.random_range(0..4) {
            0 | 1 => 0,
            2 => rng.random_range(0..100),
            _ => rng.random_range(0..=count),
        };
        let limit = rng.random_range(0..40);
        let page = plan.page(after, offset, limit, &Watch::new());
        let wanted = page_of(expected, after, offset, limit);
        assert_eq!(page, Some(wanted), "{told}: after {after:?}, {offset} + {limit}");
    }
}

fn check_tests(plan: &Plan, expected: &[Run], world: &World, told: &str, rng: &mut StdRng) {
    let ids: Vec<u64> = (0..20)
        .flat_map(|_| {
            let run = world.stretches[rng.random_range(0..world.stretches.len())].run;
            [run.start, run.end, rng.random()]
        })
        .collect();
    let is_kept = |id: &u64| {
        let i = expected.partition_point(|run| run.end < *id);
        expected.get(i).is_some_and(|run| run.start <= *id)
    };
    assert_eq!(plan.test(&ids), ids.iter().map(is_kept).collect::<Vec<_>>(), "{told}");
}

fn check(world: &World, expressions: usize, rng: &mut StdRng) {
    for _ in 0..expressions {
        let depth = rng.random_range(0..5);
        let made = world.expression(rng, depth);
        let text = world.text(&made, rng);
        let told = format!("{text} of {} operands", world.operands.len());
        let expected = world.kept(&made);
        let plan = plan(&text, &world.operands);
        assert_eq!(plan.count(&Watch::new()), Some(cardinality(&expected)), "{told}");
        assert!(plan.most() >= cardinality(&expected), "{told}");
        let built = plan.evaluate(&Watch::new()).unwrap();
        built.validate().unwrap_or_else(|wrong| panic!("{told}: {wrong}"));
        assert!(built.runs_in(0..=u64::MAX).eq(expected.iter().copied()), "{told}");
        let length = expected.last().map_or(0, |run| run.end / 8 + 1);
        assert_eq!(built.length_bytes(), length, "{told}");
        check_pages(&plan, &expected, &told, rng);
        check_tests(&plan, &expected, world, &told, rng);
        let again = Expression::parse(plan.order().as_bytes(), world.operands.len()).unwrap();
        let again = Plan::new(&again, &world.operands);
        assert_eq!(again.count(&Watch::new()), Some(cardinality(&expected)), "{told}: {}", plan.order());
    }
}

/// Expressions over each world.
const EXPRESSIONS: usize = 50;

fn check_worlds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let world = World::new(&mut rng, Scale::Small);
        check(&world, EXPRESSIONS, &mut rng);
    }
}

#[test]
fn ten_thousand_random_expressions_answer_as_the_naive_evaluator_does() {
    check_worlds(0..200);
}

#[test]
fn another_eleven_thousand_do() {
    check_worlds(200..420);
}

#[test]
fn random_expressions_over_tall_trees_answer_as_the_naive_evaluator_does() {
    for seed in 0..6 {
        let mut rng = StdRng::seed_from_u64(1_000_000 + seed);
        let world = World::new(&mut rng, Scale::Tall);
        check(&world, 20, &mut rng);
    }
}

/// Days of users, some thousand scattered in 2^20, and one day of plain bits.
fn days(n: usize, rng: &mut StdRng) -> Vec<Bitmap> {
    (0..n).map(|_| (0..20_000).map(|_| rng.random_range(0..1u64 << 17)).collect()).collect()
}

#[test]
fn thresholds_add_up_as_counts_do() {
    let mut rng = StdRng::seed_from_u64(7);
    for n in [1usize, 2, 7, 30] {
        let days = days(n, &mut rng);
        let count = |text: String| plan(&text, &days).count(&Watch::new()).unwrap();
        let sum: u128 = days.iter().map(|day| day.cardinality()).sum();
        assert_eq!((1..=n).map(|k| count(format!("atleast({k}, *)"))).sum::<u128>(), sum);
        for k in 1..=n {
            let (here, above) = (count(format!("atleast({k}, *)")), count(format!("atleast({}, *)", k + 1)));
            assert_eq!(count(format!("exactly({k}, *)")), here - above);
            assert!(count(format!("streak({k}, *)")) <= here);
        }
        assert_eq!(count("streak(1, *)".into()), count("any(*)".into()));
        assert_eq!(count(format!("streak({n}, *)")), count("all(*)".into()));
        assert_eq!(count(format!("streak({}, *)", n + 1)), 0);
    }
}

#[test]
fn a_streak_is_any_of_the_intersections_of_rows() {
    let mut rng = StdRng::seed_from_u64(8);
    let days = days(9, &mut rng);
    for k in 2..9 {
        let row =
            |from: usize| (from..from + k).map(|day| format!("${}", day + 1)).collect::<Vec<_>>().join(" & ");
        let rows = (0..=9 - k).map(row).collect::<Vec<_>>().join(" | ");
        let streak = plan(&format!("streak({k}, *)"), &days).evaluate(&Watch::new()).unwrap();
        let rows = plan(&rows, &days).evaluate(&Watch::new()).unwrap();
        assert!(streak.runs_in(0..=u64::MAX).eq(rows.runs_in(0..=u64::MAX)), "{k}");
    }
}

#[test]
fn missing_operands_are_empty() {
    let some: Bitmap = (0..100).collect();
    let either = Expression::parse(b"$1 | $2", 2).unwrap();
    assert_eq!(Plan::new(&either, std::slice::from_ref(&some)).count(&Watch::new()), Some(100));
    assert_eq!(Plan::new(&Expression::all(2), &[some]).count(&Watch::new()), Some(0));
}

#[test]
fn a_plan_can_move_to_another_thread() {
    let days = days(3, &mut StdRng::seed_from_u64(9));
    let plan = plan("($1 | $2) - $3", &days);
    let here = plan.count(&Watch::new());
    let there = std::thread::spawn(move || plan.count(&Watch::new())).join().unwrap();
    assert_eq!(here, there);
}

/// The order of an expression over six days of 10, 20, ... ids that overlap, and a day without any.
fn order(text: &str) -> String {
    let mut operands: Vec<Bitmap> = (1..=6).map(|n| (0..n * 10).collect()).collect();
    operands.push(Bitmap::new());
    plan(text, &operands).order()
}

#[test]
fn a_plan_is_folded_and_begins_with_the_smallest() {
    for (text, expected) in [
        ("$3 & $1 & $2", "$1 & $2 & $3"),
        ("($6 | $5) & $2", "$2 & ($5 | $6)"),
        ("($1 & $2) & $3", "$1 & $2 & $3"),
        ("any($1, any($2, $1))", "$1 | $2"),
        ("$2 & $2", "$2"),
        ("$2 ^ $2", "range(1, 0)"),
        ("$2 ^ $1 ^ $2", "$1"),
        ("$5 - $1 - $2", "$5 - $1 - $2"),
        ("$5 - ($2 | $1)", "$5 - $1 - $2"),
        ("$5 - $1 - $5", "range(1, 0)"),
        ("$5 - ($4 - $3)", "$5 - ($4 - $3)"),
        ("$1 & $7", "range(1, 0)"),
        ("$1 | $7", "$1"),
        ("$1 - $7", "$1"),
        ("$1 & range(500, 600)", "range(1, 0)"),
        ("$1 - range(500, 600)", "$1"),
        ("range(3, 2) | $1", "$1"),
        ("atleast(1, $2, $1)", "$1 | $2"),
        ("atleast(2, $2, $1)", "$1 & $2"),
        ("atleast(2, $3, $2, $7, $1)", "atleast(2, $1, $2, $3)"),
        ("atleast(3, $1, $7, $2)", "range(1, 0)"),
        ("exactly(3, $3, $2, $1)", "$1 & $2 & $3"),
        ("streak(2, $1, $7, $3, $2)", "$2 & $3"),
        ("streak(2, $3, $2, $1)", "streak(2, $3, $2, $1)"),
        ("streak(1, $3, $2, $1)", "$1 | $2 | $3"),
        ("$4 | $1 ^ $3 & $2", "$1 ^ $2 & $3 | $4"),
    ] {
        assert_eq!(order(text), expected, "{text}");
    }
}
