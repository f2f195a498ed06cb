//! Where values are read from and written to: RDB, append-only file, digest.

use std::ffi::CString;
use std::fmt;

use redis_module::raw;

/// Why a value was refused while loading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// The file or the payload ended early, or reading it failed.
    Io,
    /// The bytes were read but are not a value.
    Invalid(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io => f.write_str("the input ended early"),
            Self::Invalid(what) => f.write_str(what),
        }
    }
}

/// Reads what `Saver` wrote.
pub struct Loader(*mut raw::RedisModuleIO);

impl Loader {
    /// # Safety
    /// `io` is lent by the server for loading while this lives.
    pub(super) unsafe fn new(io: *mut raw::RedisModuleIO) -> Self {
        Self(io)
    }

    /// Reads the next bytes and hands them to `read`.
    ///
    /// # Errors
    /// The input ended or failed; `read` is not called then.
    pub fn with_bytes<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Result<R, LoadError> {
        let mut len = 0;
        // SAFETY: precondition 2; `io` is lent for loading. Bytes of a failed read are null.
        unsafe {
            let start = api!(RedisModule_LoadStringBuffer)(self.0, &mut len);
            let failed = api!(RedisModule_IsIOError)(self.0) != 0 || start.is_null();
            let buffer = (!start.is_null()).then(|| Buffer(start));
            match buffer {
                Some(buffer) if !failed => {
                    let result = read(std::slice::from_raw_parts(buffer.0.cast::<u8>(), len));
                    Ok(result)
                }
                _ => Err(LoadError::Io),
            }
        }
    }

    pub(super) fn log_error(&self, line: &str) {
        let Ok(line) = CString::new(line.replace('\0', "\\0")) else {
            return;
        };
        // SAFETY: precondition 2; `io` is alive; the format takes one C string.
        unsafe { api!(RedisModule_LogIOError)(self.0, c"warning".as_ptr(), c"%s".as_ptr(), line.as_ptr()) };
    }
}

/// Bytes that the server allocated for the module to free, also when a reader panics.
struct Buffer(*mut std::ffi::c_char);

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: precondition 2; allocated by LoadStringBuffer and freed once.
        unsafe { api!(RedisModule_Free)(self.0.cast()) };
    }
}

/// Writes a value to an RDB or a DUMP payload.
pub struct Saver(*mut raw::RedisModuleIO);

impl Saver {
    /// # Safety
    /// `io` is lent by the server for saving while this lives.
    pub(super) unsafe fn new(io: *mut raw::RedisModuleIO) -> Self {
        Self(io)
    }

    /// Writes bytes with their length. A failure is the server's to notice.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: precondition 2; `io` is lent for saving; the server copies the bytes.
        unsafe { api!(RedisModule_SaveStringBuffer)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// Writes commands to an append-only file that is rewritten.
pub struct AofWriter {
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
}

impl AofWriter {
    /// # Safety
    /// `io` and `key` are lent by the server for a rewrite while this lives.
    pub(super) unsafe fn new(io: *mut raw::RedisModuleIO, key: *mut raw::RedisModuleString) -> Self {
        Self { io, key }
    }

    /// Writes `RB.IMPORT key piece FORMAT NATIVE OR`.
    pub fn import_native(&mut self, piece: &[u8]) {
        // SAFETY: precondition 2; `io` and `key` are lent; the format takes a key, a buffer with its
        // length, and three C strings; the server copies everything.
        unsafe {
            api!(RedisModule_EmitAOF)(
                self.io,
                c"RB.IMPORT".as_ptr(),
                c"sbccc".as_ptr(),
                self.key,
                piece.as_ptr(),
                piece.len(),
                c"FORMAT".as_ptr(),
                c"NATIVE".as_ptr(),
                c"OR".as_ptr(),
            );
        }
    }
}

/// Takes in what makes two values differ.
pub struct Digest(*mut raw::RedisModuleDigest);

impl Digest {
    /// # Safety
    /// `digest` is lent by the server while this lives.
    pub(super) unsafe fn new(digest: *mut raw::RedisModuleDigest) -> Self {
        Self(digest)
    }

    /// Adds one element of several words, in order.
    pub fn element(&mut self, words: &[u64]) {
        for word in words {
            // SAFETY: precondition 2; the digest is alive. The cast keeps every bit.
            unsafe { api!(RedisModule_DigestAddLongLong)(self.0, *word as i64) };
        }
        // SAFETY: as above.
        unsafe { api!(RedisModule_DigestEndSequence)(self.0) };
    }
}
