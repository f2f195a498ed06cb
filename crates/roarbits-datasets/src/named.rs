//! The sets that published figures name, at the size that they have there.

use crate::{seeded, Shape};

/// A named set: a shape and how many ids it has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSet {
    /// As figures name it.
    pub name: &'static str,
    /// How its ids lie.
    pub shape: Shape,
    /// Its ids; those of D1 are drawn one by one, and hardly differ from this.
    pub cardinality: usize,
}

impl DataSet {
    /// Every id below 1e8 with probability 0.3.
    pub const D1: Self = Self::new("D1", Shape::Dense, 30_000_000);
    /// 100k uniform in 0..1e8.
    pub const D2: Self = Self::new("D2", Shape::Sparse, 100_000);
    /// 10k uniform in 0..2^32.
    pub const D3_10K: Self = Self::new("D3-10k", Shape::Hashes32, 10_000);
    /// 1M uniform in 0..2^32.
    pub const D3_1M: Self = Self::new("D3-1M", Shape::Hashes32, 1_000_000);
    /// 1M Snowflake ids of eight machines, one a second.
    pub const D4_SLOW: Self = Self::new("D4-1/s", Shape::SnowflakeSlow, 1_000_000);
    /// As `D4_SLOW`, all 22 low bits random.
    pub const D4_SLOW_RANDOM: Self =
        Self::new("D4-1/s, low bits random", Shape::SnowflakeSlowRandom, 1_000_000);
    /// As `D4_SLOW`, of one machine.
    pub const D4_SLOW_ONE: Self = Self::new("D4-1/s, one machine", Shape::SnowflakeSlowOne, 1_000_000);
    /// 1M Snowflake ids of eight machines, a thousand a second.
    pub const D4_FAST: Self = Self::new("D4-1000/s", Shape::SnowflakeFast, 1_000_000);
    /// As `D4_FAST`, all 22 low bits random.
    pub const D4_FAST_RANDOM: Self =
        Self::new("D4-1000/s, low bits random", Shape::SnowflakeFastRandom, 1_000_000);
    /// 1M ids in runs of average 100 over 0..1e9.
    pub const D5: Self = Self::new("D5", Shape::Runs, 1_000_000);
    /// 1M uniform 63-bit ids.
    pub const U63: Self = Self::new("U63", Shape::Hashes63, 1_000_000);

    /// Every named set.
    pub const ALL: [Self; 11] = [
        Self::D1,
        Self::D2,
        Self::D3_10K,
        Self::D3_1M,
        Self::D4_SLOW,
        Self::D4_SLOW_RANDOM,
        Self::D4_SLOW_ONE,
        Self::D4_FAST,
        Self::D4_FAST_RANDOM,
        Self::U63,
        Self::D5,
    ];

    const fn new(name: &'static str, shape: Shape, cardinality: usize) -> Self {
        Self { name, shape, cardinality }
    }

    /// The ids of this seed, ascending. Different seeds give different sets of one kind.
    pub fn ids(&self, seed: u64) -> Vec<u64> {
        self.shape.ids(self.cardinality, &mut seeded(seed))
    }

    /// A set of this kind with about `cardinality` ids, for figures by size.
    pub const fn resized(self, cardinality: usize) -> Self {
        Self { name: self.name, shape: self.shape, cardinality }
    }
}
