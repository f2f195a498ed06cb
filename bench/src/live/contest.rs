//! The sides of a comparison, and the figures they come to. A time is measured
//! round robin: every side once, then every side again, so that a slow moment of
//! the machine hits all of them.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use redis::cmd;

use super::catalogue::{Extent, Group, Spec};
use super::launch::Server;
use super::link::Link;
use super::meter::Meter;
use crate::{Row, Subject};

/// A side that took longer for a sample gives no more of them.
const SLOW_SAMPLE: Duration = Duration::from_secs(3);
/// So long a row is measured again beyond its least number of rounds.
const ROW_TIME: Duration = Duration::from_secs(3);

/// A subject in a server of its own.
pub struct Side {
    /// Who it is.
    pub subject: Subject,
    /// The connection that works.
    pub link: Link,
    /// What the work costs.
    pub meter: Meter,
    /// Where.
    pub server: Server,
}

/// Ours does everything on the main thread here, as its peers do: what a worker takes off it would
/// be missing from the comparison.
fn load_args(subject: Subject) -> &'static [&'static str] {
    match subject {
        Subject::Roarbits => &["inline-budget", "1000000000"],
        _ => &[],
    }
}

impl Side {
    /// Starts a server for a subject.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(subject: Subject, binary: &Path, module: Option<&Path>) -> io::Result<Self> {
        let server = Server::start(binary, module, load_args(subject))?;
        let (link, meter) = (server.link(), Meter::new(&server)?);
        Ok(Self { subject, link, meter, server })
    }

    /// CPU time of the main thread that `work` takes, in nanoseconds.
    ///
    /// # Errors
    /// Those of the work.
    pub fn cpu_ns(&mut self, work: impl FnOnce(&mut Link) -> io::Result<()>) -> io::Result<f64> {
        let before = self.meter.cpu_ns()?;
        work(&mut self.link)?;
        Ok(self.meter.cpu_ns()? - before)
    }

    /// The mean time inside calls of `command` during `work`, in microseconds.
    ///
    /// # Errors
    /// Those of the work, or it never calls the command.
    pub fn in_command_us(
        &mut self,
        command: &str,
        work: impl FnOnce(&mut Link) -> io::Result<()>,
    ) -> io::Result<f64> {
        let before = self.meter.calls(command)?;
        work(&mut self.link)?;
        let after = self.meter.calls(command)?;
        let calls = after.calls - before.calls;
        if calls < 1.0 {
            return Err(io::Error::other(format!("the server counted no call of {command}")));
        }
        Ok((after.us - before.us) / calls)
    }

    /// Bytes of `used_memory` that `work` adds, its connection not counted.
    ///
    /// # Errors
    /// Those of the work.
    pub fn bytes(&mut self, work: impl FnOnce(&mut Link) -> io::Result<()>) -> io::Result<f64> {
        self.link.close();
        let before = self.meter.used_memory()?;
        work(&mut self.link)?;
        self.link.close();
        Ok(self.meter.used_memory()? - before)
    }

    /// Empties the server and waits until everything is freed.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn clear(&mut self) -> io::Result<()> {
        self.link.ask(&cmd("FLUSHALL"))?;
        self.link.close();
        self.meter.used_memory().map(drop)
    }
}

/// A figure, and what a reader must know of it.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// In the row's unit.
    pub value: f64,
    /// Empty, mostly.
    pub note: String,
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Self { value, note: String::new() }
    }
}

/// Sides that do the same work, and what came of it.
pub struct Contest {
    /// Who takes part.
    pub sides: Vec<Side>,
    /// How much is done.
    pub extent: Extent,
    specs: Vec<Spec>,
    rows: Vec<Row>,
}

impl Contest {
    /// A contest over these rows.
    pub fn new(sides: Vec<Side>, extent: Extent, specs: Vec<Spec>) -> Self {
        Self { sides, extent, specs, rows: Vec::new() }
    }

    /// Whether a row of the group is to be measured.
    pub fn wants_group(&self, group: Group) -> bool {
        self.specs.iter().any(|spec| spec.group == group)
    }

    /// Whether a row is to be measured.
    pub fn wants(&self, set: &str, operation: &str) -> bool {
        self.specs.iter().any(|spec| (spec.set.as_str(), spec.operation) == (set, operation))
    }

    /// What was measured so far.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// The rows that nobody measured, or of which ours is no positive number.
    pub fn gaps(&self) -> Vec<String> {
        let sound = |spec: &&Spec| {
            !self.rows.iter().any(|row| {
                row.subject == Subject::Roarbits
                    && spec.is(&row.set, &row.operation, row.at)
                    && row.value.is_finite()
                    && row.value > 0.0
            })
        };
        self.specs.iter().filter(sound).map(Spec::title).collect()
    }

    /// Does something with every side.
    ///
    /// # Errors
    /// Those of the work, with the side's name.
    pub fn each(&mut self, mut work: impl FnMut(&mut Side) -> io::Result<()>) -> io::Result<()> {
        self.sides.iter_mut().try_for_each(|side| work(side).map_err(|error| of_side(side.subject, &error)))
    }

    /// Measures a time in rounds; `sample` gives a figure in the row's unit, or
    /// None where the subject has no such thing.
    ///
    /// # Errors
    /// Those of the samples, with the row's and the side's name.
    pub fn timed(
        &mut self,
        set: &str,
        operation: &str,
        at: Option<f64>,
        mut sample: impl FnMut(&mut Side, usize) -> io::Result<Option<f64>>,
    ) -> io::Result<()> {
        let Some(spec) = self.spec(set, operation, at) else { return Ok(()) };
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); self.sides.len()];
        let mut resting = vec![false; self.sides.len()];
        let (least, most) = self.extent.rounds();
        let mut taken = Duration::ZERO;
        for round in 0..most {
            if round >= least && taken > ROW_TIME {
                break;
            }
            for ((side, samples), rests) in self.sides.iter_mut().zip(&mut samples).zip(&mut resting) {
                if *rests {
                    continue;
                }
                let started = Instant::now();
                let figure = sample(side, round).map_err(|error| of_row(&spec, side.subject, &error))?;
                let elapsed = started.elapsed();
                *rests = figure.is_none() || elapsed > SLOW_SAMPLE;
                // Who rests from now on does not cost the others their rounds.
                taken += if *rests { Duration::ZERO } else { elapsed };
                samples.extend(figure);
            }
        }
        for (at, mut samples) in samples.into_iter().enumerate() {
            samples.sort_by(f64::total_cmp);
            let (Some(least), Some(median)) = (samples.first(), samples.get(samples.len() / 2)) else {
                continue;
            };
            self.record(&spec, at, Figure::from(*least), Some(*median));
        }
        self.report(&spec);
        Ok(())
    }

    /// Measures bytes, once: they do not vary.
    ///
    /// # Errors
    /// Those of the samples, with the row's and the side's name.
    pub fn exact(
        &mut self,
        set: &str,
        operation: &str,
        at: Option<f64>,
        mut sample: impl FnMut(&mut Side) -> io::Result<Option<Figure>>,
    ) -> io::Result<()> {
        let Some(spec) = self.spec(set, operation, at) else { return Ok(()) };
        for at in 0..self.sides.len() {
            let Some(side) = self.sides.get_mut(at) else { continue };
            let figure = sample(side).map_err(|error| of_row(&spec, side.subject, &error))?;
            if let Some(figure) = figure {
                self.record(&spec, at, figure, None);
            }
        }
        self.report(&spec);
        Ok(())
    }

    fn spec(&self, set: &str, operation: &str, at: Option<f64>) -> Option<Spec> {
        self.specs.iter().find(|spec| spec.is(set, operation, at)).cloned()
    }

    fn record(&mut self, spec: &Spec, side: usize, figure: Figure, median: Option<f64>) {
        let Some(subject) = self.sides.get(side).map(|side| side.subject) else { return };
        self.rows.push(Row {
            set: spec.set.clone(),
            operation: spec.operation.to_owned(),
            subject,
            at: spec.at,
            value: figure.value,
            median,
            unit: spec.unit.to_owned(),
            goal: spec.goal.clone().filter(|_| subject == Subject::Roarbits),
            note: figure.note,
        });
    }

    fn report(&self, spec: &Spec) {
        let mut line = spec.title();
        for row in self.rows.iter().filter(|row| spec.is(&row.set, &row.operation, row.at)) {
            line.push_str(&format!(" | {} {:.4}", row.subject.title(), row.value));
        }
        eprintln!("{line} {}", spec.unit);
    }
}

fn of_side(subject: Subject, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", subject.title()))
}

fn of_row(spec: &Spec, subject: Subject, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}, {}: {error}", spec.title(), subject.title()))
}
