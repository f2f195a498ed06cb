//! Many small sets: the days on which somebody was there (D7).

use rand::seq::index;
use rand::Rng;

/// `n` calendars of `days` days, `present` of them set in each, ascending.
pub fn calendars(n: usize, present: usize, days: usize, rng: &mut impl Rng) -> Vec<Vec<u64>> {
    let present = present.min(days);
    let one = |_| {
        let mut set: Vec<u64> = index::sample(rng, days, present).iter().map(|day| day as u64).collect();
        set.sort_unstable();
        set
    };
    (0..n).map(one).collect()
}
