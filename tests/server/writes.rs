//! What every write command owes the server, shown of each by loops over the table:
//! errors, events, WATCH, invalidations, replication and persistence. What is not
//! true of all of them is told in other files.

use std::collections::BTreeMap;
use std::time::Duration;

use roarbits_tests::spec::{self, Row};
use roarbits_tests::{args, tests, Args, Client, Flavor, Protocol, Server, TestList, Value, Wire};

use crate::table::{
    assert_equal, at, complete, holds_error, is_repeatable, keys_of, one_call_each, state, states, text_of,
    written_keys, Kind, Memory, Names, OnHll, OnString, Words, Write, BITMAP, KINDS, READS, WRITES,
};

pub fn tests() -> TestList {
    tests![
        every_command_has_a_case,
        a_wrong_number_of_arguments_is_told_as_natively,
        a_wrong_type_is_one_error_and_nothing_changes,
        a_hyperloglog_is_no_set_of_ids,
        a_missing_key_is_created_by_writes_that_set_and_by_no_read,
        out_of_memory_refuses_what_can_grow_and_nothing_else,
        a_refused_call_writes_none_of_its_keys,
        each_change_is_one_event_of_each_key,
        events_are_of_the_class_of_modules_but_for_del,
        a_plain_string_gets_the_native_event_only,
        watch_aborts_on_a_change_and_on_nothing_else,
        invalidations_follow_every_read_and_every_change,
        the_least_difference_changes_the_digest_and_no_history_does,
        replica_append_only_file_and_reload_keep_every_write,
        every_shape_survives_rewrite_reload_dump_and_copy,
        a_copy_and_a_restored_dump_are_independent,
        multi_and_scripts_answer_as_plain_calls_do,
        a_replica_refuses_writes_and_answers_reads,
    ]
}

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
const WRONG_TYPE_STRING: &str = "WRONGTYPE Operation against a key holding the wrong kind of value, \
     a plain string bitmap can only be changed after RB.CONVERT";
const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

fn every_command_has_a_case() {
    complete();
}

fn names(text: &str) -> Names {
    Names(text.to_string())
}

/// A call of the table, with what it starts from and comes to.
#[derive(Debug, Clone, Copy)]
struct Case {
    start: Start,
    words: Words,
    effect: Effect,
}

/// What the keys of a call hold before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Missing,
    Samples,
}

/// What a call does to every key that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Changes,
    Deletes,
    Nothing,
}

/// Every call of a write.
fn cases(write: &Write) -> Vec<Case> {
    let lists = [
        (Start::Missing, Effect::Changes, write.creates),
        (Start::Samples, Effect::Changes, write.changes),
        (Start::Samples, Effect::Changes, write.replaces),
        (Start::Samples, Effect::Deletes, write.deletes),
        (Start::Samples, Effect::Nothing, write.same),
        (Start::Missing, Effect::Nothing, write.same_on_missing),
    ];
    let of = |(start, effect, list): (Start, Effect, &'static [Words])| {
        list.iter().map(move |words| Case { start, words, effect })
    };
    lists.into_iter().flat_map(of).collect()
}

fn prepare(client: &mut Client, names: &Names, kind: &Kind, start: Start) {
    match start {
        Start::Missing => names.prepare_missing(client, kind),
        Start::Samples => names.prepare(client, kind),
    }
}

fn a_wrong_number_of_arguments_is_told_as_natively() {
    let server = Server::start();
    let mut client = server.client();
    let names = names("arity");
    for row in spec::rows() {
        let arity = row.arity();
        let fewest = arity.unsigned_abs() as usize;
        let mut wrong = vec![fewest - 1];
        if arity > 0 {
            wrong.push(fewest + 1);
        }
        let text = format!("ERR wrong number of arguments for '{}' command", row.name().to_lowercase());
        for count in wrong {
            let mut call: Args = vec![b"5".to_vec(); count];
            call[0] = row.name().as_bytes().to_vec();
            assert_eq!(client.error(&call), text, "{count} arguments");
            assert_eq!(client.cmd(&["ECHO", "own"]), Ok(Value::BulkString(b"own".to_vec())));
        }
    }
    for (name, kind, words) in one_call_each() {
        names.prepare(&mut client, kind);
        assert!(client.cmd(&names.fill(words)).is_ok(), "{name} with a right number");
    }
    let odd = "ERR wrong number of arguments for 'rb.msetbit' command";
    assert_eq!(client.error(&["RB.MSETBIT", "k", "5", "1", "l"]), odd);
    assert_eq!(client.error(&["RB.MSETBIT", "k", "5", "1", "l", "5"]), odd);
    client.ok(&["FLUSHALL"]);
    assert_eq!(client.int(&["DBSIZE"]), 0);
}

fn a_wrong_type_is_one_error_and_nothing_changes() {
    let server = Server::start();
    let mut client = server.client();
    let names = names("type");
    for (name, kind, words) in one_call_each() {
        let call = names.fill(words);
        for used in keys_of(&spec::row(name), &call) {
            if used.has("OW") {
                continue;
            }
            names.prepare(&mut client, kind);
            let key = call[used.position].clone();
            for making in [
                args!["RPUSH", &key, "x"],
                args!["HSET", &key, "f", "v"],
                args!["XADD", &key, "1-1", "f", "v"],
            ] {
                client.ask(&args!["DEL", &key]);
                client.ask(&making);
                assert_refused(&mut client, &call, WRONG_TYPE);
            }
            let is_refused = |write: &&Write| write.name == name && write.on_string == OnString::Refused;
            if used.is_written() && WRITES.iter().any(|write| is_refused(&write)) {
                client.ok(&args!["SET", &key, "abc"]);
                assert_refused(&mut client, &call, WRONG_TYPE_STRING);
            }
        }
    }
}

/// One error, every key as it was, and the next calls of the connection answer themselves.
fn assert_refused(client: &mut Client, call: &Args, text: &str) {
    let before = client.digest_of_all();
    let replies = client.pipeline(&[call.clone(), args!["ECHO", "first"], args!["ECHO", "second"]]);
    let echo = |text: &str| Ok(Value::BulkString(text.as_bytes().to_vec()));
    assert_eq!(replies, [Err(text.to_string()), echo("first"), echo("second")]);
    assert_eq!(client.digest_of_all(), before, "after a refused {}", text_of(&call[0]));
}

fn a_hyperloglog_is_no_set_of_ids() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["PFADD", "hll", "a", "b"]);
    for read in READS {
        let call = at(read.call, "hll");
        match read.on_hll {
            OnHll::Refused => assert_refused(&mut client, &call, WRONG_TYPE),
            OnHll::Read => {
                client.ask(&call);
            }
        }
        client.ok(&["SET", "string", "abc"]);
        let on_string = client.ask(&at(read.call, "string"));
        assert!(!holds_error(&on_string), "{} of a string: {on_string:?}", read.name);
        assert_eq!(client.text(&["GET", "string"]), "abc");
    }
}

fn a_missing_key_is_created_by_writes_that_set_and_by_no_read() {
    let server = Server::start();
    let mut client = server.client();
    for read in READS {
        let outcome = client.cmd(&at(read.call, "nothing"));
        assert!(outcome.is_ok(), "{} of a missing key: {outcome:?}", read.name);
    }
    assert_eq!(client.int(&["DBSIZE"]), 0, "after reads");
    let names = names("missing");
    for write in WRITES {
        for words in write.creates {
            names.prepare_missing(&mut client, write.kind);
            let call = names.fill(words);
            client.ask(&call);
            for key in written_keys(&spec::row(write.name), &call) {
                assert_eq!(client.text(&["TYPE", &key]), write.kind.name, "{key} after {words:?}");
            }
        }
        for words in write.same_on_missing {
            names.prepare_missing(&mut client, write.kind);
            let reply = client.ask(&names.fill(words));
            assert_eq!(reply, Value::Int(0), "{words:?}");
            assert_eq!(client.int(&["EXISTS", &names.key()]), 0, "after {words:?}");
        }
        if write.creates.is_empty() {
            for words in write.changes {
                names.prepare_missing(&mut client, write.kind);
                client.ask(&names.fill(words));
                assert_eq!(client.int(&["EXISTS", &names.key()]), 0, "after {words:?}");
            }
        }
    }
}

fn out_of_memory_refuses_what_can_grow_and_nothing_else() {
    let server = Server::builder().config("maxmemory-policy", "noeviction").start();
    let mut client = server.client();
    let names = names("oom");
    for write in WRITES {
        let row = spec::row(write.name);
        assert_eq!(row.has_flag("deny-oom"), write.memory == Memory::Grows, "deny-oom of {}", write.name);
        for Case { start, words, .. } in cases(write) {
            prepare(&mut client, &names, write.kind, start);
            client.ok(&["CONFIG", "SET", "maxmemory", "1"]);
            let call = names.fill(words);
            match write.memory {
                Memory::Grows => {
                    assert_refused(&mut client, &call, OUT_OF_MEMORY);
                    assert_refused_in_multi_and_script(&mut client, &call);
                }
                Memory::Frees => {
                    client.ask(&call);
                }
            }
            assert_reads_answer(&mut client, &names);
            client.ok(&["CONFIG", "SET", "maxmemory", "0"]);
        }
    }
}

fn assert_refused_in_multi_and_script(client: &mut Client, call: &Args) {
    let before = client.digest_of_all();
    client.ok(&["MULTI"]);
    assert_eq!(client.error(call), OUT_OF_MEMORY);
    assert!(client.error(&["EXEC"]).starts_with("EXECABORT"));
    assert!(client.error(&script_of(call, "redis.call")).contains("OOM"));
    assert_eq!(client.digest_of_all(), before);
}

fn assert_reads_answer(client: &mut Client, names: &Names) {
    for read in READS {
        let outcome = client.cmd(&names.fill(read.call));
        assert!(outcome.is_ok(), "{} when memory is out: {outcome:?}", read.name);
    }
}

fn a_refused_call_writes_none_of_its_keys() {
    let server = Server::start();
    let mut client = server.client();
    client.ok(&["SET", "string", "abc"]);
    client.int(&["RB.ADD", "bitmap", "1"]);
    client.int(&["RPUSH", "list", "x"]);
    let offset = "ERR bit offset is not an integer or out of range";
    let set = |key: &'static str, offset: &'static str| ["RB.MSETBIT", "bitmap", "7", "1", key, offset, "1"];
    let refused = [
        (set("list", "1"), WRONG_TYPE),
        (set("string", "4294967296"), offset),
        (set("string", "007"), offset),
        (set("missing", "18446744073709551616"), offset),
        (
            ["RB.MSETBIT", "bitmap", "7", "1", "missing", "7", "2"],
            "ERR bit is not an integer or out of range",
        ),
    ];
    for (call, text) in refused {
        assert_refused(&mut client, &args_of(&call), text);
    }
    let id = "ERR id is not an integer or out of range";
    assert_refused(&mut client, &args!["RB.ADD", "bitmap", "7", "-1"], id);
    assert_refused(&mut client, &args!["RB.REM", "bitmap", "1", "+2"], id);
    assert_refused(&mut client, &args!["RB.BITOP", "OR", "bitmap", "string", "list"], WRONG_TYPE);
}

fn args_of(words: &[&str]) -> Args {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Hears every keyspace event; `heard` returns those since it was last asked.
struct Listener {
    wire: Wire,
}

impl Listener {
    fn on(server: &Server) -> Listener {
        let mut wire = server.wire(Protocol::Resp2);
        wire.psubscribe(&["__keyevent@0__:*", "end-of-events"]);
        Listener { wire }
    }

    /// (event, key) in order of name.
    fn heard(&mut self, client: &mut Client) -> Vec<(String, String)> {
        client.int(&["PUBLISH", "end-of-events", "."]);
        let mut events = Vec::new();
        loop {
            let message = self.wire.message(Duration::from_secs(20));
            let (channel, key) = message.expect("the end of the events is announced");
            if channel == "end-of-events" {
                events.sort();
                return events;
            }
            let event = channel.trim_start_matches("__keyevent@0__:").to_string();
            events.push((event, key));
        }
    }

    /// The events of one call on prepared keys.
    fn of_call(&mut self, client: &mut Client, call: &Args) -> Vec<(String, String)> {
        self.heard(client);
        client.ask(call);
        self.heard(client)
    }
}

/// The event that a row promises, of each key that a call writes.
fn promised(row: &Row, call: &Args) -> Vec<(String, String)> {
    let event = row.event().unwrap_or_else(|| panic!("{} has no event", row.name()));
    assert_eq!(event, row.name().to_lowercase(), "the event has the command's name");
    let written = written_keys(row, call).into_iter();
    written.map(|key| (event.to_string(), key)).collect()
}

fn each_change_is_one_event_of_each_key() {
    let server = Server::builder().config("notify-keyspace-events", "KEA").start();
    let mut client = server.client();
    let mut listener = Listener::on(&server);
    let names = names("event");
    for write in WRITES {
        let row = spec::row(write.name);
        for Case { start, words, effect } in cases(write) {
            prepare(&mut client, &names, write.kind, start);
            let call = names.fill(words);
            let expected = match effect {
                Effect::Changes => promised(&row, &call),
                Effect::Deletes => vec![("del".to_string(), names.key())],
                Effect::Nothing => vec![],
            };
            assert_eq!(listener.of_call(&mut client, &call), expected, "{words:?}");
        }
    }
    // Of two keys only one changes.
    names.prepare(&mut client, &BITMAP);
    let one_of_two = names.fill(&["RB.MSETBIT", "KEY", "5", "1", "OTHER", "5", "0"]);
    let expected = vec![("rb.msetbit".to_string(), names.of("OTHER"))];
    assert_eq!(listener.of_call(&mut client, &one_of_two), expected);
    for read in READS {
        assert_eq!(listener.of_call(&mut client, &names.fill(read.call)), [], "{}", read.name);
    }
}

fn events_are_of_the_class_of_modules_but_for_del() {
    let server = Server::builder().config("notify-keyspace-events", "Ed").start();
    let mut client = server.client();
    let mut listener = Listener::on(&server);
    let names = names("class");
    for (classes, own, del) in [("Ed", true, false), ("Eg$lshzxet", false, true), ("Eg", false, true)] {
        client.ok(&["CONFIG", "SET", "notify-keyspace-events", classes]);
        for write in WRITES {
            names.prepare(&mut client, write.kind);
            let call = names.fill(write.changes[0]);
            let expected = if own { promised(&spec::row(write.name), &call) } else { vec![] };
            assert_eq!(listener.of_call(&mut client, &call), expected, "{} with {classes}", write.name);
            for words in write.deletes {
                names.prepare(&mut client, write.kind);
                let expected = if del { vec![("del".to_string(), names.key())] } else { vec![] };
                let heard = listener.of_call(&mut client, &names.fill(words));
                assert_eq!(heard, expected, "{words:?} with {classes}");
            }
        }
    }
}

fn a_plain_string_gets_the_native_event_only() {
    let server = Server::builder().config("notify-keyspace-events", "KEA").start();
    let mut client = server.client();
    let mut listener = Listener::on(&server);
    let names = names("string");
    for write in WRITES {
        let OnString::Native(event) = write.on_string else {
            continue;
        };
        let row = spec::row(write.name);
        for words in write.changes {
            let call = names.fill(words);
            let keys = written_keys(&row, &call);
            names.prepare(&mut client, write.kind);
            for key in &keys {
                // Bit 5 is set, 6 and 7 are not: every call of the table changes it.
                client.ok(&["SET", key, "\x04"]);
            }
            let events = listener.of_call(&mut client, &call);
            assert!(!events.is_empty(), "{words:?}");
            for (heard, key) in events {
                assert_eq!(heard, event, "{words:?}");
                assert!(keys.contains(&key), "{words:?}: {key}");
            }
            for key in &keys {
                assert_eq!(client.text(&["TYPE", key]), "string", "after {words:?}");
            }
        }
    }
}

fn watch_aborts_on_a_change_and_on_nothing_else() {
    let server = Server::start();
    let (mut watcher, mut client) = (server.client(), server.client());
    let names = names("watch");
    for write in WRITES {
        let row = spec::row(write.name);
        for Case { start, words, effect } in cases(write) {
            let call = names.fill(words);
            let changes = effect != Effect::Nothing;
            for key in written_keys(&row, &call) {
                prepare(&mut client, &names, write.kind, start);
                watcher.ok(&["WATCH", &key]);
                client.ask(&call);
                watcher.ok(&["MULTI"]);
                watcher.ask(&["PING"]);
                let aborted = watcher.cmd(&["EXEC"]) == Ok(Value::Nil);
                assert_eq!(aborted, changes, "{words:?} while {key} is watched");
            }
        }
        names.prepare(&mut client, write.kind);
        for placeholder in ["SOURCE", "MISSING"] {
            watcher.ok(&["WATCH", &names.of(placeholder)]);
            client.ask(&names.fill(write.changes[0]));
            watcher.ok(&["MULTI"]);
            assert_eq!(
                watcher.cmd(&["EXEC"]),
                Ok(Value::Array(vec![])),
                "{} and its {placeholder}",
                write.name
            );
        }
    }
}

fn invalidations_follow_every_read_and_every_change() {
    let server = Server::start();
    let mut client = server.client();
    let mut reader = server.wire(Protocol::Resp3);
    assert_eq!(reader.call(&["CLIENT", "TRACKING", "ON"]), Ok(Value::Okay));
    let names = names("tracking");
    for read in READS {
        let call = names.fill(read.call);
        names.prepare(&mut client, read.kind);
        for used in keys_of(&spec::row(read.name), &call) {
            assert!(reader.call(&call).is_ok(), "{}", read.name);
            invalidated(&mut reader);
            let key = text_of(&call[used.position]);
            assert!(reader.call(&call).is_ok(), "{}", read.name);
            client.ask(&at(read.kind.touch, &key));
            assert_eq!(invalidated(&mut reader), [key], "{} is cached", read.name);
        }
    }
    for write in WRITES {
        for Case { start, words, effect } in cases(write) {
            let call = names.fill(words);
            prepare(&mut client, &names, write.kind, start);
            invalidated(&mut reader);
            for placeholder in ["KEY", "OTHER", "SOURCE"] {
                assert!(reader.call(&["EXISTS", &names.of(placeholder)]).is_ok());
                assert!(reader.call(&["TYPE", &names.of(placeholder)]).is_ok());
            }
            client.ask(&call);
            let changes = effect != Effect::Nothing;
            let expected = if changes { written_keys(&spec::row(write.name), &call) } else { vec![] };
            assert_eq!(invalidated(&mut reader), expected, "{words:?}");
        }
    }
}

/// The keys invalidated until now, each once. The server queues an invalidation before it
/// answers the call that causes it, so the reply of a PING comes after it.
fn invalidated(reader: &mut Wire) -> Vec<String> {
    assert!(reader.call(&["PING"]).is_ok());
    let keys = reader.invalidations(Duration::from_millis(1)).into_iter();
    let mut names: Vec<String> = keys.flatten().map(|key| text_of(&key)).collect();
    names.sort();
    names.dedup();
    names
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

/// A script that runs a call; `function` is `redis.call` or `redis.pcall`.
fn script_of(call: &Args, function: &str) -> Args {
    // Which keys the call has is all the same to a single server; undeclared ones are not.
    let row = spec::row(&text_of(&call[0]));
    let keys: Vec<Vec<u8>> = keys_of(&row, call).iter().map(|used| call[used.position].clone()).collect();
    let mut script = args!["EVAL", format!("return {function}(unpack(ARGV))"), keys.len()];
    script.extend(keys);
    script.extend(call.iter().cloned());
    script
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
                let names = names(&format!("{way:?}:{}:{nth}", write.name));
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
fn survive_rewrites_and_reload(server: &mut Server, expected: &BTreeMap<String, crate::table::State>) {
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
    let names = names("way");
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

fn a_replica_refuses_writes_and_answers_reads() {
    let primary = Server::builder().config("repl-diskless-sync-delay", "0").start();
    let replica = Server::start();
    let names = names("replica");
    names.prepare(&mut primary.client(), &BITMAP);
    replica.replica_of(&primary);
    let mut client = replica.client();
    let read_only = "READONLY You can't write against a read only replica.";
    for write in WRITES {
        assert_refused(&mut client, &names.fill(write.changes[0]), read_only);
    }
    for read in READS {
        let reply = client.ask(&names.fill(read.call));
        if is_repeatable(&spec::row(read.name)) {
            assert_eq!(reply, primary.client().ask(&names.fill(read.call)), "{}", read.name);
        }
    }
}
