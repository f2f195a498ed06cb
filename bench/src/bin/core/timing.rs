//! CPU time of this thread, and rounds in which subjects take turns, so that what
//! disturbs the machine disturbs all of them.

use roarbits_bench::{Goal, Row, Subject};
use rustix::time::{clock_gettime, ClockId};

use crate::plan::{row, Plan};

/// CPU time that this thread has had so far, in ns.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of `work` in ns, and what it made, whose end is not timed.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let begun = cpu_ns();
    let made = work();
    (made, (cpu_ns() - begun) as f64)
}

/// The least and the median of some samples.
#[derive(Debug, Clone, Copy)]
pub struct Samples {
    pub least: f64,
    pub median: f64,
}

impl Samples {
    pub fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { least: samples[0], median: samples[samples.len() / 2] }
    }
}

/// One subject's way to do an operation; gives the CPU time of one turn in ns.
pub type Turn<'a> = (Subject, Box<dyn FnMut() -> f64 + 'a>);

/// A turn that times `work`, and drops what it made afterwards.
pub fn turn<'a, R>(subject: Subject, mut work: impl FnMut() -> R + 'a) -> Turn<'a> {
    (subject, Box::new(move || timed(&mut work).1))
}

/// What is measured in turns.
pub struct Match<'a> {
    pub set: &'a str,
    pub operation: &'a str,
    pub unit: &'a str,
    /// Nanoseconds, times turns or ids of a turn, in one unit.
    pub divisor: f64,
    pub goal: Option<Goal>,
}

impl Match<'_> {
    /// Lets all take turns for the rounds of the plan, after one that warms up.
    pub fn play(self, plan: &mut Plan, mut turns: Vec<Turn<'_>>) {
        let mut samples = vec![Vec::new(); turns.len()];
        for round in 0..=plan.rounds {
            for ((_, work), samples) in turns.iter_mut().zip(&mut samples) {
                let spent = work() / self.divisor;
                if round > 0 {
                    samples.push(spent);
                }
            }
        }
        for ((subject, _), samples) in turns.iter().zip(samples) {
            let samples = Samples::of(samples);
            let goal = self.goal.clone().filter(|_| *subject == Subject::Roarbits);
            let row = row(self.set, self.operation, *subject, samples.least, self.unit);
            plan.push(Row { median: Some(samples.median), goal, ..row });
        }
    }
}
