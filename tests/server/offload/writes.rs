//! Writes beside stores: which of them is lost, which is read, what is sent on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

use roarbits_tests::{args, eventually, Args, Client, Server, Value};

use super::gate::{digests, figure, nothing_is_left, one_worker, Gate, Waiting};

fn sources(client: &mut Client) {
    client.int(&["RB.ADD", "a", "1", "2", "3"]);
    client.int(&["RB.ADD", "b", "3", "4"]);
    client.ok(&["SET", "string", "\x01"]);
}

fn store(dest: &str) -> Args {
    args!["RB.EXPRSTORE", dest, 3, "a", "b", "string", "any(*)"]
}

/// Equal here, on the replica, and after the log is read again.
fn assert_equal_everywhere(mut primary: Server, replica: &Server, what: &str) {
    let here = digests(&mut primary.client());
    replica.wait_until_caught_up(&primary);
    assert_eq!(digests(&mut replica.client()), here, "{what}, on the replica");
    primary.kill9();
    primary.start_again();
    assert_eq!(digests(&mut primary.client()), here, "{what}, from the log");
}

fn with_replica() -> (Server, Server) {
    let (primary, replica) = (one_worker().aof().start(), Server::start());
    let mut client = primary.client();
    Gate::prepare(&mut client);
    sources(&mut client);
    replica.replica_of(&primary);
    (primary, replica)
}

pub fn a_destination_changed_meanwhile_is_overwritten() {
    let (primary, replica) = with_replica();
    let mut client = primary.client();
    let dests = ["deleted", "expired", "overwritten", "lasting", "list", "renamed", "missing"];
    let mut gate = Some(Gate::close(&primary));
    for dest in &dests[..6] {
        client.int(&["RB.ADD", dest, "9"]);
    }
    let mut waiting: Vec<Waiting> =
        dests.iter().map(|dest| Waiting::behind(&primary, &store(dest))).collect();
    client.int(&["DEL", "deleted"]);
    client.int(&["PEXPIRE", "expired", "1"]);
    client.ok(&["SET", "overwritten", "text"]);
    client.int(&["EXPIRE", "lasting", "1000"]);
    client.int(&["DEL", "list"]);
    client.int(&["RPUSH", "list", "x"]);
    client.ok(&["RENAME", "renamed", "away"]);
    eventually("one has expired", || client.int(&["EXISTS", "expired"]) == 0);
    if let Some(gate) = gate.take() {
        gate.open(&mut client);
    }
    for (call, dest) in waiting.iter_mut().zip(dests) {
        assert_eq!(call.reply(), Ok(Value::Int(5)), "{dest}");
        assert_eq!(client.texts(&["RB.RANGE", dest, "0", "-1"]), ["1", "2", "3", "4", "7"], "{dest}");
        assert_eq!(client.int(&["PTTL", dest]), -1, "{dest}");
    }
    assert_eq!(client.texts(&["RB.RANGE", "away", "0", "-1"]), ["9"]);
    nothing_is_left(&mut client);
    assert_equal_everywhere(primary, &replica, "destinations changed");
}

pub fn a_source_changed_meanwhile_was_as_it_was() {
    let changes = [
        args!["RB.ADD", "a", 100],
        args!["RB.REM", "b", 4],
        args!["DEL", "a"],
        args!["RENAME", "b", "away"],
        args!["SETBIT", "string", 100, 1],
        args!["SET", "a", "text"],
        args!["RPUSH", "new", "x"],
        args!["PEXPIRE", "a", 1],
    ];
    let (primary, replica) = with_replica();
    let mut client = primary.client();
    for change in changes {
        client.int(&["DEL", "a", "b", "string", "dest", "other"]);
        sources(&mut client);
        let gate = Gate::close_with(&primary, 3);
        let mut waiting = [store("dest"), args!["RB.BITOP", "ONE", "other", "a", "b", "string"]]
            .map(|call| Waiting::behind(&primary, &call));
        client.ask(&change);
        gate.open(&mut client);
        assert_eq!(waiting[0].reply(), Ok(Value::Int(5)), "{change:?}");
        assert_eq!(waiting[1].reply(), Ok(Value::Int(1)), "{change:?}");
        assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), ["1", "2", "3", "4", "7"], "{change:?}");
        assert_eq!(client.texts(&["RB.RANGE", "other", "0", "-1"]), ["1", "2", "4", "7"], "{change:?}");
        replica.wait_until_caught_up(&primary);
        for key in ["dest", "other"] {
            assert_eq!(replica.client().digest(key), client.digest(key), "{key} after {change:?}");
        }
    }
    nothing_is_left(&mut client);
    eventually("what has a lifetime is over", || client.int(&["EXISTS", "a"]) == 0);
    assert_equal_everywhere(primary, &replica, "sources changed");
}

/// Sets bits of a key one after the other until it is told to stop.
struct Writer {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<u64>,
}

impl Writer {
    fn start(mut client: Client, key: &'static str) -> Writer {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut written = 0u64;
            while !told.load(Ordering::Relaxed) {
                assert_eq!(client.int(&args!["RB.SETBIT", key, id(written), 1]), 0, "bit {written} of {key}");
                written += 1;
            }
            written
        });
        Writer { stop, thread }
    }

    fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the writer")
    }
}

/// The nth id written; the sources of the stores have none of them.
fn id(nth: u64) -> u64 {
    nth * 5 + 1
}

pub fn a_destination_that_is_read_loses_no_acknowledged_bit() {
    let primary = Server::builder().module_args(&["worker-threads", "2", "inline-budget", "0"]).aof().start();
    let replica = Server::start();
    replica.replica_of(&primary);
    let mut client = primary.client();
    // Not so few that a store is over before the next bit is set.
    client.ask(&["RB.ADDRANGE", "day", "0", "0"]);
    for start in 0..40_000u64 {
        client.pipeline(&[args!["RB.ADD", "day", start * 320 + 5]]);
    }
    let calls = [
        args!["RB.BITOP", "OR", "acc", "acc", "day"],
        args!["RB.EXPRSTORE", "acc", 2, "acc", "day", "$1 | $2"],
        args!["RB.EXPRSTORE", "acc", 2, "day", "acc", "xor(*) | $2"],
    ];
    let writer = Writer::start(primary.client(), "acc");
    let mut stores: Vec<Client> = (0..2).map(|_| primary.client()).collect();
    for round in 0..150 {
        let store = &mut stores[round % 2];
        let call = &calls[round % calls.len()];
        assert!(store.int(call) > 0);
    }
    let written = writer.finish();
    assert!(written > 0);
    let lost: Vec<u64> =
        (0..written).filter(|nth| client.int(&args!["RB.GETBIT", "acc", id(*nth)]) != 1).collect();
    assert_eq!(lost, Vec::<u64>::new(), "lost of {written}");
    assert_eq!(client.int(&["RB.COUNT", "acc"]) as u64, written + client.int(&["RB.COUNT", "day"]) as u64);
    println!("{written} bits beside 150 stores, {} of them run again", figure(&mut client, "retried"));
    nothing_is_left(&mut client);
    assert_equal_everywhere(primary, &replica, "a destination that is read");
}

pub fn stores_beside_writes_are_equal_on_a_replica_and_in_the_log() {
    let primary = Server::builder().module_args(&["worker-threads", "2", "inline-budget", "0"]).aof().start();
    let replica = Server::start();
    let mut client = primary.client();
    client.int(&["RB.ADDRANGE", "range", "0", "100"]);
    replica.replica_of(&primary);
    let writers = ["a", "b"].map(|key| Writer::start(primary.client(), key));
    let mut reader = replica.client();
    for round in 0..200 {
        let ask: Args = match round % 4 {
            0 => args!["RB.EXPRSTORE", "dest", 3, "a", "b", "range", "$1 ^ $2 | $3"],
            1 => args!["RB.BITOP", "AND", "both", "a", "b"],
            2 => args!["RB.EXPRSTORE", "dest", 2, "a", "range", "$1 | $2", "EX", 1000],
            _ => args!["RB.BITOP", "NOT", "not", "a"],
        };
        client.int(&ask);
        // Nobody sees a part of a result: whatever it is, the range is in it.
        let seen = reader.int(&["RB.COUNT", "dest", "0", "100"]);
        assert!(seen == 0 || seen == 101, "{seen} of the 101 ids");
    }
    for writer in writers {
        writer.finish();
    }
    nothing_is_left(&mut client);
    assert_equal_everywhere(primary, &replica, "stores beside writes");
}

/// Redis 6.2 propagates nothing, and leaks the arguments, where a reply callback asks for the call as it came.
pub fn imports_by_a_worker_reach_replicas_and_leave_nothing() {
    const PAYLOAD_BYTES: usize = 4 << 20;
    let primary = Server::builder().module_args(&["inline-budget", "0"]).aof().start();
    let replica = Server::start();
    let mut client = primary.client();
    replica.replica_of(&primary);
    let bits = crate::samples::noise(PAYLOAD_BYTES);
    client.int(&["RB.ADD", "k", "1"]);
    client.int(&["EXPIRE", "k", "1000"]);
    client.int(&args!["RB.IMPORT", "k", &bits[..100_000], "FORMAT", "STRING", "OR"]);
    assert!(client.int(&["TTL", "k"]) > 0);
    client.int(&args!["RB.IMPORT", "k", &bits[..200_000], "FORMAT", "STRING", "XOR"]);
    client.int(&args!["RB.IMPORT", "replaced", &bits, "FORMAT", "STRING"]);
    let settled = || {
        // A connection keeps a buffer as large as its largest argument.
        let mut client = primary.client();
        client.int(&args!["RB.IMPORT", "replaced", &bits, "FORMAT", "STRING"]);
        drop(client);
        let mut client = primary.client();
        replica.wait_until_caught_up(&primary);
        eventually("one connection is left", || {
            client.text(&["CLIENT", "LIST"]).lines().filter(|line| !line.contains("flags=S")).count() <= 2
        });
        client.used_memory()
    };
    let first = settled();
    let later = (0..8).map(|_| settled()).min().unwrap_or_default();
    assert!(later < first + PAYLOAD_BYTES as u64, "{first} bytes after one import, {later} after eight more");
    assert_equal_everywhere(primary, &replica, "imports");
}
