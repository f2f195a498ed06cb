//! What a value takes up beside what it refers to: its box, and what the server keeps
//! for a value of a module without counting it in MEMORY USAGE.
//!
//! ```text
//! key -> object -> type and value -> box -> what the value refers to
//!        16 bytes  16 bytes
//! ```
//!
//! No server counts the pair of type and value. The object is counted by Redis from
//! 8.2 on and by Valkey from 8.1 on, with the key inside; older servers leave out that
//! of a module's value only. The first releases of Valkey 8.1 left it out as well
//! (<https://github.com/valkey-io/valkey/pull/2661>): there the sum is that header short.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use redis_module::raw;

/// Sixteen bytes, the size of the object and of the pair of type and value.
type Header = [u64; 2];
/// The first Redis and the first Valkey that count the object.
const REDIS_8_2: c_int = 0x0008_0200;
const VALKEY_8_1: c_int = 0x0008_0100;

/// The bytes of the box at `value`, and of what leads to it uncounted.
///
/// # Safety
/// Precondition 4.
pub(super) unsafe fn of_box(value: *const c_void) -> usize {
    // SAFETY: preconditions 2 and 4.
    let held = unsafe { api!(RedisModule_MallocSize)(value.cast_mut()) };
    held + uncounted_bytes()
}

/// Requests up to this many bytes are measured: no leaf or node asks for more.
const MEASURED_MAX_BYTES: usize = 8192;

/// What the server's allocator gives for a request of `bytes`, rounded up to eight. Size
/// classes differ between allocators, and between builds of one.
pub fn block_bytes(bytes: usize) -> usize {
    static BLOCKS: OnceLock<Vec<u16>> = OnceLock::new();
    let blocks =
        BLOCKS.get_or_init(|| (0..=MEASURED_MAX_BYTES / 8).map(|words| given_bytes(words * 8)).collect());
    blocks.get(bytes.div_ceil(8)).map_or(bytes, |block| usize::from(*block))
}

/// What a block of `bytes` takes up; 0 for none.
fn given_bytes(bytes: usize) -> u16 {
    if bytes == 0 {
        return 0;
    }
    let block: Vec<u64> = Vec::with_capacity(bytes / 8);
    // SAFETY: precondition 2; the block is of the server's allocator, and not empty.
    let given = unsafe { api!(RedisModule_MallocSize)(block.as_ptr().cast_mut().cast()) };
    u16::try_from(given).unwrap_or(u16::MAX)
}

fn uncounted_bytes() -> usize {
    static UNCOUNTED_BYTES: OnceLock<usize> = OnceLock::new();
    *UNCOUNTED_BYTES.get_or_init(|| {
        let header: Box<Header> = Box::default();
        // SAFETY: precondition 2; the box is of the server's allocator.
        let bytes = unsafe { api!(RedisModule_MallocSize)(std::ptr::from_ref(&*header).cast_mut().cast()) };
        bytes * if counts_objects() { 1 } else { 2 }
    })
}

fn counts_objects() -> bool {
    let first = if is_valkey() { VALKEY_8_1 } else { REDIS_8_2 };
    // SAFETY: precondition 2.
    let version = unsafe { api!(RedisModule_GetServerVersion)() };
    version >= first
}

/// Whether the server has functions under Valkey's own names.
fn is_valkey() -> bool {
    let mut found: *mut c_void = std::ptr::null_mut();
    let at: *mut *mut c_void = &mut found;
    // SAFETY: precondition 2; the server writes a pointer to `at`, if anything.
    let status = unsafe { api!(RedisModule_GetApi)(c"ValkeyModule_Alloc".as_ptr(), at.cast()) };
    status == raw::REDISMODULE_OK as c_int && !found.is_null()
}
