//! Offsets at the end of what a string can hold. Natively one such key is 256 to
//! 512 MB, so there is one of it at a time, written at few places, and read in
//! windows; the count of all bits says that nothing else is set.

use rand::rngs::StdRng;
use rand::Rng;
use roarbits_tests::{args, random, Args, Outcome, Value};

use super::{same_window, Sides};

/// The edges of signed and unsigned 32-bit offsets.
const EDGES: [u64; 2] = [1 << 31, (1 << 32) - 1];
/// Calls at each edge.
const CALLS: usize = 1_500;
/// How far from an edge calls go, in bits.
const NEAR_BITS: u64 = 400;

pub fn offsets_at_the_end_of_a_string_answer_as_natively() {
    let mut rng = random::seeded("differential far");
    let mut sides = Sides::start();
    all_of(&mut sides, &[args!["SETBIT", "far", "13", "1"], args!["SETBIT", "short", "1000", "1"]]);
    for edge in EDGES {
        let calls: Vec<Args> = (0..CALLS).map(|_| call(&mut rng, edge)).collect();
        for part in calls.chunks(250) {
            all_of(&mut sides, part);
        }
        same_windows(&mut sides, "far", edge);
        if edge == EDGES[0] {
            combine(&mut sides, edge);
        }
    }
    the_limits_are_native_on_a_string(&mut sides);
    let memory = |value| match value {
        Value::Int(bytes) => bytes,
        other => panic!("MEMORY USAGE replied {other:?}"),
    };
    assert!(memory(sides.ours.ask(&["MEMORY", "USAGE", "far"])) < 8_000);
}

/// Bits, and searches and counts of windows: what natively costs no full scan.
fn call(rng: &mut StdRng, edge: u64) -> Args {
    let offset = (edge - NEAR_BITS + rng.random_range(0..2 * NEAR_BITS)).min(EDGES[1]);
    let bit = u64::from(rng.random_bool(0.5));
    let byte = offset / 8;
    match rng.random_range(0..8) {
        0..3 => args!["SETBIT", "far", offset, bit],
        3 => args!["GETBIT", "far", offset],
        4 => args!["BITCOUNT", "far", byte, byte + rng.random_range(0..60)],
        5 => args!["BITCOUNT", "far", -(rng.random_range(0..60i64)), "-1"],
        6 => args!["BITPOS", "far", bit, byte, byte + rng.random_range(0..60)],
        _ => args!["BITPOS", "far", bit, byte],
    }
}

/// Runs a call on both sides and asserts that they answer alike.
fn both(sides: &mut Sides, call: &Args) -> Outcome {
    all_of(sides, std::slice::from_ref(call)).pop().unwrap_or(Ok(Value::Nil))
}

fn all_of(sides: &mut Sides, calls: &[Args]) -> Vec<Outcome> {
    let ours: Vec<Args> = calls.iter().map(named_ours).collect();
    let native = sides.native.pipeline(calls);
    let ours = sides.ours.pipeline(&ours);
    for ((call, native), ours) in calls.iter().zip(&native).zip(&ours) {
        let words: Vec<_> = call.iter().map(|word| word.escape_ascii().to_string()).collect();
        assert_eq!(native, ours, "{}", words.join(" "));
    }
    ours
}

fn named_ours(call: &Args) -> Args {
    let mut ours = call.clone();
    if let Some(name) = ours.first_mut() {
        name.splice(0..0, *b"RB.");
    }
    ours
}

fn same_windows(sides: &mut Sides, key: &str, edge: u64) {
    let byte = edge / 8;
    let around = NEAR_BITS / 8 + 8;
    same_window(sides, key, 0, 1_000);
    same_window(sides, key, byte - around, byte + around);
    assert!(matches!(both(sides, &args!["BITCOUNT", key]), Ok(Value::Int(1..))));
}

/// The long key beside a short one and a missing one. One operation of many keys
/// and one of a single key will do: natively each takes most of a second.
fn combine(sides: &mut Sides, edge: u64) {
    for operation in ["XOR", "NOT"] {
        let mut call = args!["BITOP", operation, "dest", "far"];
        if operation != "NOT" {
            call.extend(args!["short", "missing"]);
        }
        all_of(sides, &[call]);
        let byte = edge / 8;
        same_window(sides, "dest", 0, 1_000);
        same_window(sides, "dest", byte - 64, byte + 64);
        assert!(both(sides, &args!["BITCOUNT", "dest"]).is_ok());
        for client in [&mut sides.native, &mut sides.ours] {
            assert_eq!(client.int(&["DEL", "dest"]), 1);
        }
    }
}

/// A plain string keeps the native limit under our name.
fn the_limits_are_native_on_a_string(sides: &mut Sides) {
    for client in [&mut sides.native, &mut sides.ours] {
        client.ok(&["SET", "plain", "x"]);
    }
    for offset in ["4294967296", "9223372036854775808", "18446744073709551615", "007", "-1", ""] {
        let refused = both(sides, &args!["SETBIT", "plain", offset, "1"]);
        let text = "ERR bit offset is not an integer or out of range".to_string();
        assert_eq!(refused, Err(text), "{offset}");
    }
    assert_eq!(both(sides, &args!["BITCOUNT", "plain"]), Ok(Value::Int(4)));
}
