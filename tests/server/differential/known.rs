//! Malformed and newer calls, on every server: ours answer as Redis 8.2 does, and
//! where a server's native command answers otherwise, its row says what.

use roarbits_tests::{Flavor, Outcome, Value};

use super::{line, Sides};

/// What a command replies.
#[derive(Clone, Copy)]
enum Reply {
    Int(i64),
    Error(&'static str),
}

use Reply::{Error, Int};

/// The servers on which a native reply is another one.
type Where = fn(&Flavor) -> bool;

/// A call, the reply of Redis 8.2, and the exceptions.
type Row = (&'static str, Reply, &'static [(Where, Reply)]);

const SYNTAX: Reply = Error("ERR syntax error");
const NUMBER: Reply = Error("ERR value is not an integer or out of range");
const OFFSET: Reply = Error("ERR bit offset is not an integer or out of range");
const BIT: Reply = Error("ERR bit is not an integer or out of range");
const BIT_ARGUMENT: Reply = Error("ERR The bit argument must be 1 or 0.");
const WRONG_TYPE: Reply = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
const ONE_SOURCE: Reply = Error("ERR BITOP NOT must be called with a single source key.");
const TWO_SOURCES: Reply = Error("ERR BITOP DIFF must be called with at least two source keys.");

/// The key is looked up before the arguments are read.
const OLD: Where = |flavor| flavor.is_redis() && flavor.version < (8, 0, 0);
/// The end of BITCOUNT may be left out.
const VALKEY: Where = Flavor::is_valkey;
/// BITOP has four operations.
const NOT_8_2: Where = |flavor| flavor.is_valkey() || flavor.version < (8, 2, 0);
/// BITCOUNT and BITPOS count bytes only.
const NO_UNIT: Where = Flavor::is_before_7;

/// `k` holds the byte f0 and `two` the bytes ff 00; `list` is one, `missing` missing.
const ROWS: &[Row] = &[
    ("BITCOUNT k 0", SYNTAX, &[(VALKEY, Int(4))]),
    ("BITCOUNT missing 0", SYNTAX, &[(OLD, Int(0)), (VALKEY, Int(0))]),
    ("BITCOUNT missing a", SYNTAX, &[(OLD, Int(0)), (VALKEY, NUMBER)]),
    ("BITCOUNT list 0", SYNTAX, &[(OLD, WRONG_TYPE), (VALKEY, WRONG_TYPE)]),
    ("BITCOUNT k a b", NUMBER, &[]),
    ("BITCOUNT missing a b", NUMBER, &[(OLD, Int(0))]),
    ("BITCOUNT list a b", NUMBER, &[(OLD, WRONG_TYPE)]),
    ("BITCOUNT missing 0 1 FOO", SYNTAX, &[(OLD, Int(0))]),
    ("BITCOUNT missing 0 1 BIT extra", SYNTAX, &[(OLD, Int(0))]),
    ("BITCOUNT two 4 -1 BIT", Int(4), &[(NO_UNIT, SYNTAX)]),
    ("BITPOS k 2", BIT_ARGUMENT, &[]),
    ("BITPOS k a", NUMBER, &[]),
    ("BITPOS list 2", BIT_ARGUMENT, &[]),
    ("BITPOS missing 0 a", NUMBER, &[(OLD, Int(0))]),
    ("BITPOS list 0 a", NUMBER, &[(OLD, WRONG_TYPE)]),
    ("BITPOS k 0 0 a", NUMBER, &[]),
    ("BITPOS k 0 0 a FOO", SYNTAX, &[]),
    ("BITPOS missing 0 0 1 FOO", SYNTAX, &[(OLD, Int(0))]),
    ("BITPOS missing 1 0 1 BIT extra", SYNTAX, &[(OLD, Int(-1))]),
    ("BITPOS two 0 4 -1 BIT", Int(8), &[(NO_UNIT, SYNTAX)]),
    ("SETBIT list a 1", OFFSET, &[]),
    ("SETBIT list -1 2", OFFSET, &[]),
    ("SETBIT list 1 2", BIT, &[]),
    ("SETBIT list 1 1", WRONG_TYPE, &[]),
    ("GETBIT list a", OFFSET, &[]),
    ("GETBIT list 1", WRONG_TYPE, &[]),
    ("BITOP FOO dest list", SYNTAX, &[]),
    ("BITOP AND dest list", WRONG_TYPE, &[]),
    ("BITOP NOT dest k two", ONE_SOURCE, &[]),
    ("BITOP NOT dest k list", ONE_SOURCE, &[]),
    ("BITOP DIFF dest k", TWO_SOURCES, &[(NOT_8_2, SYNTAX)]),
    ("BITOP DIFF dest list", TWO_SOURCES, &[(NOT_8_2, SYNTAX)]),
    ("BITOP DIFF dest two k", Int(2), &[(NOT_8_2, SYNTAX)]),
    ("BITOP DIFF1 dest two k", Int(2), &[(NOT_8_2, SYNTAX)]),
    ("BITOP ANDOR dest two k", Int(2), &[(NOT_8_2, SYNTAX)]),
    ("BITOP ONE dest two k", Int(2), &[(NOT_8_2, SYNTAX)]),
];

pub fn servers_differ_from_8_2_only_where_the_table_says() {
    let mut sides = Sides::start();
    let flavor = sides.flavor;
    for client in [&mut sides.native, &mut sides.ours] {
        client.ok(&[&b"MSET"[..], b"k", b"\xf0", b"two", b"\xff\0"]);
        client.int(&["RPUSH", "list", "x"]);
    }
    for (call, model, elsewhere) in ROWS {
        let exception = elsewhere.iter().find(|(is_there, _)| is_there(&flavor));
        let native = exception.map_or(model, |(_, reply)| reply);
        let words: Vec<&str> = call.split(' ').collect();
        assert_eq!(sides.native.cmd(&words), native.outcome(), "{call} on {flavor}");
        let ours = line(&format!("RB.{call}").split(' ').collect::<Vec<_>>());
        assert_eq!(sides.ours.cmd(&ours), model.outcome(), "RB.{call} on {flavor}");
    }
}

impl Reply {
    fn outcome(self) -> Outcome {
        match self {
            Int(number) => Ok(Value::Int(number)),
            Error(text) => Err(text.to_string()),
        }
    }
}
