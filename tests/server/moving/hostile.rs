//! Payloads that must be refused: by name, with the place, and with nothing changed.
//!
//! ```text
//! portable 32: cookie 3b30 and containers - 1, a bit for each container that holds runs,
//!              each container's key and cardinality - 1, offsets (from four containers on,
//!              or without runs: cookie 3a30, containers, keys, offsets), containers
//! portable 64: buckets (u64), then for each its high half (u32) and a portable 32
//! ```

use roarbits_tests::{args, Client, Server};

use super::{shapes, FORMATS};

/// A container of the 32-bit format.
struct Container {
    key: u16,
    /// As declared, less one.
    cardinality: u16,
    values: Vec<u16>,
    runs: bool,
}

fn array(key: u16, values: &[u16]) -> Container {
    let cardinality = (values.len() as u16).wrapping_sub(1);
    Container { key, cardinality, values: values.to_vec(), runs: false }
}

/// Runs as (first, length - 1).
fn runs(key: u16, cardinality: u16, runs: &[(u16, u16)]) -> Container {
    let pairs = runs.iter().flat_map(|(first, more)| [*first, *more]);
    let values = std::iter::once(runs.len() as u16).chain(pairs).collect();
    Container { key, cardinality, values, runs: true }
}

fn portable32(containers: &[Container]) -> Vec<u8> {
    let with_runs = containers.iter().any(|container| container.runs);
    let count = containers.len() as u32;
    let mut bytes = Vec::new();
    if with_runs {
        bytes.extend((0x303b | (count.wrapping_sub(1) << 16)).to_le_bytes());
        for eight in containers.chunks(8) {
            let bits = eight.iter().enumerate().map(|(at, container)| u8::from(container.runs) << at);
            bytes.push(bits.sum());
        }
    } else {
        bytes.extend(0x303a_u32.to_le_bytes());
        bytes.extend(count.to_le_bytes());
    }
    for container in containers {
        bytes.extend(container.key.to_le_bytes());
        bytes.extend(container.cardinality.to_le_bytes());
    }
    if !with_runs || containers.len() >= 4 {
        let mut at = bytes.len() as u32 + 4 * count;
        for container in containers {
            bytes.extend(at.to_le_bytes());
            at += 2 * container.values.len() as u32;
        }
    }
    for container in containers {
        bytes.extend(container.values.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

fn portable64(buckets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = (buckets.len() as u64).to_le_bytes().to_vec();
    for (key, bucket) in buckets {
        bytes.extend(key.to_le_bytes());
        bytes.extend(bucket);
    }
    bytes
}

fn good() -> Vec<u8> {
    portable32(&[array(0, &[1, 5])])
}

/// Each as the 32-bit format, and in a bucket of the 64-bit one.
fn bad_containers() -> Vec<(&'static str, Vec<u8>)> {
    let past_the_end = [0x3b, 0x30, 0, 0, 1, 0, 0, 0xfa, 0x2e, 1, 0, 0, 0x02, 0xff, 0xff].as_slice().to_vec();
    vec![
        ("a run past 65535, as reported", past_the_end),
        ("a run past 65535", portable32(&[runs(0, 9, &[(65_530, 9)])])),
        ("unsorted array values", portable32(&[array(0, &[5, 1])])),
        ("repeated array values", portable32(&[array(0, &[5, 5])])),
        ("adjacent runs", portable32(&[runs(0, 9, &[(0, 4), (5, 4)])])),
        ("overlapping runs", portable32(&[runs(0, 9, &[(0, 4), (3, 4)])])),
        ("unsorted runs", portable32(&[runs(0, 9, &[(100, 4), (0, 4)])])),
        ("a run container of 0 runs", portable32(&[runs(0, 0, &[])])),
        ("unsorted container keys", portable32(&[array(2, &[1]), array(1, &[1])])),
        ("repeated container keys", portable32(&[array(1, &[1]), array(1, &[2])])),
        ("a wrong cardinality of runs", portable32(&[runs(0, 3, &[(0, 9)])])),
        ("trailing bytes", [good(), vec![0]].concat()),
        ("an unknown cookie", [vec![0x39, 0x30], good()[2..].to_vec()].concat()),
    ]
}

fn bad_buckets() -> Vec<(&'static str, Vec<u8>)> {
    let empty = portable32(&[]);
    vec![
        ("2^64 - 1 buckets", [vec![0xff; 8], good()].concat()),
        ("more buckets than there are", [vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], good()].concat()),
        ("a repeated bucket key", portable64(&[(1, good()), (1, good())])),
        ("unsorted bucket keys", portable64(&[(2, good()), (1, good())])),
        ("an empty bucket", portable64(&[(0, empty)])),
        ("trailing bytes", [portable64(&[(0, good())]), vec![0]].concat()),
    ]
}

/// A key that every bad payload must leave alone.
fn prepare(client: &mut Client) -> String {
    client.ok(&["FLUSHALL"]);
    client.int(&["RB.ADD", "k", "7", "70000", "18446744073709551615"]);
    client.int(&["EXPIRE", "k", "1000"]);
    client.digest("k")
}

/// Sends a payload by every mode, and asserts its refusal.
fn refused(client: &mut Client, before: &str, format: &str, payload: &[u8], what: &str) {
    for mode in ["REPLACE", "OR", "AND", "XOR", "DIFF"] {
        let error = client.error(&args!["RB.IMPORT", "k", payload, "FORMAT", format, mode]);
        assert!(is_named(&error, payload.len()), "{what} as {format} {mode}: {error}");
        let error = client.error(&args!["RB.IMPORT", "missing", payload, "FORMAT", format, mode]);
        assert!(is_named(&error, payload.len()), "{what} as {format} {mode}: {error}");
    }
    assert_eq!(client.digest("k"), before, "{what} as {format} changed the key");
    assert!(client.int(&["TTL", "k"]) > 0, "{what} as {format} took the TTL");
    assert_eq!(client.int(&["EXISTS", "missing"]), 0, "{what} as {format} made a key");
}

/// `ERR invalid roaring payload: <what> at byte N`, N within the payload or at its end.
fn is_named(error: &str, length: usize) -> bool {
    let rest = error.strip_prefix("ERR invalid roaring payload: ");
    let parts = rest.and_then(|rest| rest.rsplit_once(" at byte "));
    parts.is_some_and(|(what, at)| !what.is_empty() && at.parse::<usize>().is_ok_and(|at| at <= length))
}

pub fn bad_payloads_are_named_and_change_nothing() {
    let server = Server::builder().debug_library().start();
    let mut client = server.client();
    assert_eq!(client.int(&args!["RB.IMPORT", "good", portable64(&[(1, good()), (2, good())])]), 4);
    assert_eq!(client.int(&args!["RB.IMPORT", "good", portable32(&[runs(0, 9, &[(0, 9)])])]), 10);
    let memory = client.used_memory();
    let before = prepare(&mut client);
    for (what, payload) in bad_containers() {
        for format in ["PORTABLE32", "AUTO"] {
            refused(&mut client, &before, format, &payload, what);
        }
        for format in ["PORTABLE64", "AUTO"] {
            refused(&mut client, &before, format, &portable64(&[(0, payload.clone())]), what);
        }
    }
    for (what, payload) in bad_buckets() {
        for format in ["PORTABLE64", "AUTO"] {
            refused(&mut client, &before, format, &payload, what);
        }
    }
    cut_and_changed(&mut client);
    client.ok(&["FLUSHALL"]);
    let left = client.used_memory();
    assert!(left < memory + (16 << 20), "{memory} bytes at first, {left} at last");
}

/// Every truncation of a payload of each shape and format, and of NATIVE, which checks
/// itself, every change of a byte. Long payloads are sampled.
fn cut_and_changed(client: &mut Client) {
    const SAMPLES: usize = 150;
    for shape in shapes() {
        let before = prepare(client);
        shape.store(client, "source");
        for format in FORMATS.into_iter().filter(|format| *format != "STRING" && shape.fits(format)) {
            let payload = client.bytes(&["RB.EXPORT", "source", "FORMAT", format]);
            for at in (0..payload.len()).step_by(payload.len().div_ceil(SAMPLES)) {
                let what = format!("{} cut at {at}", shape.name);
                refused_quickly(client, format, &payload[..at], &what);
                if format == "NATIVE" {
                    let mut changed = payload.clone();
                    changed[at] ^= 1 << (at % 8);
                    refused_quickly(client, format, &changed, &format!("{} changed at {at}", shape.name));
                }
            }
            let longer = [payload.as_slice(), &[0]].concat();
            refused_quickly(client, format, &longer, &format!("{} with a byte more", shape.name));
        }
        assert_eq!(client.digest("k"), before, "{}", shape.name);
    }
}

fn refused_quickly(client: &mut Client, format: &str, payload: &[u8], what: &str) {
    let error = client.error(&args!["RB.IMPORT", "k", payload, "FORMAT", format, "OR"]);
    assert!(is_named(&error, payload.len()), "{what} as {format}: {error}");
}

pub fn bad_options_change_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let before = prepare(&mut client);
    for line in [
        "RB.IMPORT k A FORMAT",
        "RB.IMPORT k A FORMAT STRINGS",
        "RB.IMPORT k A FORMAT STRING FORMAT STRING",
        "RB.IMPORT k A FORMAT STRING OR AND",
        "RB.IMPORT k A FORMAT STRING OR OR",
        "RB.IMPORT k A FORMAT STRING NOT",
        "RB.IMPORT k A STRING",
        "RB.EXPORT k FORMAT",
        "RB.EXPORT k FORMAT AUTO",
        "RB.EXPORT k FORMAT NATIVE FORMAT NATIVE",
        "RB.EXPORT k RANGE",
        "RB.EXPORT k RANGE 0",
        "RB.EXPORT k RANGE 0 1 RANGE 0 1",
        "RB.EXPORT k NATIVE",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(client.error(&words), "ERR syntax error", "{line}");
    }
    for line in ["RB.EXPORT k RANGE a 1", "RB.EXPORT k RANGE 0 -1"] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(client.error(&words), "ERR id is not an integer or out of range", "{line}");
    }
    assert_eq!(client.digest("k"), before);
}
