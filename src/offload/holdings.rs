//! What calls off the main thread hold: bytes of copies and answers, and snapshots. Each is given
//! back when dropped, whatever became of the call.

use std::sync::atomic::Ordering;

use super::figures::{add, MEMORY_BYTES, REFUSED, SNAPSHOTS_LIVE, SNAPSHOT_BYTES};
use crate::config;
use crate::ffi::Refusal;
use crate::keyspace::Sources;

const MEMORY_IS_FULL: Refusal = Refusal::new("RBBUSY offload memory is full, retry");

/// A part of `offload-memory`, given back when dropped.
pub struct Memory(u64);

impl Memory {
    /// Takes `bytes`.
    ///
    /// # Errors
    /// There is no room for them.
    pub fn reserve(bytes: u64) -> Result<Self, Refusal> {
        let reserved = MEMORY_BYTES.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let memory = Self(bytes);
        if reserved > config::offload_memory_bytes() {
            add(&REFUSED, 1);
            return Err(MEMORY_IS_FULL);
        }
        Ok(memory)
    }

    /// Takes more, which exists already: as much as there is if nobody else has any, or the largest
    /// results could never be had.
    ///
    /// # Errors
    /// There is no room for it beside what others have.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Refusal> {
        let mine = std::mem::take(&mut self.0).saturating_add(bytes);
        self.0 = mine;
        let reserved = MEMORY_BYTES.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if reserved > config::offload_memory_bytes() && reserved > mine {
            add(&REFUSED, 1);
            return Err(MEMORY_IS_FULL);
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        MEMORY_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Counts a call whose snapshots are alive, and their bytes.
pub struct LiveSnapshot {
    bytes: u64,
}

impl LiveSnapshot {
    /// A call whose snapshots were just taken.
    pub fn new() -> Self {
        add(&SNAPSHOTS_LIVE, 1);
        Self { bytes: 0 }
    }

    /// Counts the bytes too, which takes its time.
    pub fn measure(&mut self, sources: &Sources) {
        self.bytes = sources.bytes();
        add(&SNAPSHOT_BYTES, self.bytes);
    }
}

impl Drop for LiveSnapshot {
    fn drop(&mut self) {
        SNAPSHOTS_LIVE.fetch_sub(1, Ordering::Relaxed);
        SNAPSHOT_BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
