//! The global allocator: the server's own, so that `used_memory`, `maxmemory` and
//! MEMORY see every byte of the module.
//!
//! There is no lock and no table here: a forked child may allocate. Alignments up
//! to 8 are what every server's allocator gives; a larger one is met by a bigger
//! block whose true start is kept in the word before the aligned address:
//!
//! ```text
//!   block                     aligned
//!   | padding ... | block ptr | payload ...        |
//!                  8 bytes
//! ```
//!
//! The alignment of a layout is a constant wherever a type is allocated, so the
//! choice between the two is made at compile time.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

use redis_module::raw;

/// What malloc of every supported server aligns to, with any size and any libc.
pub(super) const NATURAL_ALIGN_BYTES: usize = 8;

/// Allocates through `RedisModule_Alloc`, `Calloc`, `Realloc` and `Free`.
#[derive(Debug, Clone, Copy)]
pub struct ServerAllocator;

// SAFETY: blocks come from the server's malloc, which never returns a block in use
// and ends the process when memory is out; over-aligned blocks keep their true
// start in front and are only handled by functions that see the same layout.
unsafe impl GlobalAlloc for ServerAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= NATURAL_ALIGN_BYTES {
            return server_alloc(layout.size()).cast();
        }
        over_align(layout, server_alloc)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= NATURAL_ALIGN_BYTES {
            return server_calloc(layout.size()).cast();
        }
        over_align(layout, server_calloc)
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller allocated `ptr` here with the same layout.
        unsafe {
            let block = if layout.align() <= NATURAL_ALIGN_BYTES { ptr.cast() } else { true_start(ptr) };
            match raw::RedisModule_Free {
                Some(free) => free(block),
                None => outside_a_server(),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller allocated `ptr` here with the same layout, of which only the size is new.
        unsafe {
            if layout.align() <= NATURAL_ALIGN_BYTES {
                return match raw::RedisModule_Realloc {
                    Some(realloc) => realloc(ptr.cast(), new_size).cast(),
                    None => outside_a_server(),
                };
            }
            // Moving the block could change the distance to the aligned address.
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(ptr, new, layout.size().min(new_size));
                self.dealloc(ptr, layout);
            }
            new
        }
    }
}

#[inline]
fn server_alloc(bytes: usize) -> *mut c_void {
    // SAFETY: the static is written once, before anything allocates.
    match unsafe { raw::RedisModule_Alloc } {
        // SAFETY: any size will do.
        Some(alloc) => unsafe { alloc(bytes) },
        None => outside_a_server(),
    }
}

#[inline]
fn server_calloc(bytes: usize) -> *mut c_void {
    // SAFETY: the static is written once, before anything allocates.
    match unsafe { raw::RedisModule_Calloc } {
        // SAFETY: any size will do.
        Some(calloc) => unsafe { calloc(1, bytes) },
        None => outside_a_server(),
    }
}

/// Asks for a block that has room to align in, and notes its true start.
fn over_align(layout: Layout, allocate: impl FnOnce(usize) -> *mut c_void) -> *mut u8 {
    let Some(bytes) = layout.size().checked_add(layout.align()) else {
        return std::ptr::null_mut();
    };
    let block: *mut u8 = allocate(bytes).cast();
    if block.is_null() {
        return block;
    }
    // The block starts at a multiple of 8, so at least 8 bytes lie before the aligned address.
    let shift = layout.align() - (block as usize & (layout.align() - 1));
    // SAFETY: 8 <= shift <= align, and the block has size + align bytes.
    unsafe {
        let aligned = block.add(shift);
        aligned.cast::<*mut c_void>().sub(1).write(block.cast());
        aligned
    }
}

/// The block that `over_align` noted before `aligned`.
///
/// # Safety
/// `aligned` was returned by `over_align`.
unsafe fn true_start(aligned: *mut u8) -> *mut c_void {
    // SAFETY: `over_align` wrote a pointer in the word before.
    unsafe { aligned.cast::<*mut c_void>().sub(1).read() }
}

#[cold]
fn outside_a_server() -> ! {
    // No message: formatting one could allocate.
    std::process::abort()
}
