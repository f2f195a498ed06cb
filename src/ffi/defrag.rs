//! Active defragmentation of one value: the server says which blocks lie badly,
//! copies them and tells when to pause.
//!
//! The server frees the old block at once, so that a block goes through here only
//! if there is a single reference to it: words come in a box of their own, never
//! from under an `Arc` that a snapshot or another key may hold. Every function is
//! looked up as optional; without one, nothing moves.

use std::ffi::c_ulong;

use redis_module::raw;

use super::allocator::NATURAL_ALIGN_BYTES;

/// The server's side of the defragmentation of one value.
pub struct Defrag(*mut raw::RedisModuleDefragCtx);

impl Defrag {
    /// # Safety
    /// `ctx` is lent by the server for defragmenting while this lives.
    pub(super) unsafe fn new(ctx: *mut raw::RedisModuleDefragCtx) -> Self {
        Self(ctx)
    }

    /// The same words, moved if the allocator would rather have them elsewhere.
    pub fn words(&self, words: Box<[u64]>) -> Box<[u64]> {
        let len = words.len();
        if len == 0 {
            // An empty box has no block.
            return words;
        }
        let start = Box::into_raw(words).cast::<u64>();
        // SAFETY: the box was the only reference to its block, and a new block holds the same `len` words.
        unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.block(start), len)) }
    }

    /// Where the block at `start` is now.
    ///
    /// # Safety
    /// `start` is a block of the global allocator to which no other reference exists.
    pub(super) unsafe fn block<T>(&self, start: *mut T) -> *mut T {
        // With a larger alignment `start` would not be where the server's block begins.
        const { assert!(align_of::<T>() <= NATURAL_ALIGN_BYTES && size_of::<T>() > 0) };
        // SAFETY: `self.0` is lent for this; the block is the server's and the caller's alone. Null means
        // that it stays.
        let moved = unsafe { raw::RedisModule_DefragAlloc.map(|defrag| defrag(self.0, start.cast())) };
        moved.filter(|new| !new.is_null()).map_or(start, |new| new.cast())
    }

    /// True if time is up; never for a value that the server wants done in one call.
    pub fn should_stop(&self) -> bool {
        // SAFETY: `self.0` is lent for this.
        unsafe { raw::RedisModule_DefragShouldStop.is_some_and(|asked| asked(self.0) != 0) }
    }

    /// What `keep_cursor` kept when the value was last left unfinished, otherwise 0.
    pub(super) fn cursor(&self) -> u64 {
        let mut cursor: c_ulong = 0;
        // SAFETY: `self.0` is lent for this; a call that fails writes nothing.
        unsafe {
            if let Some(get) = raw::RedisModule_DefragCursorGet {
                get(self.0, &mut cursor);
            }
        }
        cursor
    }

    /// Keeps where to go on; false if the server will not come back to the value.
    pub(super) fn keep_cursor(&self, cursor: u64) -> bool {
        // SAFETY: `self.0` is lent for this.
        unsafe {
            raw::RedisModule_DefragCursorSet
                .is_some_and(|set| set(self.0, cursor) == raw::REDISMODULE_OK as i32)
        }
    }
}
