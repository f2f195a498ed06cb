//! Every command on a key of all 2^64 ids: an answer soon or a clear error, and what is
//! stored stays small.

use std::time::Duration;

use roarbits_tests::{args, spec, Args, Client, Outcome, Server, Value};

/// The promise is 10 ms, and the slowest call is printed. What is caught here is work for
/// each of 2^64 ids or of their 2^48 chunks, which would take days.
const SOON: Duration = Duration::from_secs(1);
/// How often a call that takes longer is tried again: the machine may have stopped.
const TRIES: usize = 5;
/// What a key may weigh after any of these calls.
const SMALL_BYTES: i64 = 16 * 1024;

/// What a call must reply.
enum Reply {
    Int(i64),
    /// A bulk string: an id, or a count beyond integers.
    Text(&'static str),
    Error(&'static str),
    /// A list of bulk strings.
    Ids(&'static [&'static str]),
    Ints(&'static [i64]),
    /// So many different ids.
    Different(usize),
    /// So many ids.
    Any(usize),
    /// The next cursor, and how many ids.
    Page(&'static str, usize),
    /// A payload of at most so many bytes.
    Payload(usize),
    /// A map with this cardinality.
    Info(&'static str),
    /// A map with this count of the first key, and this relation.
    Compared(&'static str, &'static str),
}

use Reply::{Any, Compared, Different, Error, Ids, Info, Int, Ints, Page, Payload, Text};

const ALL: Reply = Text("18446744073709551616");
const ALL_BUT_ONE: Reply = Text("18446744073709551615");
const ALL_BUT_TWO: Reply = Text("18446744073709551614");
const LAST: Reply = Text("18446744073709551615");
/// The logical length of a value that reaches the last id.
const LENGTH: Reply = Int(1 << 61);
const OFFSET: Reply = Error("ERR bit offset is not an integer or out of range");
const TOO_LARGE: Reply = Error("ERR reply too large, use LIMIT or RB.SCAN");
const TOO_LONG: Reply =
    Error("ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE");

/// `full` holds all ids, `few` 1, 2, 2^63 and the last, `empty` none at full length;
/// `%full` and `%few` are their NATIVE payloads.
const CALLS: &[(&str, Reply)] = &[
    ("RB.SETBIT full 5 1", Int(1)),
    ("RB.SETBIT full 0 0", Int(1)),
    ("RB.SETBIT full 9223372036854775808 0", Int(1)),
    ("RB.SETBIT full 18446744073709551615 0", Int(1)),
    ("RB.SETBIT full 18446744073709551616 0", OFFSET),
    ("RB.GETBIT full 0", Int(1)),
    ("RB.GETBIT full 18446744073709551615", Int(1)),
    ("RB.GETBIT full 18446744073709551616", OFFSET),
    ("RB.BITCOUNT full", ALL),
    ("RB.BITCOUNT full 0 -1", ALL),
    ("RB.BITCOUNT full 0 9223372036854775807", ALL),
    ("RB.BITCOUNT full -9223372036854775808 9223372036854775807", ALL),
    ("RB.BITCOUNT full 0 0", Int(8)),
    ("RB.BITCOUNT full -1 -1", Int(8)),
    ("RB.BITCOUNT full 1 -2 BYTE", Text("18446744073709551600")),
    ("RB.BITCOUNT full -1 -1 BIT", Int(1)),
    ("RB.BITCOUNT full 0 9223372036854775806 BIT", Int(i64::MAX)),
    ("RB.BITCOUNT full 0 9223372036854775807 BIT", Text("9223372036854775808")),
    ("RB.BITCOUNT full 0 -1 BIT", ALL),
    ("RB.BITCOUNT full 5 4", Int(0)),
    ("RB.BITCOUNT empty", Int(0)),
    ("RB.BITPOS full 0", Int(-1)),
    ("RB.BITPOS full 0 0 -1", Int(-1)),
    ("RB.BITPOS full 0 -1", Int(-1)),
    ("RB.BITPOS full 0 7 9223372036854775807 BIT", Int(-1)),
    ("RB.BITPOS full 1", Int(0)),
    ("RB.BITPOS full 1 1000000", Int(8_000_000)),
    ("RB.BITPOS full 1 9223372036854775807", Int(-1)),
    ("RB.BITPOS full 1 9223372036854775807 -1 BIT", Int(i64::MAX)),
    ("RB.BITPOS full 1 -1", Text("18446744073709551608")),
    ("RB.BITPOS full 1 -1 -1 BIT", LAST),
    ("RB.BITPOS empty 1", Int(-1)),
    ("RB.BITPOS empty 0 -1", Text("18446744073709551608")),
    ("RB.BITOP AND dest full few", LENGTH),
    ("RB.BITOP OR dest full few empty missing", LENGTH),
    ("RB.BITOP XOR dest full few", LENGTH),
    ("RB.BITOP XOR full full full", LENGTH),
    ("RB.BITOP NOT dest full", LENGTH),
    ("RB.BITOP NOT full full", LENGTH),
    ("RB.BITOP NOT dest few", LENGTH),
    ("RB.BITOP NOT dest empty", LENGTH),
    ("RB.BITOP DIFF dest full few", LENGTH),
    ("RB.BITOP DIFF dest few full", LENGTH),
    ("RB.BITOP DIFF1 dest few full", LENGTH),
    ("RB.BITOP ANDOR dest full few empty", LENGTH),
    ("RB.BITOP ONE dest full few empty", LENGTH),
    (
        "RB.MSETBIT full 0 0 full 18446744073709551615 0 full 7 1 dest 18446744073709551615 1",
        Ints(&[1, 1, 1, 0]),
    ),
    ("RB.MSETBIT full 18446744073709551616 0", OFFSET),
    ("RB.ADD full 0 9223372036854775808 18446744073709551615", Int(0)),
    ("RB.REM full 18446744073709551615 9223372036854775808 0", Int(3)),
    ("RB.GETBITS full 0 18446744073709551615", Ints(&[1, 1])),
    ("RB.COUNT full", ALL),
    ("RB.COUNT full - +", ALL),
    ("RB.COUNT full 1 +", ALL_BUT_ONE),
    ("RB.COUNT full 1 9223372036854775807", Int(i64::MAX)),
    ("RB.COUNT full 0 9223372036854775807", Text("9223372036854775808")),
    ("RB.COUNT full + -", Int(0)),
    ("RB.MIN full", Text("0")),
    ("RB.MAX full", LAST),
    ("RB.RANK full 0", Int(0)),
    ("RB.RANK full 9223372036854775807", Int(i64::MAX)),
    ("RB.RANK full 18446744073709551615", ALL_BUT_ONE),
    ("RB.SELECT full 9223372036854775807", Text("9223372036854775807")),
    ("RB.SELECT full -1", LAST),
    ("RB.SELECT full -9223372036854775808", Text("9223372036854775808")),
    ("RB.RANGE full 0 -1", TOO_LARGE),
    ("RB.RANGE full 0 -1 REV", TOO_LARGE),
    ("RB.RANGE full - + BYID", TOO_LARGE),
    ("RB.RANGE full 0 10000", TOO_LARGE),
    ("RB.RANGE full 0 9999", Different(10_000)),
    ("RB.RANGE full + - BYID REV LIMIT 0 10000", Different(10_000)),
    ("RB.RANGE full -2 -1", Ids(&["18446744073709551614", "18446744073709551615"])),
    ("RB.RANGE full 0 1 REV", Ids(&["18446744073709551615", "18446744073709551614"])),
    (
        "RB.RANGE full - + BYID LIMIT 9223372036854775807 2",
        Ids(&["9223372036854775807", "9223372036854775808"]),
    ),
    ("RB.RANGE full + - BYID REV LIMIT 9223372036854775807 1", Ids(&["9223372036854775808"])),
    ("RB.RANGE full + - BYID", Ids(&[])),
    ("RB.SCAN full 0", Page("10", 10)),
    ("RB.SCAN full 0 COUNT 9223372036854775807", Page("10000", 10_000)),
    ("RB.SCAN full 18446744073709551610 COUNT 100", Page("0", 6)),
    ("RB.SCAN full 18446744073709551615", Page("0", 1)),
    ("RB.SCAN empty 0 COUNT 1000", Page("0", 0)),
    ("RB.RANDMEMBER full 10000", Different(10_000)),
    ("RB.RANDMEMBER full -10000", Any(10_000)),
    ("RB.RANDMEMBER full 10001", TOO_LARGE),
    ("RB.RANDMEMBER full 9223372036854775807", TOO_LARGE),
    ("RB.RANDMEMBER full -9223372036854775808", TOO_LARGE),
    ("RB.RANDMEMBER empty -5", Ids(&[])),
    ("RB.ADDRANGE full - +", Int(0)),
    ("RB.ADDRANGE dest 0 18446744073709551615", ALL),
    ("RB.ADDRANGE few 0 18446744073709551615", Text("18446744073709551612")),
    ("RB.ADDRANGE empty 1 18446744073709551614", ALL_BUT_TWO),
    ("RB.REMRANGE full - +", ALL),
    ("RB.REMRANGE full 1 18446744073709551614", ALL_BUT_TWO),
    ("RB.REMRANGE full 9223372036854775808 +", Text("9223372036854775808")),
    ("RB.REMRANGE few 3 18446744073709551614", Int(1)),
    ("RB.FLIPRANGE full - +", Int(0)),
    ("RB.FLIPRANGE full 5 5", ALL_BUT_ONE),
    ("RB.FLIPRANGE few - +", Text("18446744073709551612")),
    ("RB.FLIPRANGE dest - +", ALL),
    ("RB.INFO full", Info("18446744073709551616")),
    ("RB.BITOPCARD AND full full", ALL),
    ("RB.BITOPCARD XOR full few empty missing", Text("18446744073709551612")),
    ("RB.BITOPCARD ONE full few", Text("18446744073709551612")),
    ("RB.EXPR 1 full $1", ALL),
    ("RB.EXPR 2 full few $1-$2", Text("18446744073709551612")),
    ("RB.EXPR 3 full few empty exactly(1,*)", Text("18446744073709551612")),
    ("RB.EXPR 2 full few range(0,18446744073709551615)&$1", ALL),
    ("RB.EXPR 1 full $1 IDS", TOO_LARGE),
    (
        "RB.EXPR 2 full few $1-$2 IDS AFTER 18446744073709551610",
        Ids(&[
            "18446744073709551611",
            "18446744073709551612",
            "18446744073709551613",
            "18446744073709551614",
        ]),
    ),
    (
        "RB.EXPR 1 full $1 IDS LIMIT 9223372036854775807 2",
        Ids(&["9223372036854775807", "9223372036854775808"]),
    ),
    ("RB.EXPR 1 full $1 IDS AFTER 18446744073709551615", Ids(&[])),
    ("RB.EXPR 2 full few $1-$2 TEST 0 1 18446744073709551615", Ints(&[1, 0, 0])),
    ("RB.EXPRSTORE dest 2 full few $1-$2", Text("18446744073709551612")),
    ("RB.EXPRSTORE full 2 full few $1&$2", Int(4)),
    ("RB.COMPARE full few", Compared("18446744073709551616", "superset")),
    ("RB.EXPORT full", TOO_LONG),
    ("RB.EXPORT full FORMAT PORTABLE64 RANGE 1 +", TOO_LONG),
    ("RB.EXPORT full FORMAT STRING", TOO_LONG),
    ("RB.EXPORT empty FORMAT STRING", TOO_LONG),
    ("RB.EXPORT full FORMAT PORTABLE32", Error("ERR bitmap has ids beyond 32 bits")),
    ("RB.EXPORT full FORMAT PORTABLE32 RANGE 0 4294967295", Payload(1 << 20)),
    ("RB.EXPORT full FORMAT PORTABLE64 RANGE 18446744069414584320 +", Payload(1 << 20)),
    ("RB.EXPORT full FORMAT STRING RANGE 18446744073709551608 +", Payload(1)),
    ("RB.EXPORT full FORMAT STRING RANGE 0 799999", Payload(100_000)),
    ("RB.EXPORT full FORMAT NATIVE", Payload(200)),
    ("RB.EXPORT few FORMAT NATIVE RANGE 2 +", Payload(200)),
    ("RB.IMPORT dest %full", ALL),
    ("RB.IMPORT full %full OR", ALL),
    ("RB.IMPORT full %full AND FORMAT NATIVE", ALL),
    ("RB.IMPORT full %full XOR", Int(0)),
    ("RB.IMPORT full %few DIFF", Text("18446744073709551612")),
    ("RB.IMPORT full %few XOR", Text("18446744073709551612")),
    ("RB.IMPORT few %full OR", ALL),
    ("RB.IMPORT few %full DIFF", Int(0)),
];

pub fn every_call_on_a_key_of_all_ids_is_quick_or_a_clear_error() {
    for row in spec::rows() {
        let called = CALLS.iter().any(|(line, _)| line.split(' ').next() == Some(row.name()));
        assert!(called, "{} has no call here", row.name());
    }
    let server = Server::builder().module_args(&["max-reply", "10000"]).start();
    let mut client = server.client();
    fill(&mut client);
    let payloads = ["full", "few"].map(|key| client.bytes(&["RB.EXPORT", key, "FORMAT", "NATIVE"]));
    let mut slowest = (Duration::ZERO, "");
    for (line, reply) in CALLS {
        let word = |word: &str| match word {
            "%full" => payloads[0].clone(),
            "%few" => payloads[1].clone(),
            word => word.into(),
        };
        let time = run(&mut client, line, &line.split(' ').map(word).collect(), reply);
        slowest = slowest.max((time, line));
    }
    println!("the slowest call on all 2^64 ids: {slowest:?}");
}

/// The keys as every call finds them.
fn fill(client: &mut Client) {
    client.ok(&["FLUSHALL"]);
    client.ask(&["RB.ADDRANGE", "full", "0", "18446744073709551615"]);
    client.ask(&["RB.ADD", "few", "1", "2", "9223372036854775808", "18446744073709551615"]);
    client.ask(&["RB.SETBIT", "empty", "18446744073709551615", "0"]);
}

/// Checks a call, and replies the time that the server took for it.
fn run(client: &mut Client, line: &str, call: &Args, reply: &Reply) -> Duration {
    let mut times = Vec::new();
    while times.len() < TRIES {
        fill(client);
        let (outcome, time) = client.timed(call);
        assert!(reply.is(&outcome), "{line} replied {:?}", Short(&outcome));
        for key in ["full", "few", "empty", "dest"] {
            let bytes = client.cmd(&args!["MEMORY", "USAGE", key]);
            assert!(
                matches!(bytes, Ok(Value::Nil | Value::Int(..=SMALL_BYTES))),
                "{line} left {bytes:?} at {key}"
            );
        }
        if time < SOON {
            return time;
        }
        times.push(time);
    }
    panic!("{line} took {times:?}");
}

impl Reply {
    fn is(&self, outcome: &Outcome) -> bool {
        let value = match (self, outcome) {
            (Error(text), Err(error)) => return error == text,
            (_, Ok(value)) => value,
            (_, Err(_)) => return false,
        };
        match (self, value) {
            (Int(number), Value::Int(found)) => found == number,
            (Text(text), found) => is_text(found, text),
            (Ids(ids), Value::Array(found)) => {
                ids.len() == found.len() && found.iter().zip(*ids).all(|(found, id)| is_text(found, id))
            }
            (Ints(numbers), found) => {
                *found == Value::Array(numbers.iter().map(|number| Value::Int(*number)).collect())
            }
            (Different(number), Value::Array(found)) => different(found) == *number && found.len() == *number,
            (Any(number), Value::Array(found)) => found.len() == *number,
            (Page(cursor, number), Value::Array(parts)) => match parts.as_slice() {
                [next, Value::Array(ids)] => is_text(next, cursor) && ids.len() == *number,
                _ => false,
            },
            (Payload(most), Value::BulkString(bytes)) => (1..=*most).contains(&bytes.len()),
            (Info(cardinality), Value::Array(fields)) => has_field(fields, "cardinality", cardinality),
            (Compared(a, relation), Value::Array(fields)) => {
                has_field(fields, "a", a) && has_field(fields, "relation", relation)
            }
            _ => false,
        }
    }
}

/// Whether a flat map has `text` in this field.
fn has_field(fields: &[Value], field: &str, text: &str) -> bool {
    let at = fields.iter().position(|name| is_text(name, field));
    at.and_then(|at| fields.get(at + 1)).is_some_and(|found| is_text(found, text))
}

fn is_text(value: &Value, text: &str) -> bool {
    matches!(value, Value::BulkString(bytes) if bytes == text.as_bytes())
}

fn different(ids: &[Value]) -> usize {
    let mut texts: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.len()
}

/// The start of a reply, which may be long.
struct Short<'a>(&'a Outcome);

impl std::fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 300;
        let text = format!("{:?}", self.0);
        f.write_str(&text.chars().take(SHOWN).collect::<String>())
    }
}
