//! The sets that the tests are made of: the data sets of the published figures,
//! at any size, and those at the edges of the id space. Ids ascend, without repetitions.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::Rng;

/// A kind of set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Three ids of ten in a dense span.
    Dense,
    /// One id of a thousand.
    Sparse,
    /// Uniform 32-bit hashes.
    Hashes32,
    /// Snowflake ids of eight machines, one a second.
    SnowflakeSlow,
    /// Snowflake ids of eight machines, a thousand a second.
    SnowflakeFast,
    /// Runs of a hundred on average, a tenth of the span.
    Runs,
    /// Uniform 63-bit hashes.
    Hashes63,
    /// Ids of one chunk.
    OneChunk,
    /// Ids up to 2^64-1.
    NearTop,
    /// A few hundred ids each near places far apart.
    Clustered,
}

impl Shape {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Dense,
        Self::Sparse,
        Self::Hashes32,
        Self::SnowflakeSlow,
        Self::SnowflakeFast,
        Self::Runs,
        Self::Hashes63,
        Self::OneChunk,
        Self::NearTop,
        Self::Clustered,
    ];

    /// `n` ids, ascending; at most 60,000 of one chunk.
    pub fn ids(self, n: usize, rng: &mut StdRng) -> Vec<u64> {
        let wide = n as u64;
        match self {
            Self::Dense => uniform(n, rng, |rng| rng.random_range(0..wide * 10 / 3 + 1)),
            Self::Sparse => uniform(n, rng, |rng| rng.random_range(0..wide * 1000)),
            Self::Hashes32 => uniform(n, rng, |rng| u64::from(rng.random::<u32>())),
            Self::SnowflakeSlow => snowflakes(n, rng, 1000.0),
            Self::SnowflakeFast => snowflakes(n, rng, 1.0),
            Self::Runs => runs(n, rng),
            Self::Hashes63 => uniform(n, rng, |rng| rng.random::<u64>() >> 1),
            Self::OneChunk => uniform(n.min(60_000), rng, |rng| (5 << 16) + u64::from(rng.random::<u16>())),
            Self::NearTop => uniform(n, rng, |rng| u64::MAX - rng.random_range(0..wide * 50)),
            Self::Clustered => clusters(n, rng),
        }
    }
}

/// In which order ids come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    Ascending,
    Descending,
    Shuffled,
}

impl Arrival {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::Ascending, Self::Descending, Self::Shuffled];

    /// Puts ascending `ids` into this order.
    pub fn order(self, mut ids: Vec<u64>, rng: &mut StdRng) -> Vec<u64> {
        match self {
            Self::Ascending => (),
            Self::Descending => ids.reverse(),
            Self::Shuffled => ids.shuffle(rng),
        }
        ids
    }
}

/// `n` different ids that `draw` gives.
fn uniform(n: usize, rng: &mut StdRng, draw: impl Fn(&mut StdRng) -> u64) -> Vec<u64> {
    let mut ids = Vec::new();
    while ids.len() < n {
        ids.extend((ids.len()..n).map(|_| draw(rng)));
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}

/// Milliseconds since the epoch of Snowflake << 22, machine << 12, sequence; exponential gaps.
fn snowflakes(n: usize, rng: &mut StdRng, mean_gap_ms: f64) -> Vec<u64> {
    let mut ms = 400_000_000_000.0;
    let mut ids = BTreeSet::new();
    while ids.len() < n {
        ms += -mean_gap_ms * (1.0 - rng.random::<f64>()).ln();
        let place = (ms as u64) << 22 | rng.random_range(0..8) << 12;
        let id = (place..place + 4096).find(|id| !ids.contains(id));
        ids.extend(id);
    }
    ids.into_iter().collect()
}

fn runs(n: usize, rng: &mut StdRng) -> Vec<u64> {
    let (mut ids, mut at) = (Vec::with_capacity(n), 0);
    while ids.len() < n {
        at += rng.random_range(1..1800);
        let length = rng.random_range(1..200u64).min((n - ids.len()) as u64);
        ids.extend(at..at + length);
        at += length;
    }
    ids
}

fn clusters(n: usize, rng: &mut StdRng) -> Vec<u64> {
    let places: Vec<u64> = (0..n / 300 + 1).map(|_| rng.random::<u64>() >> 1).collect();
    uniform(n, rng, |rng| places[rng.random_range(0..places.len())] + rng.random_range(0..100_000))
}
