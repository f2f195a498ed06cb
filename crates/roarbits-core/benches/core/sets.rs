//! The sets that are timed, made when a benchmark first needs them: most runs are filtered.

use std::cell::OnceCell;

use criterion::{Bencher, Criterion};
use roarbits_datasets::{seeded, Arrival, DataSet, Shape};

use crate::subject::Subject;

/// Operands of the largest kernels.
pub const OPERANDS: usize = 7;
/// Ids in one batch.
pub const BATCH: usize = 1000;

/// The shapes, at a size that a benchmark can repeat: D1 is a tenth of itself.
pub const TIMED: [DataSet; 6] = [
    DataSet::D1.resized(3_000_000),
    DataSet::D2,
    DataSet::D3_1M,
    DataSet::D4_SLOW,
    DataSet::D4_FAST,
    DataSet::D5,
];

/// True if all ids fit 32 bits, so that the roaring crate need no treemap.
pub fn is_narrow(data: DataSet) -> bool {
    matches!(data.shape, Shape::Dense | Shape::Sparse | Shape::Hashes32 | Shape::Runs)
}

/// Sets of one kind as one subject holds them.
pub struct Sets<S> {
    data: DataSet,
    sets: [OnceCell<S>; OPERANDS],
    ids: OnceCell<Vec<u64>>,
}

impl<S: Subject> Sets<S> {
    pub fn new(data: DataSet) -> Self {
        Self { data, sets: Default::default(), ids: OnceCell::new() }
    }

    /// The ids of the first set, ascending.
    pub fn ids(&self) -> &[u64] {
        self.ids.get_or_init(|| self.data.ids(0))
    }

    /// The first set.
    pub fn first(&self) -> &S {
        self.sets[0].get_or_init(|| S::built(self.ids()))
    }

    /// The first `operands` sets.
    pub fn some(&self, operands: usize) -> Vec<&S> {
        self.sets
            .iter()
            .enumerate()
            .take(operands)
            .map(|(seed, set)| set.get_or_init(|| S::built(&self.data.ids(seed as u64))))
            .collect()
    }

    /// A hundred thousand ids of the kind, in this order.
    pub fn some_ids(&self, arrival: Arrival) -> Vec<u64> {
        arrival.order(self.data.resized(100_000).ids(0), &mut seeded(1))
    }

    /// A batch of members of the first set, shuffled.
    pub fn members(&self) -> Vec<u64> {
        let mut ids = Arrival::Shuffled.order(self.ids().to_vec(), &mut seeded(2));
        ids.truncate(BATCH);
        ids
    }

    /// A batch of ids of the kind that the first set lacks, shuffled.
    pub fn strangers(&self) -> Vec<u64> {
        let mut ids = self.data.ids(OPERANDS as u64);
        ids.retain(|id| !self.first().contains(*id));
        let mut ids = Arrival::Shuffled.order(ids, &mut seeded(3));
        ids.truncate(BATCH);
        ids
    }

    /// One row: an operation on this kind of set by this subject.
    pub fn row(&self, criterion: &mut Criterion, operation: &str, body: impl FnMut(&mut Bencher)) {
        criterion.bench_function(&format!("{operation}/{}/{}", self.data.name, S::NAME), body);
    }
}
