//! How keys live and die: TTLs, renames and moves, lengths without ids, what a value
//! costs, and that the end of a big one holds nobody up.
//!
//! The main thread is held up by a big value if it frees it. That it does not is counted,
//! at the server's default lazyfree settings: by the module's thread for it, in INFO
//! roarbits, or by the server's own, in INFO memory. Time is no measure of it: for a
//! FLUSHALL that waits, Redis makes its allocator give pages back, which takes longer
//! than to free ten million ids.

use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_tests::spec;
use roarbits_tests::{args, eventually, tests, Args, Client, Server, TestList, Value};

use crate::equality::state;
use crate::footprint::settled;
use crate::table::{at, written_keys, Names, BITMAP, KINDS, WRITES};

pub fn tests() -> TestList {
    tests![
        writes_keep_a_ttl_and_replacing_drops_it,
        a_key_without_ids_lives_until_it_is_deleted,
        a_length_without_ids_survives_everything,
        keys_are_renamed_moved_and_swapped_as_any_other,
        the_server_tells_type_encoding_and_memory,
        a_first_write_anywhere_takes_less_than_a_kilobyte,
        an_id_takes_at_most_six_bytes,
        the_end_of_ten_million_ids_holds_nobody_up,
        eviction_takes_no_more_keys_than_memory_asks_for,
    ]
}

fn writes_keep_a_ttl_and_replacing_drops_it() {
    let server = Server::start();
    let mut client = server.client();
    let names = Names::new("ttl");
    for write in WRITES {
        let row = spec::row(write.name);
        let keeping = if write.replaces.is_empty() { write.changes } else { &[] };
        let in_place = [keeping, write.same].concat();
        for (list, kept) in [(in_place, true), (write.replaces.to_vec(), false)] {
            for words in list {
                names.prepare(&mut client, write.kind);
                let call = names.fill(words);
                let keys = written_keys(&row, &call);
                for key in &keys {
                    assert_eq!(client.int(&["PEXPIRE", key, "1000000"]), 1);
                }
                client.ask(&call);
                for key in &keys {
                    let ttl = client.int(&["PTTL", key]);
                    assert_eq!(ttl > 0, kept, "TTL {ttl} of {key} after {words:?}");
                    assert_ne!(ttl, -2, "{key} exists after {words:?}");
                }
            }
        }
        for words in write.replaces {
            for making in [args!["SET", names.key(), "text", "EX", 1000], args!["RPUSH", names.key(), "x"]] {
                names.prepare_missing(&mut client, write.kind);
                client.ask(&making);
                client.ask(&names.fill(words));
                assert_eq!(client.text(&["TYPE", &names.key()]), write.kind.name, "{words:?}");
                assert_eq!(client.int(&["TTL", &names.key()]), -1, "{words:?}");
            }
        }
    }
    for mode in ["OR", "AND", "XOR", "DIFF"] {
        names.prepare(&mut client, &BITMAP);
        client.int(&["EXPIRE", &names.key(), "1000"]);
        client.ask(&args!["RB.IMPORT", names.key(), "C", "FORMAT", "STRING", mode]);
        assert!(client.int(&["TTL", &names.key()]) > 0, "after RB.IMPORT {mode}");
    }
}

fn a_key_without_ids_lives_until_it_is_deleted() {
    let server = Server::start();
    let mut client = server.client();
    let emptied: [&[&str]; 5] = [
        &["RB.REM", "k", "7"],
        &["RB.REMRANGE", "k", "-", "+"],
        &["RB.SETBIT", "k", "7", "0"],
        &["RB.FLIPRANGE", "k", "7", "7"],
        &["RB.IMPORT", "k", "\x01", "FORMAT", "STRING", "DIFF"],
    ];
    for call in emptied {
        client.ask(&["DEL", "k"]);
        client.int(&["RB.ADD", "k", "7"]);
        client.ask(call);
        assert_eq!(client.int(&["RB.COUNT", "k"]), 0, "{call:?}");
        assert_eq!(client.text(&["TYPE", "k"]), "rb-bitmap", "{call:?}");
        assert_eq!(client.bytes(&["RB.EXPORT", "k", "FORMAT", "STRING"]), [0], "{call:?}");
    }
    assert_eq!(client.int(&["RB.IMPORT", "k", "", "FORMAT", "STRING"]), 0);
    assert_eq!(client.int(&["EXISTS", "k"]), 1);
    assert_eq!(client.int(&["RB.REM", "k", "1"]), 0);
    assert_eq!(client.int(&["EXISTS", "k"]), 1);
    assert_eq!(client.int(&["DEL", "k"]), 1);
    assert_eq!(client.int(&["RB.REM", "k", "1"]), 0);
    assert_eq!(client.int(&["RB.REMRANGE", "k", "-", "+"]), 0);
    assert_eq!(client.int(&["EXISTS", "k"]), 0);
}

/// Case 40: 126 bytes of zeros.
fn a_length_without_ids_survives_everything() {
    let mut server = Server::builder()
        .aof()
        .config("appendfsync", "no")
        .config("aof-use-rdb-preamble", "no")
        .config("repl-diskless-sync-delay", "0")
        .start();
    let mut client = server.client();
    assert_eq!(client.int(&["RB.SETBIT", "k", "1000", "0"]), 0);
    assert_length(&mut client, "k", "at first");

    let replica = Server::start();
    replica.replica_of(&server);
    assert_length(&mut replica.client(), "k", "on a replica that was synchronised");
    client.ask(&["DEL", "k"]);
    assert_eq!(client.int(&["RB.SETBIT", "k", "1000", "0"]), 0);
    replica.wait_until_caught_up(&server);
    assert_length(&mut replica.client(), "k", "on a replica that got the command");
    drop(replica);

    client.int(&["COPY", "k", "copied"]);
    assert_length(&mut client, "copied", "in a copy");
    let payload = client.dump("k").unwrap_or_default();
    client.ok(&args!["RESTORE", "restored", "0", payload]);
    assert_length(&mut client, "restored", "in a restored dump");
    client.ok(&["DEBUG", "RELOAD"]);
    assert_length(&mut client, "k", "after DEBUG RELOAD");
    for preamble in ["no", "yes"] {
        let mut client = server.client();
        client.ok(&["CONFIG", "SET", "aof-use-rdb-preamble", preamble]);
        client.bgrewriteaof();
        server.kill9();
        server.start_again();
        let what = format!("after a rewrite with aof-use-rdb-preamble {preamble}");
        assert_length(&mut server.client(), "k", &what);
    }
}

fn assert_length(client: &mut Client, key: &str, when: &str) {
    assert_eq!(client.bytes(&args!["RB.EXPORT", key, "FORMAT", "STRING"]), [0; 126], "{when}");
    assert_eq!(client.int(&args!["RB.BITPOS", key, 0]), 0, "{when}");
    assert_eq!(client.int(&args!["RB.BITPOS", key, 1]), -1, "{when}");
    let inverted =
        "return {redis.call('SETBIT', KEYS[2], 1000, 0), redis.call('BITOP', 'NOT', KEYS[2], KEYS[2])}";
    match client.cmd(&["RB.BITOP", "NOT", "inverse", key]) {
        Ok(length) => {
            assert_eq!(length, Value::Int(126), "{when}");
            assert_eq!(client.int(&["RB.BITCOUNT", "inverse"]), 1008, "{when}");
            let bytes = client.bytes(&["RB.EXPORT", "inverse", "FORMAT", "STRING"]);
            client.ask(&["EVAL", inverted, "2", key, "native"]);
            assert_eq!(bytes, client.bytes(&["GET", "native"]), "{when}");
            client.ask(&["DEL", "inverse", "native"]);
        }
        Err(refusal) => assert!(refusal.starts_with("READONLY"), "{when}: {refusal}"),
    }
}

fn keys_are_renamed_moved_and_swapped_as_any_other() {
    let server = Server::start();
    let mut client = server.client();
    for kind in KINDS {
        client.ok(&["FLUSHALL"]);
        client.ask(&at(kind.sample, "k"));
        client.int(&["PEXPIRE", "k", "1000000"]);
        let sample = state(&mut client, "k");
        client.ok(&["SET", "l", "overwritten"]);
        client.ok(&["RENAME", "k", "l"]);
        assert_eq!(state(&mut client, "l"), sample, "renamed");
        assert_eq!(client.int(&["EXISTS", "k"]), 0);
        assert_eq!(client.int(&["RENAMENX", "l", "k"]), 1);
        assert_eq!(client.int(&["MOVE", "k", "1"]), 1);
        assert_eq!(client.int(&["EXISTS", "k"]), 0);
        client.ok(&["SELECT", "1"]);
        assert_eq!(state(&mut client, "k"), sample, "moved");
        client.ok(&["SWAPDB", "0", "1"]);
        assert_eq!(client.int(&["EXISTS", "k"]), 0);
        client.ok(&["SELECT", "0"]);
        assert_eq!(state(&mut client, "k"), sample, "swapped");
        assert_eq!(client.int(&["COPY", "k", "k", "DB", "1"]), 1);
        client.ask(&at(kind.touch, "k"));
        client.ok(&["SELECT", "1"]);
        // The expiry is copied too.
        assert_eq!(state(&mut client, "k"), sample, "copied to another database");
        client.ok(&["SELECT", "0"]);
    }
}

fn the_server_tells_type_encoding_and_memory() {
    let server = Server::start();
    let mut client = server.client();
    for kind in KINDS {
        client.ask(&at(kind.sample, "k"));
        assert_eq!(client.text(&["TYPE", "k"]), kind.name);
        // As of every value of a module.
        assert_eq!(client.text(&["OBJECT", "ENCODING", "k"]), "raw");
        let Value::Array(found) = client.ask(&args!["SCAN", 0, "COUNT", 1000, "TYPE", kind.name]) else {
            panic!("SCAN is no array")
        };
        assert_eq!(found.get(1), Some(&Value::Array(vec![Value::BulkString(b"k".to_vec())])));
        assert!(client.error(&["GET", "k"]).starts_with("WRONGTYPE"));
        assert!(client.error(&["STRLEN", "k"]).starts_with("WRONGTYPE"));
    }
    client.ask(&args!["RB.ADDRANGE", "bitmap:range", "-", "+"]);
    snowflakes(&mut client, "bitmap:snowflakes", 100_000, 1.0);
    for key in ["k", "bitmap:range", "bitmap:snowflakes"] {
        let usage = client.int(&args!["MEMORY", "USAGE", key]);
        let Value::Array(info) = client.ask(&["RB.INFO", key]) else { panic!("RB.INFO is no array") };
        let is_bytes = |pair: &&[Value]| pair[0] == Value::BulkString(b"bytes".to_vec());
        let bytes = info.chunks_exact(2).find(is_bytes).map(|pair| pair[1].clone());
        assert_eq!(bytes, Some(Value::Int(usage)), "{key}: {info:?}");
    }
}

fn a_first_write_anywhere_takes_less_than_a_kilobyte() {
    let server = Server::start();
    let mut client = server.client();
    for offset in ["0", "4294967295", "18446744073709551615"] {
        // The keyspace, the connection and the module have what they need.
        for number in 0..20 {
            client.int(&args!["RB.SETBIT", format!("warm-up:{number}"), offset, 1]);
        }
        client.used_memory();
        let mut costs: Vec<u64> = (0..20)
            .map(|number| {
                let before = client.used_memory();
                client.int(&args!["RB.SETBIT", format!("first-write:{number:03}"), offset, 1]);
                client.used_memory().saturating_sub(before)
            })
            .collect();
        // Once in a while the server's own table of keys grows, or a buffer of the connection.
        costs.sort_unstable();
        assert!(costs[costs.len() / 2] < 1024, "first writes at {offset} took {costs:?} bytes");
        client.ok(&["FLUSHALL"]);
    }
}

/// Ids as machines of a fleet make them: milliseconds since 2010-11-04, 8 machines, a
/// sequence; arrivals are Poisson.
struct Snowflakes {
    random: StdRng,
    per_second: f64,
    milliseconds: f64,
}

impl Snowflakes {
    fn new(per_second: f64) -> Snowflakes {
        Snowflakes { random: StdRng::seed_from_u64(4), per_second, milliseconds: 4.8e11 }
    }
}

impl Iterator for Snowflakes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let uniform: f64 = self.random.random_range(f64::EPSILON..1.0);
        // Two of one millisecond would need their sequence; here there is at most one.
        self.milliseconds =
            (self.milliseconds - uniform.ln() * 1000.0 / self.per_second).max(self.milliseconds + 1.0);
        let machine: u64 = self.random.random_range(0..8);
        Some(((self.milliseconds as u64) << 22) | (machine << 12))
    }
}

/// Adds Snowflake ids in order of time.
fn snowflakes(client: &mut Client, key: &str, count: usize, per_second: f64) {
    add(client, key, Snowflakes::new(per_second).take(count));
}

/// Adds ids, a thousand a call.
fn add(client: &mut Client, key: &str, ids: impl Iterator<Item = u64>) {
    const IDS_A_CALL: usize = 1_000;
    const CALLS_A_PIPELINE: usize = 32;
    let ids: Vec<u64> = ids.collect();
    let call = |ids: &[u64]| -> Args {
        let texts = ids.iter().map(|id| id.to_string().into_bytes());
        [b"RB.ADD".to_vec(), key.as_bytes().to_vec()].into_iter().chain(texts).collect()
    };
    let calls: Vec<Args> = ids.chunks(IDS_A_CALL).map(call).collect();
    for batch in calls.chunks(CALLS_A_PIPELINE) {
        let replies = client.pipeline(batch);
        assert!(replies.iter().all(Result::is_ok), "{key}: {replies:?}");
    }
}

fn an_id_takes_at_most_six_bytes() {
    const MOST_BYTES_AN_ID: f64 = 6.0;
    let server = Server::start();
    let mut client = server.client();
    let mut random = StdRng::seed_from_u64(3);
    // D3-10k: hashed ids, uniform in 0..2^32. D4-1/s: Snowflake ids, one a second.
    let hashed: Vec<u64> = (0..10_000).map(|_| random.random_range(0..1 << 32)).collect();
    let warm_up: Vec<u64> = (0..10_000).map(|_| random.random_range(0..1 << 32)).collect();
    add(&mut server.client(), "warm-up", warm_up.into_iter());
    let snowflakes: Vec<u64> = Snowflakes::new(1.0).take(1_000_000).collect();
    for (name, ids) in [("D3-10k", hashed), ("D4-1/s", snowflakes)] {
        let before = settled(&mut client);
        add(&mut server.client(), name, ids.into_iter());
        let bytes = settled(&mut client) - before;
        let count = client.int(&["RB.COUNT", name]);
        let each = bytes / count as f64;
        assert!(each <= MOST_BYTES_AN_ID, "{name}: {each:.2} bytes an id by used_memory");
        assert!(each > 1.0, "{name}: {each:.2} bytes an id is no measurement");
    }
}

const TEN_MILLION: usize = 10_000_000;

/// Ascending ids in the 64-bit portable format: buckets by the upper 32 bits, each a
/// portable bitmap of array containers.
fn portable64(ids: &[u64]) -> Vec<u8> {
    let buckets: Vec<&[u64]> = ids.chunk_by(|a, b| a >> 32 == b >> 32).collect();
    let mut bytes = (buckets.len() as u64).to_le_bytes().to_vec();
    for bucket in buckets {
        const COOKIE_WITHOUT_RUNS: u32 = 12_346;
        let containers: Vec<&[u64]> = bucket.chunk_by(|a, b| a >> 16 == b >> 16).collect();
        bytes.extend(((bucket[0] >> 32) as u32).to_le_bytes());
        bytes.extend(COOKIE_WITHOUT_RUNS.to_le_bytes());
        bytes.extend((containers.len() as u32).to_le_bytes());
        for container in &containers {
            bytes.extend(((container[0] >> 16) as u16).to_le_bytes());
            bytes.extend(((container.len() - 1) as u16).to_le_bytes());
        }
        let mut offset = 8 + 8 * containers.len() as u32;
        for container in &containers {
            bytes.extend(offset.to_le_bytes());
            offset += 2 * container.len() as u32;
        }
        for id in bucket {
            bytes.extend((*id as u16).to_le_bytes());
        }
    }
    bytes
}

/// Case 38.
fn the_end_of_ten_million_ids_holds_nobody_up() {
    let server = Server::start();
    let mut client = server.client();
    let ids: Vec<u64> = Snowflakes::new(1000.0).take(TEN_MILLION).collect();
    let imported = client.int(&args!["RB.IMPORT", "victim", portable64(&ids), "FORMAT", "PORTABLE64"]);
    assert_eq!(imported, TEN_MILLION as i64);
    drop(ids);
    // Restoring makes a value that shares nothing.
    let payload = client.dump("victim").unwrap_or_default();
    let value_bytes = client.int(&["MEMORY", "USAGE", "victim"]) as u64;
    client.ask(&["UNLINK", "victim"]);
    let mut victims = Victims { client, payload, value_bytes };
    victims.is_freed_in_place_if_small();

    victims.die_by(&["DEL", "victim"]);
    victims.die_by(&["UNLINK", "victim"]);
    victims.die_by(&["SET", "victim", "overwritten"]);
    victims.die_by(&["RENAME", "small", "victim"]);
    victims.die_by(&["RB.IMPORT", "victim", "D", "FORMAT", "STRING"]);
    victims.die_by(&["RB.BITOP", "OR", "victim", "small"]);
    victims.die_by(&["RB.BITOP", "OR", "victim", "missing"]);
    victims.die_by(&["FLUSHALL"]);
    victims.die_by(&["FLUSHDB", "ASYNC"]);
    victims.die_by_expiry_at_access();
    victims.die_by_the_expiry_cycle();
    victims.die_by_eviction();
}

struct Victims {
    client: Client,
    payload: Vec<u8>,
    value_bytes: u64,
}

/// How many values were freed off the main thread.
#[derive(Debug, PartialEq, Eq)]
struct Freed {
    by_the_module: u64,
    by_the_server: u64,
}

impl Victims {
    /// A new victim, with nothing left to free of former ones; the memory used before it.
    fn rise(&mut self) -> u64 {
        self.client.ask(&["UNLINK", "victim", "small"]);
        self.client.int(&["RB.ADD", "small", "1", "2"]);
        self.settle();
        let before = self.client.used_memory();
        self.client.ok(&args!["RESTORE", "victim", 0, &self.payload]);
        before
    }

    fn settle(&mut self) {
        let client = &mut self.client;
        eventually("everything given up is freed", || {
            client.info_number("roarbits", "roarbits_drops_pending") == 0
                && client.info_number("memory", "lazyfree_pending_objects") == 0
        });
    }

    fn freed(&mut self) -> Freed {
        Freed {
            by_the_module: self.client.info_number("roarbits", "roarbits_drops_done"),
            by_the_server: self.client.info_number("memory", "lazyfreed_objects"),
        }
    }

    /// What is counted are big values only: a small one is freed where it dies.
    fn is_freed_in_place_if_small(&mut self) {
        self.settle();
        let before = self.freed();
        for call in [["DEL", "small"], ["UNLINK", "small"]] {
            self.client.int(&["RB.ADD", "small", "1", "2"]);
            assert_eq!(self.client.int(&call), 1);
        }
        self.settle();
        assert_eq!(self.freed(), before);
    }

    fn die_by(&mut self, call: &[&str]) {
        self.die(&format!("{call:?}"), |client| {
            client.ask(call);
        });
    }

    fn die_by_expiry_at_access(&mut self) {
        self.client.ok(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
        self.die("expiry at an access", |client| {
            assert_eq!(client.int(&["PEXPIRE", "victim", "1"]), 1);
            thread::sleep(Duration::from_millis(5));
            assert_eq!(client.int(&["DBSIZE"]), 2, "nobody has asked for the key yet");
            assert_eq!(client.int(&["EXISTS", "victim"]), 0);
        });
        self.client.ok(&["DEBUG", "SET-ACTIVE-EXPIRE", "1"]);
    }

    fn die_by_the_expiry_cycle(&mut self) {
        self.die("the expiry cycle", |client| {
            assert_eq!(client.int(&["PEXPIRE", "victim", "1"]), 1);
            eventually("the cycle finds the key", || client.int(&["DBSIZE"]) == 1);
        });
    }

    fn die_by_eviction(&mut self) {
        let bytes = self.value_bytes;
        self.client.ok(&["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
        self.die("eviction", |client| {
            let limit = client.used_memory() - bytes / 2;
            client.ok(&args!["CONFIG", "SET", "maxmemory", limit]);
            eventually("the key is evicted", || client.int(&["EXISTS", "victim"]) == 0);
            client.ok(&["CONFIG", "SET", "maxmemory", "0"]);
        });
    }

    /// The victim's end must be left to one of the threads for it, and its memory come back.
    fn die(&mut self, how: &str, die: impl FnOnce(&mut Client)) {
        let memory_before = self.rise();
        let before = self.freed();
        die(&mut self.client);
        self.settle();
        let after = self.freed();
        let by_the_module = after.by_the_module - before.by_the_module;
        let by_the_server = after.by_the_server - before.by_the_server;
        println!("{how}: {by_the_module} freed by the module's thread, {by_the_server} by the server's");
        // A FLUSHALL leaves the small key to the server's thread as well.
        assert!(
            matches!((by_the_module, by_the_server), (1, 0) | (0, 1 | 2)),
            "after {how}: {before:?}, {after:?}"
        );
        let most_left = memory_before + self.value_bytes / 20;
        let client = &mut self.client;
        eventually(&format!("the memory returns after {how}"), || client.used_memory() < most_left);
    }
}

/// Large values are freed on a thread. Eviction, which goes on until it sees memory come
/// back, must not empty the keyspace before the thread has freed one.
fn eviction_takes_no_more_keys_than_memory_asks_for() {
    const KEYS: i64 = 60;
    let server = Server::builder().config("lazyfree-lazy-eviction", "no").start();
    let mut client = server.client();
    let mut bits = Vec::with_capacity(2 << 20);
    let mut random = 1u64;
    while bits.len() < 2 << 20 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bits.extend((random >> 16).to_le_bytes());
    }
    for i in 0..KEYS {
        client.int(&args!["RB.IMPORT", format!("k{i}"), &bits[..], "FORMAT", "STRING"]);
    }
    let limit = client.used_memory() - (3 << 20);
    client.ok(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    client.ok(&["CONFIG", "SET", "maxmemory", &limit.to_string()]);
    client.ok(&["SET", "small", "1"]);
    let left = client.int(&["DBSIZE"]);
    // 3 MB are two keys; the first two to go may each have been one too many.
    assert!(left > KEYS - 6, "{left} keys are left of {KEYS}");
}
