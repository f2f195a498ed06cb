//! Random numbers for RB.RANDMEMBER: a small generator, seeded from the system.

use std::cell::RefCell;
use std::collections::HashSet;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

thread_local! {
    static GENERATOR: RefCell<SmallRng> = RefCell::new(SmallRng::from_os_rng());
}

/// `count` numbers below `bound`, each equally likely; they may repeat. `bound` is at least 1.
pub fn with_repetition(bound: u128, count: usize) -> Vec<u128> {
    GENERATOR.with_borrow_mut(|generator| (0..count).map(|_| generator.random_range(0..bound)).collect())
}

/// `count` different numbers below `bound`, each such set equally likely, by Floyd's
/// method; all of them if there are no more. O(count).
pub fn distinct(bound: u128, count: usize) -> Vec<u128> {
    if bound <= count as u128 {
        return (0..bound).collect();
    }
    let mut drawn = HashSet::with_capacity(count);
    GENERATOR.with_borrow_mut(|generator| {
        for top in bound - count as u128..bound {
            let number = generator.random_range(0..=top);
            if !drawn.insert(number) {
                drawn.insert(top);
            }
        }
    });
    drawn.into_iter().collect()
}
