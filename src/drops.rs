//! Big values are freed by one thread of their own, so that DEL, expiry, overwrite,
//! eviction and FLUSHALL do not hold the main thread for them (100 million ids take
//! 18 to 37 ms to free). Only eviction's second victim in a row is freed in place.
//!
//! The thread starts at load. A shutdown stops it; should the server then go on
//! after all, the next big value starts it again. Nothing here runs in a forked child.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle, ThreadId};

use roarbits_core::bitmap::Remains;
use roarbits_core::Bitmap;

use crate::ffi::memory_is_short;

/// From this many allocations on, a value is handed over: freeing fewer takes the
/// main thread less than about 0.1 ms.
const BIG_FREE_EFFORT: u64 = 256;

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);
static MAIN_THREAD: OnceLock<ThreadId> = OnceLock::new();
static STOPPING: AtomicBool = AtomicBool::new(false);
static PENDING: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

/// What may take long to free.
pub trait Value: Send + 'static {
    /// Roughly how many allocations that frees.
    fn free_effort(&self) -> u64;
}

impl Value for Bitmap {
    fn free_effort(&self) -> u64 {
        Bitmap::free_effort(self)
    }
}

impl Value for Remains {
    fn free_effort(&self) -> u64 {
        Remains::free_effort(self)
    }
}

struct Worker {
    values: Sender<Box<dyn Value>>,
    thread: JoinHandle<()>,
}

/// Starts the thread, on the main thread at load. Without one (the system refused
/// it) values are freed in place.
pub fn start() {
    MAIN_THREAD.get_or_init(|| std::thread::current().id());
    *WORKER.lock().unwrap_or_else(PoisonError::into_inner) = spawn();
}

/// Stops and joins the thread. It finishes the value at hand and forgets the rest,
/// whose memory goes with the process.
pub fn stop() {
    let Some(worker) = WORKER.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    STOPPING.store(true, Ordering::Relaxed);
    drop(worker.values);
    let _ended = worker.thread.join();
    STOPPING.store(false, Ordering::Relaxed);
}

/// Frees a value that nothing refers to any more: at once if it is small or if this
/// is a thread that may take its time, otherwise on the thread for it.
pub fn release(value: impl Value) {
    if value.free_effort() < BIG_FREE_EFFORT || !on_main_thread() || is_eviction_waiting() {
        return;
    }
    let mut worker = WORKER.lock().unwrap_or_else(PoisonError::into_inner);
    if worker.is_none() {
        *worker = spawn();
    }
    if let Some(worker) = worker.as_ref() {
        PENDING.fetch_add(1, Ordering::Relaxed);
        if worker.values.send(Box::new(value)).is_err() {
            PENDING.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Whether the server is over `maxmemory` while a value is already being freed here.
/// Eviction goes on until it sees memory come back: were its second victim handed over
/// too, and the third, it would empty the keyspace.
fn is_eviction_waiting() -> bool {
    pending() > 0 && memory_is_short()
}

/// Values handed over and not freed yet.
pub fn pending() -> u64 {
    PENDING.load(Ordering::Relaxed)
}

/// Values freed by the thread since the module was loaded.
pub fn done() -> u64 {
    DONE.load(Ordering::Relaxed)
}

fn on_main_thread() -> bool {
    MAIN_THREAD.get().is_some_and(|main| *main == std::thread::current().id())
}

fn spawn() -> Option<Worker> {
    let (values, received) = channel();
    let thread = Builder::new().name("roarbits-drops".to_owned()).spawn(move || free_all(&received)).ok()?;
    Some(Worker { values, thread })
}

fn free_all(values: &Receiver<Box<dyn Value>>) {
    while let Ok(value) = values.recv() {
        if STOPPING.load(Ordering::Relaxed) {
            std::mem::forget(value);
        } else {
            // A value whose freeing panics is leaked in part; the thread goes on.
            let _ended = catch_unwind(AssertUnwindSafe(|| drop(value)));
            DONE.fetch_add(1, Ordering::Relaxed);
        }
        PENDING.fetch_sub(1, Ordering::Relaxed);
    }
}
