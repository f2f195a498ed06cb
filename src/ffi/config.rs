//! Numbers that an operator sets: as load arguments on every server, and as module
//! configs (CONFIG SET, the config file) where the server has them.

use std::ffi::{c_char, c_int, c_longlong, c_void, CString};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, Ordering};

use redis_module::raw;

/// A number with a name, a range and a place. The initial value is the default.
#[derive(Debug)]
pub struct NumericConfig {
    /// As in load arguments; the server puts `roarbits.` before it.
    pub name: &'static str,
    range: RangeInclusive<i64>,
    value: AtomicI64,
    flags: u32,
}

impl NumericConfig {
    /// A config of the closed `range` with its default.
    pub const fn new(name: &'static str, range: RangeInclusive<i64>, default: i64) -> Self {
        Self { name, range, value: AtomicI64::new(default), flags: raw::REDISMODULE_CONFIG_DEFAULT }
    }

    /// As `new`, of a value that is never set while the server runs.
    pub const fn immutable(name: &'static str, range: RangeInclusive<i64>, default: i64) -> Self {
        Self { flags: raw::REDISMODULE_CONFIG_IMMUTABLE, ..Self::new(name, range, default) }
    }

    /// The value in force.
    pub fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }

    /// Takes the text of a load argument as the new default.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn set_default(&self, text: &[u8]) -> Result<(), String> {
        let value = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        match value.filter(|value| self.range.contains(value)) {
            Some(value) => {
                self.value.store(value, Ordering::Relaxed);
                Ok(())
            }
            None => Err(format!(
                "{} must be a number from {} to {}, not '{}'",
                self.name,
                self.range.start(),
                self.range.end(),
                String::from_utf8_lossy(text)
            )),
        }
    }
}

/// Makes configs known to the server, if it has module configs, and applies what its
/// own configuration says of them; false if the server refuses.
pub(super) fn register_all(ctx: *mut raw::RedisModuleCtx, configs: &[&'static NumericConfig]) -> bool {
    // SAFETY: the statics are written once, before any call.
    let (register, load) = unsafe { (raw::RedisModule_RegisterNumericConfig, raw::RedisModule_LoadConfigs) };
    let (Some(register), Some(load)) = (register, load) else {
        return true;
    };
    let all_registered = configs.iter().all(|config| {
        let Ok(name) = CString::new(config.name) else {
            return false;
        };
        let place = std::ptr::from_ref(*config).cast_mut().cast::<c_void>();
        let (min, max) = (*config.range.start(), *config.range.end());
        // SAFETY: precondition 1, during OnLoad; the name is copied, the config is static.
        let answer = unsafe {
            register(
                ctx,
                name.as_ptr(),
                config.get(),
                config.flags,
                min,
                max,
                Some(get_value),
                Some(set_value),
                None,
                place,
            )
        };
        answer == raw::REDISMODULE_OK as c_int
    });
    // SAFETY: precondition 1, during OnLoad.
    all_registered && unsafe { load(ctx) } == raw::REDISMODULE_OK as c_int
}

unsafe extern "C" fn get_value(_: *const c_char, place: *mut c_void) -> c_longlong {
    // SAFETY: the place registered above, a static config.
    unsafe { &*place.cast::<NumericConfig>() }.get()
}

unsafe extern "C" fn set_value(
    _: *const c_char,
    value: c_longlong,
    place: *mut c_void,
    _: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: the place registered above, a static config; the server has checked the range.
    unsafe { &*place.cast::<NumericConfig>() }.value.store(value, Ordering::Relaxed);
    raw::REDISMODULE_OK as c_int
}
