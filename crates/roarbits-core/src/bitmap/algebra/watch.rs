//! What is shared with whoever watches a computation: whether it is still wanted, and how far it came.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cancels a computation from another thread, and tells what it looked at.
#[derive(Debug, Default)]
pub struct Watch {
    is_cancelled: AtomicBool,
    leaves: AtomicU64,
}

impl Watch {
    /// Of a computation that is wanted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the computation soon: it looks here between any two stretches of ids. For good.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Leaves whose ids were looked at so far, in the steps that ended; of subtrees that were
    /// shared or counted whole there are none.
    pub fn leaves(&self) -> u64 {
        self.leaves.load(Ordering::Relaxed)
    }

    /// Adds leaves that were looked at.
    pub(crate) fn touch(&self, leaves: u64) {
        self.leaves.fetch_add(leaves, Ordering::Relaxed);
    }
}
