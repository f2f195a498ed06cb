//! What a key may hold for a set-like command, and what becomes of the value.

use roarbits_tests::{spec, Client, Server, Value};

use super::{bulk, info};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
const CONVERT_FIRST: &str = "WRONGTYPE Operation against a key holding the wrong kind of value, \
    a plain string bitmap can only be changed after RB.CONVERT";

fn call(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// # Panics
/// If a row that `belongs` has no line.
fn assert_all_rows<'a>(lines: impl Iterator<Item = &'a str>, belongs: fn(&spec::Row) -> bool) {
    let names: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    for row in spec::rows().iter().filter(|row| belongs(row)) {
        assert!(names.contains(&row.name()), "{} has no line here", row.name());
    }
}

fn list(items: &[Value]) -> Value {
    Value::Array(items.to_vec())
}

pub fn a_read_of_a_missing_key_answers_and_creates_nothing() {
    let none = || list(&[]);
    let lines = [
        ("RB.GETBIT k 5", Value::Int(0)),
        ("RB.BITCOUNT k", Value::Int(0)),
        ("RB.BITCOUNT k 0 -1 BIT", Value::Int(0)),
        ("RB.BITPOS k 1", Value::Int(-1)),
        ("RB.BITPOS k 0", Value::Int(0)),
        ("RB.BITPOS k 0 5 -1", Value::Int(0)),
        ("RB.GETBITS k 1 2", list(&[Value::Int(0), Value::Int(0)])),
        ("RB.COUNT k", Value::Int(0)),
        ("RB.COUNT k - +", Value::Int(0)),
        ("RB.MIN k", Value::Nil),
        ("RB.MAX k", Value::Nil),
        ("RB.RANK k 0", Value::Nil),
        ("RB.SELECT k 0", Value::Nil),
        ("RB.SELECT k -1", Value::Nil),
        ("RB.RANGE k 0 -1", none()),
        ("RB.RANGE k - + BYID", none()),
        ("RB.SCAN k 0", list(&[bulk("0"), none()])),
        ("RB.RANDMEMBER k", Value::Nil),
        ("RB.RANDMEMBER k 5", none()),
        ("RB.RANDMEMBER k -5", none()),
        ("RB.INFO k", Value::Nil),
        ("RB.BITOPCARD OR k", Value::Int(0)),
        ("RB.BITOPCARD AND k k", Value::Int(0)),
        ("RB.EXPR 1 k $1", Value::Int(0)),
        ("RB.EXPR 1 k $1 IDS", none()),
        ("RB.EXPR 1 k $1 TEST 0 1", list(&[Value::Int(0), Value::Int(0)])),
        ("RB.COMPARE k k", compared(0, Value::Nil)),
        ("RB.EXPORT k", Value::Nil),
        ("RB.EXPORT k FORMAT STRING RANGE 0 7", Value::Nil),
    ];
    assert_all_rows(lines.iter().map(|(line, _)| *line), |row| !row.is_write());
    let server = Server::start();
    let mut client = server.client();
    for (line, expected) in lines {
        assert_eq!(client.cmd(&call(line)), Ok(expected), "{line}");
        assert_eq!(client.int(&["DBSIZE"]), 0, "{line}");
    }
}

/// What RB.COMPARE replies of a set of so many ids and itself.
fn compared(ids: i64, ratio: Value) -> Value {
    let counts = [("a", ids), ("b", ids), ("union", ids), ("inter", ids), ("a_only", 0), ("b_only", 0)];
    let counts = counts.into_iter().flat_map(|(name, count)| [bulk(name), Value::Int(count)]);
    let ratios = ["jaccard", "overlap", "cosine"].into_iter().flat_map(|name| [bulk(name), ratio.clone()]);
    Value::Array(counts.chain(ratios).chain([bulk("relation"), bulk("equal")]).collect())
}

/// A call and its reply.
type Line = (&'static str, fn() -> Value);

/// Reads of the string `A`: bits 1 and 7.
const READS: &[Line] = &[
    ("RB.GETBIT k 1", || Value::Int(1)),
    ("RB.BITCOUNT k", || Value::Int(2)),
    ("RB.BITPOS k 1 2 -1 BIT", || Value::Int(7)),
    ("RB.GETBITS k 0 1", || list(&[Value::Int(0), Value::Int(1)])),
    ("RB.COUNT k 2 +", || Value::Int(1)),
    ("RB.MIN k", || bulk("1")),
    ("RB.MAX k", || bulk("7")),
    ("RB.RANK k 7", || Value::Int(1)),
    ("RB.SELECT k -1", || bulk("7")),
    ("RB.RANGE k 0 -1 REV", || list(&[bulk("7"), bulk("1")])),
    ("RB.SCAN k 0 COUNT 1", || list(&[bulk("7"), list(&[bulk("1")])])),
    ("RB.RANDMEMBER k 5", || list(&[bulk("1"), bulk("7")])),
    ("RB.EXPORT k FORMAT STRING", || bulk("A")),
    ("RB.BITOPCARD OR k missing", || Value::Int(2)),
    ("RB.EXPR 1 k $1", || Value::Int(2)),
    ("RB.EXPR 2 k missing $1|$2 IDS", || list(&[bulk("1"), bulk("7")])),
    ("RB.COMPARE k k", || compared(2, bulk("1"))),
];

/// Changes of `k` itself that need a bitmap.
const CHANGES: [&str; 8] = [
    "RB.ADD k 1",
    "RB.REM k 1",
    "RB.ADDRANGE k 0 9",
    "RB.REMRANGE k 0 9",
    "RB.FLIPRANGE k 0 9",
    "RB.IMPORT k x FORMAT STRING OR",
    "RB.IMPORT k x FORMAT STRING AND",
    "RB.IMPORT k x FORMAT STRING DIFF",
];

pub fn a_string_is_read_as_a_set_but_changed_only_by_bit_writes() {
    const REPLACE_OR_BITS: [&str; 4] =
        ["RB.SETBIT k 2 1", "RB.MSETBIT k 2 1", "RB.BITOP NOT k k", "RB.EXPRSTORE k 1 k $1"];
    let lines =
        READS.iter().map(|(line, _)| *line).chain(CHANGES).chain(REPLACE_OR_BITS).chain(["RB.INFO k"]);
    assert_all_rows(lines, |_| true);
    let server = Server::start();
    let mut client = server.client();
    client.ok(&["SET", "k", "A"]);
    for (line, expected) in READS {
        let mut reply = client.ask(&call(line));
        if let (true, Value::Array(ids)) = (line.starts_with("RB.RANDMEMBER"), &mut reply) {
            ids.sort_by_key(|id| format!("{id:?}"));
        }
        assert_eq!(reply, expected(), "{line}");
    }
    assert_eq!((info(&mut client, "k", "cardinality"), info(&mut client, "k", "length")), (2, 1));
    for line in CHANGES {
        assert_eq!(client.error(&call(line)), CONVERT_FIRST, "{line}");
        assert_eq!(client.text(&["GET", "k"]), "A", "{line}");
    }
    assert_eq!(client.int(&["RB.SETBIT", "k", "2", "1"]), 0);
    assert_eq!(client.text(&["GET", "k"]), "a");
    a_hyperloglog_is_no_set(&mut client);
}

/// Its header tells it from a bitmap; bit commands read it all the same, as natively.
fn a_hyperloglog_is_no_set(client: &mut Client) {
    client.int(&["DEL", "k"]);
    client.int(&["PFADD", "k", "x"]);
    let header = client.bytes(&["GET", "k"]);
    for (line, _) in READS {
        let reply = client.cmd(&call(line));
        if ["RB.GETBIT ", "RB.BITCOUNT ", "RB.BITPOS ", "RB.BITOPCARD "]
            .iter()
            .any(|name| line.starts_with(name))
        {
            assert!(reply.is_ok(), "{line}: {reply:?}");
        } else {
            assert_eq!(reply, Err(WRONG_TYPE.to_string()), "{line}");
        }
    }
    assert_eq!(client.error(&["RB.INFO", "k"]), WRONG_TYPE);
    assert_eq!(client.int(&["RB.BITCOUNT", "k"]), client.int(&["BITCOUNT", "k"]));
    assert_eq!(client.bytes(&["GET", "k"]), header);
}

pub fn other_types_are_refused_by_every_command() {
    const MORE: [&str; 5] = [
        "RB.INFO k",
        "RB.SETBIT k 1 1",
        "RB.MSETBIT other 1 1 k 1 1",
        "RB.BITOP AND dest k missing",
        "RB.EXPRSTORE dest 2 missing k $1&$2",
    ];
    let lines: Vec<&str> = READS.iter().map(|(line, _)| *line).chain(CHANGES).chain(MORE).collect();
    assert_all_rows(lines.iter().copied(), |_| true);
    let server = Server::start();
    let mut client = server.client();
    for make in
        [&["RPUSH", "k", "x"][..], &["HSET", "k", "f", "1"], &["SADD", "k", "1"], &["ZADD", "k", "1", "1"]]
    {
        client.ok(&["FLUSHALL"]);
        client.ask(make);
        let before = client.dump("k");
        for line in &lines {
            assert_eq!(client.error(&call(line)), WRONG_TYPE, "{line} on {make:?}");
        }
        assert_eq!(client.dump("k"), before, "{make:?}");
        assert_eq!(client.int(&["DBSIZE"]), 1, "{make:?}");
    }
}

pub fn a_bitmap_lives_on_without_ids_and_keeps_its_length() {
    let server = Server::start();
    let mut client = server.client();
    // Each line, the cardinality and the length in bytes after it; -1 where no key is.
    for (line, cardinality, length) in [
        ("RB.REM k 5", -1, -1),
        ("RB.REMRANGE k - +", -1, -1),
        ("RB.ADDRANGE k 9 0", -1, -1),
        ("RB.FLIPRANGE k 9 0", -1, -1),
        ("RB.ADD k 15", 1, 2),
        ("RB.ADD k 16", 2, 3),
        ("RB.REM k 16 17 99999", 1, 3),
        ("RB.REM k 15", 0, 3),
        ("RB.REMRANGE k - +", 0, 3),
        ("RB.ADDRANGE k 7 3", 0, 3),
        ("RB.ADDRANGE k 3 79", 77, 10),
        ("RB.FLIPRANGE k 70 79", 67, 10),
        ("RB.FLIPRANGE k 70 80", 78, 11),
        ("RB.REMRANGE k 0 +", 0, 11),
        ("RB.SETBIT k 7999 0", 0, 1000),
        ("RB.ADD k 8000", 1, 1001),
        ("RB.FLIPRANGE k 8000 8000", 0, 1001),
        ("RB.ADD k 9223372036854775807", 1, 1 << 60),
        ("RB.REM k 9223372036854775807", 0, 1 << 60),
    ] {
        let reply = client.cmd(&call(line));
        assert!(matches!(reply, Ok(Value::Int(_))), "{line}: {reply:?}");
        let found = match client.int(&["EXISTS", "k"]) {
            0 => (-1, -1),
            _ => (info(&mut client, "k", "cardinality"), info(&mut client, "k", "length")),
        };
        assert_eq!(found, (cardinality, length), "{line}");
    }
}
