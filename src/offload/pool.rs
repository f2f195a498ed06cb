//! The workers and their queue.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::tickets::{cancel_all, End};
use super::IS_WORKER;
use crate::config;
use crate::ffi::catch;

type Task = Box<dyn FnOnce() + Send>;

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { tasks: VecDeque::new(), workers: Vec::new(), stopping: false });
static READY: Condvar = Condvar::new();
static THREADS: AtomicU64 = AtomicU64::new(0);
static QUEUED: AtomicU64 = AtomicU64::new(0);

struct Queue {
    tasks: VecDeque<Task>,
    workers: Vec<JoinHandle<()>>,
    stopping: bool,
}

/// Workers that run.
pub fn threads() -> u64 {
    THREADS.load(Ordering::Relaxed)
}

/// Tasks that wait for a worker.
pub fn queued() -> u64 {
    QUEUED.load(Ordering::Relaxed)
}

/// Starts the workers, on the main thread at load.
pub fn start() {
    staff(&mut queue());
}

/// Stops and joins the workers, on the main thread: whatever they have in hand is cancelled, and
/// whatever waits is given up. Should the server go on after all, the next task starts them again.
pub fn stop() {
    cancel_all(End::Shutdown);
    let workers = {
        let mut queue = queue();
        queue.stopping = true;
        std::mem::take(&mut queue.workers)
    };
    READY.notify_all();
    for worker in workers {
        let _ended = worker.join();
    }
    queue().stopping = false;
    THREADS.store(0, Ordering::Relaxed);
}

/// A place in the queue, held by the lock on it.
pub struct Place(MutexGuard<'static, Queue>);

/// A place in the queue; null if it is full, or if there are no workers to be had.
pub fn place() -> Option<Place> {
    let mut queue = queue();
    staff(&mut queue);
    let has_room = (queue.tasks.len() as u64) < config::worker_queue() && !queue.workers.is_empty();
    has_room.then_some(Place(queue))
}

impl Place {
    /// Has a worker run `task`.
    pub fn take(mut self, task: impl FnOnce() + Send + 'static) {
        self.0.tasks.push_back(Box::new(task));
        QUEUED.store(self.0.tasks.len() as u64, Ordering::Relaxed);
        READY.notify_one();
    }
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts workers until there are as many as configured, or as the system gives.
fn staff(queue: &mut Queue) {
    while queue.workers.len() < config::worker_threads() {
        let name = format!("roarbits-work{}", queue.workers.len());
        match Builder::new().name(name).spawn(work) {
            Ok(worker) => queue.workers.push(worker),
            Err(_) => break,
        }
    }
    THREADS.store(queue.workers.len() as u64, Ordering::Relaxed);
}

fn work() {
    IS_WORKER.set(true);
    while let Some(task) = next() {
        // A task answers its own panics; one that is left ends nothing but itself.
        catch("worker", task);
    }
}

/// The next task; null once the queue is empty and workers are to stop.
fn next() -> Option<Task> {
    let mut queue = queue();
    loop {
        if let Some(task) = queue.tasks.pop_front() {
            QUEUED.store(queue.tasks.len() as u64, Ordering::Relaxed);
            return Some(task);
        }
        if queue.stopping {
            return None;
        }
        queue = READY.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}
