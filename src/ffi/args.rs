//! The arguments of a call, borrowed where the server keeps them: nothing is copied.

use std::marker::PhantomData;
use std::thread::ThreadId;

use redis_module::raw;

use super::context::Context;

/// The arguments of one call, the command's name first.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    argv: *mut *mut raw::RedisModuleString,
    count: usize,
    call: PhantomData<&'a ()>,
}

/// One argument: the server's object for it, asked for its bytes when they are needed.
#[derive(Clone, Copy)]
pub struct Arg<'a> {
    pub(super) raw: *mut raw::RedisModuleString,
    call: PhantomData<&'a ()>,
}

/// The bytes of an argument, kept for work that outlives its call. Nothing is copied: the server
/// does not change the bytes of an argument that others hold.
pub struct HeldArg {
    raw: *mut raw::RedisModuleString,
    bytes: *const [u8],
    /// The thread that may count references, which is the one that made this.
    owner: ThreadId,
}

// SAFETY: only the bytes are read on other threads, which stay in place and unchanged.
unsafe impl Send for HeldArg {}

impl HeldArg {
    /// The bytes as the client sent them.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the object is held, and so are its bytes.
        unsafe { &*self.bytes }
    }
}

impl Drop for HeldArg {
    fn drop(&mut self) {
        // Elsewhere it is leaked rather than counted by two threads; no work is dropped there but by a panic.
        if self.owner == std::thread::current().id() {
            // SAFETY: precondition 2; held once in `hold`, given back once.
            unsafe { api!(RedisModule_FreeString)(std::ptr::null_mut(), self.raw) };
        }
    }
}

/// A key's name as an object of the module's own, for work that outlives the call it came in.
pub struct OwnKey {
    ctx: *mut raw::RedisModuleCtx,
    raw: *mut raw::RedisModuleString,
}

impl OwnKey {
    /// A copy of `name`, for use with `context` alone.
    pub fn new(context: &Context, name: &[u8]) -> Self {
        let ctx = context.raw;
        // SAFETY: preconditions 1 and 2; the server copies the bytes.
        let raw = unsafe { api!(RedisModule_CreateString)(ctx, name.as_ptr().cast(), name.len()) };
        Self { ctx, raw }
    }

    /// The name as an argument of a call has it.
    pub fn arg(&self) -> Arg<'_> {
        Arg { raw: self.raw, call: PhantomData }
    }
}

impl Drop for OwnKey {
    fn drop(&mut self) {
        // SAFETY: precondition 2; made in `new` and freed once. Nothing is freed on its own here: the
        // module never asks for automatic memory.
        unsafe { api!(RedisModule_FreeString)(self.ctx, self.raw) };
    }
}

impl<'a> Args<'a> {
    /// # Safety
    /// Precondition 3 holds for `argv` and `argc` for the lifetime `'a`.
    pub(super) unsafe fn new(argv: *mut *mut raw::RedisModuleString, argc: i32) -> Self {
        Self { argv, count: usize::try_from(argc).unwrap_or(0), call: PhantomData }
    }

    /// The number of arguments, the command's name included.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The argument at `position`; 0 is the command's name.
    #[inline]
    pub fn get(&self, position: usize) -> Option<Arg<'a>> {
        if position >= self.count {
            return None;
        }
        // SAFETY: the position is within argc; precondition 3.
        Some(Arg { raw: unsafe { *self.argv.add(position) }, call: PhantomData })
    }

    /// The arguments from `position` on.
    pub fn from(&self, position: usize) -> impl Iterator<Item = Arg<'a>> + 'a {
        let args = *self;
        (position..self.count).filter_map(move |position| args.get(position))
    }
}

impl<'a> Arg<'a> {
    /// The bytes as the client sent them.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        let mut len = 0;
        // SAFETY: preconditions 2 and 3.
        unsafe {
            let start: *const u8 = api!(RedisModule_StringPtrLen)(self.raw, &mut len).cast();
            std::slice::from_raw_parts(start, len)
        }
    }

    /// Holds it beyond the call.
    pub fn hold(&self) -> HeldArg {
        // SAFETY: preconditions 2 and 3; without a context nothing else gives the reference back.
        unsafe { api!(RedisModule_RetainString)(std::ptr::null_mut(), self.raw) };
        HeldArg { raw: self.raw, bytes: self.bytes(), owner: std::thread::current().id() }
    }

    /// Whether it is `word` in any case of letters.
    pub fn is(&self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }
}
