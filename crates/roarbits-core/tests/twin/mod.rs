//! Naive twins of a bitmap: a `BTreeSet` of ids, and a list of intervals where a
//! set would need an entry for each id of a long range. Both are obviously right
//! and slow; every answer is derived from the list of maximal runs.

use std::collections::BTreeSet;

use roarbits_core::Run;

/// A binary set operation on membership.
pub type Law = fn(bool, bool) -> bool;

pub const AND: Law = |a, b| a && b;
pub const OR: Law = |a, b| a || b;
pub const XOR: Law = |a, b| a != b;
pub const DIFF: Law = |a, b| a && !b;

/// What a model must be able to do.
pub trait Twin: Clone {
    /// The twin of these maximal runs.
    fn of(runs: &[Run]) -> Self;
    /// The maximal runs, ascending.
    fn runs(&self) -> Vec<Run>;
    /// Sets `id`; whether it was absent.
    fn insert(&mut self, id: u64) -> bool;
    /// Clears `id`; whether it was present.
    fn remove(&mut self, id: u64) -> bool;
    /// Becomes `self law other`.
    fn combine(&mut self, law: Law, other: &[Run]);
}

/// Every id by itself; for ranges that may be visited.
#[derive(Debug, Clone, Default)]
pub struct Ids(BTreeSet<u64>);

impl Twin for Ids {
    fn of(runs: &[Run]) -> Self {
        Self(runs.iter().flat_map(|run| run.start..=run.end).collect())
    }

    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for id in &self.0 {
            match runs.last_mut() {
                Some(last) if last.end.checked_add(1) == Some(*id) => last.end = *id,
                _ => runs.push(Run { start: *id, end: *id }),
            }
        }
        runs
    }

    fn insert(&mut self, id: u64) -> bool {
        self.0.insert(id)
    }

    fn remove(&mut self, id: u64) -> bool {
        self.0.remove(&id)
    }

    fn combine(&mut self, law: Law, other: &[Run]) {
        let is_theirs = |id: u64| {
            let i = other.partition_point(|run| run.end < id);
            other.get(i).is_some_and(|run| run.start <= id)
        };
        let before = self.0.clone();
        self.0.retain(|id| law(true, is_theirs(*id)));
        if law(false, true) {
            let theirs = other.iter().flat_map(|run| run.start..=run.end);
            self.0.extend(theirs.filter(|id| !before.contains(id)));
        }
    }
}

/// The maximal runs; for ranges of any length.
#[derive(Debug, Clone, Default)]
pub struct Intervals(Vec<Run>);

impl Twin for Intervals {
    fn of(runs: &[Run]) -> Self {
        Self(runs.to_vec())
    }

    fn runs(&self) -> Vec<Run> {
        self.0.clone()
    }

    fn insert(&mut self, id: u64) -> bool {
        let i = self.0.partition_point(|run| run.end < id);
        if self.0.get(i).is_some_and(|run| run.start <= id) {
            return false;
        }
        let run = Run { start: id, end: id };
        let around = i.saturating_sub(1)..(i + 1).min(self.0.len());
        let joined = combined(OR, &self.0[around.clone()], &[run]);
        self.0.splice(around, joined);
        true
    }

    fn remove(&mut self, id: u64) -> bool {
        let i = self.0.partition_point(|run| run.end < id);
        let Some(run) = self.0.get(i).copied().filter(|run| run.start <= id) else {
            return false;
        };
        let rest = combined(DIFF, &[run], &[Run { start: id, end: id }]);
        self.0.splice(i..=i, rest);
        true
    }

    fn combine(&mut self, law: Law, other: &[Run]) {
        self.0 = combined(law, &self.0, other);
    }
}

/// `a law b` over the places where membership of either changes.
pub fn combined(law: Law, a: &[Run], b: &[Run]) -> Vec<Run> {
    let edges = |runs: &[Run]| -> Vec<u128> {
        let both = |run: &Run| [u128::from(run.start), u128::from(run.end) + 1];
        runs.iter().flat_map(both).collect()
    };
    let (a, b) = (edges(a), edges(b));
    let mut places = [&a[..], &b[..]].concat();
    places.sort_unstable();
    places.dedup();
    let (mut in_a, mut in_b) = (0, 0);
    let mut open = None;
    let mut out = Vec::new();
    for place in places {
        in_a += usize::from(a.get(in_a) == Some(&place));
        in_b += usize::from(b.get(in_b) == Some(&place));
        match (law(in_a % 2 == 1, in_b % 2 == 1), open) {
            (true, None) => open = Some(place as u64),
            (false, Some(start)) => {
                let end = (place - 1) as u64;
                out.push(Run { start, end });
                open = None;
            }
            _ => (),
        }
    }
    out
}

/// The answers to reads, from maximal runs.
pub struct Answers {
    runs: Vec<Run>,
    /// Ids in the runs before each run, and in all.
    before: Vec<u128>,
}

impl Answers {
    pub fn new(runs: Vec<Run>) -> Self {
        let mut before = vec![0];
        for run in &runs {
            before.push(before[before.len() - 1] + run.cardinality());
        }
        Self { runs, before }
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub fn cardinality(&self) -> u128 {
        self.before[self.runs.len()]
    }

    pub fn contains(&self, id: u64) -> bool {
        self.run_of(id).is_some()
    }

    /// Members that are `id` or below.
    pub fn rank(&self, id: u64) -> u128 {
        let i = self.runs.partition_point(|run| run.end < id);
        let within = self.runs.get(i).filter(|run| run.start <= id);
        self.before[i] + within.map_or(0, |run| u128::from(id - run.start) + 1)
    }

    pub fn select(&self, n: u128) -> Option<u64> {
        let i = self.before.partition_point(|before| *before <= n) - 1;
        Some(self.runs.get(i)?.start + (n - self.before[i]) as u64)
    }

    pub fn next_present(&self, from: u64) -> Option<u64> {
        let i = self.runs.partition_point(|run| run.end < from);
        Some(self.runs.get(i)?.start.max(from))
    }

    pub fn next_absent(&self, from: u64) -> Option<u64> {
        self.run_of(from).map_or(Some(from), |run| run.end.checked_add(1))
    }

    /// The runs cut to `start..=end`.
    pub fn runs_in(&self, start: u64, end: u64) -> impl Iterator<Item = Run> + '_ {
        let i = self.runs.partition_point(|run| run.end < start);
        let within = self.runs[i..].iter().take_while(move |run| run.start <= end);
        within.map(move |run| Run { start: run.start.max(start), end: run.end.min(end) })
    }

    fn run_of(&self, id: u64) -> Option<Run> {
        let i = self.runs.partition_point(|run| run.end < id);
        self.runs.get(i).copied().filter(|run| run.start <= id)
    }
}
