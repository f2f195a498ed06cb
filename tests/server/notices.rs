//! Who is told of a change, shown of every write command by loops over the table:
//! subscribers of keyspace events, watchers, client-side caches. What changes nothing
//! is told to nobody.

use std::time::Duration;

use roarbits_tests::spec::{self, Row};
use roarbits_tests::{tests, Args, Client, Protocol, Server, TestList, Value, Wire, PATIENCE};

use crate::table::{
    at, cases, keys_of, prepare, text_of, written_keys, Case, Effect, Names, OnString, BITMAP, READS, WRITES,
};

pub fn tests() -> TestList {
    tests![
        each_change_is_one_event_of_each_key,
        events_are_of_the_class_of_modules_but_for_del,
        a_plain_string_gets_the_native_event_only,
        watch_aborts_on_a_change_and_on_nothing_else,
        invalidations_follow_every_read_and_every_change,
    ]
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
            let message = self.wire.message(PATIENCE);
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
    let names = Names::new("event");
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
    let names = Names::new("class");
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
    let names = Names::new("string");
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
    let names = Names::new("watch");
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
    let names = Names::new("tracking");
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
