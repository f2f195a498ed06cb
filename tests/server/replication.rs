//! What a replica sees: full, partial and diskless syncs, chains, expiry.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use roarbits_tests::{args, eventually, spec, tests, Args, Client, Server, TestList, Value};

use crate::samples;

pub fn tests() -> TestList {
    tests![
        a_replica_has_every_kind_of_leaf_and_every_later_write,
        a_replica_refuses_every_write_of_the_table_and_answers_reads,
        a_partial_resync_brings_what_was_missed,
        a_full_sync_of_a_large_key_under_write_load_is_equal,
        a_diskless_load_into_a_spare_database_keeps_answering,
        a_replica_of_a_replica_is_equal,
        a_key_expires_on_a_replica_as_on_its_primary,
        wait_counts_a_replica_that_has_the_write,
    ]
}

fn assert_equal(primary: &Server, replica: &Server, what: &str) {
    replica.wait_until_caught_up(primary);
    assert_eq!(replica.client().digest_of_all(), primary.client().digest_of_all(), "{what}");
}

fn restore_samples(client: &mut Client) {
    for sample in samples::of_every_leaf(client) {
        client.ok(&args!["RESTORE", sample.name, "0", &sample.payload]);
    }
}

/// A thread that writes to the same keys, in all ways, until it is told to stop.
struct Writer {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
    thread: thread::JoinHandle<()>,
}

impl Writer {
    fn start(client: Client) -> Writer {
        let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (told, made) = (Arc::clone(&stop), Arc::clone(&rounds));
        let thread = thread::spawn(move || write_until(client, &told, &made));
        Writer { stop, rounds, thread }
    }

    /// Waits until it has written so often.
    fn has_written(&self, rounds: u64) {
        eventually("the writer writes", || self.rounds.load(Ordering::Relaxed) >= rounds);
    }

    fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the writer");
        self.rounds.load(Ordering::Relaxed)
    }
}

fn write_until(mut client: Client, stop: &AtomicBool, rounds: &AtomicU64) {
    for round in 0u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = round * 7_919 % 5_000_000;
        let commands = [
            args!["RB.ADD", "added", id, id << 30],
            args!["RB.ADDRANGE", "spans", id, id + 100],
            args!["RB.REM", "added", id / 2],
            args!["RB.BITOP", "XOR", "mixed", "added", "spans"],
            args!["RB.SETBIT", "added", id, "0"],
            args!["SET", "native", id],
        ];
        let replies = client.pipeline(&commands);
        assert!(replies.iter().all(Result::is_ok), "{replies:?}");
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

fn a_replica_has_every_kind_of_leaf_and_every_later_write() {
    let (primary, replica) = (Server::start(), Server::start());
    let mut client = primary.client();
    restore_samples(&mut client);
    replica.replica_of(&primary);
    assert_equal(&primary, &replica, "after the sync");
    let writer = Writer::start(primary.client());
    writer.has_written(500);
    let rounds = writer.finish();
    assert_equal(&primary, &replica, &format!("after {rounds} rounds of writes"));
    // A digest is of what is in the keys; these are the bytes that leave the server.
    for key in ["added", "spans", "mixed"] {
        let export = ["RB.EXPORT", key, "FORMAT", "NATIVE"];
        assert_eq!(replica.client().bytes(&export), client.bytes(&export), "{key}");
    }
}

fn a_replica_refuses_every_write_of_the_table_and_answers_reads() {
    let (primary, replica) = (Server::start(), Server::start());
    primary.client().int(&["RB.ADD", "k", "1", "2"]);
    replica.replica_of(&primary);
    let mut client = replica.client();
    let readonly = "READONLY You can't write against a read only replica.";
    let mut refused = 0;
    for row in spec::rows().iter().filter(|row| row.is_write()) {
        // Refused for being a write before its arguments are looked at.
        let mut command = args![row.name()];
        command.resize(row.arity().unsigned_abs() as usize, b"k".to_vec());
        assert_eq!(client.error(&command), readonly, "{}", row.name());
        refused += 1;
    }
    assert!(refused >= 8, "only {refused} writes in the table");
    assert_eq!(client.int(&["RB.BITCOUNT", "k"]), 2);
    assert_eq!(client.texts(&["RB.RANGE", "k", "0", "-1"]), ["1", "2"]);
    assert_eq!(client.int(&["RB.BITCOUNT", "missing"]), 0);
}

/// Cuts the one replica off and runs writes before the server looks at any connection,
/// and so before it can take the replica back: in one transaction.
fn write_while_cut_off(client: &mut Client, writes: Vec<Args>) {
    let calls =
        [vec![args!["MULTI"], args!["CLIENT", "KILL", "TYPE", "replica"]], writes, vec![args!["EXEC"]]];
    let Some(Ok(Value::Array(replies))) = client.pipeline(&calls.concat()).pop() else {
        panic!("EXEC replied no array");
    };
    assert_eq!(replies.first(), Some(&Value::Int(1)), "one replica is cut off");
    let failed = replies.iter().find(|reply| matches!(reply, Value::ServerError(_)));
    assert_eq!(failed, None);
}

fn a_partial_resync_brings_what_was_missed() {
    let (primary, replica) = (Server::start(), Server::start());
    let mut client = primary.client();
    restore_samples(&mut client);
    replica.replica_of(&primary);
    let full = client.info_number("stats", "sync_full");
    write_while_cut_off(
        &mut client,
        vec![
            args!["RB.ADD", "ids", "12345678901234567890"],
            args!["RB.BITOP", "NOT", "not", "ids"],
            args!["RB.IMPORT", "bits", samples::noise(100), "FORMAT", "STRING", "XOR"],
        ],
    );
    let mut reader = replica.client();
    eventually("the link is up again", || {
        client.info_number("stats", "sync_partial_ok") == 1
            && reader.info("replication", "master_link_status").as_deref() == Some("up")
    });
    assert_equal(&primary, &replica, "after the partial resync");
    assert_eq!(client.info_number("stats", "sync_full"), full);
}

fn a_full_sync_of_a_large_key_under_write_load_is_equal() {
    for diskless in ["no", "yes"] {
        let primary = Server::builder().config("repl-diskless-sync", diskless).start();
        let replica = Server::start();
        primary.client().ask(&args!["RB.IMPORT", "large", samples::noise(8 << 20), "FORMAT", "STRING"]);
        primary.client().ask(&["RB.BITOP", "NOT", "inverse", "large"]);
        let writer = Writer::start(primary.client());
        writer.has_written(1);
        replica.replica_of(&primary);
        writer.finish();
        replica.wait_until_caught_up(&primary);
        let (mut writer, mut reader) = (primary.client(), replica.client());
        for key in ["added", "spans", "mixed"] {
            assert_eq!(reader.digest(key), writer.digest(key), "{key}, diskless {diskless}");
        }
        // The server's SHA-1 of 30 million runs would take a minute.
        for key in ["large", "inverse"] {
            let export = ["RB.EXPORT", key, "FORMAT", "NATIVE"];
            assert!(reader.bytes(&export) == writer.bytes(&export), "{key}, diskless {diskless}");
        }
    }
}

fn a_diskless_load_into_a_spare_database_keeps_answering() {
    let primary =
        Server::builder().config("repl-diskless-sync", "yes").config("repl-backlog-size", "16kb").start();
    let replica = Server::builder().config("repl-diskless-load", "swapdb").start();
    let mut writer = primary.client();
    const KEYS: u64 = 4_000;
    let add = |key: u64| args!["RB.ADD", format!("k{key}"), "1", "2", "100000", 1u64 << 50];
    let added = writer.pipeline(&(0..KEYS).map(add).collect::<Vec<_>>());
    assert!(added.iter().all(Result::is_ok));
    replica.replica_of(&primary);
    let full = writer.info_number("stats", "sync_full");
    let mut reader = replica.client();
    // 6.2 answers nobody while it loads less than 2 MB.
    let answers_while_loading = !replica.flavor().is_before_7();
    if answers_while_loading {
        // Eight seconds at two milliseconds a key, until this has seen enough; the load
        // looks after its clients at each kilobyte, some 30 keys.
        reader.ok(&["CONFIG", "SET", "key-load-delay", "2000"]);
        reader.ok(&["CONFIG", "SET", "loading-process-events-interval-bytes", "1024"]);
    }
    // More than the backlog holds.
    write_while_cut_off(
        &mut writer,
        vec![
            args!["RB.IMPORT", "k0", samples::noise(200_000), "FORMAT", "STRING"],
            args!["RB.ADD", "k1", "3"],
        ],
    );
    if answers_while_loading {
        let is_loading =
            |client: &mut Client| client.info("persistence", "async_loading").as_deref() == Some("1");
        eventually("the replica loads", || is_loading(&mut reader));
        let during = reader.cmd(&["RB.BITCOUNT", "k1"]);
        assert!(is_loading(&mut reader), "the load was over too soon to show anything");
        assert_eq!(during, Ok(Value::Int(4)), "the data of before, during the load");
        reader.ok(&["CONFIG", "SET", "key-load-delay", "0"]);
    }
    // Before it has noticed that it is cut off, the replica takes its link for up.
    eventually("the replica is in sync", || {
        writer.info_number("stats", "sync_full") > full
            && reader.info("replication", "master_link_status").as_deref() == Some("up")
    });
    assert_equal(&primary, &replica, "after a diskless load");
    assert_eq!(reader.int(&["RB.BITCOUNT", "k1"]), 5);
}

fn a_replica_of_a_replica_is_equal() {
    let (primary, middle, last) = (Server::start(), Server::start(), Server::start());
    restore_samples(&mut primary.client());
    middle.replica_of(&primary);
    last.replica_of(&middle);
    let writer = Writer::start(primary.client());
    writer.has_written(300);
    writer.finish();
    middle.wait_until_caught_up(&primary);
    assert_equal(&primary, &middle, "the first");
    // Its offsets are those of the first primary.
    assert_equal(&primary, &last, "the second");
}

fn a_key_expires_on_a_replica_as_on_its_primary() {
    let (primary, replica) = (Server::start(), Server::start());
    replica.replica_of(&primary);
    let (mut writer, mut reader) = (primary.client(), replica.client());
    // Only who asks for the key finds that it is over.
    writer.ok(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
    writer.int(&["RB.ADD", "k", "1", "2"]);
    writer.int(&["PEXPIRE", "k", "300"]);
    replica.wait_until_caught_up(&primary);
    assert!(reader.int(&["PTTL", "k"]) <= 300);
    thread::sleep(Duration::from_millis(400));
    assert_eq!(reader.int(&["RB.BITCOUNT", "k"]), 0, "over, though not deleted yet");
    assert_eq!(reader.cmd(&["RB.MIN", "k"]), Ok(Value::Nil));
    assert_eq!(reader.int(&["DBSIZE"]), 1, "a replica deletes nothing by itself");
    // A write on the primary finds it over: the key starts anew everywhere.
    assert_eq!(writer.int(&["RB.ADD", "k", "9"]), 1);
    replica.wait_until_caught_up(&primary);
    assert_eq!(reader.texts(&["RB.RANGE", "k", "0", "-1"]), ["9"]);
    assert_eq!(reader.int(&["PTTL", "k"]), -1);
}

fn wait_counts_a_replica_that_has_the_write() {
    let (primary, replica) = (Server::start(), Server::start());
    replica.replica_of(&primary);
    let mut writer = primary.client();
    for id in 0..100u64 {
        assert_eq!(writer.int(&args!["RB.ADD", "k", id << 33]), 1);
        assert_eq!(writer.int(&["WAIT", "1", "100000"]), 1, "id {id}");
        replica.wait_until_caught_up(&primary);
        assert_eq!(replica.client().int(&args!["RB.GETBIT", "k", id << 33]), 1);
    }
    // A write that changes nothing is not sent: there is nothing to wait for.
    let before = writer.info_number("replication", "master_repl_offset");
    for _ in 0..100 {
        assert_eq!(writer.int(&["RB.ADD", "k", "0"]), 0);
        assert_eq!(writer.int(&["RB.REM", "k", "5"]), 0);
    }
    let after = writer.info_number("replication", "master_repl_offset");
    // Pings of the link move the offset as well; each of these writes would by 30 or more.
    assert!(after - before < 1_000, "{} bytes were sent for nothing", after - before);
}
