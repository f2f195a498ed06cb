//! The data sets that everything is tested and measured on, so that a figure and
//! a test that name a set mean the same ids.
//!
//! | name | content |
//! |---|---|
//! | D1 | every id below 1e8 with probability 0.3 |
//! | D2 | 100k uniform in 0..1e8 |
//! | D3-10k, D3-1M | uniform in 0..2^32 |
//! | D4-1/s, D4-1000/s | 1M Snowflake ids, Poisson arrivals at 1 or 1000 a second |
//! | D5 | 1M ids in runs of average 100 over 0..1e9 |
//! | D6 | real sets, read from a folder of archives: `real` |
//! | D7 | calendars of 31 or 365 days: `calendars` |
//! | U63 | 1M uniform 63-bit ids |
//!
//! `shape` makes sets like these at any size, `arrival` puts ids in order, `named`
//! has the table above. A seed gives the same ids on every machine.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrival;
mod calendars;
mod named;
pub mod real;
mod shape;
mod snowflake;

pub use arrival::Arrival;
pub use calendars::calendars;
pub use named::DataSet;
pub use shape::Shape;
pub use snowflake::days_later;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The generator of this seed, alike on every machine and in every release of `rand`.
pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
