//! Spans that cost peers seconds, gigabytes or their lives.

use std::time::Duration;

use roarbits_tests::{args, Args, Client, Outcome, Server, Value};

use super::add;

/// Peers take 16 to 28 seconds for such a call, or die. Here it is microseconds; the limit
/// is for machines that are slow, the tries for those that stop in the middle of a call.
const SOON: Duration = Duration::from_millis(100);
const TRIES: usize = 5;

/// Asserts the reply of a call, and that the server has it soon in one of a few tries,
/// each after `prepare`.
fn assert_soon(client: &mut Client, prepare: &[Args], call: &Args, expected: &Outcome) {
    let mut times = Vec::new();
    while times.len() < TRIES {
        for command in prepare {
            client.ask(command);
        }
        let (reply, time) = client.timed(call);
        assert_eq!(&reply, expected);
        if time < SOON {
            return;
        }
        times.push(time);
    }
    panic!("{call:?} took {times:?}");
}

// https://github.com/RoaringBitmap/CRoaring/issues/150
pub fn flipping_four_billion_ids_of_a_missing_key_takes_no_time() {
    let server = Server::start();
    let mut client = server.client();
    let call = args!["RB.FLIPRANGE", "k", "0", "4294967295"];
    let expected = Ok(Value::Int(4_294_967_296));
    assert_soon(&mut client, &[args!["DEL", "k"]], &call, &expected);
    assert_eq!(client.int(&["RB.FLIPRANGE", "k", "0", "4294967295"]), 0);
    assert_eq!(client.int(&["RB.COUNT", "k"]), 0);
}

pub fn the_full_range_costs_no_time_and_little_memory() {
    let server = Server::start();
    let mut client = server.client();
    let count = || Ok(Value::BulkString(b"18446744073709551616".to_vec()));
    let fill = args!["RB.ADDRANGE", "full", "0", "18446744073709551615"];
    let fresh = [args!["DEL", "full", "dest", "sum"]];
    let filled = [args!["DEL", "full", "dest", "sum"], fill.clone()];
    let snowflake = [args!["DEL", "full", "dest", "sum"], args!["RB.ADD", "full", "7301234567890123456"]];
    // The longest length of all has 2^61 bytes, one integer short of a big number.
    let length = |bytes: i64| Ok(Value::Int(bytes));
    let calls: Vec<(&[Args], Args, Outcome)> = vec![
        (&fresh, fill.clone(), count()),
        (&fresh, args!["RB.FLIPRANGE", "full", "-", "+"], count()),
        (&filled, args!["RB.FLIPRANGE", "full", "-", "+"], Ok(Value::Int(0))),
        (&filled, args!["RB.REMRANGE", "full", "-", "+"], count()),
        (&filled, args!["RB.COUNT", "full"], count()),
        (&filled, args!["RB.BITPOS", "full", "0"], Ok(Value::Int(-1))),
        (&filled, args!["RB.BITPOS", "full", "0", "0", "-1"], Ok(Value::Int(-1))),
        (&filled, args!["COPY", "full", "dest"], Ok(Value::Int(1))),
        (&filled, args!["RB.BITOP", "NOT", "dest", "full"], length(1 << 61)),
        (&snowflake, args!["RB.BITOP", "NOT", "dest", "full"], length(912_654_320_986_265_433)),
    ];
    for (prepare, call, expected) in calls {
        assert_soon(&mut client, prepare, &call, &expected);
        for key in ["full", "dest"] {
            assert!(memory(&mut client, key) < 4096, "{call:?} left {key} large");
        }
    }
    client.ask(&fill);
    client.ask(&["COPY", "full", "again"]);
    let digest = client.cmd(&["DEBUG", "DIGEST-VALUE", "again"]);
    let call = args!["DEBUG", "DIGEST-VALUE", "full"];
    assert_soon(&mut client, &[], &call, &digest);
    let payload = client.bytes(&["RB.EXPORT", "full", "FORMAT", "NATIVE"]);
    assert!(payload.len() < 1024, "{} bytes", payload.len());
    let call = args!["RB.EXPORT", "full", "FORMAT", "NATIVE"];
    assert_soon(&mut client, &[], &call, &Ok(Value::BulkString(payload.clone())));
    assert_eq!(client.cmd(&args!["RB.IMPORT", "again", payload]), count());
    the_last_of_a_million_snowflakes_are_told(&mut client);
}

/// How soon is a row of bench/server.
fn the_last_of_a_million_snowflakes_are_told(client: &mut Client) {
    let id = |n: u64| 7_301_234_567_890_123_456 + ((n / 4 * 1000) << 22) + ((n % 4) << 12);
    for first in (0..1_000_000).step_by(10_000) {
        add(client, "million", (first..first + 10_000).map(id));
    }
    let last: Vec<Value> =
        (999_000..1_000_000).map(|n| Value::BulkString(id(n).to_string().into_bytes())).collect();
    let call = args!["RB.RANGE", "million", "-1000", "-1"];
    assert_eq!(client.cmd(&call), Ok(Value::Array(last)));
}

fn memory(client: &mut Client, key: &str) -> i64 {
    match client.ask(&["MEMORY", "USAGE", key]) {
        Value::Int(bytes) => bytes,
        Value::Nil => 0,
        other => panic!("MEMORY USAGE replied {other:?}"),
    }
}
