//! The real sets, loaded through a client and compared with sorted vectors.
//! (`harness/datasets.rs` unpacks them with tar and xz and says so if one is missing.)

use std::collections::BTreeMap;

use roarbits_tests::datasets::{self, RealSet};
use roarbits_tests::{args, tests, Args, Client, Server, TestList, Value};

pub fn tests() -> TestList {
    tests![the_archives_hold_the_published_counts, real_sets_answer_as_sorted_vectors_do,]
}

/// Archives, and the values that all their files hold together.
const PUBLISHED: [(&str, usize); 4] = [
    ("census1881", 1_003_861),
    ("wikileaks-noquotes", 275_355),
    ("uscensus2000", 5_985),
    ("census-income_srt", 6_092_864),
];
/// Values in one RB.ADD.
const BATCH: usize = 5_000;
/// Every so many neighbours are united and subtracted too, and taken elsewhere.
const STRIDE: usize = 10;

fn the_archives_hold_the_published_counts() {
    for (archive, count) in PUBLISHED {
        let sets = datasets::load(archive);
        assert_eq!(sets.len(), 200, "keys of {archive}");
        let values = sets.iter().map(|set| set.values.len()).sum::<usize>();
        assert_eq!(values, count, "values of {archive}");
    }
}

fn real_sets_answer_as_sorted_vectors_do() {
    let mut table = String::from("bytes an id by MEMORY USAGE, keys of 200 sets:\n");
    for (archive, values) in PUBLISHED {
        let mut server = Server::builder().rdb().start();
        let mut client = server.client();
        let sets: Vec<Vec<u64>> = datasets::load(archive).into_iter().map(sorted).collect();
        for (at, set) in sets.iter().enumerate() {
            load(&mut client, at, set);
        }
        assert_loaded(&mut client, archive, &sets, values);
        for at in 0..sets.len() - 1 {
            assert_algebra(&mut client, archive, at, [&sets[at], &sets[at + 1]]);
        }
        for at in (0..sets.len()).step_by(STRIDE) {
            assert_travels(&mut client, archive, at, &sets[at]);
        }
        let bytes: i64 = (0..sets.len()).map(|at| client.int(&args!["MEMORY", "USAGE", key(at)])).sum();
        table.push_str(&format!("  {archive:<20} {:.2}\n", bytes as f64 / values as f64));
        let exports = exports(&mut client, sets.len());
        client.ok(&["DEBUG", "RELOAD"]);
        assert!(exports == self::exports(&mut client, sets.len()), "{archive} after DEBUG RELOAD");
        server.check();
    }
    print!("{table}");
}

fn key(at: usize) -> String {
    format!("set{at}")
}

fn sorted(set: RealSet) -> Vec<u64> {
    let mut values = set.values;
    values.sort_unstable();
    values.dedup();
    values
}

/// Loads a set one of three ways: as the string with these bits, id by id, or in
/// batches from the last to the first, each descending.
fn load(client: &mut Client, at: usize, ids: &[u64]) {
    let added: i64 = match (at % 3, ids.last()) {
        (0, Some(last)) if last / 8 < 1 << 20 => {
            client.int(&args!["RB.IMPORT", key(at), string_of(ids), "FORMAT", "STRING"])
        }
        (1, _) if ids.len() < BATCH => {
            ints(client.pipeline(&ids.iter().map(|id| args!["RB.ADD", key(at), *id]).collect::<Vec<_>>()))
        }
        _ => {
            let mut batches: Vec<Args> = ids.chunks(BATCH).map(|batch| add(at, batch.iter().rev())).collect();
            batches.reverse();
            batches.iter().map(|batch| client.int(batch)).sum()
        }
    };
    assert_eq!(added, ids.len() as i64, "ids newly set of {}", key(at));
}

fn ints(replies: Vec<roarbits_tests::Outcome>) -> i64 {
    replies
        .into_iter()
        .map(|reply| match reply {
            Ok(Value::Int(number)) => number,
            other => panic!("{other:?}"),
        })
        .sum()
}

fn add<'v>(at: usize, ids: impl Iterator<Item = &'v u64>) -> Args {
    let mut command = args!["RB.ADD", key(at)];
    command.extend(ids.map(|id| id.to_string().into_bytes()));
    command
}

/// The plain string with these bits, most significant first.
fn string_of(ids: &[u64]) -> Vec<u8> {
    let length = ids.last().map_or(0, |last| *last as usize / 8 + 1);
    let mut bytes = vec![0u8; length];
    for id in ids {
        bytes[*id as usize / 8] |= 0x80 >> (id % 8);
    }
    bytes
}

fn assert_loaded(client: &mut Client, archive: &str, sets: &[Vec<u64>], values: usize) {
    let total: i64 = (0..sets.len()).map(|at| client.int(&args!["RB.BITCOUNT", key(at)])).sum();
    assert_eq!(total, values as i64, "values of {archive}");
    for (at, ids) in sets.iter().enumerate() {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { continue };
        let middle = ids[ids.len() / 2];
        assert_eq!(client.text(&args!["RB.MIN", key(at)]), first.to_string());
        assert_eq!(client.text(&args!["RB.MAX", key(at)]), last.to_string());
        assert_eq!(client.text(&args!["RB.SELECT", key(at), ids.len() / 2]), middle.to_string());
        assert_eq!(client.int(&args!["RB.RANK", key(at), middle]), ids.len() as i64 / 2);
        assert_eq!(client.int(&args!["RB.COUNT", key(at), *first, middle]), ids.len() as i64 / 2 + 1);
    }
}

/// Compares the intersection of two neighbours, and for some all four operations,
/// with what sorted vectors say.
fn assert_algebra(client: &mut Client, archive: &str, at: usize, [a, b]: [&[u64]; 2]) {
    let mut in_both: BTreeMap<u64, u8> = BTreeMap::new();
    let and = intersection(a, b);
    let counts = [("AND", and), ("OR", a.len() + b.len() - and), ("XOR", a.len() + b.len() - 2 * and)];
    let wanted = if at.is_multiple_of(STRIDE) { &counts[..] } else { &counts[..1] };
    for (operation, count) in wanted {
        client.int(&args!["RB.BITOP", *operation, "dest", key(at), key(at + 1)]);
        let found = client.int(&["RB.BITCOUNT", "dest"]);
        assert_eq!(found, *count as i64, "{operation} of {archive} {at} and its neighbour");
    }
    if at.is_multiple_of(STRIDE) && a.len() < 20_000 && b.len() < 20_000 {
        // Id for id, not only counted.
        a.iter().for_each(|id| *in_both.entry(*id).or_default() |= 1);
        b.iter().for_each(|id| *in_both.entry(*id).or_default() |= 2);
        let only_one: Vec<String> =
            in_both.iter().filter(|(_, sides)| **sides != 3).map(|(id, _)| id.to_string()).collect();
        assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), only_one, "XOR of {archive} {at}");
    }
    client.int(&["DEL", "dest"]);
}

/// How many ids two ascending lists share.
fn intersection(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        count += usize::from(left == right);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    count
}

/// A set goes out and comes back by every format, and its string is right bit by bit.
fn assert_travels(client: &mut Client, archive: &str, at: usize, ids: &[u64]) {
    for format in ["NATIVE", "PORTABLE64", "PORTABLE32", "STRING"] {
        let export = client.bytes(&args!["RB.EXPORT", key(at), "FORMAT", format]);
        if format == "STRING" {
            assert!(export == string_of(ids), "{archive} {at} as a string");
        }
        let count = client.int(&args!["RB.IMPORT", "again", export, "FORMAT", format]);
        assert_eq!(count, ids.len() as i64, "{archive} {at} by {format}");
        // The bytes of one set may differ by its history; what is in it may not.
        client.int(&args!["RB.BITOP", "XOR", "difference", key(at), "again"]);
        assert_eq!(client.int(&["RB.BITCOUNT", "difference"]), 0, "{archive} {at} by {format}");
    }
}

fn exports(client: &mut Client, sets: usize) -> Vec<Vec<u8>> {
    let all = (0..sets).map(|at| client.bytes(&args!["RB.EXPORT", key(at), "FORMAT", "PORTABLE64"]));
    all.collect()
}
