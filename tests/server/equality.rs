//! What makes two keys equal, and all that must keep a key equal: replication, the
//! append-only file, reloads, dumps, copies, MULTI and scripts, by loops over the table.
//!
//! DEBUG DIGEST-VALUE hashes every run of a bitmap, about a second a million: shapes
//! together have half a million.

use std::collections::BTreeMap;

use roarbits_tests::spec;
use roarbits_tests::{args, tests, Args, Client, Flavor, Server, TestList, Value};

use crate::table::{
    at, cases, holds_error, is_repeatable, keys_of, one_call_each, prepare, script_of, Case, Effect, Names,
    Words, BITMAP, KINDS, READS, WRITES,
};

pub fn tests() -> TestList {
    tests![
        the_least_difference_changes_the_digest_and_no_history_does,
        replica_append_only_file_and_reload_keep_every_write,
        every_shape_survives_rewrite_reload_dump_and_copy,
        a_copy_and_a_restored_dump_are_independent,
        multi_and_scripts_answer_as_plain_calls_do,
    ]
}

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// All that makes two keys equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// As TYPE replies it.
    pub kind: String,
    /// DEBUG DIGEST-VALUE.
    pub digest: String,
    /// SHA1 of the kind's export, or of the string itself.
    pub value: String,
    /// True if it expires.
    pub expires: bool,
}

/// The state of one key. Exports are hashed in the server: some are megabytes.
pub fn state(client: &mut Client, key: &str) -> State {
    let kind = client.text(&["TYPE", key]);
    let export = match KINDS.iter().find(|known| known.name == kind) {
        Some(known) => Some(at(known.export, key)),
        None => (kind == "string").then(|| args!["GET", key]),
    };
    let hash = |export: Args| {
        let mut script = args!["EVAL", "return redis.sha1hex(redis.call(unpack(ARGV)))", 1, key];
        script.extend(export);
        client.text(&script)
    };
    let value = export.map(hash).unwrap_or_default();
    State { kind, digest: client.digest(key), value, expires: client.int(&["PTTL", key]) > 0 }
}

/// The state of every key of the selected database.
pub fn states(client: &mut Client) -> BTreeMap<String, State> {
    let keys = client.texts(&["KEYS", "*"]);
    keys.into_iter().map(|key| (key.clone(), state(client, &key))).collect()
}

/// Fails unless two sets of keys are equal, naming the first that is not.
///
/// # Panics
/// With the difference.
pub fn assert_equal(found: &BTreeMap<String, State>, expected: &BTreeMap<String, State>, what: &str) {
    let names = |states: &BTreeMap<String, State>| states.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "keys {what}");
    for (key, state) in expected {
        assert_eq!(found.get(key), Some(state), "{key} {what}");
    }
}

fn the_least_difference_changes_the_digest_and_no_history_does() {
    let server = Server::start();
    let mut client = server.client();
    for kind in KINDS {
        client.ask(&at(kind.sample, "sample"));
        let sample = state(&mut client, "sample");
        for words in kind.least_differences {
            client.ask(&["DEL", "changed"]);
            client.ask(&at(kind.sample, "changed"));
            assert_eq!(state(&mut client, "changed"), sample);
            client.ask(&at(words, "changed"));
            let changed = state(&mut client, "changed");
            assert_ne!(changed.digest, sample.digest, "digest after {words:?}");
            assert_ne!(changed.value, sample.value, "export after {words:?}");
        }
        let mut first = None;
        for history in kind.histories {
            client.ask(&["DEL", "made"]);
            for words in *history {
                client.ask(&at(words, "made"));
            }
            let made = state(&mut client, "made");
            assert_eq!(&made, first.get_or_insert(made.clone()), "made by {history:?}");
        }
    }
}

/// How a call reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Multi,
    Script,
}

fn run(client: &mut Client, way: Way, call: &Args) -> Value {
    match way {
        Way::Plain => client.ask(call),
        Way::Script => client.ask(&script_of(call, "redis.call")),
        Way::Multi => {
            client.ok(&["MULTI"]);
            client.ask(call);
            match client.ask(&["EXEC"]) {
                Value::Array(mut replies) if replies.len() == 1 => replies.remove(0),
                other => panic!("EXEC of one call replied {other:?}"),
            }
        }
    }
}

/// Runs every write of the table in every way, each on keys of its own, and
/// shows on the way that what changes nothing is not propagated.
fn write_everything(client: &mut Client) {
    for way in [Way::Plain, Way::Multi, Way::Script] {
        for write in WRITES {
            for (nth, Case { start, words, effect }) in cases(write).into_iter().enumerate() {
                let names = Names::new(&format!("{way:?}:{}:{nth}", write.name));
                prepare(client, &names, write.kind, start);
                let before = (propagated(client), client.digest_of_all());
                run(client, way, &names.fill(words));
                let after = (propagated(client), client.digest_of_all());
                let changes = effect != Effect::Nothing;
                // 6.2 sends MULTI and EXEC for a script that calls a write, whatever it changes.
                if !(way == Way::Script && Flavor::current().is_before_7()) {
                    assert_eq!(after.0 != before.0, changes, "{words:?} is propagated, {way:?}");
                }
                assert_eq!(after.1 != before.1, changes, "{words:?} changes the data set, {way:?}");
            }
        }
    }
}

/// Bytes sent to replicas, and to the append-only file, so far.
fn propagated(client: &mut Client) -> (u64, u64) {
    (
        client.info_number("replication", "master_repl_offset"),
        client.info_number("persistence", "aof_current_size"),
    )
}

fn replica_append_only_file_and_reload_keep_every_write() {
    let mut primary = Server::builder()
        .aof()
        .config("appendfsync", "no")
        .config("repl-diskless-sync-delay", "0")
        .config("repl-ping-replica-period", "3600")
        .start();
    let replica = Server::start();
    let mut client = primary.client();
    replica.replica_of(&primary);
    write_everything(&mut client);
    let expected = states(&mut client);
    replica.wait_until_caught_up(&primary);
    assert_equal(&states(&mut replica.client()), &expected, "on the replica");
    for read in READS {
        client.ask(&at(read.call, "Plain:RB.ADD:1:key"));
    }
    replica.wait_until_caught_up(&primary);
    assert_equal(&states(&mut replica.client()), &expected, "on the replica after reads");

    primary.kill9();
    primary.start_again();
    assert_equal(&states(&mut primary.client()), &expected, "after a kill and the replay of the file");
    survive_rewrites_and_reload(&mut primary, &expected);
}

/// Rewrites the append-only file in both ways, each followed by a kill, and reloads.
fn survive_rewrites_and_reload(server: &mut Server, expected: &BTreeMap<String, State>) {
    for preamble in ["no", "yes"] {
        let mut client = server.client();
        client.ok(&["CONFIG", "SET", "aof-use-rdb-preamble", preamble]);
        client.bgrewriteaof();
        server.kill9();
        server.start_again();
        let what = format!("after a rewrite with aof-use-rdb-preamble {preamble} and a kill");
        assert_equal(&states(&mut server.client()), expected, &what);
    }
    let mut client = server.client();
    client.ok(&["DEBUG", "RELOAD"]);
    assert_equal(&states(&mut client), expected, "after DEBUG RELOAD");
}

/// Keys of every shape that a bitmap is stored in: name and how it is made.
fn make_shapes(client: &mut Client) {
    let cases: &[(&str, Words)] = &[
        ("empty:of-no-length", &["RB.IMPORT", "KEY", "", "FORMAT", "STRING"]),
        ("empty:of-126-bytes", &["RB.SETBIT", "KEY", "1000", "0"]),
        ("empty:of-all-bytes", &["RB.SETBIT", "KEY", "18446744073709551615", "0"]),
        ("one:first", &["RB.ADD", "KEY", "0"]),
        ("one:last", &["RB.ADD", "KEY", "18446744073709551615"]),
        ("case-33", &["RB.ADD", "KEY", "1", "2", "5", "100", "65536"]),
        ("range:everything", &["RB.ADDRANGE", "KEY", "-", "+"]),
        ("range:across-32-bits", &["RB.ADDRANGE", "KEY", "4294967290", "4294967300"]),
    ];
    for (name, words) in cases {
        client.ask(&at(words, name));
    }
    for size in [65_535u32, 65_536, 65_537] {
        client.ask(&args!["RB.ADDRANGE", format!("run:{size}"), 0, size - 1]);
        make_scattered(client, &format!("scattered:{size}"), size, |nth| u64::from(nth) * 4 / 3);
    }
    make_scattered(client, "million", 1_000_000, |nth| u64::from(nth / 20) * 37 + u64::from(nth % 20));
    // More than one piece of an RDB or an append-only file, which have half a megabyte.
    make_scattered(client, "pieces", 300_000, |nth| {
        7_301_234_567_890_123_456 + (u64::from(nth) << 22) + u64::from(nth % 8) * 4096
    });
    client.ask(&["PEXPIRE", "case-33", "100000000"]);
}

/// Adds `count` ids, a thousand a call.
fn make_scattered(client: &mut Client, key: &str, count: u32, id: impl Fn(u32) -> u64) {
    const IDS_A_CALL: usize = 1_000;
    const CALLS_A_PIPELINE: usize = 32;
    let ids: Vec<u64> = (0..count).map(id).collect();
    let add = |ids: &[u64]| {
        let mut call = args!["RB.ADD", key];
        call.extend(ids.iter().map(|id| id.to_string().into_bytes()));
        call
    };
    let calls: Vec<Args> = ids.chunks(IDS_A_CALL).map(add).collect();
    for batch in calls.chunks(CALLS_A_PIPELINE) {
        let replies = client.pipeline(batch);
        assert!(replies.iter().all(Result::is_ok), "{key}: {replies:?}");
    }
    assert_eq!(client.int(&["RB.COUNT", key]), i64::from(count), "{key}");
}

fn every_shape_survives_rewrite_reload_dump_and_copy() {
    let mut server =
        Server::builder().aof().config("appendfsync", "no").config("repl-diskless-sync-delay", "0").start();
    let mut client = server.client();
    make_shapes(&mut client);
    let expected = states(&mut client);
    let replica = Server::start();
    replica.replica_of(&server);
    assert_equal(&states(&mut replica.client()), &expected, "after a full synchronisation");
    drop(replica);
    for (key, original) in &expected {
        assert_eq!(client.int(&["COPY", key, "copied", "REPLACE"]), 1);
        // In scripts: megabytes need not pass the connection.
        let restore = "return redis.call('RESTORE', KEYS[2], 0, redis.call('DUMP', KEYS[1]), 'REPLACE')";
        client.ask(&["EVAL", restore, "2", key, "restored"]);
        let import = "return redis.call('RB.IMPORT', KEYS[2], \
                      redis.call('RB.EXPORT', KEYS[1], 'FORMAT', 'NATIVE'), 'FORMAT', 'NATIVE')";
        client.ask(&["EVAL", import, "2", key, "imported"]);
        for twin in ["restored", "copied", "imported"] {
            // Whether a key expires is part of its digest.
            match original.expires {
                true => client.ask(&["PEXPIRE", twin, "100000000"]),
                false => client.ask(&["PERSIST", twin]),
            };
            assert_eq!(&state(&mut client, twin), original, "{twin} of {key}");
        }
    }
    client.ask(&["DEL", "restored", "copied", "imported"]);
    survive_rewrites_and_reload(&mut server, &expected);
}

fn a_copy_and_a_restored_dump_are_independent() {
    let server = Server::start();
    let mut client = server.client();
    for kind in KINDS {
        client.ask(&at(kind.sample, "original"));
        for way in ["copy", "dump"] {
            for changed_first in ["original", "twin"] {
                client.ask(&["DEL", "twin"]);
                if way == "copy" {
                    assert_eq!(client.int(&["COPY", "original", "twin"]), 1);
                } else {
                    let payload = client.dump("original").unwrap_or_default();
                    client.ok(&args!["RESTORE", "twin", "0", payload]);
                }
                let other = if changed_first == "twin" { "original" } else { "twin" };
                let before = state(&mut client, other);
                assert_eq!(state(&mut client, changed_first), before, "{way}");
                client.ask(&at(kind.touch, changed_first));
                assert_ne!(state(&mut client, changed_first), before, "{way}");
                assert_eq!(state(&mut client, other), before, "{way}, {changed_first} was changed");
            }
        }
    }
}

fn multi_and_scripts_answer_as_plain_calls_do() {
    let server = Server::start();
    let mut client = server.client();
    let names = Names::new("way");
    for write in WRITES {
        for Case { start, words, .. } in cases(write) {
            let call = names.fill(words);
            let outcomes = [Way::Plain, Way::Multi, Way::Script].map(|way| {
                prepare(&mut client, &names, write.kind, start);
                (run(&mut client, way, &call), states(&mut client))
            });
            let plain = outcomes[0].clone();
            let [_, in_multi, in_script] = &outcomes;
            assert_eq!(in_multi.0, plain.0, "reply of {words:?} in MULTI");
            assert_eq!(in_script.0, as_in_lua(&plain.0), "reply of {words:?} in a script");
            for outcome in &outcomes {
                assert_equal(&outcome.1, &plain.1, &format!("after {words:?}"));
            }
        }
    }
    names.prepare(&mut client, &BITMAP);
    for read in READS {
        let call = names.fill(read.call);
        let plain = client.ask(&call);
        for way in [Way::Multi, Way::Script] {
            let reply = run(&mut client, way, &call);
            if is_repeatable(&spec::row(read.name)) {
                let expected = if way == Way::Script { as_in_lua(&plain) } else { plain.clone() };
                assert_eq!(reply, expected, "{} {way:?}", read.name);
            }
        }
    }
    client.ask(&["RPUSH", "list", "x"]);
    for (name, _, words) in one_call_each() {
        let mut call = names.fill(words);
        let used = keys_of(&spec::row(name), &call);
        let position = used.last().map_or(1, |used| used.position);
        call[position] = b"list".to_vec();
        client.ok(&["MULTI"]);
        client.ask(&call);
        client.ask(&["ECHO", "after"]);
        let Value::Array(replies) = client.ask(&["EXEC"]) else { panic!("EXEC is no array") };
        assert!(replies.first().is_some_and(holds_error), "{name} of a list in MULTI");
        assert_eq!(replies.get(1), Some(&Value::BulkString(b"after".to_vec())));
        assert!(client.error(&script_of(&call, "redis.call")).contains("WRONGTYPE"), "{name}");
        assert_eq!(client.error(&script_of(&call, "redis.pcall")), WRONG_TYPE, "{name}");
    }
}

/// A reply after Lua has had it: its numbers are doubles, which is why ids are strings.
fn as_in_lua(reply: &Value) -> Value {
    match reply {
        Value::Int(number) => Value::Int(*number as f64 as i64),
        Value::Array(items) => Value::Array(items.iter().map(as_in_lua).collect()),
        other => other.clone(),
    }
}
