//! What an operator sets: one static a config, and the load arguments.

use crate::ffi::{Loading, NumericConfig};

const MIB: i64 = 1024 * 1024;

/// No reply can be larger whatever is asked for: its ids would not fit a server's memory.
const MAX_REPLY_LIMIT: i64 = 1 << 31;
/// More workers than this only wait for each other.
const MAX_WORKERS: i64 = 256;
/// Workers by default at most.
const USUAL_WORKERS: usize = 4;

static MAX_REPLY: NumericConfig = NumericConfig::new("max-reply", 1..=MAX_REPLY_LIMIT, 1_000_000);
/// 0 stands for what the machine's cores suggest, until it is loaded.
static WORKER_THREADS: NumericConfig = NumericConfig::immutable("worker-threads", 1..=MAX_WORKERS, 0);
static INLINE_BUDGET: NumericConfig = NumericConfig::new("inline-budget", 0..=1_000_000_000, 1000);
static INLINE_HARD_LIMIT: NumericConfig = NumericConfig::new("inline-hard-limit", 0..=1_000_000_000, 100);
static WORKER_QUEUE: NumericConfig = NumericConfig::new("worker-queue", 1..=1_000_000, 1000);
static OFFLOAD_MEMORY: NumericConfig = NumericConfig::new("offload-memory", MIB..=i64::MAX, 1024 * MIB);
static STRING_COPY_MAX: NumericConfig = NumericConfig::new("string-copy-max", 0..=i64::MAX, 16 * MIB);

const ALL: &[&NumericConfig] = &[
    &MAX_REPLY,
    &WORKER_THREADS,
    &INLINE_BUDGET,
    &INLINE_HARD_LIMIT,
    &WORKER_QUEUE,
    &OFFLOAD_MEMORY,
    &STRING_COPY_MAX,
];

/// The most ids that a list reply holds.
pub fn max_reply() -> u64 {
    MAX_REPLY.get().unsigned_abs()
}

/// How many threads work off the main thread.
pub fn worker_threads() -> usize {
    WORKER_THREADS.get().unsigned_abs() as usize
}

/// Microseconds that a call may likely take and still run in place.
pub fn inline_budget_us() -> u64 {
    INLINE_BUDGET.get().unsigned_abs()
}

/// Microseconds that a call may likely take where it cannot but run in place; null if without limit.
pub fn inline_hard_limit_us() -> Option<u64> {
    Some(INLINE_HARD_LIMIT.get().unsigned_abs()).filter(|ms| *ms > 0).map(|ms| ms.saturating_mul(1000))
}

/// How many calls wait for a worker at most.
pub fn worker_queue() -> u64 {
    WORKER_QUEUE.get().unsigned_abs()
}

/// Bytes that copies and results of calls off the main thread take at most.
pub fn offload_memory_bytes() -> u64 {
    OFFLOAD_MEMORY.get().unsigned_abs()
}

/// Bytes of plain strings that one call copies at most.
pub fn string_copy_max() -> u64 {
    STRING_COPY_MAX.get().unsigned_abs()
}

/// Takes the load arguments as defaults, then lets the server's own configuration win.
///
/// # Errors
/// An argument that is unknown, incomplete or out of range, in words.
pub fn load(loading: &Loading) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    WORKER_THREADS.set_default(USUAL_WORKERS.min(cores.saturating_sub(1)).max(1).to_string().as_bytes())?;
    for pair in loading.args().chunks(2) {
        let [name, rest @ ..] = pair else { continue };
        let config = ALL
            .iter()
            .find(|config| name.eq_ignore_ascii_case(config.name.as_bytes()))
            .ok_or_else(|| format!("unknown load argument '{}'", String::from_utf8_lossy(name)))?;
        let value = rest.first().ok_or_else(|| format!("load argument {} has no value", config.name))?;
        config.set_default(value)?;
    }
    loading.register_configs(ALL)
}
