//! In which order ids come.

use rand::seq::SliceRandom;
use rand::Rng;

/// Ids that come together when they come clustered.
const CLUSTER_IDS: usize = 1000;

/// An order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The least id first.
    Ascending,
    /// The largest id first.
    Descending,
    /// Any id next.
    Shuffled,
    /// Blocks of a thousand neighbours in any order, each ascending.
    Clustered,
}

impl Arrival {
    /// Every order.
    pub const ALL: [Self; 4] = [Self::Ascending, Self::Descending, Self::Shuffled, Self::Clustered];

    /// Puts ascending `ids` into this order.
    pub fn order(self, mut ids: Vec<u64>, rng: &mut impl Rng) -> Vec<u64> {
        match self {
            Self::Ascending => ids,
            Self::Descending => {
                ids.reverse();
                ids
            }
            Self::Shuffled => {
                ids.shuffle(rng);
                ids
            }
            Self::Clustered => {
                let mut blocks: Vec<&[u64]> = ids.chunks(CLUSTER_IDS).collect();
                blocks.shuffle(rng);
                blocks.concat()
            }
        }
    }
}
