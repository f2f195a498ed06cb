//! Keys opened by a call.
//!
//! A `ReadKey` borrows its context shared and a `WriteKey` exclusively, so that the
//! compiler refuses to hold a reference into one key's value while another handle
//! (on the same key, perhaps) could replace it.

use std::ffi::c_int;
use std::marker::PhantomData;

use redis_module::raw;

use super::context::Context;
use super::data_type::{DataType, TypeHandle};

/// What an open key holds, as far as the module cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: the key is missing.
    Missing,
    /// A plain string.
    String,
    /// A value of a module's type, ours or another's.
    Module,
    /// A list, hash, set, sorted set, stream or anything newer.
    Other,
}

/// A key opened for reading; missing keys too.
pub struct ReadKey<'c> {
    raw: *mut raw::RedisModuleKey,
    context: PhantomData<&'c Context>,
}

/// A key opened for writing; missing keys too.
pub struct WriteKey<'c> {
    raw: *mut raw::RedisModuleKey,
    context: PhantomData<&'c mut Context>,
}

impl ReadKey<'_> {
    /// # Safety
    /// `raw` was just opened for reading, or is null, and nobody else closes it.
    pub(super) unsafe fn new(raw: *mut raw::RedisModuleKey) -> Self {
        Self { raw, context: PhantomData }
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        kind(self.raw)
    }

    /// The value, if it is one of the data type `T`.
    pub fn value<T: DataType>(&self) -> Option<&T::Value> {
        let value = value_pointer(self.raw, T::handle())?;
        // SAFETY: precondition 4; nothing can replace the value while the context is borrowed.
        Some(unsafe { &*value.cast() })
    }

    /// The length in bytes of a plain string; 0 of anything else.
    pub fn string_length(&self) -> usize {
        match self.kind() {
            // SAFETY: precondition 2; the key is open.
            Kind::String => unsafe { api!(RedisModule_ValueLength)(self.raw) },
            _ => 0,
        }
    }

    /// The bytes of a plain string where they lie.
    ///
    /// On a string that is not raw-encoded (an integer, or one of the short embedded
    /// ones) the server re-encodes it first, which OBJECT ENCODING would show: callers
    /// ask only for strings that are too long for that.
    pub fn string_in_place(&self) -> Option<&[u8]> {
        if self.kind() != Kind::String {
            return None;
        }
        let mut len = 0;
        // SAFETY: precondition 2; the key is open, and its bytes stay while the context is borrowed.
        unsafe {
            let start: *const u8 =
                api!(RedisModule_StringDMA)(self.raw, &mut len, raw::REDISMODULE_READ as c_int).cast();
            (!start.is_null()).then(|| std::slice::from_raw_parts(start, len))
        }
    }
}

impl WriteKey<'_> {
    /// # Safety
    /// `raw` was just opened for writing and nobody else closes it.
    pub(super) unsafe fn new(raw: *mut raw::RedisModuleKey) -> Self {
        Self { raw, context: PhantomData }
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        kind(self.raw)
    }

    /// The value, if it is one of the data type `T`.
    pub fn value_mut<T: DataType>(&mut self) -> Option<&mut T::Value> {
        let value = value_pointer(self.raw, T::handle())?;
        // SAFETY: precondition 4; the context is borrowed exclusively, so there is no other reference.
        Some(unsafe { &mut *value.cast() })
    }

    /// Stores a value over whatever the key holds; the former value if it was one
    /// of the data type `T`. The expiry of the key is cleared.
    pub fn replace<T: DataType>(&mut self, value: T::Value) -> Option<T::Value> {
        let new = Box::into_raw(Box::new(value)).cast();
        let old = match value_pointer(self.raw, T::handle()) {
            Some(_) => self.swap_value(T::handle(), new),
            None => {
                // SAFETY: preconditions 2 and 4; the key is open for writing.
                unsafe { api!(RedisModule_ModuleTypeSetValue)(self.raw, T::handle().get(), new) };
                None
            }
        };
        // SAFETY: precondition 2; the key is open for writing.
        unsafe { api!(RedisModule_SetExpire)(self.raw, raw::mstime_t::from(raw::REDISMODULE_NO_EXPIRE)) };
        // SAFETY: precondition 4; the server has given the old value up.
        old.map(|old| *unsafe { Box::from_raw(old.cast::<T::Value>()) })
    }

    /// Setting a value would free the old one here and now; swapping hands it back.
    fn swap_value(
        &mut self,
        handle: &TypeHandle,
        new: *mut std::ffi::c_void,
    ) -> Option<*mut std::ffi::c_void> {
        let mut old = std::ptr::null_mut();
        // SAFETY: preconditions 2 and 4; the key is open for writing and holds this type.
        unsafe { api!(RedisModule_ModuleTypeReplaceValue)(self.raw, handle.get(), new, &mut old) };
        (!old.is_null()).then_some(old)
    }

    /// Has the key expire in `ms` milliseconds; when that is, in milliseconds since 1970, if it takes it.
    pub fn expire_in_ms(&mut self, ms: i64) -> Option<i64> {
        // SAFETY: precondition 2; the key is open for writing.
        let taken = unsafe { api!(RedisModule_SetExpire)(self.raw, ms) };
        if taken != raw::REDISMODULE_OK as c_int {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { api!(RedisModule_GetAbsExpire)(self.raw) })
    }

    /// Deletes the key.
    pub fn delete(&mut self) {
        // SAFETY: precondition 2; the key is open for writing.
        unsafe { api!(RedisModule_DeleteKey)(self.raw) };
    }
}

impl Drop for ReadKey<'_> {
    fn drop(&mut self) {
        close(self.raw);
    }
}

impl Drop for WriteKey<'_> {
    fn drop(&mut self) {
        close(self.raw);
    }
}

fn kind(key: *mut raw::RedisModuleKey) -> Kind {
    if key.is_null() {
        return Kind::Missing;
    }
    // SAFETY: precondition 2; the key is open.
    match unsafe { api!(RedisModule_KeyType)(key) } as isize {
        raw::REDISMODULE_KEYTYPE_EMPTY => Kind::Missing,
        raw::REDISMODULE_KEYTYPE_STRING => Kind::String,
        raw::REDISMODULE_KEYTYPE_MODULE => Kind::Module,
        _ => Kind::Other,
    }
}

fn value_pointer(key: *mut raw::RedisModuleKey, handle: &TypeHandle) -> Option<*mut std::ffi::c_void> {
    if key.is_null() {
        return None;
    }
    // SAFETY: precondition 2; the key is open; of other types the server returns null.
    unsafe {
        let of_type = api!(RedisModule_ModuleTypeGetType)(key);
        if of_type.is_null() || of_type != handle.get() {
            return None;
        }
        let value = api!(RedisModule_ModuleTypeGetValue)(key);
        (!value.is_null()).then_some(value)
    }
}

fn close(key: *mut raw::RedisModuleKey) {
    if !key.is_null() {
        // SAFETY: precondition 2; opened by this module and closed once.
        unsafe { api!(RedisModule_CloseKey)(key) };
    }
}
