//! What works on a few ids works on a hundred million: every command of the
//! table, a copy, a save, a sync and a deletion, on 100M dense ids and on 30M
//! Snowflake ids. Times are the server's own (SLOWLOG), printed as a table.
//!
//! Minutes of work: `make test-heavy` sets `ROARBITS_HEAVY`, without it the tests
//! are skipped. `ROARBITS_SNOWFLAKES` says how many million Snowflake ids there are.

use std::collections::BTreeSet;
use std::time::Instant;

use roarbits_tests::{args, eventually, spec, tests, Args, Client, Server, TestList, Value};

use crate::samples;

mod cow;

use cow::a_save_beside_writes_copies_the_pages_they_change;

pub fn tests() -> TestList {
    tests![
        a_hundred_million_ids_are_as_usable_as_a_hundred,
        a_save_beside_writes_copies_the_pages_they_change,
    ]
}

/// Bytes of the dense bitmap as a string; three of four bits are set.
const DENSE_BYTES: usize = 16 << 20;
/// Commands that the table calls fast, by their median on the main thread.
const FAST_MAX_US: u64 = 1_000;
const COPY_MAX_US: u64 = 5_000;
/// Calls of a command whose times are taken.
const CALLS: u64 = 25;
const MILLION: u64 = 1_000_000;

fn a_hundred_million_ids_are_as_usable_as_a_hundred() {
    let mut server = Server::builder().rdb().start();
    let mut client = server.client();
    client.ok(&["CONFIG", "SET", "slowlog-max-len", "128"]);
    let dense = load_dense(&mut client, "dense");
    load_dense(&mut client, "dense2");
    let snowflakes = load_snowflakes(&mut client, "snow");
    client.int(&["COPY", "snow", "snow2"]);
    client.int(&args!["RB.FLIPRANGE", "snow2", snowflake(0), snowflake(5 * MILLION)]);

    let mut called = BTreeSet::new();
    println!("{:<6} {:<58} {:>9} {:>9}", "key", "command", "median us", "max us");
    for (key, member) in [("dense", dense), ("snow", snowflakes.0)] {
        for call in calls(key, member) {
            called.insert(time_call(&mut client, key, &call));
        }
        assert_too_large(&mut client, key);
    }
    let missing: Vec<_> = spec::rows().into_iter().filter(|row| !called.contains(row.name())).collect();
    assert!(missing.is_empty(), "commands of the table without a call here: {missing:?}");

    time_copies_and_deletions(&mut client);
    for (key, values) in [("dense", client.int(&["RB.BITCOUNT", "dense"])), ("snow", snowflakes.1)] {
        let bytes = client.int(&["MEMORY", "USAGE", key]);
        println!("{key}: {values} ids, {:.3} bytes an id", bytes as f64 / values as f64);
    }
    save_and_sync(&mut client, &server);
    server.check();
}

/// About a hundred million ids without a pattern; a member of them is replied.
fn load_dense(client: &mut Client, key: &str) -> u64 {
    let started = Instant::now();
    let noise = samples::noise(DENSE_BYTES * 2 + 1);
    // The second bitmap is another one: shifted by a byte.
    let shift = key.len() % 2;
    let (low, high) = noise[shift..].split_at(DENSE_BYTES);
    let bytes: Vec<u8> = low.iter().zip(high).map(|(low, high)| low | high).collect();
    let count = client.int(&args!["RB.IMPORT", key, bytes, "FORMAT", "STRING"]);
    println!("{key}: {count} ids imported in {:?}", started.elapsed());
    assert!(count as u64 > 100 * MILLION, "{count}");
    let middle = client.text(&args!["RB.SELECT", key, count / 2]);
    middle.parse().expect("an id")
}

/// The n-th Snowflake id: one a millisecond, from ten machines.
fn snowflake(n: u64) -> u64 {
    ((1_700_000_000_000 + n) << 22) | ((n * 7 % 10 * 97) << 12) | (n % 3)
}

/// Imports Snowflake ids by the portable format, a million at a time: a member
/// and how many there are.
fn load_snowflakes(client: &mut Client, key: &str) -> (u64, i64) {
    let given = std::env::var("ROARBITS_SNOWFLAKES").ok();
    let millions: u64 = given.and_then(|count| count.parse().ok()).unwrap_or(30);
    let started = Instant::now();
    let mut count = 0;
    for million in 0..millions {
        let ids = (million * MILLION..(million + 1) * MILLION).map(snowflake);
        let payload = portable64(ids);
        count = client.int(&args!["RB.IMPORT", key, payload, "FORMAT", "PORTABLE64", "OR"]);
    }
    println!("{key}: {count} ids imported in {:?}", started.elapsed());
    assert_eq!(count as u64, millions * MILLION);
    (snowflake(millions * MILLION / 2), count)
}

/// A container's key and the low bits of its ids.
type Container = (u16, Vec<u16>);

/// Ascending ids in the portable 64-bit Roaring format, all containers arrays:
/// buckets of 2^32 ids in the format of
/// github.com/RoaringBitmap/RoaringFormatSpec.
fn portable64(ids: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut buckets: Vec<(u32, Vec<Container>)> = Vec::new();
    for id in ids {
        let (high, container, low) = ((id >> 32) as u32, (id >> 16) as u16, id as u16);
        if buckets.last().is_none_or(|(last, _)| *last != high) {
            buckets.push((high, Vec::new()));
        }
        let Some((_, containers)) = buckets.last_mut() else { continue };
        match containers.last_mut() {
            Some((last, lows)) if *last == container => lows.push(low),
            _ => containers.push((container, vec![low])),
        }
    }
    let mut out = (buckets.len() as u64).to_le_bytes().to_vec();
    for (high, containers) in buckets {
        out.extend(high.to_le_bytes());
        portable32(&mut out, &containers);
    }
    out
}

fn portable32(out: &mut Vec<u8>, containers: &[Container]) {
    const COOKIE_WITHOUT_RUNS: u32 = 12_346;
    out.extend(COOKIE_WITHOUT_RUNS.to_le_bytes());
    out.extend((containers.len() as u32).to_le_bytes());
    for (key, lows) in containers {
        out.extend(key.to_le_bytes());
        out.extend((lows.len() as u16 - 1).to_le_bytes());
    }
    let mut offset = 8 + 8 * containers.len() as u32;
    for (_, lows) in containers {
        out.extend(offset.to_le_bytes());
        offset += 2 * lows.len() as u32;
    }
    for low in containers.iter().flat_map(|(_, lows)| lows) {
        out.extend(low.to_le_bytes());
    }
}

/// Calls of every command on a large key, around one of its members; `#` stands
/// for another id at each call.
fn calls(key: &str, member: u64) -> Vec<Vec<String>> {
    let other = format!("{key}2");
    let (near, far) = (member + 1_000, member + (1 << 22));
    let lines = [
        format!("RB.SETBIT {key} # 1"),
        format!("RB.SETBIT {key} # 0"),
        format!("RB.GETBIT {key} #"),
        format!("RB.BITCOUNT {key}"),
        format!("RB.BITCOUNT {key} 1000 -1000"),
        format!("RB.BITPOS {key} 1"),
        format!("RB.BITPOS {key} 0 1000000"),
        format!("RB.BITPOS {key} 1 0 -1 BIT"),
        format!("RB.MSETBIT {key} # 1 {other} # 0"),
        format!("RB.ADD {key} # {near}"),
        format!("RB.REM {key} # {near}"),
        format!("RB.GETBITS {key} # {member} {near} {far}"),
        format!("RB.COUNT {key}"),
        format!("RB.COUNT {key} {member} {far}"),
        format!("RB.COUNT {key} - #"),
        format!("RB.MIN {key}"),
        format!("RB.MAX {key}"),
        format!("RB.RANK {key} {member}"),
        format!("RB.SELECT {key} 12345678"),
        format!("RB.SELECT {key} -12345678"),
        format!("RB.RANGE {key} -1000 -1"),
        format!("RB.RANGE {key} 10000000 10000999 REV"),
        format!("RB.RANGE {key} {member} + BYID LIMIT 0 100"),
        format!("RB.RANGE {key} {member} + BYID LIMIT 5000000 100"),
        format!("RB.SCAN {key} 0 COUNT 1000"),
        format!("RB.RANDMEMBER {key} 100"),
        format!("RB.RANDMEMBER {key} -100"),
        format!("RB.INFO {key}"),
        format!("RB.EXPORT {key} FORMAT NATIVE RANGE {member} {far}"),
        format!("RB.EXPORT {key} FORMAT PORTABLE64 RANGE {member} {far}"),
        "COPY-TO-SCRATCH".to_string(),
        format!("RB.ADDRANGE scratch # {far}"),
        format!("RB.REMRANGE scratch {member} {near}"),
        format!("RB.FLIPRANGE scratch {member} {far}"),
        "RB.IMPORT scratch  FORMAT STRING OR".to_string(),
        "RB.FLIPRANGE scratch - +".to_string(),
        format!("RB.BITOP AND dest {key} {other}"),
        format!("RB.BITOP OR dest {key} {other}"),
        format!("RB.BITOP XOR dest {key} {other}"),
        format!("RB.BITOP DIFF dest {key} {other}"),
        format!("RB.BITOP NOT dest {key}"),
        format!("RB.BITOP OR dest {key} scratch"),
        format!("RB.BITOPCARD AND {key} {other}"),
        format!("RB.EXPR 2 {key} {other} $1-$2"),
        format!("RB.EXPR 2 {key} {other} $1&$2 IDS AFTER {member} LIMIT 0 100"),
        format!("RB.EXPR 2 {key} {other} $1|$2 TEST {member} {near} {far}"),
        format!("RB.EXPRSTORE dest 3 {key} {other} scratch ($1|$2)-$3"),
        format!("RB.COMPARE {key} {other}"),
    ];
    lines.iter().map(|line| line.split(' ').map(String::from).collect()).collect()
}

/// Calls a command some times, prints the server's times, and replies its name.
fn time_call(client: &mut Client, key: &str, words: &[String]) -> String {
    if words[0] == "COPY-TO-SCRATCH" {
        client.int(&["COPY", key, "scratch", "REPLACE"]);
        return String::new();
    }
    let is_fast = spec::row(&words[0]).has_flag("fast");
    // A BITOP of a hundred million ids is timed a few times only.
    let calls = if is_fast { CALLS * 4 } else { 3 };
    let member: u64 = client.text(&["RB.SELECT", key, "5000000"]).parse().expect("an id");
    let times = times_of(client, &words[0], calls, |call| {
        let id = (member + call * 7_919_777).to_string();
        words.iter().map(|word| if word == "#" { id.clone() } else { word.clone() }.into_bytes()).collect()
    });
    let (median, max) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{key:<6} {:<58} {median:>9} {max:>9}", words.join(" "));
    assert!(!is_fast || median < FAST_MAX_US, "{} took {median} us: {times:?}", words.join(" "));
    words[0].clone()
}

/// The server's times of some calls in microseconds, ascending.
fn times_of(client: &mut Client, name: &str, calls: u64, command: impl Fn(u64) -> Args) -> Vec<u64> {
    client.ok(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    client.ok(&["SLOWLOG", "RESET"]);
    for call in 0..calls {
        client.ask(&command(call));
    }
    let log = client.ask(&["SLOWLOG", "GET", "128"]);
    client.ok(&["CONFIG", "SET", "slowlog-log-slower-than", "-1"]);
    let Value::Array(entries) = log else { panic!("SLOWLOG GET replied {log:?}") };
    let mut times: Vec<u64> = entries.iter().filter_map(|entry| time_in(entry, name)).collect();
    assert_eq!(times.len() as u64, calls, "{name} in the slow log");
    times.sort_unstable();
    times
}

/// The time of an entry (id, when, microseconds, arguments, ...) of a command.
fn time_in(entry: &Value, name: &str) -> Option<u64> {
    let Value::Array(fields) = entry else { return None };
    let [_, _, Value::Int(us), Value::Array(arguments), ..] = fields.as_slice() else {
        return None;
    };
    let is_it = matches!(arguments.first(), Some(Value::BulkString(first)) if first.eq_ignore_ascii_case(name.as_bytes()));
    is_it.then_some(*us as u64)
}

fn assert_too_large(client: &mut Client, key: &str) {
    let error = client.error(&["RB.RANGE", key, "0", "-1"]);
    assert_eq!(error, "ERR reply too large, use LIMIT or RB.SCAN");
}

fn time_copies_and_deletions(client: &mut Client) {
    for key in ["dense", "snow"] {
        let copies = times_of(client, "COPY", 5, |call| args!["COPY", key, format!("{key}-copy{call}")]);
        println!("{key:<6} COPY {copies:?} us");
        assert!(copies[2] < COPY_MAX_US, "COPY of {key}: {copies:?} us");
        for (at, name) in ["UNLINK", "DEL"].into_iter().enumerate() {
            // A whole value of its own: nothing of it is shared.
            let export = client.bytes(&["RB.EXPORT", key, "FORMAT", "NATIVE"]);
            client.ask(&args!["RB.IMPORT", "own", export, "FORMAT", "NATIVE"]);
            let before = freed_by_threads(client);
            let own = times_of(client, name, 1, |_| args![name, "own"]);
            // A single call has no median, and its time is the clock's: it is for the table.
            let freed = freed_by_threads(client) - before;
            assert_eq!(freed, 1, "values freed by threads after {name} of {key}");
            let shared =
                times_of(client, name, 2, |call| args![name, format!("{key}-copy{}", at as u64 * 2 + call)]);
            println!("{key:<6} {name} {own:?}, of copies {shared:?} us");
        }
    }
}

/// Values freed by the module's thread for it or by the server's, once nothing is left to free.
fn freed_by_threads(client: &mut Client) -> u64 {
    eventually("everything given up is freed", || {
        client.info_number("roarbits", "roarbits_drops_pending") == 0
            && client.info_number("memory", "lazyfree_pending_objects") == 0
    });
    client.info_number("roarbits", "roarbits_drops_done") + client.info_number("memory", "lazyfreed_objects")
}

fn save_and_sync(client: &mut Client, server: &Server) {
    let started = Instant::now();
    client.bgsave();
    println!("BGSAVE: {:?}, fork {} us", started.elapsed(), client.info_number("stats", "latest_fork_usec"));
    let started = Instant::now();
    let replica = Server::start();
    replica.replica_of(server);
    println!("replica in sync: {:?}", started.elapsed());
    let mut reader = replica.client();
    for key in ["dense", "snow"] {
        let count = client.int(&["RB.BITCOUNT", key]);
        assert_eq!(reader.int(&["RB.BITCOUNT", key]), count, "{key}");
        for part in 0..5 {
            let start = client.text(&args!["RB.SELECT", key, count / 5 * part]);
            let range = args![
                "RB.EXPORT",
                key,
                "FORMAT",
                "PORTABLE64",
                "RANGE",
                &start,
                start.parse::<u64>().expect("an id").saturating_add(1 << 34)
            ];
            assert!(reader.bytes(&range) == client.bytes(&range), "{key} from {start} on");
        }
    }
    client.int(&args!["RB.ADD", "snow", u64::MAX]);
    replica.wait_until_caught_up(server);
    assert_eq!(reader.text(&["RB.MAX", "snow"]), u64::MAX.to_string());
}
