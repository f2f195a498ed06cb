//! What INFO tells of work off the main thread, counted since the module was loaded.

use std::sync::atomic::{AtomicU64, Ordering};

/// Calls that a worker answered.
pub static OFFLOADED: AtomicU64 = AtomicU64::new(0);
/// Calls answered in place.
pub static INLINE: AtomicU64 = AtomicU64::new(0);
/// Of them, those over the budget that could not but run in place.
pub static INLINE_FORCED: AtomicU64 = AtomicU64::new(0);
/// Calls refused for want of room, or because they were too large in place.
pub static REFUSED: AtomicU64 = AtomicU64::new(0);
/// Calls that ended before they were done.
pub static CANCELLED: AtomicU64 = AtomicU64::new(0);
/// Calls run once more because a bound source had changed.
pub static RETRIED: AtomicU64 = AtomicU64::new(0);
/// Microseconds that the longest call in place took.
pub static LONGEST_INLINE_US: AtomicU64 = AtomicU64::new(0);
/// Calls whose snapshots are alive.
pub static SNAPSHOTS_LIVE: AtomicU64 = AtomicU64::new(0);
/// Bytes that those snapshots refer to, shared with keys or not, once a worker has them in hand.
pub static SNAPSHOT_BYTES: AtomicU64 = AtomicU64::new(0);
/// Microseconds that workers worked.
pub static WORK_US: AtomicU64 = AtomicU64::new(0);
/// Bytes of copies and answers in flight.
pub static MEMORY_BYTES: AtomicU64 = AtomicU64::new(0);

/// All of them by their names in INFO.
pub const ALL: &[(&str, &AtomicU64)] = &[
    ("offloaded", &OFFLOADED),
    ("inline", &INLINE),
    ("inline_forced", &INLINE_FORCED),
    ("refused", &REFUSED),
    ("cancelled", &CANCELLED),
    ("retried", &RETRIED),
    ("longest_inline_us", &LONGEST_INLINE_US),
    ("snapshots_live", &SNAPSHOTS_LIVE),
    ("snapshot_bytes", &SNAPSHOT_BYTES),
    ("work_us", &WORK_US),
    ("offload_bytes", &MEMORY_BYTES),
];

/// Counts `n` more.
pub fn add(figure: &AtomicU64, n: u64) {
    figure.fetch_add(n, Ordering::Relaxed);
}
