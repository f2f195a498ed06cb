//! The harness itself: what the other tests rely on, shown on native commands.

use std::time::Duration;

use roarbits_tests::{
    args, dump, spec, terminal, tests, Protocol, PushKind, Server, TestList, Value, PATIENCE,
};

pub fn tests() -> TestList {
    tests![
        errors_come_back_verbatim,
        a_pipeline_answers_in_order,
        pushes_of_client_side_caching_are_seen,
        keyspace_events_are_seen,
        a_forged_payload_is_accepted_only_with_its_checksum,
        a_server_that_crashed_is_noticed,
        refused_config_is_reported_with_the_log,
        every_example_of_the_table_can_be_typed,
    ]
}

fn errors_come_back_verbatim() {
    let server = Server::plain().start();
    for mut client in [server.client(), server.resp3()] {
        client.ok(&["SET", "text", "x"]);
        let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
        assert_eq!(client.error(&["LPUSH", "text", "x"]), wrong);
        assert_eq!(client.error(&["SET", "text"]), "ERR wrong number of arguments for 'set' command");
        assert_eq!(
            client.error(&["EVAL", "return redis.error_reply('ODD')", "0"]).trim_start_matches("ERR "),
            "ODD"
        );
        assert_eq!(client.cmd(&["GET", "missing"]), Ok(Value::Nil));
    }
}

fn a_pipeline_answers_in_order() {
    let server = Server::plain().start();
    let commands = vec![args!["SET", "k", vec![0u8, 255]], args!["INCR", "k"], args!["STRLEN", "k"]];
    let replies = server.client().pipeline(&commands);
    let not_a_number = "ERR value is not an integer or out of range".to_string();
    assert_eq!(replies, [Ok(Value::Okay), Err(not_a_number), Ok(Value::Int(2))]);
}

fn pushes_of_client_side_caching_are_seen() {
    let server = Server::plain().start();
    let mut reader = server.wire(Protocol::Resp3);
    assert_eq!(reader.call(&["CLIENT", "TRACKING", "ON"]), Ok(Value::Okay));
    assert_eq!(reader.call(&["GET", "watched"]), Ok(Value::Nil));
    assert_eq!(reader.invalidations(Duration::from_millis(20)), []);
    let mut writer = server.client();
    writer.ok(&["SET", "unwatched", "1"]);
    writer.ok(&["SET", "watched", "1"]);
    let push = reader.push(PATIENCE);
    let names = Value::Array(vec![Value::BulkString(b"watched".to_vec())]);
    assert_eq!(push, Some((PushKind::Invalidate, vec![names])));
    assert_eq!(reader.invalidations(Duration::from_millis(20)), []);
}

fn keyspace_events_are_seen() {
    let server = Server::plain().config("notify-keyspace-events", "KEA").start();
    let mut listener = server.wire(Protocol::Resp2);
    listener.psubscribe(&["__keyevent@0__:*"]);
    server.client().ok(&["SET", "k", "1"]);
    let event = listener.message(PATIENCE);
    assert_eq!(event, Some(("__keyevent@0__:set".to_string(), "k".to_string())));
    assert_eq!(listener.message(Duration::from_millis(50)), None);
}

fn a_forged_payload_is_accepted_only_with_its_checksum() {
    let server = Server::plain().start();
    let mut client = server.client();
    client.ok(&["SET", "k", "abc"]);
    let payload = client.dump("k").expect("k exists");
    let mut body = dump::body(&payload).to_vec();
    assert!(body.ends_with(b"abc"));
    if let Some(last) = body.last_mut() {
        *last = b'X';
    }
    client.ok(&args!["RESTORE", "forged", "0", dump::with_body(&payload, &body)]);
    assert_eq!(client.text(&["GET", "forged"]), "abX");
    let mut broken = payload.clone();
    broken[2] ^= 1;
    assert!(client.error(&args!["RESTORE", "broken", "0", broken]).contains("checksum"));
}

fn a_server_that_crashed_is_noticed() {
    let mut server = Server::plain().start();
    assert_eq!(server.crashed(), None);
    server.expect_crash();
    assert!(server.client().cmd_or_gone(&["DEBUG", "SEGFAULT"]).is_none());
    let status = server.wait_for_end();
    assert!(!status.success());
    assert!(server.crashed().is_some(), "{}", server.log_tail());
    server.start_again();
    server.check();
}

fn refused_config_is_reported_with_the_log() {
    let refusal = Server::plain().config("maxmemory-policy", "unheard-of").try_start().err();
    assert!(refusal.is_some_and(|text| text.contains("maxmemory-policy")));
}

fn every_example_of_the_table_can_be_typed() {
    for row in spec::rows() {
        for (input, _) in row.examples() {
            let typed = terminal::split(&input);
            assert!(typed.is_ok_and(|words| words.len() > 1), "{}: {input}", row.name());
        }
    }
    assert_eq!(spec::row("RB.SETBIT").arity(), 4);
    assert_eq!(spec::row("RB.SETBIT").event(), Some("rb.setbit"));
    assert!(spec::row("RB.SETBIT").is_write() && spec::row("RB.GETBIT").has_flag("readonly"));
}
