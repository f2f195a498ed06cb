//! RB.SCAN: ids that stay are returned exactly once, whatever is written meanwhile.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand::rngs::StdRng;
use rand::Rng;
use roarbits_tests::{args, random, Args, Client, Server, Value};

use super::info;

/// One page: the next cursor and the ids.
fn page(client: &mut Client, call: &Args) -> (u64, Vec<u64>) {
    let number = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).parse().ok(),
        _ => None,
    };
    match client.ask(call) {
        Value::Array(parts) => match parts.as_slice() {
            [cursor, Value::Array(ids)] => {
                (number(cursor).unwrap_or(u64::MAX), ids.iter().filter_map(number).collect())
            }
            other => panic!("not a page: {other:?}"),
        },
        other => panic!("not a page: {other:?}"),
    }
}

pub fn a_cursor_is_an_id_and_zero_starts_and_ends() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["RB.ADD", "k", "3", "70000", "18446744073709551614", "18446744073709551615"]);
    client.ok(&["SET", "string", "\u{1}"]);
    client.int(&["RB.SETBIT", "empty", "9", "0"]);
    let last = [u64::MAX - 1, u64::MAX];
    for (call, cursor, ids) in [
        ("k 0", 0, &[3, 70_000, last[0], last[1]][..]),
        ("k 0 COUNT 1", 70_000, &[3]),
        ("k 70000 COUNT 1", last[0], &[70_000]),
        ("k 4 COUNT 2", last[1], &[70_000, last[0]]),
        ("k 18446744073709551615 COUNT 1", 0, &[last[1]]),
        ("k 18446744073709551614 count 9223372036854775807", 0, &last),
        ("k 0003 COUNT 2", last[0], &[3, 70_000]),
        ("empty 0", 0, &[]),
        ("missing 0", 0, &[]),
        ("missing 18446744073709551615", 0, &[]),
        ("string 0 COUNT 5", 0, &[7]),
        ("string 8", 0, &[]),
    ] {
        let call: Args = format!("RB.SCAN {call}").split(' ').map(Into::into).collect();
        assert_eq!(page(&mut client, &call), (cursor, ids.to_vec()), "{call:?}");
    }
    for (call, error) in [
        ("k 0 COUNT 0", "ERR syntax error"),
        ("k 0 COUNT -1", "ERR syntax error"),
        ("k 0 COUNT", "ERR syntax error"),
        ("k 0 COUNT 1 COUNT 1", "ERR syntax error"),
        ("k 0 MATCH 1", "ERR syntax error"),
        ("k 0 COUNT x", "ERR value is not an integer or out of range"),
        ("k +", "ERR invalid cursor"),
    ] {
        let call: Vec<&str> = std::iter::once("RB.SCAN").chain(call.split(' ')).collect();
        assert_eq!(client.error(&call), error, "{call:?}");
    }
}

/// Ids that the writer never touches, in containers of every form, and one at each end.
fn staying() -> BTreeSet<u64> {
    let spread = (0..40).map(|n| n * 30_011);
    let dense = (0..200).map(|n| 5_000_000 + 7 * n);
    let snowflakes = (0..300).map(|n| 7_301_234_567_890_123_456 + (n << 22));
    spread.chain(dense).chain(snowflakes).chain([0, u64::MAX]).collect()
}

/// What changes form where it happens: ids to bits, ids and bits to runs, and back.
fn disturb(rng: &mut StdRng, staying: &BTreeSet<u64>) -> Vec<Args> {
    let bases = [0, 65_536, 300_000, 5_000_000, 7_301_234_567_890_123_456, u64::MAX - 200_000];
    let base = bases[rng.random_range(0..bases.len())];
    let (start, span) = (base + rng.random_range(0..1_000), rng.random_range(1..90_000));
    let kept: Vec<u64> = staying.range(start..=start + span).copied().collect();
    let mut calls = match rng.random_range(0..6) {
        0 | 1 => vec![args!["RB.ADDRANGE", "k", start, start + span]],
        2 | 3 => vec![args!["RB.REMRANGE", "k", start, start + span]],
        4 => vec![members("RB.ADD", (0..4_000).map(|n| start + n * (1 + span % 13)))],
        _ => vec![members("RB.REM", (0..4_000).map(|n| start + n * (1 + span % 13)))],
    };
    if calls[0][0].ends_with(b"ADDRANGE") || calls[0][0].ends_with(b"ADD") {
        return calls;
    }
    // Never without what stays: removal and return are one transaction.
    let removed: BTreeSet<u64> = match calls[0][0].as_slice() {
        b"RB.REMRANGE" => kept.into_iter().collect(),
        _ => staying.clone(),
    };
    calls.insert(0, args!["MULTI"]);
    if !removed.is_empty() {
        calls.push(members("RB.ADD", removed));
    }
    calls.push(args!["EXEC"]);
    calls
}

fn members(name: &str, ids: impl IntoIterator<Item = u64>) -> Args {
    args![name, "k"].into_iter().chain(ids.into_iter().map(|id| id.to_string().into_bytes())).collect()
}

/// A whole scan, `between` called after each page.
fn scan(client: &mut Client, count: u64, mut between: impl FnMut(&mut Client)) -> Vec<u64> {
    let (mut cursor, mut ids) = (0, Vec::new());
    loop {
        let (next, found) = page(client, &args!["RB.SCAN", "k", cursor, "COUNT", count]);
        assert!(next == 0 || found.len() as u64 == count, "{} ids of {count}, cursor {next}", found.len());
        assert!(found.iter().all(|id| *id >= cursor && (next == 0 || *id < next)), "ids outside of a page");
        ids.extend(found);
        if next == 0 {
            return ids;
        }
        cursor = next;
        between(client);
    }
}

fn assert_promise(ids: &[u64], staying: &BTreeSet<u64>) {
    assert!(ids.is_sorted_by(|a, b| a < b), "ids repeat or go back");
    let found: BTreeSet<u64> = ids.iter().copied().collect();
    let lost: Vec<&u64> = staying.difference(&found).take(10).collect();
    assert!(lost.is_empty(), "never returned: {lost:?}");
}

/// What stays and enough else, in every form, for scans of many pages.
fn refill(client: &mut Client, staying: &BTreeSet<u64>) {
    client.int(&args!["DEL", "k"]);
    client.int(&members("RB.ADD", staying.iter().copied()));
    client.int(&members("RB.ADD", (0..3_000).map(|n| 10_000_000 + n * 1_009)));
    client.int(&members("RB.ADD", (0..30_000).map(|n| 20_000_000 + n * 3)));
    client.int(&args!["RB.ADDRANGE", "k", "30000000", "30020000"]);
}

pub fn a_scan_meets_every_id_that_stays_while_forms_change() {
    const SCANS: usize = 8;
    let mut rng = random::seeded("scan");
    let server = Server::builder().debug_library().start();
    let mut client = server.client();
    let staying = staying();
    let (mut seen, mut pages) = (BTreeSet::new(), 0);
    for round in 0..SCANS {
        refill(&mut client, &staying);
        let count = [300, 1_000, 3_000, 9_000][round % 4];
        let ids = scan(&mut client, count, |client| {
            for call in disturb(&mut rng, &staying) {
                client.ask(&call);
            }
            pages += 1;
            if pages % 8 != 0 {
                return;
            }
            client.ok(&["RB.DEBUG", "VALIDATE", "k"]);
            for form in ["ids_leaves", "run_leaves", "bits_leaves"] {
                seen.insert((form, info(client, "k", form)));
            }
        });
        assert_promise(&ids, &staying);
    }
    for form in ["ids_leaves", "run_leaves", "bits_leaves"] {
        let numbers = seen.iter().filter(|(name, _)| *name == form).count();
        assert!(numbers > 2, "{form} hardly changed: {seen:?}");
    }
}

pub fn a_scan_meets_every_id_that_stays_while_another_client_writes() {
    const SCANS: usize = 12;
    const WRITES: usize = 200;
    let mut rng = random::seeded("scan beside a writer");
    let server = Server::start();
    let (mut client, mut writer) = (server.client(), server.client());
    let staying = staying();
    refill(&mut client, &staying);
    let (done, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let calls = disturb(&mut rng, &staying);
                assert!(writer.pipeline(&calls).iter().all(Result::is_ok));
                writes.fetch_add(1, Ordering::Relaxed);
            }
        });
        // The writer ends also when an assertion here fails.
        let _end = AtEnd(&done);
        let mut scans = 0;
        while scans < SCANS || writes.load(Ordering::Relaxed) < WRITES {
            assert!(!writing.is_finished(), "the writer ended early");
            let ids = scan(&mut client, [100, 1_000, 10_000][scans % 3], |_| {});
            assert_promise(&ids, &staying);
            scans += 1;
        }
    });
}

/// Sets a flag when it goes out of scope.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
