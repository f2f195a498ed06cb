//! REPLACE, OR, AND, XOR and DIFF.

use std::collections::BTreeSet;

use roarbits_tests::{args, Client, Server, Value};

use super::{ids, length, Shape, FORMATS};

const MODES: [&str; 5] = ["REPLACE", "OR", "AND", "XOR", "DIFF"];

/// What each mode makes of a key and a payload.
fn expected(mode: &str, key: &BTreeSet<u64>, payload: &BTreeSet<u64>) -> BTreeSet<u64> {
    match mode {
        "REPLACE" => payload.clone(),
        "OR" => key | payload,
        "AND" => key & payload,
        "XOR" => key ^ payload,
        _ => key - payload,
    }
}

fn operands() -> Vec<Shape> {
    vec![
        Shape::of("empty", []),
        Shape::longer("no ids, 900 bytes", [], 900),
        Shape::longer("few", [1, 5, 70_000], 9_000),
        Shape::of("every thirtieth", (0..6_000).map(|n| n * 30)),
        Shape::of("every second", (0..6_000).map(|n| 60_000 + n * 2)),
        Shape::of("a run", 60_000..68_000),
    ]
}

pub fn every_mode_combines_ids_and_lengths() {
    let server = Server::builder().debug_library().start();
    let mut client = server.client();
    for payload in operands() {
        payload.store(&mut client, "source");
        let payloads = FORMATS.map(|format| client.bytes(&["RB.EXPORT", "source", "FORMAT", format]));
        for key in operands() {
            for mode in MODES {
                for (format, bytes) in FORMATS.iter().zip(&payloads) {
                    key.store(&mut client, "k");
                    let context = format!("{} {mode} {} as {format}", key.name, payload.name);
                    let call = args!["RB.IMPORT", "k", bytes, "FORMAT", *format, mode];
                    let carried = carried_bytes(&payload, format);
                    let reply = client.int(&call);
                    check(&mut client, mode, &key, &payload, carried, reply, &context);
                }
            }
        }
        on_a_missing_key(&mut client, &payload, &payloads[3]);
    }
}

/// The length in bytes that a payload brings along.
fn carried_bytes(shape: &Shape, format: &str) -> u64 {
    match format.starts_with("PORTABLE") {
        true => shape.covering_bytes(),
        false => shape.length_bytes,
    }
}

fn check(
    client: &mut Client,
    mode: &str,
    key: &Shape,
    payload: &Shape,
    carried: u64,
    reply: i64,
    context: &str,
) {
    let set = |shape: &Shape| shape.ids.iter().copied().collect::<BTreeSet<u64>>();
    let wanted = expected(mode, &set(key), &set(payload));
    assert_eq!(reply as usize, wanted.len(), "{context}");
    assert!(ids(client, "k").into_iter().eq(wanted), "{context}");
    let longest = if mode == "REPLACE" { carried } else { carried.max(key.length_bytes) };
    assert_eq!(length(client, "k"), longest, "{context}");
    client.ok(&["RB.DEBUG", "VALIDATE", "k"]);
}

/// It counts as an empty bitmap, and exists afterwards.
fn on_a_missing_key(client: &mut Client, payload: &Shape, native: &[u8]) {
    let nothing = Shape::of("missing", []);
    for mode in MODES {
        client.int(&["DEL", "k"]);
        let reply = client.int(&args!["RB.IMPORT", "k", native, mode]);
        let context = format!("missing {mode} {}", payload.name);
        check(client, mode, &nothing, payload, payload.length_bytes, reply, &context);
        assert_eq!(client.int(&["EXISTS", "k"]), 1, "{context}");
    }
}

pub fn combining_keeps_the_ttl_and_needs_a_bitmap() {
    let server = Server::start();
    let mut client = server.client();
    let payload = b"\x81";
    for mode in MODES {
        client.ok(&["FLUSHALL"]);
        client.int(&["RB.ADD", "k", "0", "9"]);
        client.int(&["EXPIRE", "k", "1000"]);
        client.int(&args!["RB.IMPORT", "k", payload, "FORMAT", "STRING", mode]);
        assert_eq!(client.int(&["TTL", "k"]) > 0, mode != "REPLACE", "TTL after {mode}");
        for make in
            [&["SET", "other", "A", "EX", "1000"][..], &["RPUSH", "other", "x"], &["HSET", "other", "f", "1"]]
        {
            client.int(&["DEL", "other"]);
            client.ask(make);
            let before = client.dump("other");
            let reply = client.cmd(&args!["RB.IMPORT", "other", payload, "FORMAT", "STRING", mode]);
            if mode == "REPLACE" {
                assert_eq!(reply, Ok(Value::Int(2)), "over {make:?}");
                assert_eq!(client.int(&["TTL", "other"]), -1, "over {make:?}");
                assert_eq!(ids(&mut client, "other"), [0, 7], "over {make:?}");
                continue;
            }
            let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
            let hint = ", a plain string bitmap can only be changed after RB.CONVERT";
            let text = if make[0] == "SET" { format!("{wrong}{hint}") } else { wrong.to_string() };
            assert_eq!(reply, Err(text), "{mode} into {make:?}");
            assert_eq!(client.dump("other"), before, "{mode} into {make:?}");
        }
    }
}
