//! What a plan is likely to cost, told from the sizes of its operands without a walk.

use super::fold::{Operands, Piece};
use crate::bitmap::{BitRead, Bitmap, Combination, Gate};

/// What a leaf takes, about, and each packed id of it: those are decoded, merged and merged again.
const LEAF_NANOS: u64 = 500;
const ID_NANOS: u64 = 8;
/// A leaf of more ids has runs or plain bits, which take about as much as so few ids.
const CHEAP_LEAF_IDS: u64 = 1500;
const CHEAP_IDS: u64 = 64;
/// What every question takes.
const QUESTION_NANOS: u64 = 2_000;

/// What a plan is likely to cost; of a question for a page it is an upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Leaves whose ids are likely to be looked at.
    pub leaves: u64,
    /// How many microseconds that is likely to take.
    pub micros: u64,
}

impl Estimate {
    pub(super) fn of(piece: &Piece, operands: &Operands) -> Self {
        let mut leaves = vec![0; operands.bitmaps.len()];
        if let (Piece::Gate(..), Some(bounds)) = (piece, operands.bounds(piece)) {
            operands.note_leaves(piece, bounds, u64::MAX, &mut leaves);
        }
        let of_each = leaves.iter().zip(&operands.bitmaps);
        let nanos = of_each.map(|(leaves, bitmap)| leaves.saturating_mul(leaf_nanos(bitmap)));
        let nanos = nanos.fold(QUESTION_NANOS, u64::saturating_add);
        Self { leaves: leaves.into_iter().fold(0, u64::saturating_add), micros: nanos / 1000 }
    }
}

impl Operands {
    /// Notes for each operand of a piece how many of its leaves are likely to be looked at, where ids
    /// of at most `places` places within `bounds` are asked for; how many they are in all. As deep as the piece.
    fn note_leaves(&self, piece: &Piece, bounds: (u64, u64), places: u64, leaves: &mut [u64]) -> u64 {
        match piece {
            Piece::Empty => 0,
            Piece::Operand(operand) => {
                let among = leaves_between(&self.bitmaps[*operand], bounds).min(places);
                leaves[*operand] = among.max(leaves[*operand]);
                among
            }
            // What the first has not is not looked for in the others.
            Piece::Gate(Gate::Combine(Combination::And | Combination::Diff), inner) => {
                let [first, others @ ..] = &inner[..] else {
                    return 0;
                };
                let so_far = self.note_leaves(first, bounds, places, leaves);
                let ids = u64::try_from(self.size(first)).unwrap_or(u64::MAX);
                let places = places.min(ids.saturating_add(so_far));
                let noted = others.iter().map(|other| self.note_leaves(other, bounds, places, leaves));
                noted.fold(so_far, u64::saturating_add)
            }
            Piece::Gate(_, inner) => {
                let noted = inner.iter().map(|piece| self.note_leaves(piece, bounds, places, leaves));
                noted.fold(0, u64::saturating_add)
            }
        }
    }
}

/// What a leaf of a bitmap takes, about.
fn leaf_nanos(bitmap: &Bitmap) -> u64 {
    let ids = bitmap.cardinality() / u128::from(bitmap.leaves_estimated().max(1));
    let ids = u64::try_from(ids).ok().filter(|ids| *ids <= CHEAP_LEAF_IDS).unwrap_or(CHEAP_IDS);
    LEAF_NANOS + ids * ID_NANOS
}

/// Roughly how many leaves have ids within bounds: as many of all as of the ids.
fn leaves_between(bitmap: &Bitmap, (min, max): (u64, u64)) -> u64 {
    let (within, all) = (bitmap.count_range(min..=max), bitmap.cardinality().max(1));
    let leaves = u128::from(bitmap.leaves_estimated());
    // At most 2^64 of each: a part of the leaves is no more than all of them.
    let part = leaves.saturating_mul(within).div_ceil(all);
    u64::try_from(part).unwrap_or(u64::MAX)
}
