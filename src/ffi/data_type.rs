//! Data types of the server: a trait of safe functions, and the callbacks around it.
//!
//! A value is a `Box` of the type's `Value` given to the server as a pointer.
//! `rdb_save` and `aof_rewrite` mostly run in a forked child, and so does nothing
//! here that takes a lock, starts a thread or initialises something on first use.

use std::ffi::{c_int, c_void, CString};
use std::sync::atomic::{AtomicPtr, Ordering};

use redis_module::raw;

use super::defrag::Defrag;
use super::footprint;
use super::serial::{AofWriter, Digest, LoadError, Loader, Saver};
use super::trampoline::catch;

/// A data type: its name and what the server asks of its values.
pub trait DataType: 'static {
    /// What a key of the type holds.
    type Value: Send + 'static;

    /// Nine characters, unique among all modules.
    const NAME: &'static str;

    /// The version of the encoding that `save` writes.
    const ENCVER: i32;

    /// Where the server's handle of the type is kept.
    fn handle() -> &'static TypeHandle;

    /// Reads a value from an RDB or a DUMP payload.
    ///
    /// # Errors
    /// Why the value is refused. Nothing in the payload may be trusted.
    fn load(from: &mut Loader, encver: i32) -> Result<Self::Value, LoadError>;

    /// Writes a value to an RDB or a DUMP payload. May run in a forked child.
    fn save(to: &mut Saver, value: &Self::Value);

    /// Writes the commands that make the value from nothing. May run in a forked child.
    fn aof_rewrite(to: &mut AofWriter, value: &Self::Value);

    /// The bytes that the value refers to; by a sample, unless `samples` is 0.
    fn mem_usage(value: &Self::Value, samples: usize) -> usize;

    /// Feeds everything that makes two values differ, and nothing else.
    fn digest(to: &mut Digest, value: &Self::Value);

    /// An independent value that is equal.
    fn copy(value: &Self::Value) -> Self::Value;

    /// Takes a value that no key holds any more. Called on the main thread or on
    /// the server's lazy-free thread.
    fn free(value: Self::Value);

    /// Roughly how many allocations freeing takes, at least 1.
    fn free_effort(value: &Self::Value) -> usize;

    /// Has the blocks moved that `value` alone refers to, from `from` on, which is 0
    /// or what an earlier call answered; where to go on if `to` said to stop.
    fn defrag(value: &mut Self::Value, from: u64, to: &Defrag) -> Option<u64>;
}

/// The server's handle of a data type, null until it is created.
#[derive(Debug)]
pub struct TypeHandle(AtomicPtr<raw::RedisModuleType>);

impl TypeHandle {
    /// A handle of a type that is not created yet.
    pub const fn unset() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    pub(super) fn get(&self) -> *mut raw::RedisModuleType {
        self.0.load(Ordering::Relaxed)
    }
}

/// Creates the type at the server; false if the server refuses it.
pub(super) fn create<T: DataType>(ctx: *mut raw::RedisModuleCtx) -> bool {
    let Ok(name) = CString::new(T::NAME) else {
        return false;
    };
    let mut methods = methods::<T>();
    // SAFETY: preconditions 1 and 2, during OnLoad; the server copies name and methods.
    let handle = unsafe { api!(RedisModule_CreateDataType)(ctx, name.as_ptr(), T::ENCVER, &mut methods) };
    T::handle().0.store(handle, Ordering::Relaxed);
    !handle.is_null()
}

fn methods<T: DataType>() -> raw::RedisModuleTypeMethods {
    raw::RedisModuleTypeMethods {
        version: u64::from(raw::REDISMODULE_TYPE_METHOD_VERSION),
        rdb_load: Some(rdb_load::<T>),
        rdb_save: Some(rdb_save::<T>),
        aof_rewrite: Some(aof_rewrite::<T>),
        digest: Some(digest::<T>),
        free: Some(free::<T>),
        // 6.2 knows the first form only, later servers prefer the second.
        mem_usage: Some(mem_usage::<T>),
        mem_usage2: Some(mem_usage2::<T>),
        free_effort: Some(free_effort::<T>),
        free_effort2: Some(free_effort2::<T>),
        copy: Some(copy::<T>),
        copy2: Some(copy2::<T>),
        unlink: Some(unlink),
        unlink2: Some(unlink2),
        // Nothing is kept outside of keys.
        aux_load: None,
        aux_save: None,
        aux_save2: None,
        aux_save_triggers: 0,
        // Never called by a server without active defragmentation.
        defrag: Some(defrag::<T>),
    }
}

/// # Safety
/// Precondition 4 holds for `value`, and no exclusive reference to it lives.
unsafe fn borrow<'v, T: DataType>(value: *const c_void) -> &'v T::Value {
    // SAFETY: as the caller promises.
    unsafe { &*value.cast::<T::Value>() }
}

unsafe extern "C" fn rdb_load<T: DataType>(io: *mut raw::RedisModuleIO, encver: c_int) -> *mut c_void {
    // SAFETY: the server lends `io` for this call.
    let loaded = load::<T>(&mut unsafe { Loader::new(io) }, encver);
    loaded.map_or(std::ptr::null_mut(), |value| Box::into_raw(Box::new(value)).cast())
}

/// Loads a value; null and a line in the log if it is refused.
fn load<T: DataType>(from: &mut Loader, encver: i32) -> Option<T::Value> {
    match catch("rdb_load", || T::load(from, encver))? {
        Ok(value) => Some(value),
        Err(error) => {
            from.log_error(&format!("{}: {error}", T::NAME));
            None
        }
    }
}

// A panic while saving is not caught: half a value in a file would be worse than
// the end of the child that writes it.
unsafe extern "C" fn rdb_save<T: DataType>(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: the server lends `io` for this call; precondition 4.
    unsafe { T::save(&mut Saver::new(io), borrow::<T>(value)) }
}

unsafe extern "C" fn aof_rewrite<T: DataType>(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: the server lends `io` and `key` for this call; precondition 4.
    unsafe { T::aof_rewrite(&mut AofWriter::new(io, key), borrow::<T>(value)) }
}

unsafe extern "C" fn digest<T: DataType>(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    // SAFETY: the server lends `digest` for this call; precondition 4.
    let (mut digest, value) = unsafe { (Digest::new(digest), borrow::<T>(value)) };
    catch("digest", || T::digest(&mut digest, value));
}

unsafe extern "C" fn free<T: DataType>(value: *mut c_void) {
    // SAFETY: precondition 4; the server forgets the value.
    let value = unsafe { Box::from_raw(value.cast::<T::Value>()) };
    catch("free", || T::free(*value));
}

/// What MEMORY USAGE samples unless it is told.
const DEFAULT_SAMPLES: usize = 5;

unsafe extern "C" fn mem_usage<T: DataType>(value: *const c_void) -> usize {
    // SAFETY: precondition 4.
    unsafe { mem_usage2::<T>(std::ptr::null_mut(), value, DEFAULT_SAMPLES) }
}

unsafe extern "C" fn mem_usage2<T: DataType>(
    _: *mut raw::RedisModuleKeyOptCtx,
    value: *const c_void,
    samples: usize,
) -> usize {
    // SAFETY: precondition 4.
    let (held, value) = unsafe { (footprint::of_box(value), borrow::<T>(value)) };
    let referred = catch("mem_usage", || T::mem_usage(value, samples)).unwrap_or(0);
    held.saturating_add(referred)
}

unsafe extern "C" fn free_effort<T: DataType>(_: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: precondition 4.
    let value = unsafe { borrow::<T>(value) };
    catch("free_effort", || T::free_effort(value)).unwrap_or(1)
}

unsafe extern "C" fn free_effort2<T: DataType>(
    _: *mut raw::RedisModuleKeyOptCtx,
    value: *const c_void,
) -> usize {
    // SAFETY: as the first form.
    unsafe { free_effort::<T>(std::ptr::null_mut(), value) }
}

unsafe extern "C" fn copy<T: DataType>(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: precondition 4.
    let value = unsafe { borrow::<T>(value) };
    let copy = catch("copy", || T::copy(value));
    copy.map_or(std::ptr::null_mut(), |copy| Box::into_raw(Box::new(copy)).cast())
}

unsafe extern "C" fn copy2<T: DataType>(
    _: *mut raw::RedisModuleKeyOptCtx,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: as the first form.
    unsafe { copy::<T>(std::ptr::null_mut(), std::ptr::null_mut(), value) }
}

unsafe extern "C" fn defrag<T: DataType>(
    ctx: *mut raw::RedisModuleDefragCtx,
    _: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: the server lends `ctx` and `value` for this call, on the main thread between
    // two commands, so nothing else refers to the value's box; precondition 4.
    let (to, value) = unsafe {
        let to = Defrag::new(ctx);
        *value = to.block((*value).cast::<T::Value>()).cast();
        (to, &mut *(*value).cast::<T::Value>())
    };
    let stopped_at = catch("defrag", || T::defrag(value, to.cursor(), &to)).flatten();
    c_int::from(stopped_at.is_some_and(|id| to.keep_cursor(id)))
}

// Nothing outside the key knows of a value, so there is nothing to undo when it
// leaves the key; `free` follows.
unsafe extern "C" fn unlink(_: *mut raw::RedisModuleString, _: *const c_void) {}

unsafe extern "C" fn unlink2(_: *mut raw::RedisModuleKeyOptCtx, _: *const c_void) {}
