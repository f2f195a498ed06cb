//! The one way from the server into a command.
//!
//! A thin function of our own over the raw API: measured with callgrind at 1131
//! instructions for a GETBIT-like call, panics caught, against 1876 through the
//! crate's wrapper. It checks the arity (6.2 knows none of a module's commands),
//! answers key position requests from the parser that executes, and turns a panic
//! into an error reply.

use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use redis_module::raw;
use roarbits_spec::{Command, Keys};

use super::args::Args;
use super::context::Context;
use super::reply::Refusal;

/// A command: what its row does not say.
pub trait Handler {
    /// The name of its row.
    const NAME: &'static str;

    /// Where its row is kept once registered, so that a call need not look for it.
    fn row() -> &'static OnceLock<&'static Command>;

    /// Executes a call and replies exactly once.
    ///
    /// # Errors
    /// A refusal, of which nothing has been replied or changed.
    fn call(context: &mut Context, args: Args<'_>) -> Result<(), Refusal>;

    /// Tells the position of every key of a call, by the parser that `call` uses.
    /// Asked only where the row says that keys are parsed.
    fn keys(args: Args<'_>) -> Vec<usize> {
        let _ = args;
        Vec::new()
    }
}

static PANICS_CAUGHT: AtomicU64 = AtomicU64::new(0);

/// How many panics were caught since the module was loaded.
pub fn panics_caught() -> u64 {
    PANICS_CAUGHT.load(Ordering::Relaxed)
}

/// What the server calls for the command of `H`.
pub(super) extern "C" fn call<H: Handler>(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    if let Some(row) = H::row().get() {
        // SAFETY: preconditions 1 and 3: the server calls a command with them.
        let (context, args) = unsafe { (Context::new(ctx, row), Args::new(argv, argc)) };
        answer::<H>(context, args);
    }
    raw::REDISMODULE_OK as c_int
}

#[cfg_attr(not(debug_assertions), allow(unused_mut))]
fn answer<H: Handler>(mut context: Context, args: Args<'_>) {
    let row = context.row();
    if row.keys == Keys::Parsed && context.reports_keys::<H>(args) {
        return;
    }
    if !arity_fits(row.arity, args.len()) {
        return context.reply_refusal(&context.wrong_arity());
    }
    #[cfg(debug_assertions)]
    context.expect_keys(reported_keys::<H>(row, args));
    catch_and_answer(context, |context| H::call(context, args));
}

/// Runs a call, whose refusal or panic becomes its reply.
pub(super) fn catch_and_answer(mut context: Context, call: impl FnOnce(&mut Context) -> Result<(), Refusal>) {
    match catch(context.row().name, || call(&mut context)) {
        Some(Ok(())) => {}
        Some(Err(refusal)) => context.reply_refusal(&refusal),
        None => context.reply_refusal(&Refusal::INTERNAL),
    }
}

/// Runs `work`; null if it panicked, which is counted and logged with the place's name.
pub fn catch<R>(place: &str, work: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(payload) => {
            note_panic(place, payload.as_ref());
            None
        }
    }
}

#[cold]
fn note_panic(place: &str, payload: &(dyn std::any::Any + Send)) {
    PANICS_CAUGHT.fetch_add(1, Ordering::Relaxed);
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let line = format!("internal error in {place}, please report: {text}");
    super::context::log_line(std::ptr::null_mut(), c"warning", &line);
}

fn arity_fits(arity: i32, count: usize) -> bool {
    let wanted = arity.unsigned_abs() as usize;
    if arity < 0 {
        count >= wanted
    } else {
        count == wanted
    }
}

impl Context {
    /// The native text for a call with too few or too many arguments.
    pub fn wrong_arity(&self) -> Refusal {
        let name = self.row().name.to_ascii_lowercase();
        Refusal::made(format!("ERR wrong number of arguments for '{name}' command"))
    }

    /// Answers a request for key positions; false if the call is an ordinary one.
    fn reports_keys<H: Handler>(&self, args: Args<'_>) -> bool {
        // SAFETY: preconditions 1 and 2.
        if unsafe { api!(RedisModule_IsKeysPositionRequest)(self.raw) } == 0 {
            return false;
        }
        for position in catch(H::NAME, || H::keys(args)).unwrap_or_default() {
            // SAFETY: preconditions 1 and 2; only during a request for positions.
            unsafe { api!(RedisModule_KeyAtPos)(self.raw, c_int::try_from(position).unwrap_or(c_int::MAX)) };
        }
        true
    }
}

/// The keys that the server knows of a call.
#[cfg(debug_assertions)]
fn reported_keys<H: Handler>(row: &Command, args: Args<'_>) -> Vec<Vec<u8>> {
    let positions = match row.keys {
        Keys::Parsed => H::keys(args),
        Keys::Range { first, last, step } => {
            let count = args.len() as i32;
            let last = if last < 0 { count + last } else { last };
            (first..=last).step_by(step.max(1) as usize).map(|position| position as usize).collect()
        }
    };
    positions.into_iter().filter_map(|position| args.get(position)).map(|arg| arg.bytes().to_vec()).collect()
}
