//! The server during one call: flags, log, replication, events, keys.

use std::ffi::{c_int, CStr, CString};
use std::ops::Deref;

use redis_module::raw;
use roarbits_spec::Command;

use super::args::{Arg, Args};
use super::key::{ReadKey, WriteKey};
use super::reply::{Protocol, Replies};

/// Whether a client can wait for its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// It can.
    Possible,
    /// It is in MULTI or a script, or the server denies it.
    Impossible,
    /// The call comes from the master or an append-only file: it is answered in place, whatever it
    /// takes, so that the ones behind it stay in order.
    Obeyed,
}

/// What a handler may ask of the server during its call.
///
/// Lent mutably to a handler: keys opened for reading borrow it shared, whatever
/// may change the data set borrows it exclusively.
pub struct Context {
    replies: Replies,
    row: &'static Command,
    /// The call's arguments where it is answered later: in a reply callback of Redis 6.2,
    /// ReplicateVerbatim propagates nothing and leaks them.
    late_args: Option<(*mut *mut raw::RedisModuleString, c_int)>,
    /// The keys that the row or the parser reported for this call.
    #[cfg(debug_assertions)]
    reported: Option<Vec<Vec<u8>>>,
}

impl Context {
    /// # Safety
    /// Precondition 1 holds for `raw` while the context lives.
    pub(super) unsafe fn new(raw: *mut raw::RedisModuleCtx, row: &'static Command) -> Self {
        Self {
            // SAFETY: the caller's promise.
            replies: unsafe { Replies::new(raw, Protocol::AskServer) },
            row,
            late_args: None,
            #[cfg(debug_assertions)]
            reported: None,
        }
    }

    /// As `new`, for a call that is answered in a reply callback.
    ///
    /// # Safety
    /// As `new`, and precondition 3 holds for `argv` and `argc`.
    pub(super) unsafe fn late(
        raw: *mut raw::RedisModuleCtx,
        row: &'static Command,
        argv: *mut *mut raw::RedisModuleString,
        argc: c_int,
    ) -> Self {
        // SAFETY: the caller's promise.
        Self { late_args: Some((argv, argc)), ..unsafe { Self::new(raw, row) } }
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
        match self.late_args {
            // SAFETY: preconditions 1 and 2.
            None => drop::<c_int>(unsafe { api!(RedisModule_ReplicateVerbatim)(self.raw) }),
            Some((argv, argc)) => {
                // SAFETY: precondition 3, which `late` was promised.
                let args = unsafe { Args::new(argv, argc) };
                self.replicate_own(&args.from(1).collect::<Vec<_>>());
            }
        }
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

    /// Propagates this command with `args` instead of the ones it came with.
    pub fn replicate_own(&mut self, args: &[Arg<'_>]) {
        if let Ok(name) = CString::new(self.row.name) {
            self.replicate(&name, args);
        }
    }

    /// Propagates that `key` expires, at a time in milliseconds since 1970.
    pub fn replicate_expiry(&mut self, key: Arg<'_>, at_ms: i64) {
        // SAFETY: preconditions 1 to 3; the format takes a string object and a long long.
        unsafe {
            api!(RedisModule_Replicate)(self.raw, c"PEXPIREAT".as_ptr(), c"sl".as_ptr(), key.raw, at_ms);
        }
    }

    /// Propagates `RB.IMPORT key piece FORMAT NATIVE mode`.
    pub fn replicate_import(&mut self, key: Arg<'_>, piece: &[u8], mode: &CStr) {
        // SAFETY: preconditions 1 to 3; the format takes a string object, a buffer with its length and
        // three C strings; the server copies everything.
        unsafe {
            api!(RedisModule_Replicate)(
                self.raw,
                c"RB.IMPORT".as_ptr(),
                c"sbccc".as_ptr(),
                key.raw,
                piece.as_ptr(),
                piece.len(),
                c"FORMAT".as_ptr(),
                c"NATIVE".as_ptr(),
                mode.as_ptr(),
            );
        }
    }

    /// Whether this node may write `key`: in a cluster its slot may have moved since the call came.
    pub fn owns(&self, key: Arg<'_>) -> bool {
        if self.flags() & raw::REDISMODULE_CTX_FLAGS_CLUSTER as c_int == 0 {
            return true;
        }
        // A call of a key that is not served here is refused, as is one of a missing key that moves;
        // a renamed EXISTS is not found.
        self.call_read(c"EXISTS", &[key]).is_some()
            || std::io::Error::last_os_error().kind() == std::io::ErrorKind::NotFound
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

    /// Whether the client of this call can wait for its reply.
    pub fn waiting(&self) -> Waiting {
        let flags = self.flags();
        let has = |any: u32| flags & any as c_int != 0;
        if has(raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING) {
            return Waiting::Obeyed;
        }
        let bound = raw::REDISMODULE_CTX_FLAGS_MULTI
            | raw::REDISMODULE_CTX_FLAGS_LUA
            | raw::REDISMODULE_CTX_FLAGS_DENY_BLOCKING;
        if has(bound) {
            Waiting::Impossible
        } else {
            Waiting::Possible
        }
    }

    /// The database that the client has selected.
    pub fn selected_database(&self) -> i32 {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_GetSelectedDb)(self.raw) }
    }

    /// Whether the client caches what it reads, and is told by the server what changes.
    pub fn is_tracked(&self) -> bool {
        let mut info =
            raw::RedisModuleClientInfo { version: 1, flags: 0, id: 0, addr: [0; 46], port: 0, db: 0 };
        // SAFETY: preconditions 1 and 2; `info` is of the version that it says.
        let known = unsafe {
            let id = api!(RedisModule_GetClientId)(self.raw);
            api!(RedisModule_GetClientInfoById)((&raw mut info).cast(), id)
        };
        known == raw::REDISMODULE_OK as c_int
            && info.flags & u64::from(raw::REDISMODULE_CLIENTINFO_FLAG_TRACKING) != 0
    }

    pub(super) fn flags(&self) -> c_int {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_GetContextFlags)(self.raw) }
    }
}

/// Whatever replies can be given through.
impl Deref for Context {
    type Target = Replies;

    fn deref(&self) -> &Replies {
        &self.replies
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
