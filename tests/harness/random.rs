//! Random tests that can be repeated: a seed of the environment or of the day,
//! printed before anything happens.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::SeedableRng;

/// A generator for the named test, seeded by `ROARBITS_SEED` if that is set. The
/// seed is printed, so that a failed run can be repeated with it.
///
/// # Panics
/// If the variable holds no number.
pub fn seeded(test: &str) -> StdRng {
    let seed = match env::var("ROARBITS_SEED") {
        Ok(text) => match text.parse() {
            Ok(seed) => seed,
            Err(error) => panic!("ROARBITS_SEED={text}: {error}"),
        },
        Err(_) => of_the_clock(),
    };
    println!("{test}: ROARBITS_SEED={seed}");
    StdRng::seed_from_u64(seed)
}

/// How often a random test repeats its work: what the environment says, else `default`.
///
/// # Panics
/// If the variable holds no number.
pub fn count(variable: &str, default: usize) -> usize {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")),
        Err(_) => default,
    }
}

fn of_the_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_nanos() as u64 % 1_000_000_000_000)
}
