//! Payloads that no server of ours wrote, given to RESTORE on the library built
//! with assertions, which ends the server if a loaded value breaks an invariant.
//! Each payload is refused or becomes a value that answers every question, goes
//! out and comes back the same; the server lives, and its memory stays small.
//!
//! A payload has two checksums: the server's CRC64 around all of it and the
//! NATIVE coding's own xxh3-64 in each piece. With only the first made right
//! every change must be refused; with both made right the decoder itself is met.
//!
//! ```text
//! 07 | module id, encver in its low 10 bits (81 + 8 bytes BE) | 05 length piece ... | 00 | footer
//! ```
//!
//! `ROARBITS_HOSTILE=all` tries all 255 other values of every byte; by default a
//! byte beyond the head of a long payload gets one.
//! `ROARBITS_SEED` repeats a run of random payloads.

use std::fs;
use std::ops::Range;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_tests::{args, dump, tests, Client, Outcome, Server, TestList, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::samples::{self, Sample};

pub fn tests() -> TestList {
    tests![
        a_change_or_cut_with_a_right_crc_is_refused,
        a_change_or_cut_with_both_checksums_right_is_refused_or_a_valid_value,
        random_module_opcodes_are_refused,
        an_unknown_encver_is_refused_and_logged,
        pieces_that_do_not_follow_each_other_are_refused,
        a_restore_of_another_type_of_module_is_refused,
    ]
}

const REFUSED: &str = "ERR Bad data format";
/// Type byte and module id.
const HEAD_BYTES: usize = 10;
const OPCODE_EOF: u8 = 0;
const OPCODE_STRING: u8 = 5;
/// The checksum at the end of a piece.
const PIECE_CHECKSUM_BYTES: usize = 8;
/// Bytes at the start of a payload whose every other value is tried: framing,
/// header, and the head of the first leaf.
const EDGE_BYTES: usize = 32;
/// What one pipeline may hold (see `Client::pipeline`).
const BATCH_BYTES: usize = 400_000;
/// How much more memory than before the process may ever have held.
const MEMORY_MAX_BYTES: u64 = 64 << 20;

fn debug_server() -> Server {
    Server::builder().debug_library().config("rdbcompression", "no").start()
}

/// Where the only piece of a payload's body is.
fn piece_of(body: &[u8]) -> Range<usize> {
    assert_eq!(body[HEAD_BYTES], OPCODE_STRING, "the body starts with a piece");
    let at = HEAD_BYTES + 1;
    let (length, start) = match body[at] >> 6 {
        0 => (usize::from(body[at] & 63), at + 1),
        1 => (usize::from(body[at] & 63) << 8 | usize::from(body[at + 1]), at + 2),
        other => panic!("a length of kind {other} in a small dump"),
    };
    assert_eq!(body.len(), start + length + 1, "one piece and the end mark");
    assert_eq!(body[body.len() - 1], OPCODE_EOF);
    start..start + length
}

/// The body of a payload with the head of `body` and other pieces.
fn with_pieces<'p>(body: &[u8], pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut forged = body[..HEAD_BYTES].to_vec();
    for piece in pieces {
        forged.extend([OPCODE_STRING, 0x80]);
        forged.extend((piece.len() as u32).to_be_bytes());
        forged.extend(piece);
    }
    forged.push(OPCODE_EOF);
    forged
}

/// `content` with a right checksum behind it.
fn sealed(content: &[u8]) -> Vec<u8> {
    [content, &xxh3_64(content).to_le_bytes()].concat()
}

/// Every single-byte change of `bytes` that is tried: place and new value.
fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
    let all = std::env::var("ROARBITS_HOSTILE").is_ok_and(|wish| wish == "all");
    (0..bytes.len()).flat_map(move |at| {
        let near_an_end = at < EDGE_BYTES || at + 4 >= bytes.len();
        // One bit a byte inside, another one from byte to byte.
        let tried = if all || near_an_end { 1..=255 } else { 1 << (at % 8)..=1 << (at % 8) };
        tried.map(move |flipped: u8| (at, bytes[at] ^ flipped))
    })
}

fn changed(bytes: &[u8], (at, value): (usize, u8)) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    copy[at] = value;
    copy
}

/// Memory of the process so far, at its highest, or None where /proc is missing.
fn peak_bytes(server: &Server) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// Runs `attack` and asserts that the server lives and stayed small.
fn survives(mut server: Server, attack: impl FnOnce(&mut Client)) {
    let mut client = server.client();
    client.ok(&["CONFIG", "SET", "loglevel", "warning"]);
    let before = (peak_bytes(&server), client.used_memory());
    attack(&mut client);
    server.check();
    assert_eq!(client.int(&["DBSIZE"]), 0, "keys left");
    let after = (peak_bytes(&server), client.used_memory());
    if let (Some(before), Some(after)) = (before.0, after.0) {
        assert!(after < before + MEMORY_MAX_BYTES, "memory grew from {before} to {after} bytes at its peak");
    }
    assert!(after.1 < before.1 + (4 << 20), "memory grew from {} to {} bytes", before.1, after.1);
}

/// Restores payloads under the names k0, k1, ..., a batch at a time, and hands
/// the outcomes to `judge`, which must remove what was accepted.
fn restore_all(
    client: &mut Client,
    payloads: impl Iterator<Item = (String, Vec<u8>)>,
    mut judge: impl FnMut(&mut Client, Vec<(String, Outcome)>),
) {
    let mut payloads = payloads.peekable();
    while payloads.peek().is_some() {
        let (mut whats, mut commands, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < BATCH_BYTES {
            let Some((what, payload)) = payloads.next() else {
                break;
            };
            bytes += payload.len() + 100;
            commands.push(args!["RESTORE", format!("k{}", whats.len()), "0", payload]);
            whats.push(what);
        }
        let outcomes = client.pipeline(&commands);
        judge(client, whats.into_iter().zip(outcomes).collect());
    }
}

fn refuse_all(client: &mut Client, outcomes: Vec<(String, Outcome)>) {
    for (what, outcome) in outcomes {
        assert_eq!(outcome, Err(REFUSED.to_string()), "{what}");
    }
    assert_eq!(client.int(&["DBSIZE"]), 0);
}

fn a_change_or_cut_with_a_right_crc_is_refused() {
    let server = debug_server();
    let samples = samples::of_every_leaf(&mut server.client());
    survives(server, |client| {
        for Sample { name, payload, digest } in &samples {
            let body = dump::body(payload);
            let piece = piece_of(body);
            let changed_ones =
                changes(body).map(|change| (place(change.0, &piece, name), changed(body, change)));
            let cut_ones =
                (0..body.len()).map(|length| (format!("{name} cut to {length}"), body[..length].to_vec()));
            let forged = changed_ones.chain(cut_ones);
            let payloads = forged.map(|(what, body)| (what, dump::with_body(payload, &body)));
            restore_all(client, payloads, |client, outcomes| refuse_or_keep_equal(client, outcomes, digest));
        }
    });
}

/// Servers write a number in one way and read it in several: those aliases are
/// outside of the piece.
const ALIAS: &str = "outside of the piece";

fn place(at: usize, piece: &Range<usize>, name: &str) -> String {
    let side = if piece.contains(&at) { "inside" } else { ALIAS };
    format!("{name}: byte {at}, {side}")
}

fn refuse_or_keep_equal(client: &mut Client, outcomes: Vec<(String, Outcome)>, digest: &str) {
    for (at, (what, outcome)) in outcomes.into_iter().enumerate() {
        if what.ends_with(ALIAS) && outcome.is_ok() {
            let key = format!("k{at}");
            assert_eq!(client.digest(&key), digest, "{what}");
            client.int(&["DEL", &key]);
        } else {
            assert_eq!(outcome, Err(REFUSED.to_string()), "{what}");
        }
    }
    assert_eq!(client.int(&["DBSIZE"]), 0);
}

fn a_change_or_cut_with_both_checksums_right_is_refused_or_a_valid_value() {
    let server = debug_server();
    let samples = samples::of_every_leaf(&mut server.client());
    survives(server, |client| {
        for Sample { name, payload, .. } in &samples {
            let body = dump::body(payload);
            let piece = &body[piece_of(body)];
            let content = &piece[..piece.len() - PIECE_CHECKSUM_BYTES];
            assert_eq!(sealed(content), piece, "{name} ends with the checksum this test knows");
            let changed_ones =
                changes(content).map(|change| (format!("{name}: byte {change:?}"), changed(content, change)));
            let cut_ones = (0..content.len())
                .map(|length| (format!("{name} cut to {length}"), content[..length].to_vec()));
            let longer = [vec![0], vec![1], vec![0; 9]]
                .map(|tail| (format!("{name} and {tail:?}"), [content, &tail].concat()));
            let forged = changed_ones.chain(cut_ones).chain(longer);
            let payloads = forged.map(|(what, content)| {
                let sealed = sealed(&content);
                (what, dump::with_body(payload, &with_pieces(body, [sealed.as_slice()])))
            });
            let (mut accepted, mut refused) = (0, 0);
            restore_all(client, payloads, |client, outcomes| {
                let kept = kept_ones(outcomes, &mut refused);
                accepted += kept.len();
                assert_valid(client, &kept);
            });
            println!("{name}: {refused} payloads refused, {accepted} valid");
            assert!(refused > 0, "{name}: nothing was refused");
            // Of a bitmap with ids some change only names others.
            assert!(accepted > 0 || name.starts_with("empty"), "{name}: nothing was accepted");
        }
    });
}

/// The keys of the payloads that were accepted, with what they are.
fn kept_ones(outcomes: Vec<(String, Outcome)>, refused: &mut usize) -> Vec<(String, String)> {
    let mut kept = Vec::new();
    for (at, (what, outcome)) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(Value::Okay) => kept.push((format!("k{at}"), what)),
            Err(text) if text == REFUSED => *refused += 1,
            other => panic!("{what}: {other:?}"),
        }
    }
    kept
}

/// Asserts that the values under `keys` answer and survive EXPORT and DUMP, and
/// deletes them.
fn assert_valid(client: &mut Client, keys: &[(String, String)]) {
    // A value of 8 KB comes back once, and some of them go out again twice.
    for keys in keys.chunks(BATCH_BYTES / 20_000) {
        let questions = keys.iter().flat_map(|(key, _)| {
            [
                args!["RB.BITCOUNT", key],
                args!["RB.RANGE", key, "0", "10"],
                args!["RB.EXPORT", key, "FORMAT", "NATIVE"],
            ]
        });
        let answers = client.pipeline(&questions.collect::<Vec<_>>());
        let mut round_trips = Vec::new();
        for ((key, what), answers) in keys.iter().zip(answers.chunks(3)) {
            let [Ok(card), Ok(Value::Array(_)), Ok(Value::BulkString(export))] = answers else {
                panic!("{what}: accepted, but it answers {answers:?}")
            };
            // A server takes 30 ms for a digest of a bits leaf (SHA-1 of every run): some of them do.
            if export.len() < 200 || xxh3_64(what.as_bytes()).is_multiple_of(2048) {
                round_trips.push((key.as_str(), what.as_str(), card, export));
            }
        }
        assert_round_trips(client, &round_trips);
        let deletions: Vec<_> = keys.iter().map(|(key, _)| args!["DEL", key]).collect();
        let deleted = client.pipeline(&deletions);
        assert!(deleted.iter().all(|reply| *reply == Ok(Value::Int(1))), "{deleted:?}");
    }
}

/// Asserts for each (key, what it is, cardinality, NATIVE bytes) that EXPORT and
/// DUMP give it back.
fn assert_round_trips(client: &mut Client, values: &[(&str, &str, &Value, &Vec<u8>)]) {
    if values.is_empty() {
        return;
    }
    let dumps: Vec<_> = values.iter().map(|(key, ..)| args!["DUMP", *key]).collect();
    let dumps = client.pipeline(&dumps);
    let mut commands = Vec::new();
    for ((key, what, _, export), dump) in values.iter().zip(&dumps) {
        let Ok(Value::BulkString(dump)) = dump else { panic!("{what}: DUMP replied {dump:?}") };
        commands.extend([
            args!["RB.IMPORT", "imported", *export, "FORMAT", "NATIVE"],
            args!["RESTORE", "restored", "0", dump],
            args!["DEBUG", "DIGEST-VALUE", *key, "imported", "restored"],
            args!["DEL", "imported", "restored"],
        ]);
    }
    let replies = client.pipeline(&commands);
    for ((_, what, card, _), replies) in values.iter().zip(replies.chunks(4)) {
        let [Ok(imported), Ok(Value::Okay), Ok(Value::Array(digests)), Ok(Value::Int(2))] = replies else {
            panic!("{what}: {replies:?}")
        };
        assert_eq!(&imported, card, "{what}: cardinality after RB.IMPORT");
        assert!(digests.windows(2).all(|pair| pair[0] == pair[1]), "{what}: {digests:?}");
    }
}

fn random_module_opcodes_are_refused() {
    let server = debug_server();
    let sample = samples::of_every_leaf(&mut server.client()).swap_remove(0);
    let (seed, mut rng) = seeded();
    survives(server, |client| {
        let head = &dump::body(&sample.payload)[..HEAD_BYTES];
        let payloads = (0..20_000).map(|round| {
            let mut body = head.to_vec();
            for _ in 0..rng.random_range(0..6) {
                random_entry(&mut rng, &mut body);
            }
            if rng.random_bool(0.5) {
                body.push(OPCODE_EOF);
            }
            let what = format!("round {round} of ROARBITS_SEED={seed}: {}", body.escape_ascii());
            (what, dump::with_body(&sample.payload, &body))
        });
        restore_all(client, payloads, refuse_all);
    });
}

/// An opcode of a module's value (or none that exists) and something behind it.
fn random_entry(rng: &mut StdRng, body: &mut Vec<u8>) {
    body.push(rng.random_range(0..8));
    match rng.random_range(0..4) {
        // A string of the length it states, or a small number and garbage.
        0 => {
            let content: Vec<u8> = (0..rng.random_range(0..40)).map(|_| rng.random()).collect();
            body.push(content.len() as u8);
            body.extend(content);
        }
        // The start of a payload of ours.
        1 => body.extend(b"\x08RBN\x01\x00\x00\x00\x00"),
        // Any length encoding at all.
        2 => body.extend((0..rng.random_range(1..10)).map(|_| rng.random::<u8>())),
        _ => {}
    }
}

fn seeded() -> (u64, StdRng) {
    let given = std::env::var("ROARBITS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    (seed, StdRng::seed_from_u64(seed))
}

fn an_unknown_encver_is_refused_and_logged() {
    let server = debug_server();
    let sample = samples::of_every_leaf(&mut server.client()).swap_remove(0);
    let mut client = server.client();
    let body = dump::body(&sample.payload);
    assert_eq!(u16::from_be_bytes([body[8], body[9]]) & 0x3ff, 1, "encver of this release");
    for encver in [0u16, 2, 3, 1023] {
        let mut forged = body.to_vec();
        let word = u16::from_be_bytes([body[8], body[9]]) & !0x3ff | encver;
        forged[8..10].copy_from_slice(&word.to_be_bytes());
        let payload = dump::with_body(&sample.payload, &forged);
        assert_eq!(client.error(&args!["RESTORE", "k", "0", payload]), REFUSED, "encver {encver}");
        let line = format!("rb-bitmap: encoding version {encver} ");
        assert!(server.log().contains(&line), "no line with `{line}`:\n{}", server.log_tail());
    }
    assert_eq!(client.int(&["EXISTS", "k"]), 0);
}

fn a_restore_of_another_type_of_module_is_refused() {
    let server = debug_server();
    let sample = samples::of_every_leaf(&mut server.client()).swap_remove(0);
    let mut client = server.client();
    let mut forged = dump::body(&sample.payload).to_vec();
    forged[3] ^= 1;
    let payload = dump::with_body(&sample.payload, &forged);
    assert_eq!(client.error(&args!["RESTORE", "k", "0", payload]), REFUSED);
    assert_eq!(client.int(&["EXISTS", "k"]), 0);
}

fn pieces_that_do_not_follow_each_other_are_refused() {
    let server = debug_server();
    let mut client = server.client();
    client.int(&args!["RB.ADD", "k", "1", "99", "100", "70000", u64::MAX]);
    client.int(&args!["RB.ADD", "longer", "1"]);
    client.int(&args!["RB.SETBIT", "longer", "800", "0"]);
    let digest = client.digest("k");
    let payload = client.dump("k").expect("k exists");
    let mut piece = |key: &str, start: u64, end: u64| {
        client.bytes(&args!["RB.EXPORT", key, "FORMAT", "NATIVE", "RANGE", start, end])
    };
    const LAST: u64 = u64::MAX;
    let (first, second, third) = (piece("k", 0, 99), piece("k", 100, 65_535), piece("k", 65_536, LAST));
    let (rest, whole) = (piece("k", 100, LAST), piece("k", 0, LAST));
    let (other, gap) = (piece("longer", 0, 99), piece("k", 101, LAST));
    let overlap = piece("k", 99, LAST);
    let mut restore = |pieces: &[&Vec<u8>]| {
        let body = with_pieces(dump::body(&payload), pieces.iter().map(|piece| piece.as_slice()));
        client.cmd(&args!["RESTORE", "forged", "0", dump::with_body(&payload, &body), "REPLACE"])
    };
    // Chunk 0 lies in two leaves here, which no bitmap of ours holds.
    let refused: [(&str, &[&Vec<u8>]); 10] = [
        ("no piece", &[]),
        ("only the first", &[&first]),
        ("only the last", &[&rest]),
        ("the last missing", &[&first, &second]),
        ("a gap", &[&first, &gap]),
        ("an overlap", &[&first, &overlap]),
        ("out of order", &[&third, &first, &second]),
        ("one twice", &[&first, &first, &rest]),
        ("another bitmap's", &[&other, &rest]),
        ("one after the last", &[&whole, &whole]),
    ];
    for (what, pieces) in refused {
        assert_eq!(restore(pieces), Err(REFUSED.to_string()), "{what}");
    }
    let chunks = [&whole];
    assert_eq!(restore(&chunks), Ok(Value::Okay));
    assert_eq!(server.client().digest("forged"), digest);
}
