//! Every row that `bench-server` measures, with its goal. What is measured and is
//! not in this list is refused, what is in it and was not measured is reported.

use roarbits_datasets::{real, DataSet};

use crate::{Goal, Subject};

/// What is loaded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Bytes an id of the named sets but D1.
    Memory,
    /// Bytes an id of the real sets.
    Real,
    /// Bytes a key of the calendars.
    Calendars,
    /// The first bit of a key, by its offset.
    FirstWrite,
    /// Single bits at random.
    RandomBits,
    /// 30 million dense ids.
    Dense,
    /// A million hashes.
    Hashes,
    /// A million Snowflake ids.
    Snowflakes,
    /// Bytes an id by the number of ids.
    Growth,
    /// Time by the number of operands.
    Operands,
}

impl Group {
    /// Every group, in the order in which they run.
    pub const ALL: [Self; 10] = [
        Self::FirstWrite,
        Self::RandomBits,
        Self::Hashes,
        Self::Snowflakes,
        Self::Memory,
        Self::Real,
        Self::Dense,
        Self::Operands,
        Self::Growth,
        Self::Calendars,
    ];
}

/// A row to measure.
#[derive(Debug, Clone)]
pub struct Spec {
    /// What it is loaded with.
    pub group: Group,
    /// The data set.
    pub set: String,
    /// What is done.
    pub operation: &'static str,
    /// Where in a series: ids, operands or an offset.
    pub at: Option<f64>,
    /// Of all its figures.
    pub unit: &'static str,
    /// What ours should be.
    pub goal: Option<Goal>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The sets at their size.
    Full,
    /// A hundredth of the ids and one round, to see that everything runs.
    Quick,
}

impl Extent {
    /// A set at the size of this extent.
    pub fn of(self, set: DataSet) -> DataSet {
        set.resized(self.ids(set.cardinality))
    }

    /// So many ids, or a hundredth.
    pub fn ids(self, ids: usize) -> usize {
        match self {
            Self::Full => ids,
            Self::Quick => ids / 100,
        }
    }

    /// How often every side measures a time, at least and at most.
    pub fn rounds(self) -> (usize, usize) {
        match self {
            Self::Full => (5, 25),
            Self::Quick => (1, 1),
        }
    }

    /// How many ids the sets of `Group::Growth` have.
    pub fn cardinalities(self) -> &'static [usize] {
        match self {
            Self::Full => &[1_000, 10_000, 100_000, 1_000_000, 10_000_000],
            Self::Quick => &[1_000, 10_000],
        }
    }

    /// How many operands `Group::Operands` combines.
    pub fn operands(self) -> &'static [usize] {
        match self {
            Self::Full => &[2, 3, 5, 7, 10, 15, 20, 30],
            Self::Quick => &[2, 3],
        }
    }
}

/// Bytes of `used_memory`.
pub const MEMORY: &str = "memory";
/// See `Group::Growth`.
pub const MEMORY_BY_IDS: &str = "memory by ids";
/// One bit into a missing key, main-thread CPU time of the whole call.
pub const FIRST_WRITE: &str = "first write";
/// Setting a bit, by the server's own time inside the command, sixteen in a pipeline.
pub const SET_BIT: &str = "SETBIT, in command";
/// Asking for a bit, likewise.
pub const GET_BIT: &str = "GETBIT, in command";
/// Counting all, by the server's own time inside the command.
pub const COUNT: &str = "BITCOUNT, in command";
/// An id of a thousand added in one command.
pub const ADD: &str = "add, 1000 ids a command";
/// An id of a thousand asked for in one command.
pub const GET: &str = "get, 1000 ids a command";
/// Two operands, into a key that exists.
pub const AND_2: &str = "AND of 2, stored";
/// Seven operands.
pub const AND_7: &str = "AND of 7, stored";
/// Two operands.
pub const OR_2: &str = "OR of 2, stored";
/// Seven operands.
pub const OR_7: &str = "OR of 7, stored";
/// Two operands of other times.
pub const AND_APART: &str = "AND of 2, disjoint days, stored";
/// Two operands of other times.
pub const OR_APART: &str = "OR of 2, disjoint days, stored";
/// By rank, the reply included.
pub const LAST: &str = "last 1000 ids by rank";
/// A value that shares nothing.
pub const UNLINK: &str = "UNLINK";
/// The reply included.
pub const DUMP: &str = "DUMP";
/// The request included.
pub const RESTORE: &str = "RESTORE";
/// To a missing key.
pub const COPY: &str = "COPY";
/// The file that SAVE writes, less an empty one.
pub const RDB: &str = "RDB";
/// See `Group::Operands`.
pub const AND_BY_OPERANDS: &str = "AND by operands, stored";
/// See `Group::Operands`.
pub const OR_BY_OPERANDS: &str = "OR by operands, stored";

/// The set of `Group::RandomBits`.
pub const RANDOM: &str = "1M random below 1e8";
/// The set of `Group::FirstWrite`.
pub const NO_KEY: &str = "no key";
/// Calendars of a month, and of a year.
pub const CALENDARS: [(&str, usize, usize); 2] = [("D7, 5 of 31", 5, 31), ("D7, 30 of 365", 30, 365)];
/// Sets of `Group::Growth`: the name and the named set of which they have the shape.
pub const GROWING: [(&str, DataSet); 3] =
    [("D1", DataSet::D1), ("D3", DataSet::D3_1M), ("D4-1/s", DataSet::D4_SLOW)];

/// Where first bits are set.
const OFFSETS: [u64; 10] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    2_000_000_000,
    u32::MAX as u64,
    u64::MAX,
];
/// Those of them that have a goal.
const OFFSETS_WITH_GOAL: u64 = 100_000_000;

/// Where first bits are set.
pub fn offsets() -> &'static [u64] {
    &OFFSETS
}

/// Every row of this extent.
pub fn catalogue(extent: Extent) -> Vec<Spec> {
    let mut specs = memory();
    specs.extend(times());
    specs.extend(series(extent));
    specs
}

fn memory() -> Vec<Spec> {
    let goal = Goal::at_most;
    let ids = |group, set: &str, goal| Spec::new(group, set, MEMORY, "bytes/id", Some(goal));
    let named = [
        (DataSet::D2, goal(2.95).with_stretch(2.0)),
        (DataSet::D3_10K, goal(4.3)),
        (DataSet::D3_1M, goal(3.3).with_stretch(2.2)),
        (DataSet::D4_SLOW, goal(4.5).with_stretch(3.3)),
        (DataSet::D4_SLOW_RANDOM, goal(6.1)),
        (DataSet::D4_FAST, goal(3.3).with_stretch(2.2)),
        (DataSet::D4_FAST_RANDOM, goal(4.6)),
        (DataSet::U63, goal(7.6).with_stretch(6.4)),
        (DataSet::D5, goal(0.1)),
    ];
    let mut specs = vec![ids(Group::Dense, DataSet::D1.name, goal(0.422))];
    specs.extend(named.into_iter().map(|(set, goal)| ids(Group::Memory, set.name, goal)));
    let real = real::ARCHIVES.into_iter().zip([2.25, 0.085, 0.9, 8.0]);
    specs.extend(real.map(|(archive, most)| ids(Group::Real, archive, goal(most))));
    let calendars = CALENDARS.into_iter().zip([192.0, 256.0]);
    specs
        .extend(calendars.map(|((set, ..), most)| {
            Spec::new(Group::Calendars, set, MEMORY, "bytes/key", Some(goal(most)))
        }));
    specs
}

/// Goals as they were set, each with the figure beside which it was set (`beside`).
fn times() -> Vec<Spec> {
    use Subject::{Native, Set, R};
    let goal = Goal::at_most;
    let (d1, d3, d4) = (DataSet::D1.name, DataSet::D3_1M.name, DataSet::D4_SLOW.name);
    let row = |group, set: &str, operation, unit, goal| Spec::new(group, set, operation, unit, Some(goal));
    let first = offsets().iter().map(|offset| {
        let goal = (*offset >= OFFSETS_WITH_GOAL).then(|| goal(15.0).beside(Set, 10.0));
        Spec { at: Some(*offset as f64), ..Spec::new(Group::FirstWrite, NO_KEY, FIRST_WRITE, "us", goal) }
    });
    let mut specs: Vec<Spec> = first.collect();
    specs.extend([
        row(Group::RandomBits, RANDOM, SET_BIT, "us", goal(0.55).beside(Native, 0.35).and_below(R)),
        row(Group::RandomBits, RANDOM, GET_BIT, "us", goal(0.40).beside(Native, 0.29).and_below(R)),
        row(Group::Snowflakes, d4, GET_BIT, "us", goal(0.6).beside(Set, 0.91)),
        row(Group::Hashes, d3, ADD, "ns/id", goal(400.0).beside(Set, 786.0)),
        row(Group::Hashes, d3, GET, "ns/id", goal(250.0).beside(Set, 690.0)),
        row(Group::Dense, d1, COUNT, "us", goal(1.0)),
        row(Group::Snowflakes, d4, COUNT, "us", goal(1.0)),
        row(Group::Dense, d1, AND_2, "ms", goal(6.0).beside(Native, 11.0).and_below(Native)),
        row(Group::Dense, d1, AND_7, "ms", goal(15.0).beside(Native, 16.0).and_below(Native)),
        row(Group::Dense, d1, OR_7, "ms", goal(15.0).beside(Native, 17.0)),
        row(Group::Hashes, d3, AND_2, "ms", goal(10.0).beside(Set, 303.0)),
        row(Group::Hashes, d3, OR_2, "ms", goal(17.0).beside(Set, 987.0)),
        row(Group::Hashes, d3, OR_7, "ms", goal(80.0).beside(R, 343.0)),
        row(Group::Snowflakes, d4, AND_2, "ms", goal(12.0).beside(Set, 596.0)),
        row(Group::Snowflakes, d4, OR_2, "ms", goal(20.0).beside(Set, 754.0)),
        row(Group::Snowflakes, d4, AND_APART, "ms", goal(0.2)),
        row(Group::Snowflakes, d4, OR_APART, "ms", goal(0.2)),
        row(Group::Snowflakes, d4, LAST, "us", goal(100.0)),
        row(Group::Snowflakes, d4, UNLINK, "ms", goal(0.05).beside(Set, 0.04)),
        row(Group::Snowflakes, d4, DUMP, "ms", goal(10.0).beside(Set, 104.0)),
        row(Group::Snowflakes, d4, RESTORE, "ms", goal(15.0).beside(Set, 216.0)),
        row(Group::Snowflakes, d4, COPY, "ms", goal(5.0).beside(Set, 112.0)),
        row(Group::Snowflakes, d4, RDB, "bytes/id", goal(4.4)),
    ]);
    specs
}

fn series(extent: Extent) -> Vec<Spec> {
    let at = |spec: Spec, at: usize| Spec { at: Some(at as f64), ..spec };
    let mut specs = Vec::new();
    for (set, _) in GROWING {
        let row = Spec::new(Group::Growth, set, MEMORY_BY_IDS, "bytes/id", None);
        specs.extend(extent.cardinalities().iter().map(|ids| at(row.clone(), *ids)));
    }
    for operation in [AND_BY_OPERANDS, OR_BY_OPERANDS] {
        let row = Spec::new(Group::Operands, DataSet::D1.name, operation, "ms", None);
        specs.extend(extent.operands().iter().map(|operands| at(row.clone(), *operands)));
    }
    specs
}

impl Spec {
    fn new(group: Group, set: &str, operation: &'static str, unit: &'static str, goal: Option<Goal>) -> Self {
        Self { group, set: set.to_owned(), operation, at: None, unit, goal }
    }

    /// Whether it is this row.
    pub fn is(&self, set: &str, operation: &str, at: Option<f64>) -> bool {
        (self.set.as_str(), self.operation, self.at) == (set, operation, at)
    }

    /// How progress and `--only` name it.
    pub fn title(&self) -> String {
        match self.at {
            Some(at) => format!("{}: {} at {at}", self.set, self.operation),
            None => format!("{}: {}", self.set, self.operation),
        }
    }
}
