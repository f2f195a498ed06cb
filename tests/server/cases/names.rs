//! Keys whose names are words of the grammar.

use roarbits_tests::{spec, Args, Client, Outcome, Server, Value};

use super::words;

/// A session that calls every command with every key position; `A` and `B` are keys.
const SESSION: &[&str] = &[
    "RB.SETBIT A 9 1",
    "RB.GETBIT A 9",
    "RB.BITCOUNT A",
    "RB.BITCOUNT A 0 -1 BIT",
    "RB.BITPOS A 1 0 -1 BYTE",
    "RB.ADD B 1 2 3",
    "RB.BITOP OR A A B",
    "RB.BITOP NOT B A",
    "RB.MSETBIT A 1 0 B 70000 1",
    "RB.REM A 1",
    "RB.GETBITS A 1 2",
    "RB.COUNT B 0 9",
    "RB.MIN A",
    "RB.MAX B",
    "RB.RANK A 9",
    "RB.SELECT B -1",
    "RB.RANGE B 0 9 BYID REV LIMIT 0 2",
    "RB.SCAN B 0 COUNT 2",
    "RB.RANDMEMBER B 100",
    "RB.ADDRANGE A 5 6",
    "RB.REMRANGE B 0 1",
    "RB.FLIPRANGE A 0 15",
    "RB.INFO A",
    "RB.BITOPCARD OR A B",
    "RB.EXPR 2 A B $1|$2",
    "RB.EXPR 2 A B any(*) IDS AFTER 3 LIMIT 0 5",
    "RB.EXPR 2 A B $1-$2 TEST 9 70000",
    "RB.EXPRSTORE A 2 A B $1^$2",
    "RB.COMPARE A B",
    "RB.EXPORT B FORMAT STRING RANGE 0 15",
    "RB.IMPORT A abc FORMAT STRING OR",
    "RB.EXPORT A FORMAT NATIVE",
];

const NAMES: [&str; 16] = [
    "NOT", "RANGE", "LIMIT", "COUNT", "FILTER", "FORMAT", "BYID", "REV", "OR", "AND", "REPLACE", "STRING",
    "BIT", "0", "-", "+",
];

pub fn keys_named_like_options_work_everywhere() {
    for row in spec::rows() {
        let called = SESSION.iter().any(|line| words(line)[0] == row.name());
        assert!(called, "{} is not in the session", row.name());
    }
    let server = Server::start();
    let mut client = server.client();
    let plain = session(&mut client, "x", "y");
    for a in NAMES {
        for b in NAMES.into_iter().filter(|b| *b != a) {
            assert_eq!(session(&mut client, a, b), plain, "keys {a} and {b}");
        }
    }
}

/// The session's replies, without what is left to chance.
fn session(client: &mut Client, a: &str, b: &str) -> Vec<Outcome> {
    client.ok(&["FLUSHALL"]);
    let call = |line: &&str| -> Args {
        let name = |word: &str| match word {
            "A" => a.into(),
            "B" => b.into(),
            other => other.into(),
        };
        line.split(' ').map(name).collect()
    };
    let commands: Vec<Args> = SESSION.iter().map(call).collect();
    let mut replies = client.pipeline(&commands);
    for (line, reply) in SESSION.iter().zip(&mut replies) {
        assert!(reply.is_ok(), "{line} with {a} and {b}: {reply:?}");
        settle(line, reply);
    }
    replies
}

/// Puts members at random in order, and drops the memory that RB.INFO states:
/// with libc's allocator it depends on which block was free.
fn settle(line: &str, reply: &mut Outcome) {
    let Ok(Value::Array(items)) = reply else { return };
    if line.starts_with("RB.RANDMEMBER") {
        items.sort_by_key(|id| format!("{id:?}"));
    }
    let memory = items.iter().position(|item| *item == Value::BulkString(b"bytes".to_vec()));
    if let Some(at) = memory {
        items.drain(at..=at + 1);
    }
}
