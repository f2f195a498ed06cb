//! The server during one call: flags, log, replication, events, keys.

use std::ffi::{c_int, CStr, CString};

use redis_module::raw;
use roarbits_spec::Command;

use super::args::Arg;
use super::key::{ReadKey, WriteKey};

/// What a handler may ask of the server during its call.
///
/// Lent mutably to a handler: keys opened for reading borrow it shared, whatever
/// may change the data set borrows it exclusively.
pub struct Context {
    pub(super) raw: *mut raw::RedisModuleCtx,
    row: &'static Command,
    /// The keys that the row or the parser reported for this call.
    #[cfg(debug_assertions)]
    reported: Option<Vec<Vec<u8>>>,
}

impl Context {
    /// # Safety
    /// Precondition 1 holds for `raw` while the context lives.
    pub(super) unsafe fn new(raw: *mut raw::RedisModuleCtx, row: &'static Command) -> Self {
        Self {
            raw,
            row,
            #[cfg(debug_assertions)]
            reported: None,
        }
    }

    /// The row of the command that is called.
    pub fn row(&self) -> &'static Command {
        self.row
    }

    /// From here on, opening a key that is not among `keys` aborts the server.
    #[cfg(debug_assertions)]
    pub(super) fn expect_keys(&mut self, keys: Vec<Vec<u8>>) {
        self.reported = Some(keys);
    }

    /// Opens a key for reading: as any native read, it may note the access.
    pub fn open_read(&self, key: Arg<'_>) -> ReadKey<'_> {
        self.check_reported(key);
        // SAFETY: preconditions 1, 2 and 3; a missing key is a null pointer, which ReadKey takes.
        unsafe { ReadKey::new(api!(RedisModule_OpenKey)(self.raw, key.raw, raw::REDISMODULE_READ as c_int)) }
    }

    /// Opens a key for writing.
    pub fn open_write(&mut self, key: Arg<'_>) -> WriteKey<'_> {
        self.check_reported(key);
        let mode = (raw::REDISMODULE_READ | raw::REDISMODULE_WRITE) as c_int;
        // SAFETY: preconditions 1, 2 and 3.
        unsafe { WriteKey::new(api!(RedisModule_OpenKey)(self.raw, key.raw, mode)) }
    }

    /// A debug build ends here when a command opens a key that it did not report:
    /// such a key escapes ACL, cluster redirection and client tracking.
    fn check_reported(&self, key: Arg<'_>) {
        #[cfg(debug_assertions)]
        if let Some(reported) = &self.reported {
            if !reported.iter().any(|known| known == key.bytes()) {
                log_line(self.raw, c"warning", "a command opened a key that it did not report");
                std::process::abort();
            }
        }
        let _ = key;
    }

    /// Propagates the call as it came, to replicas and the append-only file.
    pub fn replicate_verbatim(&mut self) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplicateVerbatim)(self.raw) };
    }

    /// Propagates `command` with `args` instead of the call as it came. Several in
    /// one call reach replicas as one transaction.
    pub fn replicate(&mut self, command: &CStr, args: &[Arg<'_>]) {
        let mut raws: Vec<_> = args.iter().map(|arg| arg.raw).collect();
        // SAFETY: preconditions 1 to 3; "v" takes an array of strings and its length.
        unsafe {
            api!(RedisModule_Replicate)(
                self.raw,
                command.as_ptr(),
                c"v".as_ptr(),
                raws.as_mut_ptr(),
                raws.len(),
            );
        }
    }

    /// Tells WATCH and client-side caches that `key` changed.
    pub fn signal_modified(&mut self, key: Arg<'_>) {
        // SAFETY: preconditions 1 to 3.
        unsafe { api!(RedisModule_SignalModifiedKey)(self.raw, key.raw) };
    }

    /// Fires the keyspace event `event` of the class of modules, `d`.
    pub fn notify_module_event(&mut self, event: &CStr, key: Arg<'_>) {
        self.notify(raw::REDISMODULE_NOTIFY_MODULE, event, key);
    }

    /// Fires `del`, of the generic class, `g`.
    pub fn notify_deleted(&mut self, key: Arg<'_>) {
        self.notify(raw::REDISMODULE_NOTIFY_GENERIC, c"del", key);
    }

    fn notify(&mut self, class: c_int, event: &CStr, key: Arg<'_>) {
        // SAFETY: preconditions 1 to 3; the server copies the event.
        unsafe { api!(RedisModule_NotifyKeyspaceEvent)(self.raw, class, event.as_ptr(), key.raw) };
    }

    /// True if the call comes from the master or from an append-only file: it must
    /// be obeyed, whatever the limits.
    pub fn must_obey(&self) -> bool {
        let obey = raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING;
        self.flags() & obey as c_int != 0
    }

    /// True if the client speaks RESP3.
    pub fn is_resp3(&self) -> bool {
        self.flags() & raw::REDISMODULE_CTX_FLAGS_RESP3 as c_int != 0
    }

    fn flags(&self) -> c_int {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_GetContextFlags)(self.raw) }
    }
}

/// True if more memory is used than `maxmemory` allows.
pub fn memory_is_short() -> bool {
    // SAFETY: the static is written once, before any call; the function takes nothing.
    unsafe { raw::RedisModule_GetUsedMemoryRatio.is_some_and(|ratio| ratio() > 1.0) }
}

/// Writes a line to the server's log; a null context is allowed.
pub(super) fn log_line(ctx: *mut raw::RedisModuleCtx, level: &CStr, line: &str) {
    let Ok(line) = CString::new(line.replace('\0', "\\0")) else {
        return;
    };
    // SAFETY: preconditions 1 and 2; the format takes one C string.
    unsafe { api!(RedisModule_Log)(ctx, level.as_ptr(), c"%s".as_ptr(), line.as_ptr()) };
}
