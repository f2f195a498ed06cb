//! Clients that wait while a worker works for them.
//!
//! The main thread blocks a client and hands its `BlockedClient` to a worker. That gives it up with
//! a `Finish`, which the main thread then runs as if the call had just arrived: the same arguments,
//! another context. A client that goes away first is told to `on_disconnect`, and its `Finish` is
//! dropped unrun. Nothing that a worker calls here needs the server's lock but `with_server`, which
//! takes it.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::time::Duration;

use redis_module::raw;
use roarbits_spec::Command;

use super::args::Args;
use super::context::Context;
use super::reply::{Protocol, Refusal, Replies};
use super::trampoline::catch_and_answer;

/// How often a worker asks for the server's lock: it never waits in the lock itself, so that a
/// shutdown, which holds it, can wait for the worker.
const LOCK_RETRY: Duration = Duration::from_micros(50);

static ON_DISCONNECT: OnceLock<fn(ClientToken)> = OnceLock::new();

/// What is left to do on the main thread once the work is done.
pub trait Finish: Send {
    /// Replies to the call exactly once; it cannot block again.
    ///
    /// # Errors
    /// A refusal, of which nothing has been replied or changed.
    fn finish(self: Box<Self>, context: &mut Context, args: Args<'_>) -> Result<(), Refusal>;
}

/// Tells a blocked client from all others while it is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientToken(usize);

/// A blocked client in the hands of a worker.
pub struct BlockedClient {
    raw: NonNull<raw::RedisModuleBlockedClient>,
    row: &'static Command,
    protocol: Protocol,
    detached: Option<NonNull<raw::RedisModuleCtx>>,
}

// SAFETY: the handle stays valid until it is given up, and every function that is called with it
// here is one that the server allows on any thread.
unsafe impl Send for BlockedClient {}

/// What a worker leaves for the main thread.
struct Parcel {
    row: &'static Command,
    finish: Option<Box<dyn Finish>>,
}

impl Context {
    /// Blocks the client of this call, if the server allows it here.
    pub fn block(&mut self) -> Option<BlockedClient> {
        let protocol = if self.is_resp3() { Protocol::Resp3 } else { Protocol::Resp2 };
        // SAFETY: preconditions 1 and 2; no time limit.
        let raw = unsafe { api!(RedisModule_BlockClient)(self.raw, Some(reply), None, Some(free), 0) };
        let raw = NonNull::new(raw)?;
        // SAFETY: precondition 2; the handle was just made.
        unsafe { api!(RedisModule_SetDisconnectCallback)(raw.as_ptr(), Some(disconnected)) };
        Some(BlockedClient { raw, row: self.row(), protocol, detached: None })
    }
}

impl BlockedClient {
    /// What `on_disconnect` tells this client by.
    pub fn token(&self) -> ClientToken {
        ClientToken(self.raw.as_ptr() as usize)
    }

    /// The row of the command that is called.
    pub fn row(&self) -> &'static Command {
        self.row
    }

    /// Runs `work`, whose time counts as the command's in the slow log and in command statistics.
    pub fn measured<R>(&self, work: impl FnOnce() -> R) -> R {
        // SAFETY: precondition 2; the handle is valid, and only this thread measures it.
        unsafe { api!(RedisModule_BlockedClientMeasureTimeStart)(self.raw.as_ptr()) };
        let result = work();
        // SAFETY: as above.
        unsafe { api!(RedisModule_BlockedClientMeasureTimeEnd)(self.raw.as_ptr()) };
        result
    }

    /// Lets `give` add replies here and now, which the client gets when it is given up.
    pub fn reply(&mut self, give: impl FnOnce(&Replies)) {
        let Some(detached) = self.detached() else { return };
        // SAFETY: a thread-safe context of this client; `self` is borrowed exclusively.
        give(&unsafe { Replies::new(detached.as_ptr(), self.protocol) });
    }

    /// Lets `ask` use the server while it does nothing else; null if `gives_up` says so first.
    pub fn with_server<R>(
        &mut self,
        gives_up: impl Fn() -> bool,
        ask: impl FnOnce(&mut Context) -> R,
    ) -> Option<R> {
        let detached = self.detached()?.as_ptr();
        // SAFETY: precondition 2; the context is alive; the lock is given back below.
        while unsafe { api!(RedisModule_ThreadSafeContextTryLock)(detached) } != raw::REDISMODULE_OK as c_int
        {
            if gives_up() {
                return None;
            }
            std::thread::sleep(LOCK_RETRY);
        }
        let unlock = Unlock(detached);
        // SAFETY: with the lock held this thread is the only one in the server: precondition 1.
        let mut context = unsafe { Context::new(detached, self.row) };
        let result = ask(&mut context);
        drop(unlock);
        Some(result)
    }

    /// Has the main thread run `finish` for the client, unless it is gone.
    pub fn give_up(mut self, finish: Box<dyn Finish>) {
        if let Some(detached) = self.detached.take() {
            // SAFETY: precondition 2; made by `detached` and freed once.
            unsafe { api!(RedisModule_FreeThreadSafeContext)(detached.as_ptr()) };
        }
        let parcel = Box::into_raw(Box::new(Parcel { row: self.row, finish: Some(finish) }));
        // SAFETY: precondition 2; the handle is given up, the parcel comes back to `free`.
        unsafe { api!(RedisModule_UnblockClient)(self.raw.as_ptr(), parcel.cast()) };
    }

    fn detached(&mut self) -> Option<NonNull<raw::RedisModuleCtx>> {
        if self.detached.is_none() {
            // SAFETY: precondition 2; the handle is valid.
            self.detached =
                NonNull::new(unsafe { api!(RedisModule_GetThreadSafeContext)(self.raw.as_ptr()) });
        }
        self.detached
    }
}

/// Gives the server's lock back, also when the work under it panics.
struct Unlock(*mut raw::RedisModuleCtx);

impl Drop for Unlock {
    fn drop(&mut self) {
        // SAFETY: precondition 2; this thread holds the lock.
        unsafe { api!(RedisModule_ThreadSafeContextUnlock)(self.0) };
    }
}

/// Has `note` called on the main thread for each blocked client that goes away.
pub(super) fn on_disconnect(note: fn(ClientToken)) {
    ON_DISCONNECT.get_or_init(|| note);
}

unsafe extern "C" fn reply(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: precondition 2; of a context of a reply callback, this is what was given up.
    let parcel = unsafe { api!(RedisModule_GetBlockedClientPrivateData)(ctx).cast::<Parcel>() };
    // SAFETY: made by `give_up`, and used on this thread alone until `free`.
    if let Some(parcel) = unsafe { parcel.as_mut() } {
        // SAFETY: preconditions 1 and 3: the server calls back with the call's arguments.
        let (context, args) = unsafe { (Context::late(ctx, parcel.row, argv, argc), Args::new(argv, argc)) };
        if let Some(finish) = parcel.finish.take() {
            catch_and_answer(context, |context| finish.finish(context, args));
        }
    }
    raw::REDISMODULE_OK as c_int
}

unsafe extern "C" fn free(_: *mut raw::RedisModuleCtx, parcel: *mut c_void) {
    if !parcel.is_null() {
        // SAFETY: made by `give_up`; the server calls this once, last.
        drop(unsafe { Box::from_raw(parcel.cast::<Parcel>()) });
    }
}

unsafe extern "C" fn disconnected(_: *mut raw::RedisModuleCtx, client: *mut raw::RedisModuleBlockedClient) {
    if let Some(note) = ON_DISCONNECT.get() {
        super::trampoline::catch("disconnect", || note(ClientToken(client as usize)));
    }
}
