//! A global allocator that counts for each thread what is allocated, so that a
//! test states exact figures, whatever other tests do meanwhile.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counting;

/// What a piece of code allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Calls that allocate.
    pub allocations: u64,
    /// Bytes asked for in all, whether freed since or not.
    pub allocated_bytes: i64,
    /// Bytes held now, asked for.
    pub live_bytes: i64,
    /// Bytes held now, each allocation in its size class.
    pub live_class_bytes: i64,
    /// The most that was held at once.
    pub peak_bytes: i64,
}

thread_local! {
    static USAGE: Cell<Usage> = const {
        Cell::new(Usage { allocations: 0, allocated_bytes: 0, live_bytes: 0, live_class_bytes: 0, peak_bytes: 0 })
    };
}

/// The size class that jemalloc gives `bytes`: 8, multiples of 16 up to 128, then four classes a doubling.
pub fn class_bytes(bytes: usize) -> usize {
    if bytes <= 8 {
        return 8;
    }
    if bytes <= 128 {
        return bytes.next_multiple_of(16);
    }
    let mut start = 128;
    while start * 2 < bytes {
        start *= 2;
    }
    bytes.next_multiple_of(start / 4)
}

fn record(bytes: usize) {
    // A thread that ends may free after its counts are gone.
    let _ = USAGE.try_with(|usage| {
        let mut now = usage.get();
        now.allocations += 1;
        now.allocated_bytes += bytes as i64;
        now.live_bytes += bytes as i64;
        now.live_class_bytes += class_bytes(bytes) as i64;
        now.peak_bytes = now.peak_bytes.max(now.live_bytes);
        usage.set(now);
    });
}

fn forget(bytes: usize) {
    let _ = USAGE.try_with(|usage| {
        let mut now = usage.get();
        now.live_bytes -= bytes as i64;
        now.live_class_bytes -= class_bytes(bytes) as i64;
        usage.set(now);
    });
}

// SAFETY: every call is passed on to the system's allocator as it came; what is
// counted beside it neither allocates nor unwinds. Growth is left to the default,
// which allocates, copies and frees, so that a peak counts both.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller's layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        forget(layout.size());
        // SAFETY: `at` came from `System` with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

/// What `work` gives, and what it allocated on this thread: bytes held are those
/// that it holds more than before.
pub fn counted<R>(work: impl FnOnce() -> R) -> (R, Usage) {
    let before = USAGE.get();
    USAGE.set(Usage { peak_bytes: before.live_bytes, ..before });
    let result = work();
    let after = USAGE.get();
    let usage = Usage {
        allocations: after.allocations - before.allocations,
        allocated_bytes: after.allocated_bytes - before.allocated_bytes,
        live_bytes: after.live_bytes - before.live_bytes,
        live_class_bytes: after.live_class_bytes - before.live_class_bytes,
        peak_bytes: after.peak_bytes - before.live_bytes,
    };
    (result, usage)
}
