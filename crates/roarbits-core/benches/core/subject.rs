//! What every subject of a benchmark can do, so that one body measures them all:
//! our bitmap, and the roaring crate in 32 bits or as a treemap. (bench/ measures
//! with it too.)

use std::ops::RangeInclusive;

use roarbits_core::codec::native;
use roarbits_core::{BitRead, Bitmap, Builder, Combination};
use roaring::{MultiOps, RoaringBitmap, RoaringTreemap};

/// A set of ids. Ids that a subject cannot hold are a mistake of the benchmark.
pub trait Subject: Clone {
    const NAME: &'static str;

    fn empty() -> Self;
    /// By the fastest way that there is for ascending ids.
    fn built(ascending: &[u64]) -> Self;
    fn insert(&mut self, id: u64) -> bool;
    fn remove(&mut self, id: u64) -> bool;
    fn contains(&self, id: u64) -> bool;
    fn cardinality(&self) -> u64;
    fn rank(&self, id: u64) -> u64;
    fn select(&self, n: u64) -> Option<u64>;
    fn count_range(&self, range: RangeInclusive<u64>) -> u64;
    /// Visits every id and adds them up.
    fn sum(&self) -> u64;
    fn insert_many(&mut self, ids: &[u64]) -> u64;
    fn members_among(&self, ids: &[u64]) -> usize;
    fn encode(&self) -> Vec<u8>;
    fn decode(payload: &[u8]) -> Option<Self>;

    fn and(sets: &[&Self]) -> Self;
    fn and_count(sets: &[&Self]) -> u64;
    fn or(sets: &[&Self]) -> Self;
    fn or_count(sets: &[&Self]) -> u64;
    fn xor(sets: &[&Self]) -> Self;
    /// The first without all others.
    fn diff(sets: &[&Self]) -> Self;
    /// The complement up to `last`.
    fn not(&self, last: u64) -> Self;
}

impl Subject for Bitmap {
    const NAME: &'static str = "roarbits";

    fn empty() -> Self {
        Self::new()
    }

    fn built(ascending: &[u64]) -> Self {
        let mut builder = Builder::new();
        ascending.iter().for_each(|id| builder.push_id(*id));
        builder.finish(0)
    }

    fn insert(&mut self, id: u64) -> bool {
        Self::insert(self, id)
    }

    fn remove(&mut self, id: u64) -> bool {
        Self::remove(self, id)
    }

    fn contains(&self, id: u64) -> bool {
        BitRead::contains(self, id)
    }

    fn cardinality(&self) -> u64 {
        BitRead::cardinality(self) as u64
    }

    fn rank(&self, id: u64) -> u64 {
        BitRead::rank(self, id) as u64
    }

    fn select(&self, n: u64) -> Option<u64> {
        BitRead::select(self, u128::from(n))
    }

    fn count_range(&self, range: RangeInclusive<u64>) -> u64 {
        BitRead::count_range(self, range) as u64
    }

    fn sum(&self) -> u64 {
        self.ids_in(0..=u64::MAX).fold(0, u64::wrapping_add)
    }

    fn insert_many(&mut self, ids: &[u64]) -> u64 {
        Self::insert_many(self, ids)
    }

    fn members_among(&self, ids: &[u64]) -> usize {
        BitRead::contains_many(self, ids).into_iter().filter(|is_member| *is_member).count()
    }

    fn encode(&self) -> Vec<u8> {
        native::encode(self, 0..=u64::MAX)
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        native::decode(payload).ok()
    }

    fn and(sets: &[&Self]) -> Self {
        Combination::And.evaluate(sets)
    }

    fn and_count(sets: &[&Self]) -> u64 {
        Combination::And.count(sets) as u64
    }

    fn or(sets: &[&Self]) -> Self {
        Combination::Or.evaluate(sets)
    }

    fn or_count(sets: &[&Self]) -> u64 {
        Combination::Or.count(sets) as u64
    }

    fn xor(sets: &[&Self]) -> Self {
        Combination::Xor.evaluate(sets)
    }

    fn diff(sets: &[&Self]) -> Self {
        Combination::Diff.evaluate(sets)
    }

    fn not(&self, _last: u64) -> Self {
        Self::not(self)
    }
}

/// The two types of the roaring crate have the same methods, on ids of their width.
macro_rules! roaring_subject {
    ($set:ty, $id:ty, $position:ty, $name:literal) => {
        impl Subject for $set {
            const NAME: &'static str = $name;

            fn empty() -> Self {
                Self::new()
            }

            fn built(ascending: &[u64]) -> Self {
                let mut set = Self::from_sorted_iter(ascending.iter().map(|id| *id as $id)).unwrap();
                set.optimize();
                set
            }

            fn insert(&mut self, id: u64) -> bool {
                self.insert(id as $id)
            }

            fn remove(&mut self, id: u64) -> bool {
                self.remove(id as $id)
            }

            fn contains(&self, id: u64) -> bool {
                self.contains(id as $id)
            }

            fn cardinality(&self) -> u64 {
                self.len()
            }

            fn rank(&self, id: u64) -> u64 {
                self.rank(id as $id)
            }

            fn select(&self, n: u64) -> Option<u64> {
                self.select(n as $position).map(u64::from)
            }

            fn count_range(&self, range: RangeInclusive<u64>) -> u64 {
                self.range_cardinality(*range.start() as $id..=*range.end() as $id)
            }

            fn sum(&self) -> u64 {
                self.iter().fold(0, |sum, id| sum.wrapping_add(u64::from(id)))
            }

            fn insert_many(&mut self, ids: &[u64]) -> u64 {
                let before = self.len();
                self.extend(ids.iter().map(|id| *id as $id));
                self.len() - before
            }

            fn members_among(&self, ids: &[u64]) -> usize {
                ids.iter().filter(|id| self.contains(**id as $id)).count()
            }

            fn encode(&self) -> Vec<u8> {
                let mut out = Vec::with_capacity(self.serialized_size() as usize);
                self.serialize_into(&mut out).unwrap();
                out
            }

            fn decode(payload: &[u8]) -> Option<Self> {
                Self::deserialize_from(payload).ok()
            }

            fn and(sets: &[&Self]) -> Self {
                sets.iter().copied().intersection()
            }

            fn and_count(sets: &[&Self]) -> u64 {
                match sets {
                    [a, b] => a.intersection_len(b),
                    _ => <Self as Subject>::and(sets).len(),
                }
            }

            fn or(sets: &[&Self]) -> Self {
                sets.iter().copied().union()
            }

            fn or_count(sets: &[&Self]) -> u64 {
                match sets {
                    [a, b] => a.union_len(b),
                    _ => <Self as Subject>::or(sets).len(),
                }
            }

            fn xor(sets: &[&Self]) -> Self {
                sets.iter().copied().symmetric_difference()
            }

            fn diff(sets: &[&Self]) -> Self {
                sets.iter().copied().difference()
            }

            fn not(&self, last: u64) -> Self {
                let mut all = Self::new();
                all.insert_range(0..=last as $id);
                all - self
            }
        }
    };
}

roaring_subject!(RoaringBitmap, u32, u32, "roaring");
roaring_subject!(RoaringTreemap, u64, u64, "roaring treemap");
