//! Work off the main thread, and the one way to write a command that may do it.
//!
//! ```text
//! call -> Work: parsed, its sources snapshots -> answer()
//!    within inline-budget, or where no client can wait ---> run, finish        main thread
//!    else: block the client, queue
//!              run; look at bound sources again; wait out a pause of writes   worker
//!              finish: reply, or commit                                        main thread
//! ```
//!
//! A `Work` that writes commits in `finish` and nowhere else. Whatever ends it early (the client is
//! gone, its database replaced, a shutdown) cancels its `Watch`, and nothing is stored.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use roarbits_core::Watch;

pub mod figures;
mod holdings;
mod pool;
mod tickets;

use crate::ffi::{writes_are_paused, Args, BlockedClient, Context, Finish, Refusal, Replies, Waiting};
use crate::keyspace::Sources;
use crate::{config, drops};
use figures::{add, INLINE, INLINE_FORCED, LONGEST_INLINE_US, OFFLOADED, REFUSED, RETRIED, WORK_US};
use holdings::{LiveSnapshot, Memory};
use tickets::Issued;

pub use pool::{queued, start, stop, threads};
pub use tickets::{cancel_all, cancel_client, cancel_database, cancel_writes, End};

/// Whether a work may change the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only replies.
    Reads,
    /// It commits when it finishes.
    Writes,
}

/// What a command has to do once it is parsed.
pub trait Work: Send + 'static {
    /// What `run` finds.
    type Answer: Send + 'static;

    /// Whether it may change the data set.
    const EFFECT: Effect;

    /// The keys it reads, as they were when it began.
    fn sources(&mut self) -> &mut Sources;

    /// Microseconds it is likely to take.
    fn estimate_us(&self) -> u64;

    /// Does it, on any thread; null if `watch` was cancelled.
    fn run(&self, watch: &Watch) -> Option<Self::Answer>;

    /// Bytes that an answer takes until it is given.
    fn answer_bytes(&self, answer: &Self::Answer) -> u64;

    /// Gives a reply that takes long to write on the worker; the answer if there is none such.
    fn reply_early(&self, replies: &Replies, answer: Self::Answer) -> Option<Self::Answer> {
        let _ = replies;
        Some(answer)
    }

    /// Does it and replies at once, on the main thread.
    ///
    /// # Errors
    /// As `finish`.
    fn in_place(mut self, context: &mut Context, args: Args<'_>) -> Result<(), Refusal>
    where
        Self: Sized,
    {
        match self.run(&Watch::new()) {
            Some(answer) => self.finish(context, args, answer),
            None => Err(Refusal::INTERNAL),
        }
    }

    /// Replies, and commits what is to be written.
    ///
    /// # Errors
    /// A refusal, of which nothing has been replied or changed.
    fn finish(&mut self, context: &mut Context, args: Args<'_>, answer: Self::Answer) -> Result<(), Refusal>;
}

const QUEUE_IS_FULL: Refusal = Refusal::new("RBBUSY worker queue is full, retry");
const TOO_LARGE_IN_PLACE: Refusal = Refusal::new("RBBUSY too large inside MULTI or a script, run it outside");
const PAUSED: Refusal = Refusal::new("TRYAGAIN roarbits: writes are paused, retry");

/// Microseconds that going through one leaf takes.
pub const LEAF_US: u64 = 4;

/// How long a write waits for a pause of writes to end.
const PAUSE_WAIT: Duration = Duration::from_secs(1);
/// How long a worker waits for a busy server to let it look at sources; the main thread looks anyway.
const LOOK_WAIT: Duration = Duration::from_millis(200);
/// How often it looks whether the pause has ended.
const PAUSE_LOOK: Duration = Duration::from_millis(5);

/// Does `work` and replies: here, or later, when a worker has done it.
///
/// # Errors
/// The work's own refusal, or that there is no room for it now.
pub fn answer<W: Work>(context: &mut Context, args: Args<'_>, mut work: W) -> Result<(), Refusal> {
    let estimate_us = work.estimate_us();
    if estimate_us <= config::inline_budget_us() {
        return in_place(context, args, work);
    }
    match context.waiting() {
        Waiting::Possible => {}
        Waiting::Obeyed => return forced(context, args, work),
        Waiting::Impossible => {
            if config::inline_hard_limit_us().is_some_and(|limit| estimate_us > limit) {
                add(&REFUSED, 1);
                return Err(TOO_LARGE_IN_PLACE);
            }
            return forced(context, args, work);
        }
    }
    let memory = Memory::reserve(work.sources().copied_bytes())?;
    if context.is_tracked() {
        work.sources().bind_all();
    }
    let Some(place) = pool::place() else {
        add(&REFUSED, 1);
        return Err(QUEUE_IS_FULL);
    };
    let Some(client) = context.block() else {
        drop(place);
        return forced(context, args, work);
    };
    let ticket = tickets::issue(client.token(), context.selected_database(), W::EFFECT);
    let snapshot = LiveSnapshot::new();
    place.take(move || Errand { client, ticket, work, memory, snapshot }.run());
    Ok(())
}

fn forced<W: Work>(context: &mut Context, args: Args<'_>, work: W) -> Result<(), Refusal> {
    add(&INLINE_FORCED, 1);
    in_place(context, args, work)
}

fn in_place<W: Work>(context: &mut Context, args: Args<'_>, work: W) -> Result<(), Refusal> {
    add(&INLINE, 1);
    let begin = Instant::now();
    let result = work.in_place(context, args);
    LONGEST_INLINE_US.fetch_max(micros(begin), Ordering::Relaxed);
    result
}

thread_local! {
    /// Whether this thread is a worker.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Where the present work is done, as EXPLAIN tells it.
pub fn place() -> &'static str {
    if IS_WORKER.get() {
        "worker"
    } else {
        "inline"
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// A work on its way through a worker.
struct Errand<W: Work> {
    client: BlockedClient,
    ticket: Issued,
    work: W,
    memory: Memory,
    snapshot: LiveSnapshot,
}

/// What a worker came to.
enum Outcome<A> {
    /// An answer to be given on the main thread.
    Answer(A),
    /// The reply is given.
    Replied,
    Refused(Refusal),
}

impl<W: Work> Errand<W> {
    fn run(mut self) {
        let begin = Instant::now();
        self.snapshot.measure(self.work.sources());
        let outcome = crate::ffi::catch(self.client.row().name, || self.work_out());
        add(&WORK_US, micros(begin));
        let outcome = outcome.unwrap_or(Outcome::Refused(Refusal::INTERNAL));
        let Self { client, ticket, work, memory, snapshot } = self;
        let outcome = Some(outcome);
        client.give_up(Box::new(Finished { ticket, work, outcome, _memory: memory, _snapshot: snapshot }));
    }

    fn work_out(&mut self) -> Outcome<W::Answer> {
        let mut tries = 2;
        loop {
            tries -= 1;
            let Some(answer) = self.attempt() else {
                return Outcome::Refused(self.ticket.refusal());
            };
            if tries > 0 && self.has_gone_stale() {
                add(&RETRIED, 1);
                continue;
            }
            if let Err(refusal) = self.memory.grow(self.work.answer_bytes(&answer)) {
                return Outcome::Refused(refusal);
            }
            return self.deliver(answer);
        }
    }

    fn attempt(&mut self) -> Option<W::Answer> {
        if self.ticket.has_ended() {
            return None;
        }
        let (work, watch) = (&self.work, self.ticket.watch());
        self.client.measured(|| work.run(watch))
    }

    /// Whether a bound source has changed, of which there is a new snapshot then.
    fn has_gone_stale(&mut self) -> bool {
        let (sources, ticket, begin) = (self.work.sources(), &self.ticket, Instant::now());
        sources.has_binding()
            && self
                .client
                .with_server(
                    || ticket.has_ended() || begin.elapsed() > LOOK_WAIT,
                    |context| !sources.binding_are_current(context) && sources.refresh(context).is_ok(),
                )
                .unwrap_or(false)
    }

    /// Replies where that can be done here; else waits until the main thread may.
    fn deliver(&mut self, answer: W::Answer) -> Outcome<W::Answer> {
        if W::EFFECT == Effect::Writes {
            self.wait_out_pause();
            return Outcome::Answer(answer);
        }
        if self.work.sources().has_binding() {
            return Outcome::Answer(answer);
        }
        let (work, mut left) = (&self.work, None);
        let mut answer = Some(answer);
        self.client
            .reply(|replies| left = answer.take().and_then(|answer| work.reply_early(replies, answer)));
        match left.or(answer) {
            Some(answer) => Outcome::Answer(answer),
            None => Outcome::Replied,
        }
    }

    /// Waits while writes are paused, for a while.
    fn wait_out_pause(&mut self) {
        let begin = Instant::now();
        let ticket = &self.ticket;
        while begin.elapsed() < PAUSE_WAIT
            && self
                .client
                .with_server(|| ticket.has_ended() || begin.elapsed() > PAUSE_WAIT, |_| writes_are_paused())
                == Some(true)
        {
            std::thread::sleep(PAUSE_LOOK);
        }
    }
}

/// What the main thread has left to do.
struct Finished<W: Work> {
    ticket: Issued,
    work: W,
    /// Null once it is given.
    outcome: Option<Outcome<W::Answer>>,
    // Given back when all else is done.
    _memory: Memory,
    _snapshot: LiveSnapshot,
}

/// What the main thread must not take the time to free.
struct Leftover<A> {
    answer: Option<Outcome<A>>,
    sources: Sources,
}

impl<A: Send + 'static> drops::Value for Leftover<A> {
    fn free_effort(&self) -> u64 {
        match self.answer {
            // How large it is nobody knows here.
            Some(Outcome::Answer(_)) => u64::MAX,
            _ => self.sources.free_effort(),
        }
    }
}

impl<W: Work> Drop for Finished<W> {
    /// Also when the client is gone, and `finish` was never called.
    fn drop(&mut self) {
        let sources = std::mem::replace(self.work.sources(), Sources::none());
        drops::release(Leftover { answer: self.outcome.take(), sources });
    }
}

impl<W: Work> Finish for Finished<W> {
    fn finish(mut self: Box<Self>, context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
        add(&OFFLOADED, 1);
        if let Some(Outcome::Answer(_)) = self.outcome {
            // What ended it may have come after the worker had done.
            if self.ticket.has_ended() {
                return Err(self.ticket.refusal());
            }
            if W::EFFECT == Effect::Writes && writes_are_paused() {
                return Err(PAUSED);
            }
            let sources = self.work.sources();
            if sources.has_binding() && !sources.binding_are_current(context) {
                sources.refresh(context)?;
                add(&INLINE_FORCED, 1);
                let begin = Instant::now();
                self.outcome = self.work.run(&Watch::new()).map(Outcome::Answer);
                LONGEST_INLINE_US.fetch_max(micros(begin), Ordering::Relaxed);
            }
        }
        match self.outcome.take() {
            Some(Outcome::Answer(answer)) => self.work.finish(context, args, answer),
            Some(Outcome::Replied) => Ok(()),
            Some(Outcome::Refused(refusal)) => Err(refusal),
            None => Err(Refusal::INTERNAL),
        }
    }
}
