//! Operands of every shape, and a naive evaluator: the places where any of them begins or ends cut
//! all ids into stretches over which nothing changes, and of each it is known which operands have it.

use std::collections::HashMap;
use std::fmt::Write;

use rand::rngs::StdRng;
use rand::Rng;
use roarbits_core::{BitRead, Bitmap, Builder, Run};

/// Ids over which nothing changes, and the operands that have them, one bit each.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    pub run: Run,
    pub operands: u32,
}

/// Operands, ranges that expressions may name, and all stretches.
#[derive(Debug)]
pub struct World {
    pub operands: Vec<Bitmap>,
    ranges: Vec<(u64, u64)>,
    pub stretches: Vec<Stretch>,
}

/// How large a world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Some thousand ids an operand, and chunks of plain bits.
    Small,
    /// Trees of several levels.
    Tall,
}

/// An expression, as it is made up.
#[derive(Debug, Clone)]
pub enum Made {
    Key(usize),
    Range(usize),
    /// An operator between two at least.
    Operator(char, Vec<Made>),
    /// A function, with `k` of those that take it.
    Call(&'static str, Option<usize>, Vec<Made>),
}

pub fn of_runs(runs: &[Run]) -> Bitmap {
    let mut out = Builder::new();
    runs.iter().for_each(|run| out.push_run(*run));
    out.finish(0)
}

fn chunk_of_bits(base: u64, rng: &mut StdRng) -> Vec<u64> {
    let rate = [0.05, 0.3, 0.5, 0.98][rng.random_range(0..4)];
    (base..base + 65_536).filter(|_| rng.random_bool(rate)).collect()
}

fn runs_of(rng: &mut StdRng, runs: usize, gap: u64, length: u64) -> Bitmap {
    let mut at = rng.random_range(0..gap);
    let mut all = Vec::new();
    for _ in 0..runs {
        let end = at + rng.random_range(0..length);
        all.push(Run { start: at, end });
        at = end + 2 + rng.random_range(0..gap);
    }
    of_runs(&all)
}

/// An operand of a random shape.
fn operand(rng: &mut StdRng, scale: Scale, before: &[Bitmap], pool: &[u64]) -> Bitmap {
    let some = |rng: &mut StdRng, rate: f64| pool.iter().copied().filter(|_| rng.random_bool(rate)).collect();
    if scale == Scale::Tall {
        return match rng.random_range(0..4) {
            0 if !before.is_empty() => edited(rng, before, pool),
            1 => runs_of(rng, 20_000, 1 << 20, 300),
            _ => some(rng, 0.3),
        };
    }
    match rng.random_range(0..14) {
        0 => Bitmap::new(),
        1 => [[0, 7, u64::MAX, 70_000][rng.random_range(0..4)]].into_iter().collect(),
        2 => of_runs(&[Run { start: 0, end: u64::MAX }]),
        3 => runs_of(rng, 300, 1000, 600),
        4 => runs_of(rng, 20, 1 << 34, 1 << 40),
        5 => runs_of(rng, 2, 1 << 17, 1 << 22),
        6 => (0..3000).map(|_| rng.random_range(0..1u64 << 20)).collect(),
        7 => (0..2000).map(|i| ((i / 3) << 22) | (rng.random_range(0..32) << 12) | (i % 3)).collect(),
        8 | 9 => {
            let mut ids = chunk_of_bits(rng.random_range(0..2) << 16, rng);
            ids.extend((0..50).map(|_| rng.random_range(0..1u64 << 22)));
            ids.into_iter().collect()
        }
        10 | 11 if !before.is_empty() => edited(rng, before, pool),
        _ => {
            let rate = [0.005, 0.1, 0.5][rng.random_range(0..3)];
            some(rng, rate)
        }
    }
}

/// A clone of an operand with a few edits, which shares most of its tree.
fn edited(rng: &mut StdRng, before: &[Bitmap], pool: &[u64]) -> Bitmap {
    let mut bitmap = before[rng.random_range(0..before.len())].clone();
    for _ in 0..rng.random_range(0..4) {
        let id = pool[rng.random_range(0..pool.len())];
        match rng.random_range(0..4) {
            0 => drop(bitmap.insert(id)),
            1 => drop(bitmap.remove(id)),
            2 => drop(bitmap.insert_range(id..=id.saturating_add(rng.random_range(0..1 << 18)))),
            _ => drop(bitmap.remove_range(id..=id.saturating_add(rng.random_range(0..1 << 18)))),
        }
    }
    bitmap
}

impl World {
    pub fn new(rng: &mut StdRng, scale: Scale) -> Self {
        let pool: Vec<u64> = match scale {
            Scale::Tall => (0..150_000).map(|_| rng.random_range(0..1 << 34)).collect(),
            Scale::Small => {
                let bits = [18, 24, 40, 64][rng.random_range(0..4)];
                (0..3000).map(|_| rng.random::<u64>() >> (64 - bits)).collect()
            }
        };
        let mut operands = Vec::new();
        for _ in 0..rng.random_range(1..=7) {
            let next = operand(rng, scale, &operands, &pool);
            operands.push(next);
        }
        let mut ranges: Vec<(u64, u64)> = vec![(0, u64::MAX), (5, 4), (1000, 90_000)];
        let from = pool[rng.random_range(0..pool.len())];
        ranges.push((from, from.saturating_add(rng.random_range(0..1 << 26))));
        let stretches = stretches(&operands, &ranges);
        Self { operands, ranges, stretches }
    }

    /// A random expression over the operands.
    pub fn expression(&self, rng: &mut StdRng, depth: usize) -> Made {
        let kind = if depth == 0 { rng.random_range(0..4) } else { rng.random_range(0..16) };
        match kind {
            0..3 => Made::Key(rng.random_range(0..self.operands.len())),
            3 => Made::Range(rng.random_range(0..self.ranges.len())),
            4..10 => {
                let sign = ['&', '|', '-', '^'][rng.random_range(0..4)];
                Made::Operator(sign, self.several(rng, 2..4, depth))
            }
            10..13 => {
                let name = ["any", "all", "xor"][rng.random_range(0..3)];
                Made::Call(name, None, self.several(rng, 1..5, depth))
            }
            _ => {
                let name = ["atleast", "exactly", "streak"][rng.random_range(0..3)];
                let inner = self.several(rng, 1..6, depth);
                Made::Call(name, Some(rng.random_range(1..=inner.len() + 1)), inner)
            }
        }
    }

    fn several(&self, rng: &mut StdRng, many: std::ops::Range<usize>, depth: usize) -> Vec<Made> {
        (0..rng.random_range(many)).map(|_| self.expression(rng, depth - 1)).collect()
    }

    /// The text of an expression, with no more parentheses than needed or with all.
    pub fn text(&self, made: &Made, rng: &mut StdRng) -> String {
        let mut text = String::new();
        self.write(made, 0, rng, &mut text);
        text
    }

    fn write(&self, made: &Made, around: usize, rng: &mut StdRng, text: &mut String) {
        match made {
            Made::Key(key) => write!(text, "${}", key + 1).unwrap(),
            Made::Range(range) => {
                write!(text, "range({},{})", self.ranges[*range].0, self.ranges[*range].1).unwrap()
            }
            Made::Operator(sign, inner) => {
                let binding = 1 + "|^&-".find(*sign).unwrap();
                let is_inner = binding <= around || rng.random_bool(0.2);
                text.push_str(if is_inner { "(" } else { "" });
                for (i, part) in inner.iter().enumerate() {
                    if i > 0 {
                        text.push_str(&[format!("{sign}"), format!(" {sign} ")][rng.random_range(0..2)]);
                    }
                    self.write(part, binding, rng, text);
                }
                text.push_str(if is_inner { ")" } else { "" });
            }
            Made::Call(name, k, inner) => {
                write!(text, "{name}(").unwrap();
                if let Some(k) = k {
                    write!(text, "{k}, ").unwrap();
                }
                for (i, part) in inner.iter().enumerate() {
                    text.push_str(if i > 0 { "," } else { "" });
                    self.write(part, 0, rng, text);
                }
                text.push(')');
            }
        }
    }

    /// Whether an id is kept that these operands have.
    pub fn keeps(&self, made: &Made, operands: u32) -> bool {
        let of = |made: &Made| self.keeps(made, operands);
        let bit = |i: usize| operands >> i & 1 == 1;
        match made {
            Made::Key(key) => bit(*key),
            Made::Range(range) => bit(self.operands.len() + range),
            Made::Operator('-', inner) => of(&inner[0]) && !inner[1..].iter().any(of),
            Made::Operator('&', inner) | Made::Call("all", _, inner) => inner.iter().all(of),
            Made::Operator('|', inner) | Made::Call("any", _, inner) => inner.iter().any(of),
            Made::Operator('^', inner) | Made::Call("xor", _, inner) => {
                inner.iter().filter(|made| of(made)).count() % 2 == 1
            }
            Made::Call("atleast", Some(k), inner) => inner.iter().filter(|made| of(made)).count() >= *k,
            Made::Call("exactly", Some(k), inner) => inner.iter().filter(|made| of(made)).count() == *k,
            Made::Call("streak", Some(k), inner) => inner.windows(*k).any(|row| row.iter().all(of)),
            other => panic!("{other:?}"),
        }
    }

    /// The maximal runs of ids that an expression keeps.
    pub fn kept(&self, made: &Made) -> Vec<Run> {
        let mut answers: HashMap<u32, bool> = HashMap::new();
        let mut runs: Vec<Run> = Vec::new();
        for stretch in &self.stretches {
            let answer = answers.entry(stretch.operands);
            if !*answer.or_insert_with(|| self.keeps(made, stretch.operands)) {
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.end.checked_add(1) == Some(stretch.run.start) => {
                    last.end = stretch.run.end
                }
                _ => runs.push(stretch.run),
            }
        }
        runs
    }
}

fn stretches(operands: &[Bitmap], ranges: &[(u64, u64)]) -> Vec<Stretch> {
    let mut changes: Vec<(u64, u32)> = Vec::new();
    let mut add = |run: Run, operand: usize| {
        changes.push((run.start, 1 << operand));
        changes.extend(run.end.checked_add(1).map(|after| (after, 1 << operand)));
    };
    for (operand, bitmap) in operands.iter().enumerate() {
        bitmap.runs_in(0..=u64::MAX).for_each(|run| add(run, operand));
    }
    for (i, (start, end)) in ranges.iter().enumerate().filter(|(_, range)| range.0 <= range.1) {
        add(Run { start: *start, end: *end }, operands.len() + i);
    }
    changes.sort();
    let mut all = Vec::new();
    let (mut at, mut has) = (0, 0);
    for same in changes.chunk_by(|a, b| a.0 == b.0) {
        if same[0].0 > at {
            all.push(Stretch { run: Run { start: at, end: same[0].0 - 1 }, operands: has });
        }
        at = same[0].0;
        has = same.iter().fold(has, |has, (_, operand)| has ^ operand);
    }
    all.push(Stretch { run: Run { start: at, end: u64::MAX }, operands: has });
    all
}
