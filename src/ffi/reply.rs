//! Replies to a client, and the errors that handlers return.

use std::borrow::Cow;
use std::ffi::{c_int, c_long, CString};

use redis_module::raw;

/// Where replies to one client go: on the main thread during its call, or on a worker
/// for a client that waits for it.
pub struct Replies {
    pub(super) raw: *mut raw::RedisModuleCtx,
    protocol: Protocol,
}

/// How a client's protocol is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// The server says so, on the main thread.
    AskServer,
    /// It was RESP2 when the client was blocked.
    Resp2,
    /// It was RESP3 then.
    Resp3,
}

/// A call refused: the error text, prefix included, as the client gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(Cow<'static, str>);

impl Refusal {
    /// What a panic is answered with.
    pub const INTERNAL: Self = Self::new("ERR roarbits: internal error, please report");

    /// A text that is known beforehand.
    pub const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// A text made for this call.
    pub fn made(text: String) -> Self {
        Self(Cow::Owned(text))
    }

    /// The text, prefix included.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Replies {
    /// # Safety
    /// Replies may be added to `raw` while this lives: precondition 1 holds, or it is a thread-safe
    /// context of a blocked client that this thread alone uses.
    pub(super) unsafe fn new(raw: *mut raw::RedisModuleCtx, protocol: Protocol) -> Self {
        Self { raw, protocol }
    }

    /// True if the client speaks RESP3.
    pub fn is_resp3(&self) -> bool {
        match self.protocol {
            // SAFETY: preconditions 1 and 2; only made so on the main thread.
            Protocol::AskServer => unsafe {
                api!(RedisModule_GetContextFlags)(self.raw) & raw::REDISMODULE_CTX_FLAGS_RESP3 as c_int != 0
            },
            known => known == Protocol::Resp3,
        }
    }

    /// Replies an error.
    pub fn reply_refusal(&self, refusal: &Refusal) {
        let line: String = refusal.text().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let Ok(line) = CString::new(line) else { return };
        // SAFETY: preconditions 1 and 2; the server copies the text.
        unsafe { api!(RedisModule_ReplyWithError)(self.raw, line.as_ptr()) };
    }

    /// Replies `OK`, as only the development command does so far.
    #[cfg(debug_assertions)]
    pub fn reply_ok(&self) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplyWithSimpleString)(self.raw, c"OK".as_ptr()) };
    }

    /// Replies an integer.
    pub fn reply_integer(&self, value: i64) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplyWithLongLong)(self.raw, value) };
    }

    /// Replies a count or a position: an integer up to 2^63-1; above that a big
    /// number in RESP3, where the server has them, and a bulk string elsewhere.
    pub fn reply_count(&self, value: u128) {
        match i64::try_from(value) {
            Ok(value) => self.reply_integer(value),
            Err(_) => self.reply_big(&value.to_string()),
        }
    }

    fn reply_big(&self, digits: &str) {
        // SAFETY: the static is written once, before any call.
        match unsafe { raw::RedisModule_ReplyWithBigNumber } {
            Some(reply) if self.is_resp3() => {
                // SAFETY: precondition 1; the server copies the digits.
                unsafe { reply(self.raw, digits.as_ptr().cast(), digits.len()) };
            }
            _ => self.reply_bulk(digits.as_bytes()),
        }
    }

    /// Replies a double: one of RESP3, its digits in RESP2.
    pub fn reply_double(&self, value: f64) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplyWithDouble)(self.raw, value) };
    }

    /// Replies bytes.
    pub fn reply_bulk(&self, bytes: &[u8]) {
        // SAFETY: preconditions 1 and 2; the server copies the bytes.
        unsafe { api!(RedisModule_ReplyWithStringBuffer)(self.raw, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// Replies an id, which is a bulk string, so that no client loses digits.
    pub fn reply_id(&self, id: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = id;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.reply_bulk(&digits[at..]);
    }

    /// Replies null.
    pub fn reply_null(&self) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplyWithNull)(self.raw) };
    }

    /// Opens an array of `len` replies, which must follow.
    pub fn reply_array(&self, len: usize) {
        // SAFETY: preconditions 1 and 2.
        unsafe { api!(RedisModule_ReplyWithArray)(self.raw, len as c_long) };
    }

    /// Opens a map of `len` pairs, which must follow: a RESP3 map where server and
    /// client have them, otherwise a flat array.
    pub fn reply_map(&self, len: usize) {
        // SAFETY: the static is written once, before any call.
        match unsafe { raw::RedisModule_ReplyWithMap } {
            // SAFETY: precondition 1.
            Some(reply) => drop::<c_int>(unsafe { reply(self.raw, len as c_long) }),
            None => self.reply_array(len * 2),
        }
    }
}
