//! Set operations over every form of leaf and the sizes around their thresholds.

use roarbits_tests::{args, Client, Server, Value};

use super::add;

/// Where the sets below are put: the lowest ids, 32-bit edges, and far beyond.
const BASES: [u64; 5] = [0, 65_536, 4_294_901_760, 1 << 32, 0xfedc_ba98_7654_0000];

/// What else is in the same container, from 1000 on, so that it is kept in every
/// form: nothing, a few ids, every second id (bits), a run.
const COMPANY: [&[(u64, u64, u64)]; 4] =
    [&[], &[(1000, 1300, 3)], &[(1000, 65_000, 2)], &[(1000, 60_000, 1)]];

fn company(base: u64, stretches: &[(u64, u64, u64)]) -> Vec<u64> {
    let ids = |(first, last, step): &(u64, u64, u64)| (*first..=*last).step_by(*step as usize);
    stretches.iter().flat_map(ids).map(|id| base + id).collect()
}

/// Calls `check` with every base and the company kept there.
fn everywhere(mut check: impl FnMut(u64, &[u64])) {
    for base in BASES {
        for stretches in COMPANY {
            check(base, &company(base, stretches));
        }
    }
}

// https://github.com/RoaringBitmap/roaring-rs/issues/327
pub fn a_difference_keeps_what_only_the_first_has() {
    let server = Server::start();
    let mut client = server.client();
    everywhere(|base, others| {
        client.ok(&["FLUSHALL"]);
        let first = [0, 35, 80, 104, 138, 214, 235, 258].map(|id| base + id);
        let second = [9, 35, 42, 51, 111, 134, 231, 239].map(|id| base + id);
        add(&mut client, "first", first.into_iter().chain(others.iter().copied()));
        add(&mut client, "second", second.into_iter().chain(others.iter().copied()));
        let ask = ["RB.BITOP", "DIFF", "dest", "first", "second"];
        client.ask(&ask);
        let kept = [0, 80, 104, 138, 214, 235, 258].map(|id| (base + id).to_string());
        assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), kept);
        // Into the first itself, and by a payload.
        let payload = client.bytes(&["RB.EXPORT", "second"]);
        assert_eq!(client.int(&args!["RB.IMPORT", "first", payload, "DIFF"]), 7);
        assert_eq!(client.texts(&["RB.RANGE", "first", "0", "-1"]), kept);
    });
}

// https://github.com/RoaringBitmap/roaring-rs/issues/352
pub fn select_reaches_the_last_of_many_one_id_runs() {
    let server = Server::start();
    let mut client = server.client();
    everywhere(|base, others| {
        client.ok(&["FLUSHALL"]);
        for id in (0..=246).step_by(2) {
            client.int(&args!["RB.ADDRANGE", "k", base + id, base + id]);
        }
        add(&mut client, "k", others.iter().copied());
        for rank in [0, 1, 62, 122, 123] {
            let selected = client.text(&args!["RB.SELECT", "k", rank]);
            assert_eq!(selected, (base + 2 * rank).to_string(), "rank {rank} at {base}");
        }
        let next = client.cmd(&["RB.SELECT", "k", "124"]);
        let expected = others.first().map_or(Value::Nil, |id| Value::BulkString(id.to_string().into()));
        assert_eq!(next, Ok(expected));
    });
}

pub fn a_range_that_closes_the_gap_of_two_runs_makes_them_one() {
    let server = Server::start();
    let mut client = server.client();
    everywhere(|base, others| {
        client.ok(&["FLUSHALL"]);
        client.int(&args!["RB.ADDRANGE", "k", base + 2, base + 10]);
        client.int(&args!["RB.ADDRANGE", "k", base + 12, base + 700]);
        add(&mut client, "k", others.iter().copied());
        assert_eq!(client.int(&args!["RB.ADDRANGE", "k", base + 2, base + 11]), 1);
        assert_eq!(client.int(&args!["RB.COUNT", "k", base, base + 999]), 699);
        // The digest is of maximal runs.
        client.int(&args!["RB.ADDRANGE", "one", base + 2, base + 700]);
        add(&mut client, "one", others.iter().copied());
        assert_eq!(client.digest("k"), client.digest("one"));
    });
}

// https://github.com/RoaringBitmap/roaring-rs/pull/75
pub fn one_id_in_each_of_all_containers_survives_a_round_trip() {
    let server = Server::start();
    let mut client = server.client();
    let ids: Vec<u64> = (0..65_536).map(|chunk| chunk * 65_536 + (chunk * 7919) % 65_536).collect();
    let added: i64 = ids.chunks(4096).map(|part| add(&mut client, "k", part.iter().copied())).sum();
    assert_eq!(added, 65_536);
    let digest = client.digest("k");
    let length = client.text(&["RB.MAX", "k"]);
    assert_eq!(length, (65_535u64 * 65_536 + (65_535 * 7919) % 65_536).to_string());
    for format in ["PORTABLE64", "PORTABLE32", "NATIVE"] {
        let payload = client.bytes(&["RB.EXPORT", "k", "FORMAT", format]);
        for named in [format, "AUTO"] {
            let imported = client.int(&args!["RB.IMPORT", "copy", &payload, "FORMAT", named]);
            assert_eq!(imported, 65_536, "{format} as {named}");
            assert_eq!(client.digest("copy"), digest, "{format} as {named}");
        }
    }
    let dump = client.dump("k").unwrap_or_default();
    client.ok(&args!["RESTORE", "restored", "0", dump]);
    assert_eq!(client.digest("restored"), digest);
    let pages = ids.chunks(1000);
    for page in pages {
        let (first, last) = (page[0], page[page.len() - 1]);
        let texts: Vec<String> = page.iter().map(u64::to_string).collect();
        assert_eq!(client.texts(&args!["RB.RANGE", "restored", first, last, "BYID"]), texts);
    }
}

// https://github.com/RoaringBitmap/CRoaring/issues/152
pub fn a_range_is_not_lost_in_a_union_with_one_id() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["RB.ADD", "one", "0"]);
    client.int(&["RB.ADDRANGE", "range", "0", "4294901760"]);
    for sources in [["one", "range"], ["range", "one"]] {
        let [a, b] = sources;
        assert_eq!(client.int(&["RB.BITOP", "OR", "dest", a, b]), 536_862_721);
        assert_eq!(client.int(&["RB.COUNT", "dest"]), 4_294_901_761);
    }
    let payload = client.bytes(&["RB.EXPORT", "range"]);
    assert_eq!(client.int(&args!["RB.IMPORT", "one", payload, "OR"]), 4_294_901_761);
    client.int(&["RB.ADD", "two", "0"]);
    assert_eq!(client.int(&["RB.ADDRANGE", "two", "0", "4294901760"]), 4_294_901_760);
    assert_eq!(client.int(&["RB.COUNT", "two"]), 4_294_901_761);
}

// https://github.com/RoaringBitmap/CRoaring/issues/593
pub fn ids_of_every_magnitude_are_counted() {
    let server = Server::start();
    let mut client = server.client();
    let ids = [0, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1 << 48, 1 << 56];
    assert_eq!(add(&mut client, "k", ids), 7);
    assert_eq!(client.int(&["RB.COUNT", "k"]), 7);
    assert_eq!(client.int(&["RB.BITCOUNT", "k"]), 7);
    for format in ["PORTABLE64", "NATIVE"] {
        let payload = client.bytes(&["RB.EXPORT", "k", "FORMAT", format]);
        assert_eq!(client.int(&args!["RB.IMPORT", "copy", payload]), 7, "{format}");
    }
    assert_eq!(client.texts(&["RB.RANGE", "copy", "0", "-1"]), ids.map(|id| id.to_string()));
}

// https://github.com/RoaringBitmap/roaring-rs/pull/360
pub fn a_cursor_skips_nothing_at_the_edge_of_32_bits() {
    let server = Server::start();
    let mut client = server.client();
    let edge = 4_294_967_295u64;
    let shapes: [Vec<u64>; 3] = [
        (edge - 9..=edge + 10).collect(),
        (edge - 300..=edge + 300).step_by(3).chain([edge + 1]).collect(),
        vec![0, edge, edge + 1, u64::MAX - 1, u64::MAX],
    ];
    for mut ids in shapes {
        ids.sort_unstable();
        ids.dedup();
        client.ok(&["FLUSHALL"]);
        add(&mut client, "k", ids.iter().copied());
        let texts: Vec<String> = ids.iter().map(u64::to_string).collect();
        for count in [1, 2, 3, 7, 1000] {
            assert_eq!(scanned(&mut client, count), texts, "COUNT {count}");
        }
        for start in [edge - 1, edge, edge + 1, edge + 2] {
            let from: Vec<&String> = texts.iter().skip(ids.partition_point(|id| *id < start)).collect();
            assert_eq!(
                &client.texts(&args!["RB.RANGE", "k", start, "+", "BYID"]).iter().collect::<Vec<_>>(),
                &from
            );
        }
    }
}

fn scanned(client: &mut Client, count: u64) -> Vec<String> {
    let (mut cursor, mut ids) = ("0".to_string(), Vec::new());
    loop {
        let reply = client.ask(&args!["RB.SCAN", "k", &cursor, "COUNT", count]);
        let (next, page) = page_of(reply);
        assert!(page.len() as u64 <= count, "{page:?}");
        ids.extend(page);
        if next == "0" {
            return ids;
        }
        cursor = next;
    }
}

fn page_of(reply: Value) -> (String, Vec<String>) {
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("not a bulk string: {other:?}"),
    };
    match &reply {
        Value::Array(parts) => match parts.as_slice() {
            [cursor, Value::Array(ids)] => (text(cursor), ids.iter().map(text).collect()),
            _ => panic!("not a page: {reply:?}"),
        },
        _ => panic!("not a page: {reply:?}"),
    }
}

// https://github.com/ClickHouse/ClickHouse/issues/109974
pub fn ranks_follow_the_order_of_ids_not_of_arrival() {
    let server = Server::start();
    let mut client = server.client();
    for id in [5, 4, 1, 2, 3] {
        assert_eq!(add(&mut client, "k", [id]), 1);
    }
    assert_eq!(client.texts(&["RB.RANGE", "k", "2", "3"]), ["3", "4"]);
    assert_eq!(client.text(&["RB.SELECT", "k", "2"]), "3");
    assert_eq!(client.int(&["RB.RANK", "k", "4"]), 3);
}
