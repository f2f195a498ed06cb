//! Snowflake ids: a time, a machine and a sequence.
//!
//! ```text
//! 63      22 21     12 11      0
//! | ms     | machine  | sequence |     ms since 2010-11-04
//! ```

use rand::Rng;
use rand_distr::Exp1;

/// When the first id arrives, in ms since 2010-11-04: a day of 2023.
const FIRST_MS: f64 = 400_000_000_000.0;
const MS_SHIFT: u32 = 22;
const MACHINE_SHIFT: u32 = 12;
/// The numbers of the eight machines: as a fleet has them, not 0 to 7, so that all ten bits vary.
const MACHINES: [u64; 8] = [37, 201, 358, 410, 593, 662, 847, 998];
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What stands below the time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LowBits {
    /// One of eight machines, and its sequence in that millisecond.
    EightMachines,
    /// One machine, and its sequence in that millisecond.
    OneMachine,
    /// Anything.
    Random,
}

/// `n` ids, ascending, whose times are Poisson arrivals with this mean gap.
pub(crate) fn snowflakes(n: usize, mean_gap_ms: f64, low: LowBits, rng: &mut impl Rng) -> Vec<u64> {
    let (mut time, mut last_ms) = (FIRST_MS, 0);
    let mut sequences = [0; MACHINES.len()];
    let mut ids: Vec<u64> = Vec::with_capacity(n);
    while ids.len() < n {
        while ids.len() < n {
            time += mean_gap_ms * rng.sample::<f64, _>(Exp1);
            let ms = time as u64;
            if ms > last_ms {
                (last_ms, sequences) = (ms, [0; MACHINES.len()]);
            }
            ids.push((ms << MS_SHIFT) | low_bits(low, &mut sequences, rng));
        }
        // Machines of one millisecond come in any order, and random bits twice now and then.
        ids.sort();
        ids.dedup();
    }
    ids
}

fn low_bits(low: LowBits, sequences: &mut [u64; MACHINES.len()], rng: &mut impl Rng) -> u64 {
    let at = match low {
        LowBits::Random => return rng.random_range(0..1 << MS_SHIFT),
        LowBits::EightMachines => rng.random_range(0..MACHINES.len()),
        LowBits::OneMachine => 0,
    };
    let sequence = sequences[at];
    sequences[at] += 1;
    (MACHINES[at] << MACHINE_SHIFT) | sequence
}

/// The same ids as they would be so many days later.
pub fn days_later(ids: &[u64], days: u64) -> Vec<u64> {
    ids.iter().map(|id| id + ((days * DAY_MS) << MS_SHIFT)).collect()
}
