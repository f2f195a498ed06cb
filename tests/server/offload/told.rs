//! Who learns of work off the main thread: caches, replicas, statistics.

use std::process::Command;
use std::time::Duration;

use roarbits_tests::{args, Args, Client, Protocol, Server, Value, PATIENCE};

use super::gate::{figure, long_question, nothing_is_left, one_worker, Gate, Waiting};

pub fn a_cached_answer_is_never_stale() {
    let server = one_worker().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    let questions: [(Args, Value, Value); 3] = [
        (args!["RB.EXPR", 2, "a", "b", "$1 | $2"], Value::Int(3), Value::Int(4)),
        (args!["RB.BITOPCARD", "OR", "a", "b"], Value::Int(3), Value::Int(4)),
        (args!["RB.EXPR", 2, "a", "b", "$1 | $2", "IDS"], ids(&[1, 2, 3]), ids(&[1, 2, 3, 9])),
    ];
    for (call, before, after) in questions {
        client.int(&["DEL", "a", "b"]);
        client.int(&["RB.ADD", "a", "1", "2"]);
        client.int(&["RB.ADD", "b", "2", "3"]);
        let mut cache = server.wire(Protocol::Resp3);
        assert_eq!(cache.call(&["CLIENT", "TRACKING", "ON"]), Ok(Value::Okay));
        let gate = Gate::close(&server);
        let mut cached = Waiting::send_on(cache, &call);
        cached.is_blocked(&mut client);
        let mut uncached = Waiting::behind(&server, &call);
        client.int(&["RB.ADD", "b", "9"]);
        gate.open(&mut client);
        assert_eq!(uncached.reply(), Ok(before), "as it was when it was asked");
        let reply = loop {
            match cached.wire.read(PATIENCE) {
                Some(Value::Push { .. }) => continue,
                Some(reply) => break reply,
                None => panic!("no reply to a cached question"),
            }
        };
        assert_eq!(reply, after, "the client was told of the change before it had an answer");
        // And it hears of the next change.
        client.int(&["RB.ADD", "a", "77"]);
        let heard = cached.wire.invalidations(Duration::from_millis(100));
        assert!(heard.contains(&Some(b"a".to_vec())), "{heard:?}");
    }
    nothing_is_left(&mut client);
}

fn ids(ids: &[u64]) -> Value {
    Value::Array(ids.iter().map(|id| Value::BulkString(id.to_string().into_bytes())).collect())
}

pub fn info_counts_what_was_done_where() {
    let server = one_worker().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    client.int(&["RB.ADD", "a", "1"]);
    client.int(&["RB.ADD", "b", "1"]);
    let before = ["offloaded", "inline", "work_us"].map(|name| figure(&mut client, name));
    let gate = Gate::close_with(&server, 5);
    assert!(figure(&mut client, "snapshots_live") >= 1);
    assert!((1..5).contains(&figure(&mut client, "queue")), "one is in hand, the others wait");
    gate.open(&mut client);
    nothing_is_left(&mut client);
    for _ in 0..3 {
        assert_eq!(client.int(&["RB.EXPR", "2", "a", "b", "$1 | $2"]), 1);
    }
    client.ok(&["MULTI"]);
    client.ask(&["RB.EXPR", "2", "a", "b", "$1 | $2"]);
    client.ask(&["EXEC"]);
    let after = ["offloaded", "inline", "work_us"].map(|name| figure(&mut client, name));
    assert!(after[0] >= before[0] + 3, "{before:?}, {after:?}");
    assert_eq!(after[1], before[1] + 1);
    assert!(after[2] > before[2], "{before:?}, {after:?}");
    assert_eq!(figure(&mut client, "threads"), 1);
}

/// The first number behind a word in the line of a command's statistics.
fn statistic(client: &mut Client, command: &str, field: &str) -> u64 {
    let text = client.text(&["INFO", "commandstats"]);
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")));
    let number =
        line.and_then(|line| line.split(',').find_map(|part| part.strip_prefix(&format!("{field}="))));
    number
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("no {field} of {command} in {text}"))
}

pub fn the_work_counts_in_statistics_and_the_slow_log() {
    let server = one_worker().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    client.ok(&["CONFIG", "SET", "slowlog-log-slower-than", "1000"]);
    client.ok(&["CONFIG", "RESETSTAT"]);
    client.ok(&["SLOWLOG", "RESET"]);
    let question = [long_question(), args!["EXPLAIN"]].concat();
    let Value::Array(map) = client.ask(&question) else { panic!("EXPLAIN is no map") };
    assert_eq!(map[7], Value::BulkString(b"worker".to_vec()));
    let Value::Int(us) = map[9] else { panic!("us is {:?}", map[9]) };
    assert!(us > 1000, "a long question took {us} us");
    assert!(figure(&mut client, "work_us") >= us as u64);
    assert_eq!(statistic(&mut client, "rb.expr", "calls"), 1);
    let counted = statistic(&mut client, "rb.expr", "usec");
    assert!(counted >= us as u64, "{counted} us in the statistics, the work took {us}");
    let Value::Array(entries) = client.ask(&["SLOWLOG", "GET", "10"]) else { panic!("SLOWLOG is no array") };
    let taken = entries.iter().filter_map(|entry| {
        let Value::Array(fields) = entry else { return None };
        let is_ours =
            matches!(&fields[3], Value::Array(words) if words[0] == Value::BulkString(b"RB.EXPR".to_vec()));
        match (is_ours, &fields[2]) {
            (true, Value::Int(taken)) => Some(*taken),
            _ => None,
        }
    });
    let longest = taken.max();
    assert!(longest.is_some_and(|longest| longest >= us), "{longest:?} in the slow log, the work took {us}");
    nothing_is_left(&mut client);
}

/// Sends a signal to a server's process.
fn signal(server: &Server, name: &str) {
    let sent = Command::new("kill").args([name, &server.pid().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill {name}");
}

pub fn wait_waits_for_a_store() {
    let (primary, replica) = (one_worker().start(), Server::start());
    replica.replica_of(&primary);
    let mut client = primary.client();
    client.int(&["RB.ADD", "a", "1", "2"]);
    client.int(&["RB.ADD", "b", "3"]);
    replica.wait_until_caught_up(&primary);
    for (call, dest) in [
        (args!["RB.EXPRSTORE", "dest", 2, "a", "b", "$1 | $2"], "dest"),
        (args!["RB.BITOP", "XOR", "other", "a", "b"], "other"),
    ] {
        assert_eq!(client.int(&["WAIT", "1", "100000"]), 1);
        let offloaded = figure(&mut client, "offloaded");
        signal(&replica, "-STOP");
        client.int(&call);
        let acknowledged = client.int(&["WAIT", "1", "100"]);
        signal(&replica, "-CONT");
        assert_eq!(acknowledged, 0, "a replica that stands still has nothing of {dest}");
        assert_eq!(figure(&mut client, "offloaded"), offloaded + 1);
        assert_eq!(client.int(&["WAIT", "1", "100000"]), 1);
        replica.wait_until_caught_up(&primary);
        assert_eq!(replica.client().digest(dest), client.digest(dest));
    }
}
