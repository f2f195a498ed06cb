//! The module's section of INFO.

use std::ffi::{c_int, CString};
use std::sync::OnceLock;

use redis_module::raw;

use super::trampoline::catch;

static WRITER: OnceLock<fn(&InfoSection)> = OnceLock::new();

/// The section `roarbits` while it is written; the server puts the module's name
/// before each field.
pub struct InfoSection(*mut raw::RedisModuleInfoCtx);

impl InfoSection {
    /// Adds a text.
    pub fn text(&self, field: &str, value: &str) {
        let (Ok(field), Ok(value)) = (CString::new(field), CString::new(value)) else {
            return;
        };
        // SAFETY: precondition 2; the section is lent by the server; it copies both.
        unsafe { api!(RedisModule_InfoAddFieldCString)(self.0, field.as_ptr(), value.as_ptr()) };
    }

    /// Adds a number.
    pub fn number(&self, field: &str, value: u64) {
        let Ok(field) = CString::new(field) else { return };
        // SAFETY: precondition 2; the section is lent by the server; it copies the name.
        unsafe { api!(RedisModule_InfoAddFieldULongLong)(self.0, field.as_ptr(), value) };
    }
}

/// Has `write` called whenever INFO (or a crash report) is made: it may take no lock.
pub(super) fn register(ctx: *mut raw::RedisModuleCtx, write: fn(&InfoSection)) {
    WRITER.get_or_init(|| write);
    // SAFETY: preconditions 1 and 2, during OnLoad.
    unsafe { api!(RedisModule_RegisterInfoFunc)(ctx, Some(fill)) };
}

unsafe extern "C" fn fill(ctx: *mut raw::RedisModuleInfoCtx, _for_crash_report: c_int) {
    // SAFETY: precondition 2; the server lends `ctx` for this call. It skips a section not asked for.
    if unsafe { api!(RedisModule_InfoAddSection)(ctx, c"".as_ptr()) } != raw::REDISMODULE_OK as c_int {
        return;
    }
    if let Some(write) = WRITER.get() {
        catch("info", || write(&InfoSection(ctx)));
    }
}
