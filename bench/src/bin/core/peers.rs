//! CRoaring as a subject, beside those that criterion measures too.

use std::ops::RangeInclusive;

use croaring::{Bitmap, Bitmap64, Portable};
use roarbits_datasets::{DataSet, Shape};

use crate::subject::Subject;

/// True if all ids fit 32 bits, so that no peer needs its wider type.
pub fn is_narrow(set: DataSet) -> bool {
    matches!(set.shape, Shape::Dense | Shape::Sparse | Shape::Hashes32 | Shape::Runs)
}

/// The two types of CRoaring have the same methods, on ids of their width.
macro_rules! croaring_subject {
    ($set:ty, $id:ty, $name:literal, $xor:expr, $or:expr) => {
        impl Subject for $set {
            const NAME: &'static str = $name;

            fn empty() -> Self {
                Self::new()
            }

            fn built(ascending: &[u64]) -> Self {
                let mut set = Self::new();
                set.add_many(&ascending.iter().map(|id| *id as $id).collect::<Vec<_>>());
                set.run_optimize();
                set.shrink_to_fit();
                set
            }

            fn insert(&mut self, id: u64) -> bool {
                self.add_checked(id as $id)
            }

            fn remove(&mut self, id: u64) -> bool {
                self.remove_checked(id as $id)
            }

            fn contains(&self, id: u64) -> bool {
                self.contains(id as $id)
            }

            fn cardinality(&self) -> u64 {
                self.cardinality()
            }

            fn rank(&self, id: u64) -> u64 {
                self.rank(id as $id)
            }

            fn select(&self, n: u64) -> Option<u64> {
                self.select(n as $id).map(u64::from)
            }

            fn count_range(&self, range: RangeInclusive<u64>) -> u64 {
                self.range_cardinality(*range.start() as $id..=*range.end() as $id)
            }

            fn sum(&self) -> u64 {
                self.iter().fold(0, |sum, id| sum.wrapping_add(u64::from(id)))
            }

            fn insert_many(&mut self, ids: &[u64]) -> u64 {
                let before = self.cardinality();
                self.add_many(&ids.iter().map(|id| *id as $id).collect::<Vec<_>>());
                self.cardinality() - before
            }

            fn members_among(&self, ids: &[u64]) -> usize {
                ids.iter().filter(|id| self.contains(**id as $id)).count()
            }

            fn encode(&self) -> Vec<u8> {
                self.serialize::<Portable>()
            }

            fn decode(payload: &[u8]) -> Option<Self> {
                Self::try_deserialize::<Portable>(payload)
            }

            fn and(sets: &[&Self]) -> Self {
                folded(sets, Self::and, Self::and_inplace)
            }

            fn and_count(sets: &[&Self]) -> u64 {
                match sets {
                    [a, b] => a.and_cardinality(b),
                    _ => <Self as Subject>::and(sets).cardinality(),
                }
            }

            fn or(sets: &[&Self]) -> Self {
                $or(sets)
            }

            fn or_count(sets: &[&Self]) -> u64 {
                match sets {
                    [a, b] => a.or_cardinality(b),
                    _ => <Self as Subject>::or(sets).cardinality(),
                }
            }

            fn xor(sets: &[&Self]) -> Self {
                $xor(sets)
            }

            fn diff(sets: &[&Self]) -> Self {
                folded(sets, Self::andnot, Self::andnot_inplace)
            }

            fn not(&self, last: u64) -> Self {
                self.flip(0..=last as $id)
            }
        }
    };
}

croaring_subject!(Bitmap, u32, "croaring", Bitmap::fast_xor, Bitmap::fast_or);
croaring_subject!(
    Bitmap64,
    u64,
    "croaring 64",
    |sets: &[&Bitmap64]| folded(sets, Bitmap64::xor, Bitmap64::xor_inplace),
    |sets: &[&Bitmap64]| folded(sets, Bitmap64::or, Bitmap64::or_inplace)
);

/// The first two into a new set, the others into that.
fn folded<S: Subject>(sets: &[&S], both: impl Fn(&S, &S) -> S, into: impl Fn(&mut S, &S)) -> S {
    match sets {
        [] => S::empty(),
        [only] => (*only).clone(),
        [a, b, rest @ ..] => {
            let mut all = both(a, b);
            rest.iter().for_each(|set| into(&mut all, set));
            all
        }
    }
}
