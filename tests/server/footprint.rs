//! What a bitmap takes: in memory as MEMORY USAGE tells it and as the server counts it,
//! and in a file.

use std::fs;
use std::time::Duration;

use roarbits_datasets::{calendars, seeded, DataSet};
use roarbits_tests::{args, datasets, eventually, tests, Args, Client, Server, TestList, Value};

use crate::samples;

pub fn tests() -> TestList {
    tests![
        memory_usage_is_what_the_server_counts_for_every_data_set,
        memory_usage_is_what_the_server_counts_for_real_sets,
        memory_usage_is_what_the_server_counts_for_calendars,
        a_copy_shares_nearly_all_and_no_more_than_all,
        a_snowflake_takes_less_than_five_bytes_in_a_file,
        saving_and_loading_hold_no_second_copy,
    ]
}

const SEED: u64 = 4;
/// How far MEMORY USAGE may be from what the server counts.
const MOST_PERCENT_OFF: f64 = 5.0;

/// Bytes by two accounts.
#[derive(Debug, Clone, Copy)]
struct Bytes {
    /// More `used_memory` than before.
    counted: f64,
    /// MEMORY USAGE of all keys.
    told: f64,
}

impl Bytes {
    /// What `make` adds to a new server, which is given a connection and a key's number.
    fn of(keys: usize, mut make: impl FnMut(&mut Client, usize)) -> Bytes {
        let server = Server::start();
        let mut client = server.client();
        // The connections, the keyspace and the module have what they need.
        let mut maker = server.client();
        make(&mut maker, 0);
        drop(maker);
        client.ok(&["FLUSHALL"]);
        let before = settled(&mut client);
        let mut maker = server.client();
        (0..keys).for_each(|number| make(&mut maker, number));
        drop(maker);
        let counted = settled(&mut client) - before;
        let told: i64 = (0..keys).map(|number| client.int(&["MEMORY", "USAGE", &name(number)])).sum();
        Bytes { counted, told: told as f64 }
    }

    /// What bitmaps of these ids take. What the server counts for no key in particular,
    /// its place in the table, is left out: it is the same for strings of the same names.
    fn of_bitmaps(sets: &[Vec<u64>]) -> Bytes {
        let strings = Bytes::of(sets.len(), |client, number| {
            // 6.2 tells the length of a string's block; of this length it fills one.
            client.ok(&["SET", &name(number), "a string of 36 bytes fills its block"]);
        });
        let bitmaps = Bytes::of(sets.len(), |client, number| add(client, &name(number), &sets[number]));
        let place = strings.counted - strings.told;
        Bytes { counted: bitmaps.counted - place, ..bitmaps }
    }

    fn assert_alike(self, what: &str) {
        let off = (self.told / self.counted - 1.0) * 100.0;
        println!("{what}: {self:?}, {off:+.2} %");
        assert!(off.abs() <= MOST_PERCENT_OFF, "{what}: {self:?}, {off:+.2} %");
    }
}

fn name(number: usize) -> String {
    format!("key:{number:06}")
}

/// `used_memory` once only this connection is left and everything given up is freed:
/// the least of some readings, for buffers come and go at ticks.
pub fn settled(client: &mut Client) -> f64 {
    eventually("the server is at rest", || {
        client.info_number("clients", "connected_clients") == 1
            && client.info_number("roarbits", "roarbits_drops_pending") == 0
            && client.info_number("memory", "lazyfree_pending_objects") == 0
    });
    let readings = (0..10).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        client.used_memory()
    });
    readings.min().unwrap_or_default() as f64
}

/// Adds ids, a thousand a call.
fn add(client: &mut Client, key: &str, ids: &[u64]) {
    for ids in ids.chunks(1_000) {
        let texts = ids.iter().map(|id| id.to_string().into_bytes());
        client.int(&args!["RB.ADD", key].into_iter().chain(texts).collect::<Args>());
    }
}

fn memory_usage_is_what_the_server_counts_for_every_data_set() {
    for set in DataSet::ALL {
        if set == DataSet::D1 || set == DataSet::D5 {
            continue;
        }
        // Small sets are as many keys as make a few megabytes.
        let keys = (1_000_000 / set.cardinality).min(50) as u64;
        let ids: Vec<Vec<u64>> = (0..keys).map(|nth| set.ids(SEED + nth)).collect();
        Bytes::of_bitmaps(&ids).assert_alike(set.name);
    }
    let bits = string_of(&DataSet::D1.ids(SEED));
    let imported = Bytes::of(1, |client, number| {
        client.int(&args!["RB.IMPORT", name(number), &bits[..], "FORMAT", "STRING"]);
    });
    imported.assert_alike(DataSet::D1.name);
    // 46 KB a key: many that are the same and share nothing.
    let payload = {
        let server = Server::start();
        let mut client = server.client();
        add(&mut client, "k", &DataSet::D5.ids(SEED));
        client.dump("k").unwrap_or_default()
    };
    let restored = Bytes::of(50, |client, number| {
        client.ok(&args!["RESTORE", name(number), 0, &payload[..]]);
    });
    restored.assert_alike(DataSet::D5.name);
}

/// Ascending ids as the string that SETBIT would have made.
fn string_of(ids: &[u64]) -> Vec<u8> {
    let mut bits = vec![0; ids.last().map_or(0, |last| last / 8 + 1) as usize];
    for id in ids {
        bits[(id / 8) as usize] |= 0x80 >> (id % 8);
    }
    bits
}

fn memory_usage_is_what_the_server_counts_for_real_sets() {
    for archive in ["census1881", "census-income_srt", "wikileaks-noquotes", "uscensus2000"] {
        let sets: Vec<Vec<u64>> = datasets::load(archive).into_iter().map(|set| set.values).collect();
        Bytes::of_bitmaps(&sets).assert_alike(archive);
    }
}

fn memory_usage_is_what_the_server_counts_for_calendars() {
    for (present, days) in [(5, 31), (30, 365)] {
        let sets = calendars(20_000, present, days, &mut seeded(SEED));
        Bytes::of_bitmaps(&sets).assert_alike(&format!("{present} of {days} days"));
    }
}

fn a_copy_shares_nearly_all_and_no_more_than_all() {
    let server = Server::start();
    let mut client = server.client();
    add(&mut client, "k", &DataSet::D4_SLOW.ids(SEED));
    assert_eq!(client.int(&["COPY", "k", "copy"]), 1);
    let fields = client.ask(&["RB.INFO", "k"]);
    let Value::Array(fields) = fields else { panic!("{fields:?}") };
    let number_of = |name: &str| {
        let named = |pair: &&[Value]| pair[0] == Value::BulkString(name.as_bytes().to_vec());
        match fields.chunks(2).find(named) {
            Some([_, Value::Int(number)]) => *number,
            found => panic!("{name}: {found:?}"),
        }
    };
    let (all, shared) = (number_of("bytes"), number_of("shared_bytes"));
    assert!(shared <= all && shared * 100 > all * 99, "{shared} of {all} bytes");
}

fn a_snowflake_takes_less_than_five_bytes_in_a_file() {
    const MOST_BYTES_AN_ID: f64 = 4.4;
    let server = Server::builder().rdb().start();
    let mut client = server.client();
    let ids = DataSet::D4_SLOW.ids(SEED);
    add(&mut client, "k", &ids);
    client.ok(&["SAVE"]);
    let file = fs::metadata(server.dir().join("dump.rdb")).map(|file| file.len()).unwrap_or_default();
    let payload = client.dump("k").unwrap_or_default().len() as u64;
    for (what, bytes) in [("RDB file", file), ("DUMP payload", payload)] {
        let each = bytes as f64 / ids.len() as f64;
        println!("{}: {each:.3} bytes an id in the {what}", DataSet::D4_SLOW.name);
        assert!(each > 1.0 && each <= MOST_BYTES_AN_ID, "{each:.3} bytes an id in the {what}");
    }
}

/// Bytes of a process by a line of /proc, or None where that is missing.
fn process_bytes(server: &Server, line: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).ok()?;
    let value = status.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(':'))?;
    Some(value.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// A second copy would be 64 MB; what is saved and loaded at once are pieces of 512 KB.
fn saving_and_loading_hold_no_second_copy() {
    const VALUE_BYTES: usize = 64 << 20;
    const MOST_BYTES: u64 = 16 << 20;
    let mut server = Server::builder().rdb().start();
    let mut client = server.client();
    client.int(&args!["RB.IMPORT", "k", samples::noise(VALUE_BYTES), "FORMAT", "STRING"]);
    // Once more, into what the import has left of its buffers.
    client.ok(&["SAVE"]);
    let peak = process_bytes(&server, "VmHWM");
    let resident = process_bytes(&server, "VmRSS");
    // Writing 5 there starts the peak over.
    let started_over = fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").is_ok();
    client.ok(&["SAVE"]);
    if let (true, Some(before), Some(after)) = (started_over, resident, process_bytes(&server, "VmHWM")) {
        assert!(
            after < before + MOST_BYTES,
            "saving grew the server from {before} to {after} bytes ({peak:?})"
        );
    }
    let count = client.int(&["RB.BITCOUNT", "k"]);
    server.restart();
    assert_eq!(server.client().int(&["RB.BITCOUNT", "k"]), count);
    let (peak, resident) = (process_bytes(&server, "VmHWM"), process_bytes(&server, "VmRSS"));
    if let (Some(peak), Some(resident)) = (peak, resident) {
        assert!(resident > VALUE_BYTES as u64, "{resident}");
        assert!(peak < VALUE_BYTES as u64 * 5 / 4 + MOST_BYTES, "{peak} bytes at the peak of loading");
    }
}
