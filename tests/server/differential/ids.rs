//! The set-like commands beside sorted sets whose members are the ids and whose
//! scores are too: exact up to 2^53, so ids stay below.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::Rng;
use roarbits_tests::{args, random, Args, Outcome, Value};

use super::Sides;

/// Calls of the test.
const CALLS: usize = 20_000;
/// Calls sent at once.
const BATCH: usize = 100;
/// Batches after which all ids are compared.
const BATCHES_A_COMPARISON: usize = 10;
const KEYS: [&str; 4] = ["a", "b", "c", "missing"];
/// Where ids gather: in low containers, at their edges, and as far as scores are exact.
const BASES: [u64; 6] = [0, 65_000, 131_072, (1 << 32) - 500, 1 << 40, (1 << 53) - 4_000];

/// RB.FLIPRANGE of a sorted set; the ids fit Lua's numbers.
const FLIP: &str = "for id = tonumber(ARGV[1]), tonumber(ARGV[2]) do \
     local text = string.format('%.0f', id) \
     if redis.call('ZREM', KEYS[1], text) == 0 then redis.call('ZADD', KEYS[1], text, text) end \
     end return redis.call('ZCARD', KEYS[1])";

/// A call, and what makes our reply of the native one.
struct Call {
    native: Args,
    ours: Args,
    reply: fn(Value) -> Value,
}

pub fn set_like_calls_answer_as_sorted_sets_do() {
    let mut rng = random::seeded("differential ids");
    let mut sides = Sides::start();
    for batch in 0..CALLS / BATCH {
        let calls: Vec<Call> = (0..BATCH).map(|_| next(&mut rng)).collect();
        run(&mut sides, &calls, batch);
        if batch % BATCHES_A_COMPARISON == 0 {
            same_ids(&mut sides);
        }
    }
    same_ids(&mut sides);
}

fn run(sides: &mut Sides, calls: &[Call], batch: usize) {
    let (native, ours): (Vec<Args>, Vec<Args>) =
        calls.iter().map(|call| (call.native.clone(), call.ours.clone())).unzip();
    let native = sides.native.pipeline(&native);
    let ours = sides.ours.pipeline(&ours);
    for ((call, native), ours) in calls.iter().zip(native).zip(ours) {
        let expected: Outcome = native.map(call.reply);
        let words: Vec<_> = call.ours.iter().take(12).map(|word| word.escape_ascii().to_string()).collect();
        assert!(
            expected == ours,
            "batch {batch}: {}\nsorted set {expected:?}\nours       {ours:?}",
            words.join(" ")
        );
    }
}

/// Compares all ids, listed and scanned.
fn same_ids(sides: &mut Sides) {
    for key in KEYS {
        let native = sides.native.texts(&["ZRANGE", key, "0", "-1"]);
        assert!(native == sides.ours.texts(&["RB.RANGE", key, "0", "-1"]), "ids of {key}");
        assert_eq!(native.len() as i64, sides.ours.int(&["RB.COUNT", key]), "ids of {key}");
        let all = sides.ours.texts(&["RB.RANDMEMBER", key, "1000000"]);
        let mut sorted: Vec<u64> = all.iter().map(|id| id.parse().unwrap_or(u64::MAX)).collect();
        sorted.sort_unstable();
        let texts: Vec<String> = sorted.iter().map(u64::to_string).collect();
        assert!(texts == native, "random members of {key}");
    }
}

fn next(rng: &mut StdRng) -> Call {
    let (key, read) = (KEYS[rng.random_range(0..KEYS.len() - 1)], any_key(rng));
    match rng.random_range(0..100) {
        0..22 => add(rng, key),
        22..34 => remove(rng, key),
        34..40 => ranges(rng, key),
        40..46 => getbits(rng, read),
        46..54 => count(rng, read),
        54..60 => ends(rng, read),
        60..68 => same("ZRANK", "RB.RANK", args![read, id(rng)]),
        68..76 => select(rng, read),
        76..86 => by_rank(rng, read),
        86..99 => by_id(rng, read),
        _ => same("DEL", "DEL", args![key]),
    }
}

fn any_key(rng: &mut StdRng) -> &'static str {
    KEYS[rng.random_range(0..KEYS.len())]
}

fn id(rng: &mut StdRng) -> u64 {
    let base = BASES.choose(rng).copied().unwrap_or_default();
    let near = if rng.random_bool(0.5) { 64 } else { 3_000 };
    base + rng.random_range(0..near)
}

fn named(name: &str, rest: &Args) -> Args {
    std::iter::once(name.as_bytes().to_vec()).chain(rest.iter().cloned()).collect()
}

/// The same arguments and the same reply.
fn same(native: &str, ours: &str, rest: Args) -> Call {
    Call { native: named(native, &rest), ours: named(ours, &rest), reply: |reply| reply }
}

fn add(rng: &mut StdRng, key: &str) -> Call {
    let many = *[1, 2, 5, 200].choose(rng).unwrap_or(&1);
    let mut call = same("ZADD", "RB.ADD", args![key]);
    for _ in 0..rng.random_range(1..=many) {
        let id = id(rng);
        call.native.extend(args![id, id]);
        call.ours.extend(args![id]);
    }
    call
}

fn remove(rng: &mut StdRng, key: &str) -> Call {
    let ids = (0..rng.random_range(1..60)).map(|_| id(rng).to_string().into_bytes());
    same("ZREM", "RB.REM", args![key].into_iter().chain(ids).collect())
}

/// Spans that a sorted set can still hold id by id.
fn ranges(rng: &mut StdRng, key: &str) -> Call {
    let start = id(rng);
    let longest = [3, 40, 900].choose(rng).copied().unwrap_or(3);
    let end = start + rng.random_range(0..longest);
    let end = if rng.random_bool(0.1) { start.saturating_sub(3) } else { end };
    let ours = |name: &str| args![name, key, start, end];
    match rng.random_range(0..3) {
        0 if start <= end => Call {
            native: (start..=end).fold(args!["ZADD", key], |mut call, id| {
                call.extend(args![id, id]);
                call
            }),
            ours: ours("RB.ADDRANGE"),
            reply: |reply| reply,
        },
        1 => Call {
            native: args!["ZREMRANGEBYSCORE", key, start, end],
            ours: ours("RB.REMRANGE"),
            reply: |reply| reply,
        },
        _ => Call {
            native: args!["EVAL", FLIP, "1", key, start, end],
            ours: ours("RB.FLIPRANGE"),
            reply: |reply| reply,
        },
    }
}

fn getbits(rng: &mut StdRng, key: &str) -> Call {
    let ids = (0..rng.random_range(1..20)).map(|_| id(rng).to_string().into_bytes());
    let mut call = same("ZMSCORE", "RB.GETBITS", args![key].into_iter().chain(ids).collect());
    call.reply = |reply| match reply {
        Value::Array(scores) => {
            Value::Array(scores.iter().map(|score| Value::Int(i64::from(*score != Value::Nil))).collect())
        }
        other => other,
    };
    call
}

/// A bound of a range, as scores and as ids are written.
fn bound(rng: &mut StdRng) -> (Vec<u8>, Vec<u8>) {
    match rng.random_range(0..10) {
        0 => (b"0".to_vec(), b"-".to_vec()),
        1 => (b"+inf".to_vec(), b"+".to_vec()),
        _ => {
            let id = id(rng).to_string().into_bytes();
            (id.clone(), id)
        }
    }
}

fn count(rng: &mut StdRng, key: &str) -> Call {
    if rng.random_bool(0.3) {
        return same("ZCARD", "RB.COUNT", args![key]);
    }
    let (start, end) = (bound(rng), bound(rng));
    Call {
        native: args!["ZCOUNT", key, start.0, end.0],
        ours: args!["RB.COUNT", key, start.1, end.1],
        reply: |reply| reply,
    }
}

fn first_or_null(reply: Value) -> Value {
    match reply {
        Value::Array(items) => items.into_iter().next().unwrap_or(Value::Nil),
        other => other,
    }
}

fn ends(rng: &mut StdRng, key: &str) -> Call {
    let (name, at) = if rng.random_bool(0.5) { ("RB.MIN", "0") } else { ("RB.MAX", "-1") };
    Call { native: args!["ZRANGE", key, at, at], ours: args![name, key], reply: first_or_null }
}

fn rank(rng: &mut StdRng) -> i64 {
    match rng.random_range(0..10) {
        0 => *[i64::MIN, i64::MAX, 1 << 40, -(1 << 40)].choose(rng).unwrap_or(&0),
        1..6 => rng.random_range(-20..20),
        _ => rng.random_range(-4_000..4_000),
    }
}

fn select(rng: &mut StdRng, key: &str) -> Call {
    let rank = rank(rng);
    Call {
        native: args!["ZRANGE", key, rank, rank],
        ours: args!["RB.SELECT", key, rank],
        reply: first_or_null,
    }
}

fn by_rank(rng: &mut StdRng, key: &str) -> Call {
    let mut call = same("ZRANGE", "RB.RANGE", args![key, rank(rng), rank(rng)]);
    if rng.random_bool(0.4) {
        for words in [&mut call.native, &mut call.ours] {
            words.push("REV".into());
        }
    }
    call
}

fn by_id(rng: &mut StdRng, key: &str) -> Call {
    let (start, stop) = (bound(rng), bound(rng));
    let mut options = Vec::new();
    if rng.random_bool(0.4) {
        options.push(b"REV".to_vec());
    }
    if rng.random_bool(0.6) {
        // A negative offset is nothing on Redis and here, but not on Valkey.
        options.extend(args!["LIMIT", rng.random_range(0..30i64), rng.random_range(-1..30i64)]);
    }
    let words = |name: &str, start: Vec<u8>, stop: Vec<u8>, by: &str| -> Args {
        args![name, key, start, stop, by].into_iter().chain(options.iter().cloned()).collect()
    };
    Call {
        native: words("ZRANGE", start.0, stop.0, "BYSCORE"),
        ours: words("RB.RANGE", start.1, stop.1, "BYID"),
        reply: |reply| reply,
    }
}
