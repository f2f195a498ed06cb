//! Native commands that the module runs, where answering exactly as they do means
//! letting them answer.

use std::ffi::{c_int, CStr};

use redis_module::raw;

use super::args::Arg;
use super::context::Context;

/// The reply of a native command.
pub struct CallReply {
    raw: *mut raw::RedisModuleCallReply,
}

impl Context {
    /// Runs a native command that may write. What it changes propagates as that
    /// command, with its own event and signal. Null if the server refuses to run it.
    pub fn call_write(&mut self, command: &CStr, args: &[Arg<'_>]) -> Option<CallReply> {
        self.call(command, c"!v", args)
    }

    /// Runs a native command that only reads: no value of a key is replaced by it.
    pub fn call_read(&self, command: &CStr, args: &[Arg<'_>]) -> Option<CallReply> {
        self.call(command, c"v", args)
    }

    fn call(&self, command: &CStr, format: &CStr, args: &[Arg<'_>]) -> Option<CallReply> {
        let mut raws: Vec<_> = args.iter().map(|arg| arg.raw).collect();
        // SAFETY: preconditions 1 to 3; "v" takes an array of strings and its length.
        let raw = unsafe {
            api!(RedisModule_Call)(self.raw, command.as_ptr(), format.as_ptr(), raws.as_mut_ptr(), raws.len())
        };
        (!raw.is_null()).then(|| CallReply { raw })
    }

    /// Runs a native command whose arguments are a literal word and a key.
    pub fn call_read_about(&self, command: &CStr, word: &CStr, key: Arg<'_>) -> Option<CallReply> {
        // SAFETY: preconditions 1 to 3; the format takes a C string and a string object.
        let raw = unsafe {
            api!(RedisModule_Call)(self.raw, command.as_ptr(), c"cs".as_ptr(), word.as_ptr(), key.raw)
        };
        (!raw.is_null()).then(|| CallReply { raw })
    }

    /// The value of a server setting, as CONFIG GET tells it.
    pub fn server_setting(&self, name: &CStr) -> Option<String> {
        // SAFETY: preconditions 1 and 2; the format takes two C strings.
        let raw = unsafe {
            api!(RedisModule_Call)(
                self.raw,
                c"CONFIG".as_ptr(),
                c"cc".as_ptr(),
                c"GET".as_ptr(),
                name.as_ptr(),
            )
        };
        let reply = (!raw.is_null()).then(|| CallReply { raw })?;
        // SAFETY: the reply is alive; an element out of bounds or of another type is null.
        let element = unsafe { api!(RedisModule_CallReplyArrayElement)(reply.raw, 1) };
        let bytes = bytes_of(element)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Passes the reply of a native command on to the client, errors verbatim.
    pub fn reply_with(&self, reply: &CallReply) {
        // SAFETY: preconditions 1 and 2; the reply is alive.
        unsafe { api!(RedisModule_ReplyWithCallReply)(self.raw, reply.raw) };
    }
}

impl CallReply {
    /// The integer, if it is one.
    pub fn integer(&self) -> Option<i64> {
        if self.kind() != raw::REDISMODULE_REPLY_INTEGER as c_int {
            return None;
        }
        // SAFETY: precondition 2; the reply is alive and an integer.
        Some(unsafe { api!(RedisModule_CallReplyInteger)(self.raw) })
    }

    /// The bytes, if it is a string (or an error: its text).
    pub fn bytes(&self) -> Option<&[u8]> {
        bytes_of(self.raw)
    }

    fn kind(&self) -> c_int {
        // SAFETY: precondition 2; the reply is alive.
        unsafe { api!(RedisModule_CallReplyType)(self.raw) }
    }
}

fn bytes_of<'r>(reply: *mut raw::RedisModuleCallReply) -> Option<&'r [u8]> {
    if reply.is_null() {
        return None;
    }
    let mut len = 0;
    // SAFETY: precondition 2; the reply is alive, its bytes live as long as it; other types give null.
    unsafe {
        let start: *const u8 = api!(RedisModule_CallReplyStringPtr)(reply, &mut len).cast();
        (!start.is_null()).then(|| std::slice::from_raw_parts(start, len))
    }
}

impl Drop for CallReply {
    fn drop(&mut self) {
        // SAFETY: precondition 2; made by RedisModule_Call and freed once.
        unsafe { api!(RedisModule_FreeCallReply)(self.raw) };
    }
}
