//! What tests ask of a server beside their commands: memory, digests, INFO
//! fields, and waiting for something to become true.

use std::thread;
use std::time::{Duration, Instant};

use crate::reply::{describe, Outcome};
use crate::{args, Client, Value};

/// How long tests wait for what must come. Only a test that fails gets near it: machines
/// are slow, busy, or stop for seconds, and none of that may fail one.
pub const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    /// `used_memory` in bytes. Allocators round up to size classes and (jemalloc)
    /// count what their thread caches hold as used; nothing flushes those from
    /// outside, so measure many keys or a big value, after a warm-up write.
    ///
    /// # Panics
    /// If INFO has no such field.
    pub fn used_memory(&mut self) -> u64 {
        self.info_number("memory", "used_memory")
    }

    /// One field of one INFO section, or None.
    pub fn info(&mut self, section: &str, field: &str) -> Option<String> {
        let text = self.text(&["INFO", section]);
        text.lines().find_map(|line| Some(line.strip_prefix(field)?.strip_prefix(':')?.trim().to_string()))
    }

    /// A numeric field of an INFO section.
    ///
    /// # Panics
    /// If there is no such field, or it is no number.
    pub fn info_number(&mut self, section: &str, field: &str) -> u64 {
        let text = self.info(section, field);
        match text.as_deref().map(str::parse) {
            Some(Ok(number)) => number,
            _ => panic!("INFO {section} has {field} = {text:?}, not a number"),
        }
    }

    /// The reply of a command and the time that the server itself spent on it,
    /// by its own statistics, in microseconds; INFO commandstats starts over.
    ///
    /// # Panics
    /// If the server has no statistics of the command: it does not know it, or
    /// refused it before running it.
    pub fn timed<A: AsRef<[u8]>>(&mut self, args: &[A]) -> (Outcome, Duration) {
        self.ok(&["CONFIG", "RESETSTAT"]);
        let outcome = self.cmd(args);
        let name = args.first().map(|name| String::from_utf8_lossy(name.as_ref()).to_lowercase());
        let mark = format!("cmdstat_{}:", name.unwrap_or_default());
        let text = self.text(&["INFO", "commandstats"]);
        let spent: Option<u64> = text.lines().filter(|line| line.starts_with(&mark)).find_map(|line| {
            let fields = line.split([':', ',']);
            fields.filter_map(|field| field.strip_prefix("usec=")).next()?.parse().ok()
        });
        match spent {
            Some(micros) => (outcome, Duration::from_micros(micros)),
            None => panic!("no statistics of {}: {outcome:?}", describe(args)),
        }
    }

    /// DEBUG DIGEST-VALUE of a key: 40 hex digits, all zero if it is missing.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn digest(&mut self, key: impl AsRef<[u8]>) -> String {
        self.texts(&args!["DEBUG", "DIGEST-VALUE", key.as_ref()]).concat()
    }

    /// DEBUG DIGEST of the whole data set, TTLs included: 40 hex digits.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn digest_of_all(&mut self) -> String {
        self.text(&["DEBUG", "DIGEST"])
    }

    /// The DUMP payload of a key, or None if it is missing.
    ///
    /// # Panics
    /// If the reply is neither.
    pub fn dump(&mut self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        match self.ask(&args!["DUMP", key.as_ref()]) {
            Value::BulkString(payload) => Some(payload),
            Value::Nil => None,
            other => panic!("DUMP replied {other:?}"),
        }
    }

    /// Saves in the background and waits until the child has ended well.
    ///
    /// # Panics
    /// If it does not in time.
    pub fn bgsave(&mut self) {
        self.ask(&["BGSAVE"]);
        eventually("the background save ends", || {
            self.info_number("persistence", "rdb_bgsave_in_progress") == 0
        });
        assert_eq!(
            self.info("persistence", "rdb_last_bgsave_status").as_deref(),
            Some("ok"),
            "background save"
        );
    }

    /// Rewrites the append-only file and waits until that is done.
    ///
    /// # Panics
    /// If it is not done well in time.
    pub fn bgrewriteaof(&mut self) {
        self.ask(&["BGREWRITEAOF"]);
        eventually("the AOF rewrite ends", || {
            self.info_number("persistence", "aof_rewrite_in_progress") == 0
                && self.info_number("persistence", "aof_rewrite_scheduled") == 0
        });
        assert_eq!(
            self.info("persistence", "aof_last_bgrewrite_status").as_deref(),
            Some("ok"),
            "AOF rewrite"
        );
    }
}

/// Polls until a condition holds, every few milliseconds.
///
/// # Panics
/// Naming what was awaited, if it does not hold within [`PATIENCE`].
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(1);
    while !holds() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
