//! What there is no room for, and where nobody can wait.

use roarbits_tests::{args, eventually, Client, Server, Value};

use super::gate::{figure, long_question, nothing_is_left, Gate, Waiting};
use crate::samples;

const TOO_LARGE_IN_PLACE: &str = "RBBUSY too large inside MULTI or a script, run it outside";
const MEMORY_IS_FULL: &str = "RBBUSY offload memory is full, retry";

pub fn a_full_queue_is_busy() {
    let server = Server::builder()
        .module_args(&["worker-threads", "1", "inline-budget", "0", "worker-queue", "1"])
        .start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    client.int(&["RB.ADD", "a", "1", "2"]);
    client.int(&["RB.ADD", "b", "2"]);
    let busy = "RBBUSY worker queue is full, retry";
    let mut seen = false;
    // A question in hand may end before the next ones are there: then again.
    eventually("the queue is full", || {
        eventually("the last ones are taken back", || figure(&mut client, "snapshots_live") == 0);
        let in_hand = Gate::close_with(&server, 1);
        eventually("a worker has it in hand", || figure(&mut client, "queue") == 0);
        let _waits = Waiting::send(&server, &long_question());
        eventually("one waits, or the first is done", || {
            figure(&mut client, "queue") == 1 || figure(&mut client, "snapshots_live") < 2
        });
        let refused = figure(&mut client, "refused");
        for call in
            [args!["RB.EXPR", 2, "a", "b", "$1 | $2"], args!["RB.EXPRSTORE", "dest", 2, "a", "b", "$1 | $2"]]
        {
            if let Err(text) = client.cmd(&call) {
                assert_eq!(text, busy);
                seen = true;
            }
        }
        if seen {
            assert!(figure(&mut client, "refused") > refused);
        }
        drop(in_hand);
        seen
    });
    eventually("there is room again", || {
        client.cmd(&["RB.EXPR", "2", "a", "b", "$1 | $2"]) == Ok(Value::Int(2))
    });
    nothing_is_left(&mut client);
}

pub fn copies_larger_than_the_memory_are_refused_and_results_are_not() {
    let server = Server::builder()
        .module_args(&["worker-threads", "1", "inline-budget", "0", "offload-memory", "1048576"])
        .start();
    let mut client = server.client();
    let noise = samples::noise(2 << 20);
    client.ok(&args!["SET", "string", &noise]);
    // Where nobody waits there is nothing in flight.
    client.ok(&["MULTI"]);
    client.ask(&args!["RB.IMPORT", "bitmap", &noise, "FORMAT", "STRING"]);
    client.ask(&["EXEC"]);
    client.int(&["RB.ADD", "small", "1"]);
    let refused = figure(&mut client, "refused");
    for call in [
        // What is copied of a string.
        args!["RB.EXPR", 1, "string", "$1"],
        args!["RB.BITOPCARD", "OR", "string"],
        args!["RB.EXPRSTORE", "dest", 2, "small", "string", "$1 | $2"],
        args!["RB.BITOP", "OR", "dest", "string"],
    ] {
        assert_eq!(client.error(&call), MEMORY_IS_FULL, "{}", String::from_utf8_lossy(&call[0]));
    }
    assert_eq!(figure(&mut client, "refused"), refused + 4);
    assert_eq!(client.int(&["EXISTS", "dest"]), 0);
    // What is there already is let through where nobody else has anything: retrying must help.
    for call in [
        args!["RB.BITOP", "XOR", "dest", "bitmap", "small"],
        args!["RB.EXPRSTORE", "dest", 2, "small", "bitmap", "$1 ^ $2"],
        args!["RB.IMPORT", "dest", &noise, "FORMAT", "STRING"],
        args!["RB.EXPR", 2, "bitmap", "small", "$1 ^ $2", "IDS", "LIMIT", 0, 100_000],
    ] {
        client.ask(&call);
    }
    // Bitmaps are not copied.
    assert!(client.int(&["RB.EXPR", "1", "bitmap", "$1"]) > 0);
    assert_eq!(client.texts(&["RB.EXPR", "1", "bitmap", "$1", "IDS", "LIMIT", "0", "9"]).len(), 9);
    client.ok(&["MULTI"]);
    client.ask(&["RB.BITOP", "OR", "dest", "string"]);
    assert_eq!(client.ask(&["EXEC"]), Value::Array(vec![Value::Int(2 << 20)]));
    nothing_is_left(&mut client);
}

/// What a transaction of one call and what a script of it come to.
fn in_place(client: &mut Client, call: &[&str]) -> [Result<Value, String>; 2] {
    client.ok(&["MULTI"]);
    client.ask(call);
    let Value::Array(mut replies) = client.ask(&["EXEC"]) else { panic!("EXEC replied no array") };
    let transaction = match replies.remove(0) {
        Value::ServerError(error) => Err(roarbits_tests::error_text(&error)),
        value => Ok(value),
    };
    let script = ["EVAL", "return redis.pcall(unpack(ARGV))", "0"];
    [transaction, client.cmd(&[&script, call].concat())]
}

pub fn large_work_in_a_transaction_or_script_is_refused() {
    let noise = samples::noise(8 << 20);
    for limit_ms in ["1", "0"] {
        let server = Server::builder().module_args(&["inline-hard-limit", limit_ms]).start();
        let mut client = server.client();
        client.ask(&args!["RB.IMPORT", "a", &noise, "FORMAT", "STRING"]);
        client.ask(&args!["RB.IMPORT", "b", &noise[1..], "FORMAT", "STRING"]);
        client.int(&["RB.ADD", "small", "1"]);
        let large: [&[&str]; 5] = [
            &["RB.EXPR", "2", "a", "b", "$1 ^ $2"],
            &["RB.BITOPCARD", "XOR", "a", "b"],
            &["RB.COMPARE", "a", "b"],
            &["RB.EXPRSTORE", "dest", "2", "a", "b", "$1 ^ $2"],
            &["RB.BITOP", "XOR", "dest", "a", "b"],
        ];
        for call in large {
            let forced = figure(&mut client, "inline_forced");
            for outcome in in_place(&mut client, call) {
                match limit_ms {
                    "0" => assert!(outcome.is_ok(), "{call:?}: {outcome:?}"),
                    _ => assert_eq!(outcome, Err(TOO_LARGE_IN_PLACE.to_string()), "{call:?}"),
                }
            }
            let expected = if limit_ms == "0" { forced + 2 } else { forced };
            assert_eq!(figure(&mut client, "inline_forced"), expected, "{call:?}");
            assert!(client.cmd(call).is_ok(), "{call:?} outside");
        }
        for outcome in in_place(&mut client, &["RB.EXPR", "2", "a", "small", "$1 & $2"]) {
            assert!(outcome.is_ok(), "what is small is done: {outcome:?}");
        }
        assert!(figure(&mut client, "longest_inline_us") > 0);
        nothing_is_left(&mut client);
    }
}

pub fn limits_are_configs_of_the_server() {
    let server = Server::builder().module_args(&["worker-threads", "3"]).start();
    let mut client = server.client();
    eventually("as many workers as asked for", || figure(&mut client, "threads") == 3);
    if server.flavor().is_before_7() {
        assert_eq!(client.texts(&["CONFIG", "GET", "roarbits.worker-threads"]), Vec::<String>::new());
        return;
    }
    let fixed = client.error(&["CONFIG", "SET", "roarbits.worker-threads", "2"]);
    assert!(fixed.contains("immutable"), "{fixed}");
    for (name, default, other) in [
        ("worker-threads", "3", None),
        ("inline-budget", "1000", Some("0")),
        ("inline-hard-limit", "100", Some("0")),
        ("worker-queue", "1000", Some("1")),
        ("offload-memory", "1073741824", Some("1048576")),
        ("string-copy-max", "16777216", Some("0")),
    ] {
        let name = format!("roarbits.{name}");
        assert_eq!(client.texts(&["CONFIG", "GET", &name]), [&name, default]);
        if let Some(other) = other {
            client.ok(&["CONFIG", "SET", &name, other]);
            assert_eq!(client.texts(&["CONFIG", "GET", &name]), [&name, other]);
        }
    }
    for (name, wrong) in [("inline-budget", "-1"), ("worker-queue", "0"), ("offload-memory", "1000")] {
        let refused = client.error(&["CONFIG", "SET", &format!("roarbits.{name}"), wrong]);
        assert!(refused.starts_with("ERR CONFIG SET failed"), "{refused}");
    }
}
