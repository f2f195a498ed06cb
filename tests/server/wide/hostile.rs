//! Arguments that look like numbers and are none, or are as large as numbers get,
//! in every place where a command takes one: an error and nothing changed, or the
//! answer that the plainly written number has.

use std::collections::BTreeSet;

use roarbits_tests::{args, spec, Args, Client, Outcome, Server, Value};

/// How a place reads its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An id, with the error text of ids.
    Id,
    /// An id, with the error text of offsets.
    Offset,
    /// An id, with the error text of cursors.
    Cursor,
    /// An id, `-` or `+`.
    Bound,
    /// A signed 64-bit number as the server parses numbers.
    Number,
    /// A number above 0.
    Positive,
    /// Exactly `0` or `1`.
    Bit,
    /// A number that must be 0 or 1.
    BitNumber,
    /// How many keys follow, where one does, and an expression.
    Keys,
    /// Seconds until a key expires.
    Seconds,
}

use Kind::{Bit, BitNumber, Bound, Cursor, Id, Keys, Number, Offset, Positive, Seconds};

/// Calls with the places of numbers as `name=value`. `K` is the key.
const CALLS: &[(&str, &[(&str, Kind)])] = &[
    ("RB.SETBIT K offset=5 value=1", &[("offset", Offset), ("value", Bit)]),
    ("RB.GETBIT K offset=5", &[("offset", Offset)]),
    ("RB.BITCOUNT K start=0 end=1", &[("start", Number), ("end", Number)]),
    ("RB.BITCOUNT K start=0 end=1 BIT", &[("start", Number), ("end", Number)]),
    ("RB.BITPOS K bit=1 start=0", &[("bit", BitNumber), ("start", Number)]),
    ("RB.BITPOS K bit=0 start=0 end=1", &[("bit", BitNumber), ("start", Number), ("end", Number)]),
    ("RB.BITPOS K bit=1 start=0 end=1 BIT", &[("bit", BitNumber), ("start", Number), ("end", Number)]),
    ("RB.MSETBIT K offset=5 value=1", &[("offset", Offset), ("value", Bit)]),
    ("RB.MSETBIT K 6 1 K offset=5 value=1 K 7 0", &[("offset", Offset), ("value", Bit)]),
    ("RB.ADD K id=5", &[("id", Id)]),
    ("RB.ADD K 6 id=5 7", &[("id", Id)]),
    ("RB.REM K id=5", &[("id", Id)]),
    ("RB.REM K 0 id=5 9", &[("id", Id)]),
    ("RB.GETBITS K 0 id=5", &[("id", Id)]),
    ("RB.COUNT K start=0 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.RANK K id=5", &[("id", Id)]),
    ("RB.SELECT K rank=1", &[("rank", Number)]),
    ("RB.RANGE K start=0 stop=2", &[("start", Number), ("stop", Number)]),
    ("RB.RANGE K start=0 stop=2 REV", &[("start", Number), ("stop", Number)]),
    (
        "RB.RANGE K start=0 stop=9 BYID LIMIT offset=0 count=2",
        &[("start", Bound), ("stop", Bound), ("offset", Number), ("count", Number)],
    ),
    (
        "RB.RANGE K start=9 stop=0 BYID REV LIMIT offset=0 count=2",
        &[("start", Bound), ("stop", Bound), ("offset", Number), ("count", Number)],
    ),
    ("RB.SCAN K cursor=0 COUNT count=2", &[("cursor", Cursor), ("count", Positive)]),
    ("RB.RANDMEMBER K count=2", &[("count", Number)]),
    ("RB.ADDRANGE K start=3 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.REMRANGE K start=3 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.FLIPRANGE K start=3 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.EXPR numkeys=1 K $1", &[("numkeys", Keys)]),
    ("RB.EXPR 1 K $1 TEST 0 id=5 9", &[("id", Id)]),
    (
        "RB.EXPR 1 K $1 IDS AFTER after=1 LIMIT offset=0 count=2",
        &[("after", Id), ("offset", Number), ("count", Number)],
    ),
    ("RB.EXPRSTORE dest numkeys=1 K $1", &[("numkeys", Keys)]),
    ("RB.EXPRSTORE dest 1 K $1 EX seconds=100", &[("seconds", Seconds)]),
    ("RB.EXPORT K RANGE start=3 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.EXPORT K FORMAT NATIVE RANGE start=3 end=9", &[("start", Bound), ("end", Bound)]),
    ("RB.EXPORT K FORMAT STRING RANGE start=8 end=9", &[("start", Bound), ("end", Bound)]),
];

/// Errors of calls whose numbers are all right.
const RIGHT_BUT_REFUSED: [&str; 3] = [
    "ERR reply too large, use LIMIT or RB.SCAN",
    "ERR RANGE start must be a multiple of 8 with FORMAT STRING",
    "ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE",
];

const MEGABYTE: usize = 1 << 20;

fn hostile() -> Vec<Vec<u8>> {
    let short: [&[u8]; 31] = [
        b"",
        b"-",
        b"+",
        b"-1",
        b"+1",
        b"01",
        b"007",
        b"-01",
        b"-0",
        b"1e3",
        b"0x10",
        b"0b1",
        b"1.0",
        b"1,0",
        b" 1",
        b"1 ",
        b"1\n",
        b"\0",
        b"1\0",
        b"\xff",
        b"\xd9\xa1",
        b"nan",
        b"inf",
        b"2",
        b"9223372036854775807",
        b"9223372036854775808",
        b"-9223372036854775808",
        b"-9223372036854775809",
        b"18446744073709551615",
        b"18446744073709551616",
        b"340282366920938463463374607431768211457",
    ];
    let mut all: Vec<Vec<u8>> = short.iter().map(|text| text.to_vec()).collect();
    all.push(vec![b'9'; MEGABYTE]);
    all.push([vec![b'0'; MEGABYTE], vec![b'1']].concat());
    all
}

pub fn hostile_numbers_are_errors_or_right_answers() {
    every_number_of_the_table_has_a_place();
    let server = Server::builder().module_args(&["max-reply", "10000"]).start();
    let mut client = server.client();
    let values = hostile();
    let warm = client.used_memory();
    for (line, places) in CALLS {
        for (name, kind) in *places {
            for value in &values {
                check(&mut client, line, name, *kind, value);
            }
        }
    }
    client.ok(&["FLUSHALL"]);
    let left = client.used_memory();
    assert!(left < warm + 32 * MEGABYTE as u64, "{warm} bytes at first, {left} at last");
}

/// # Panics
/// If an integer, or a bound, of a command's row has no place in `CALLS`.
fn every_number_of_the_table_has_a_place() {
    for row in spec::rows() {
        let mut wanted = BTreeSet::new();
        numbers(row.json().get("arguments"), &mut wanted);
        let calls = CALLS.iter().filter(|(line, _)| line.split(' ').next() == Some(row.name()));
        let placed: BTreeSet<String> =
            calls.flat_map(|(_, places)| places.iter().map(|(name, _)| (*name).to_string())).collect();
        let missing: Vec<&String> = wanted.difference(&placed).collect();
        assert!(missing.is_empty(), "{} has no hostile {missing:?}", row.name());
    }
}

fn numbers(arguments: Option<&serde_json::Value>, found: &mut BTreeSet<String>) {
    const BOUNDS: [&str; 3] = ["start", "stop", "end"];
    for argument in arguments.and_then(serde_json::Value::as_array).into_iter().flatten() {
        let text = |field: &str| argument.get(field).and_then(serde_json::Value::as_str).unwrap_or_default();
        if text("type") == "integer" || BOUNDS.contains(&text("name")) {
            found.insert(text("name").to_string());
        }
        numbers(argument.get("arguments"), found);
    }
}

fn check(client: &mut Client, line: &str, name: &str, kind: Kind, value: &[u8]) {
    let shown = || format!("{line} with {name} = {} ({kind:?})", value[..value.len().min(50)].escape_ascii());
    client.ok(&["FLUSHALL"]);
    for key in ["k", "twin"] {
        client.int(&["RB.ADD", key, "0", "1", "5", "9", "1099511627776", "18446744073709551615"]);
    }
    let before = client.digest("k");
    let outcome = client.cmd(&call(line, "k", name, value));
    let missing = client.cmd(&call(line, "missing", name, value));
    match kind.plain(value) {
        Err(text) => {
            assert_eq!(outcome, Err(text.to_string()), "{}", shown());
            assert_eq!(missing, Err(text.to_string()), "{} on a missing key", shown());
            assert_eq!(client.digest("k"), before, "{} changed the key", shown());
            assert_eq!(client.int(&["EXISTS", "missing"]), 0, "{} made a key", shown());
        }
        Ok(plain) => {
            let twin = client.cmd(&call(line, "twin", name, &plain));
            assert_eq!(settled(line, &outcome), settled(line, &twin), "{}", shown());
            assert_eq!(client.digest("k"), client.digest("twin"), "{}", shown());
            if let Err(error) = &outcome {
                assert!(RIGHT_BUT_REFUSED.contains(&error.as_str()), "{}: {error}", shown());
            }
        }
    }
    for key in ["k", "missing"] {
        let bytes = client.cmd(&args!["MEMORY", "USAGE", key]);
        assert!(matches!(bytes, Ok(Value::Nil | Value::Int(..4096))), "{}: {bytes:?}", shown());
    }
}

fn call(line: &str, key: &str, name: &str, value: &[u8]) -> Args {
    let word = |word: &str| match word.split_once('=') {
        Some((place, _)) if place == name => value.to_vec(),
        Some((_, usual)) => usual.into(),
        None if word == "K" => key.into(),
        None => word.into(),
    };
    line.split(' ').map(word).collect()
}

/// Of members at random only the number is certain.
fn settled(line: &str, outcome: &Outcome) -> Outcome {
    match outcome {
        Ok(Value::Array(ids)) if line.starts_with("RB.RANDMEMBER") => Ok(Value::Int(ids.len() as i64)),
        other => other.clone(),
    }
}

impl Kind {
    /// The value as one would write it, or the error that it must be.
    fn plain(self, value: &[u8]) -> Result<Vec<u8>, &'static str> {
        const SYNTAX: &str = "ERR syntax error";
        const NUMBER: &str = "ERR value is not an integer or out of range";
        match self {
            Id => id(value).ok_or("ERR id is not an integer or out of range"),
            Offset => id(value).ok_or("ERR bit offset is not an integer or out of range"),
            Cursor => id(value).ok_or("ERR invalid cursor"),
            Bound => match value {
                b"-" => Ok(b"0".to_vec()),
                b"+" => Ok(b"18446744073709551615".to_vec()),
                other => id(other).ok_or("ERR id is not an integer or out of range"),
            },
            Number => number(value).map(|_| value.to_vec()).ok_or(NUMBER),
            Positive if number(value).ok_or(NUMBER)? <= 0 => Err(SYNTAX),
            Positive => Ok(value.to_vec()),
            Bit if matches!(value, b"0" | b"1") => Ok(value.to_vec()),
            Bit => Err("ERR bit is not an integer or out of range"),
            BitNumber if matches!(number(value).ok_or(NUMBER)?, 0 | 1) => Ok(value.to_vec()),
            BitNumber => Err("ERR The bit argument must be 1 or 0."),
            Keys => match number(value).ok_or(NUMBER)? {
                ..=0 => Err("ERR numkeys should be greater than 0"),
                1 => Ok(value.to_vec()),
                // The expression counts as a key, and none is left.
                2 => Err(SYNTAX),
                i64::MAX => Err("ERR too many keys (9223372036854775807, limit 1024)"),
                _ => Err("ERR Number of keys can't be greater than number of args"),
            },
            Seconds => match number(value).ok_or(NUMBER)? {
                1..=1_000_000_000 => Ok(value.to_vec()),
                _ => Err("ERR invalid expire time in 'rb.exprstore' command"),
            },
        }
    }
}

/// An id without its leading zeros.
fn id(value: &[u8]) -> Option<Vec<u8>> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?.trim_start_matches('0');
    let number: u64 = if text.is_empty() { 0 } else { text.parse().ok()? };
    Some(number.to_string().into_bytes())
}

/// A number that is written as it would be printed.
fn number(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?;
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}
