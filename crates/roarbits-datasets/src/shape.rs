//! Kinds of sets at any size: those of the named data sets, and those at the edges
//! of the id space. Ids ascend, without repetitions.

use rand::Rng;

use crate::snowflake::{snowflakes, LowBits};

/// How the ids of a set lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Three ids of ten in a dense span, drawn one by one (D1).
    Dense,
    /// One id of a thousand (D2).
    Sparse,
    /// Uniform 32-bit hashes (D3).
    Hashes32,
    /// Snowflake ids of eight machines, one a second (D4-1/s).
    SnowflakeSlow,
    /// Snowflake ids, one a second, all 22 low bits random.
    SnowflakeSlowRandom,
    /// Snowflake ids of one machine, one a second.
    SnowflakeSlowOne,
    /// Snowflake ids of eight machines, a thousand a second (D4-1000/s).
    SnowflakeFast,
    /// Snowflake ids, a thousand a second, all 22 low bits random.
    SnowflakeFastRandom,
    /// Uniform 63-bit hashes (U63).
    Hashes63,
    /// Runs of a hundred on average, a thousandth of the span (D5).
    Runs,
    /// Runs of a hundred on average, a tenth of the span.
    DenseRuns,
    /// Ids of one chunk of 2^16.
    OneChunk,
    /// Ids up to 2^64-1.
    NearTop,
    /// A few hundred ids each near places far apart.
    Clustered,
}

impl Shape {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::Dense,
        Self::Sparse,
        Self::Hashes32,
        Self::SnowflakeSlow,
        Self::SnowflakeSlowRandom,
        Self::SnowflakeSlowOne,
        Self::SnowflakeFast,
        Self::SnowflakeFastRandom,
        Self::Hashes63,
        Self::Runs,
        Self::DenseRuns,
        Self::OneChunk,
        Self::NearTop,
        Self::Clustered,
    ];

    /// `n` ids, ascending: about `n` that are `Dense`, at most 60,000 of `OneChunk`.
    pub fn ids(self, n: usize, rng: &mut impl Rng) -> Vec<u64> {
        let wide = n as u64;
        match self {
            Self::Dense => (0..wide * 10 / 3).filter(|_| rng.random_bool(0.3)).collect(),
            Self::Sparse => uniform(n, || rng.random_range(0..wide * 1000)),
            Self::Hashes32 => uniform(n, || u64::from(rng.random::<u32>())),
            Self::SnowflakeSlow => snowflakes(n, 1000.0, LowBits::EightMachines, rng),
            Self::SnowflakeSlowRandom => snowflakes(n, 1000.0, LowBits::Random, rng),
            Self::SnowflakeSlowOne => snowflakes(n, 1000.0, LowBits::OneMachine, rng),
            Self::SnowflakeFast => snowflakes(n, 1.0, LowBits::EightMachines, rng),
            Self::SnowflakeFastRandom => snowflakes(n, 1.0, LowBits::Random, rng),
            Self::Hashes63 => uniform(n, || rng.random::<u64>() >> 1),
            Self::Runs => runs(n, 1000, rng),
            Self::DenseRuns => runs(n, 10, rng),
            Self::OneChunk => uniform(n.min(60_000), || (5 << 16) + u64::from(rng.random::<u16>())),
            Self::NearTop => uniform(n, || u64::MAX - rng.random_range(0..wide * 50)),
            Self::Clustered => clusters(n, rng),
        }
    }
}

/// `n` different ids that `draw` gives.
pub(crate) fn uniform(n: usize, mut draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut ids = Vec::with_capacity(n);
    while ids.len() < n {
        ids.extend((ids.len()..n).map(|_| draw()));
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}

/// Runs of 1 to 199 ids, which fill one of `parts` of the span; the last is cut at `n` ids.
fn runs(n: usize, parts: u64, rng: &mut impl Rng) -> Vec<u64> {
    let mean_gap = 100 * (parts - 1);
    let (mut ids, mut at) = (Vec::with_capacity(n), 0);
    while ids.len() < n {
        at += rng.random_range(1..2 * mean_gap);
        let length = rng.random_range(1..200u64).min((n - ids.len()) as u64);
        ids.extend(at..at + length);
        at += length;
    }
    ids
}

fn clusters(n: usize, rng: &mut impl Rng) -> Vec<u64> {
    let places: Vec<u64> = (0..n / 300 + 1).map(|_| rng.random::<u64>() >> 1).collect();
    uniform(n, || {
        let place = places.get(rng.random_range(0..places.len())).copied().unwrap_or_default();
        place + rng.random_range(0..100_000)
    })
}
