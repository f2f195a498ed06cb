//! What the server tells of itself: shutdowns, data sets that are replaced, roles that change.

use std::ffi::c_void;
use std::sync::OnceLock;

use redis_module::raw;

use super::blocked::{on_disconnect, ClientToken};
use super::trampoline::catch;

/// What is called, on the main thread, when something happens.
#[derive(Debug, Clone, Copy)]
pub struct ServerEvents {
    /// The server shuts down. That may fail, and the server go on: whatever this ends must start
    /// again by itself then.
    pub shutdown: fn(),
    /// A database, or all for null, is about to be emptied or to hold other keys.
    pub database_replaced: fn(Option<i32>),
    /// The server became a replica.
    pub demoted: fn(),
    /// A blocked client went away.
    pub client_gone: fn(ClientToken),
}

static EVENTS: OnceLock<ServerEvents> = OnceLock::new();

type Callback = unsafe extern "C" fn(*mut raw::RedisModuleCtx, raw::RedisModuleEvent, u64, *mut c_void);

/// Has `events` called from now on; events that a server does not know never come.
pub(super) fn subscribe(ctx: *mut raw::RedisModuleCtx, events: ServerEvents) {
    EVENTS.get_or_init(|| events);
    on_disconnect(events.client_gone);
    let wanted: [(u64, Callback); 6] = [
        (raw::REDISMODULE_EVENT_SHUTDOWN, shutdown),
        (raw::REDISMODULE_EVENT_FLUSHDB, flushed),
        (raw::REDISMODULE_EVENT_SWAPDB, swapped),
        (raw::REDISMODULE_EVENT_LOADING, loading),
        (raw::REDISMODULE_EVENT_REPL_ASYNC_LOAD, loading_aside),
        (raw::REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED, role_changed),
    ];
    for (id, callback) in wanted {
        let event = raw::RedisModuleEvent { id, dataver: 1 };
        // SAFETY: preconditions 1 and 2, during OnLoad.
        unsafe { api!(RedisModule_SubscribeToServerEvent)(ctx, event, Some(callback)) };
    }
}

fn tell(place: &str, tell: impl FnOnce(&ServerEvents)) {
    if let Some(events) = EVENTS.get() {
        catch(place, || tell(events));
    }
}

unsafe extern "C" fn shutdown(_: *mut raw::RedisModuleCtx, _: raw::RedisModuleEvent, _: u64, _: *mut c_void) {
    tell("shutdown", |events| (events.shutdown)());
}

unsafe extern "C" fn flushed(
    _: *mut raw::RedisModuleCtx,
    _: raw::RedisModuleEvent,
    _: u64,
    data: *mut c_void,
) {
    // SAFETY: the server lends this structure for the event, at its start and at its end.
    let info = unsafe { data.cast::<raw::RedisModuleFlushInfo>().as_ref() };
    let database = info.map(|info| info.dbnum).filter(|database| *database >= 0);
    tell("flush", |events| (events.database_replaced)(database));
}

unsafe extern "C" fn swapped(
    _: *mut raw::RedisModuleCtx,
    _: raw::RedisModuleEvent,
    _: u64,
    data: *mut c_void,
) {
    // SAFETY: the server lends this structure for the event.
    let Some(info) = (unsafe { data.cast::<raw::RedisModuleSwapDbInfo>().as_ref() }) else {
        return;
    };
    for database in [info.dbnum_first, info.dbnum_second] {
        tell("swap", |events| (events.database_replaced)(Some(database)));
    }
}

unsafe extern "C" fn loading(
    _: *mut raw::RedisModuleCtx,
    _: raw::RedisModuleEvent,
    sub: u64,
    _: *mut c_void,
) {
    if sub == raw::REDISMODULE_SUBEVENT_LOADING_REPL_START {
        tell("loading", |events| (events.database_replaced)(None));
    }
}

unsafe extern "C" fn loading_aside(
    _: *mut raw::RedisModuleCtx,
    _: raw::RedisModuleEvent,
    sub: u64,
    _: *mut c_void,
) {
    if sub == raw::REDISMODULE_SUBEVENT_REPL_ASYNC_LOAD_COMPLETED {
        tell("loading aside", |events| (events.database_replaced)(None));
    }
}

unsafe extern "C" fn role_changed(
    _: *mut raw::RedisModuleCtx,
    _: raw::RedisModuleEvent,
    sub: u64,
    _: *mut c_void,
) {
    if sub == raw::REDISMODULE_EVENT_REPLROLECHANGED_NOW_REPLICA {
        tell("role", |events| (events.demoted)());
    }
}

/// Whether writes are paused now, for a failover or by CLIENT PAUSE: one that did not arrive before
/// the pause would abort the server.
pub fn writes_are_paused() -> bool {
    // SAFETY: precondition 2; takes nothing, and the caller has the server to itself.
    unsafe { api!(RedisModule_AvoidReplicaTraffic)() != 0 }
}
