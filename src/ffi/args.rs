//! The arguments of a call, borrowed where the server keeps them: nothing is copied.

use std::marker::PhantomData;

use redis_module::raw;

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

    /// Whether it is `word` in any case of letters.
    pub fn is(&self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }
}
