//! Small inputs on which real systems of this kind failed in public. Each test
//! says what must hold instead; the address above it tells the story.
//!
//! Where a native command exists its answer is asserted beside ours, in database
//! 0 of the same server while ours is in database 1, so that keys have one name.

use std::time::Duration;

use roarbits_tests::{args, spec, tests, Args, Client, Outcome, Protocol, Server, TestList, Value};

pub fn tests() -> TestList {
    tests![
        clearing_a_bit_of_a_missing_key_sets_none,
        bitpos_of_a_clear_bit_starts_at_the_given_byte,
        bitpos_counts_from_the_start_of_the_value,
        a_value_of_ones_has_its_first_clear_bit_past_its_end,
        a_bit_cleared_far_out_leaves_the_first_bit_clear,
        bitop_not_flips_the_padding_of_the_last_byte,
        bitop_not_replaces_its_source_and_any_other_dest,
        large_offsets_round_trip_exactly,
        a_source_of_another_type_is_one_error_and_nothing_else,
        missing_sources_are_zeros_and_only_missing_ones_delete_dest,
        a_difference_keeps_what_only_the_first_has,
        select_reaches_the_last_of_many_one_id_runs,
        a_range_that_closes_the_gap_of_two_runs_makes_them_one,
        one_id_in_each_of_all_containers_survives_a_round_trip,
        flipping_four_billion_ids_of_a_missing_key_takes_microseconds,
        a_range_is_not_lost_in_a_union_with_one_id,
        ids_of_every_magnitude_are_counted,
        a_cursor_skips_nothing_at_the_edge_of_32_bits,
        the_full_range_costs_microseconds_and_kilobytes,
        ranks_follow_the_order_of_ids_not_of_arrival,
        keys_named_like_options_work_everywhere,
    ]
}

/// The same keys twice: native in one database, ours in the other.
struct Twins {
    native: Client,
    ours: Client,
    server: Server,
}

impl Twins {
    fn start() -> Twins {
        let server = Server::start();
        let (native, mut ours) = (server.client(), server.client());
        ours.ok(&["SELECT", "1"]);
        Twins { native, ours, server }
    }

    /// Stores these bytes on both sides.
    fn store(&mut self, key: &str, bytes: &[u8]) {
        self.native.ok(&args!["SET", key, bytes]);
        self.ours.ask(&args!["RB.IMPORT", key, bytes, "FORMAT", "STRING"]);
    }

    /// Sends a line to both sides, `RB.` before ours, and asserts both replies.
    fn both(&mut self, line: &str, expected: i64) {
        let command: Vec<&str> = line.split(' ').collect();
        if self.server_has(&command) {
            assert_eq!(self.native.int(&command), expected, "{line}");
        }
        assert_eq!(self.ours(line), Ok(Value::Int(expected)), "RB.{line}");
    }

    /// The reply of our side alone.
    fn ours(&mut self, line: &str) -> Outcome {
        self.ours.cmd(&words(&format!("RB.{line}")))
    }

    /// BIT came with Redis 7.0.
    fn server_has(&self, command: &[&str]) -> bool {
        !(self.server.flavor().is_before_7() && command.last() == Some(&"BIT"))
    }

    /// Asserts that both sides hold these bytes.
    fn hold(&mut self, key: &str, bytes: &[u8]) {
        assert_eq!(self.native.bytes(&["GET", key]), bytes, "{key}");
        let exported = self.ours.bytes(&["RB.EXPORT", key, "FORMAT", "STRING"]);
        assert_eq!(exported, bytes, "RB: {key}");
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

// https://github.com/aviggiano/redis-roaring/issues/151: a fast path set the bit.
fn clearing_a_bit_of_a_missing_key_sets_none() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 5 0", 0);
    twins.both("GETBIT k 5", 0);
    twins.both("BITCOUNT k", 0);
    twins.hold("k", b"\0");
}

// https://github.com/redis/redis/issues/2787
fn bitpos_of_a_clear_bit_starts_at_the_given_byte() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 0 1", 0);
    for (line, expected) in [
        ("BITPOS k 0", 1),
        ("BITPOS k 0 0", 1),
        ("BITPOS k 0 1", -1),
        ("BITPOS k 0 1 1", -1),
        ("BITPOS k 1", 0),
        ("BITPOS k 1 1", -1),
        ("BITPOS missing 0", 0),
        ("BITPOS missing 0 1", 0),
        ("BITPOS missing 0 1 2", 0),
        ("BITPOS missing 1", -1),
        ("BITPOS missing 1 1", -1),
    ] {
        twins.both(line, expected);
    }
}

// https://github.com/redis/redis-doc/issues/2336
fn bitpos_counts_from_the_start_of_the_value() {
    let mut twins = Twins::start();
    twins.store("a", &[0x00, 0xff, 0xf0]);
    twins.store("b", &[0xff, 0xf0, 0x00]);
    twins.store("zeros", &[0; 3]);
    for (line, expected) in [
        ("BITPOS a 1", 8),
        ("BITPOS a 1 2", 16),
        ("BITPOS a 1 7 15 BIT", 8),
        ("BITPOS b 0", 12),
        ("BITPOS zeros 1", -1),
        ("BITPOS zeros 1 0 -1", -1),
    ] {
        twins.both(line, expected);
    }
}

fn a_value_of_ones_has_its_first_clear_bit_past_its_end() {
    let mut twins = Twins::start();
    twins.store("ones", &[0xff; 3]);
    for (line, expected) in [
        ("BITPOS ones 0", 24),
        ("BITPOS ones 0 1", 24),
        ("BITPOS ones 0 0 -1", -1),
        ("BITPOS ones 0 3", -1),
        ("BITCOUNT ones 5 30 BIT", 19),
    ] {
        twins.both(line, expected);
    }
}

// https://github.com/microsoft/garnet/issues/716
fn a_bit_cleared_far_out_leaves_the_first_bit_clear() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 63 0", 0);
    twins.both("BITPOS k 0", 0);
    twins.both("BITPOS k 1", -1);
    twins.hold("k", &[0; 8]);
}

// https://github.com/redis/redis/issues/1759
fn bitop_not_flips_the_padding_of_the_last_byte() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 9 1", 0);
    twins.both("BITOP NOT dest k", 2);
    twins.hold("dest", &[0xff, 0xbf]);
    twins.both("BITCOUNT dest", 15);
}

// https://github.com/aviggiano/redis-roaring/pull/143
fn bitop_not_replaces_its_source_and_any_other_dest() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 3 1", 0);
    twins.both("SETBIT dest 1000 1", 0);
    twins.both("BITOP NOT dest k", 1);
    twins.hold("dest", &[0xef]);
    twins.both("BITOP NOT k k", 1);
    twins.hold("k", &[0xef]);
    for client in [&mut twins.native, &mut twins.ours] {
        client.int(&["LPUSH", "list", "x"]);
    }
    twins.both("BITOP NOT list dest", 1);
    twins.hold("list", &[0x10]);
}

// https://github.com/phpredis/phpredis/issues/401
fn large_offsets_round_trip_exactly() {
    let mut twins = Twins::start();
    let offsets = [2_147_483_648, 4_294_967_295, 4_294_967_296, (1 << 53) + 1, 1 << 63, u64::MAX];
    for offset in offsets {
        assert_eq!(twins.ours(&format!("SETBIT k {offset} 1")), Ok(Value::Int(0)));
        assert_eq!(twins.ours(&format!("GETBIT k {offset}")), Ok(Value::Int(1)));
        assert_eq!(twins.ours(&format!("SETBIT k {offset} 1")), Ok(Value::Int(1)));
        assert_eq!(twins.ours(&format!("GETBIT k {}", offset - 1)), {
            Ok(Value::Int(i64::from(offset == 4_294_967_296)))
        });
    }
    let ids = offsets.map(|offset| offset.to_string());
    assert_eq!(twins.ours.texts(&["RB.RANGE", "k", "0", "-1"]), ids);
    let refused = Err("ERR bit offset is not an integer or out of range".to_string());
    for offset in ["18446744073709551616", "99999999999999999999", "-1"] {
        assert_eq!(twins.ours(&format!("SETBIT k {offset} 1")), refused, "{offset}");
        assert_eq!(twins.ours(&format!("GETBIT k {offset}")), refused, "{offset}");
    }
    twins.both("BITCOUNT missing", 0);
    assert_eq!(twins.ours("BITCOUNT k"), Ok(Value::Int(6)));
}

fn a_source_of_another_type_is_one_error_and_nothing_else() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["LPUSH", "list", "x"]);
    client.int(&["RB.ADD", "a", "1"]);
    client.int(&["RB.ADD", "dest", "7"]);
    let mut wire = server.wire(Protocol::Resp2);
    let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
    for sources in ["list", "a list", "list a", "missing list", "list list"] {
        for operation in ["AND", "OR", "XOR", "ONE"] {
            let line = format!("RB.BITOP {operation} dest {sources}");
            wire.send_bytes(format!("{line}\r\nECHO after\r\n").as_bytes());
            let first = wire.read(Duration::from_secs(10));
            assert!(is_error(&first, wrong), "{line}: {first:?}");
            let second = wire.read(Duration::from_secs(10));
            assert_eq!(second, Some(Value::BulkString(b"after".to_vec())), "{line}");
        }
    }
    assert_eq!(wire.read(Duration::from_millis(50)), None);
    assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), ["7"]);
}

fn is_error(reply: &Option<Value>, text: &str) -> bool {
    matches!(reply, Some(Value::ServerError(error)) if roarbits_tests::error_text(error) == text)
}

fn missing_sources_are_zeros_and_only_missing_ones_delete_dest() {
    let mut twins = Twins::start();
    twins.store("a", &[0xf0, 0x0f]);
    for operation in ["AND", "OR", "XOR", "NOT"] {
        twins.both("SETBIT dest 5 1", 0);
        twins.both(&format!("BITOP {operation} dest missing"), 0);
        for client in [&mut twins.native, &mut twins.ours] {
            assert_eq!(client.int(&["EXISTS", "dest"]), 0, "{operation}");
        }
    }
    for (operation, bytes) in [("AND", [0, 0]), ("OR", [0xf0, 0x0f]), ("XOR", [0xf0, 0x0f])] {
        twins.both(&format!("BITOP {operation} dest a missing missing"), 2);
        twins.hold("dest", &bytes);
        twins.both(&format!("BITOP {operation} dest missing a"), 2);
        twins.hold("dest", &bytes);
    }
}

/// Where the sets below are put: the lowest ids, 32-bit edges, and far beyond.
const BASES: [u64; 5] = [0, 65_536, 4_294_901_760, 1 << 32, 0xfedc_ba98_7654_0000];

/// What else is in the same container, from 1000 on, so that it is kept in every
/// form: nothing, a few ids, every second id (bits), a run.
const COMPANY: [&[(u64, u64, u64)]; 4] =
    [&[], &[(1000, 1300, 3)], &[(1000, 65_000, 2)], &[(1000, 60_000, 1)]];

fn add(client: &mut Client, key: &str, ids: impl IntoIterator<Item = u64>) -> i64 {
    let mut command = args!["RB.ADD", key];
    command.extend(ids.into_iter().map(|id| id.to_string().into_bytes()));
    if command.len() == 2 {
        return 0;
    }
    client.int(&command)
}

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
fn a_difference_keeps_what_only_the_first_has() {
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
fn select_reaches_the_last_of_many_one_id_runs() {
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

fn a_range_that_closes_the_gap_of_two_runs_makes_them_one() {
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
fn one_id_in_each_of_all_containers_survives_a_round_trip() {
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

/// The least time that the server spent on a call, of a few tries each after `prepare`.
fn least_time(client: &mut Client, prepare: &[Args], call: &Args, expected: &Outcome) -> Duration {
    let mut tries = (0..5).map(|_| {
        for command in prepare {
            client.ask(command);
        }
        let (reply, time) = client.timed(call);
        assert_eq!(&reply, expected);
        time
    });
    let first = tries.next().unwrap_or_default();
    tries.fold(first, Duration::min)
}

// https://github.com/RoaringBitmap/CRoaring/issues/150
fn flipping_four_billion_ids_of_a_missing_key_takes_microseconds() {
    let server = Server::start();
    let mut client = server.client();
    let call = args!["RB.FLIPRANGE", "k", "0", "4294967295"];
    let expected = Ok(Value::Int(4_294_967_296));
    let time = least_time(&mut client, &[args!["DEL", "k"]], &call, &expected);
    assert!(time < Duration::from_millis(1), "{time:?}");
    assert_eq!(client.int(&["RB.FLIPRANGE", "k", "0", "4294967295"]), 0);
    assert_eq!(client.int(&["RB.COUNT", "k"]), 0);
}

// https://github.com/RoaringBitmap/CRoaring/issues/152
fn a_range_is_not_lost_in_a_union_with_one_id() {
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
fn ids_of_every_magnitude_are_counted() {
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
fn a_cursor_skips_nothing_at_the_edge_of_32_bits() {
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

/// The time in which peers take 16 to 28 seconds or die.
const MICROSECONDS: Duration = Duration::from_millis(1);

fn the_full_range_costs_microseconds_and_kilobytes() {
    let server = Server::start();
    let mut client = server.client();
    let count = || Ok(Value::BulkString(b"18446744073709551616".to_vec()));
    let fill = args!["RB.ADDRANGE", "full", "0", "18446744073709551615"];
    let fresh = [args!["DEL", "full", "dest", "sum"]];
    let filled = [args!["DEL", "full", "dest", "sum"], fill.clone()];
    let snowflake = [args!["DEL", "full", "dest", "sum"], args!["RB.ADD", "full", "7301234567890123456"]];
    // The longest length of all has 2^61 bytes, one integer short of a big number.
    let length = |bytes: i64| Ok(Value::Int(bytes));
    let calls: Vec<(&[Args], Args, Outcome)> = vec![
        (&fresh, fill.clone(), count()),
        (&fresh, args!["RB.FLIPRANGE", "full", "-", "+"], count()),
        (&filled, args!["RB.FLIPRANGE", "full", "-", "+"], Ok(Value::Int(0))),
        (&filled, args!["RB.REMRANGE", "full", "-", "+"], count()),
        (&filled, args!["RB.COUNT", "full"], count()),
        (&filled, args!["RB.BITPOS", "full", "0"], Ok(Value::Int(-1))),
        (&filled, args!["RB.BITPOS", "full", "0", "0", "-1"], Ok(Value::Int(-1))),
        (&filled, args!["COPY", "full", "dest"], Ok(Value::Int(1))),
        (&filled, args!["RB.BITOP", "NOT", "dest", "full"], length(1 << 61)),
        (&snowflake, args!["RB.BITOP", "NOT", "dest", "full"], length(912_654_320_986_265_433)),
    ];
    for (prepare, call, expected) in calls {
        let time = least_time(&mut client, prepare, &call, &expected);
        assert!(time < MICROSECONDS, "{call:?} took {time:?}");
        for key in ["full", "dest"] {
            assert!(memory(&mut client, key) < 4096, "{call:?} left {key} large");
        }
    }
    client.ask(&fill);
    client.ask(&["COPY", "full", "again"]);
    let (digest, time) = client.timed(&["DEBUG", "DIGEST-VALUE", "full"]);
    assert_eq!(digest, client.cmd(&["DEBUG", "DIGEST-VALUE", "again"]));
    assert!(time < 10 * MICROSECONDS, "{time:?}");
    let (payload, time) = client.timed(&["RB.EXPORT", "full", "FORMAT", "NATIVE"]);
    assert!(time < MICROSECONDS, "{time:?}");
    let Ok(Value::BulkString(payload)) = payload else { panic!("not a payload: {payload:?}") };
    assert!(payload.len() < 1024, "{} bytes", payload.len());
    assert_eq!(client.cmd(&args!["RB.IMPORT", "again", payload]), count());
    the_last_of_a_million_snowflakes_are_near(&mut client);
}

fn the_last_of_a_million_snowflakes_are_near(client: &mut Client) {
    let id = |n: u64| 7_301_234_567_890_123_456 + ((n / 4 * 1000) << 22) + ((n % 4) << 12);
    for first in (0..1_000_000).step_by(10_000) {
        add(client, "million", (first..first + 10_000).map(id));
    }
    let last: Vec<Value> =
        (999_000..1_000_000).map(|n| Value::BulkString(id(n).to_string().into_bytes())).collect();
    let call = args!["RB.RANGE", "million", "-1000", "-1"];
    let time = least_time(client, &[], &call, &Ok(Value::Array(last)));
    assert!(time < 2 * MICROSECONDS, "{time:?}");
}

fn memory(client: &mut Client, key: &str) -> i64 {
    match client.ask(&["MEMORY", "USAGE", key]) {
        Value::Int(bytes) => bytes,
        Value::Nil => 0,
        other => panic!("MEMORY USAGE replied {other:?}"),
    }
}

// https://github.com/ClickHouse/ClickHouse/issues/109974
fn ranks_follow_the_order_of_ids_not_of_arrival() {
    let server = Server::start();
    let mut client = server.client();
    for id in [5, 4, 1, 2, 3] {
        assert_eq!(add(&mut client, "k", [id]), 1);
    }
    assert_eq!(client.texts(&["RB.RANGE", "k", "2", "3"]), ["3", "4"]);
    assert_eq!(client.text(&["RB.SELECT", "k", "2"]), "3");
    assert_eq!(client.int(&["RB.RANK", "k", "4"]), 3);
}

/// A session that calls every command with every key position; `A` and `B` are
/// keys, `%` stands for a payload.
const SESSION: &[&str] = &[
    "RB.SETBIT A 9 1",
    "RB.GETBIT A 9",
    "RB.BITCOUNT A",
    "RB.BITCOUNT A 0 -1 BIT",
    "RB.BITPOS A 1 0 -1 BYTE",
    "RB.ADD B 1 2 3",
    "RB.BITOP OR A A B",
    "RB.BITOP NOT B A",
    "RB.MSETBIT A 1 0 B 70000 1",
    "RB.REM A 1",
    "RB.GETBITS A 1 2",
    "RB.COUNT B 0 9",
    "RB.MIN A",
    "RB.MAX B",
    "RB.RANK A 9",
    "RB.SELECT B -1",
    "RB.RANGE B 0 9 BYID REV LIMIT 0 2",
    "RB.SCAN B 0 COUNT 2",
    "RB.RANDMEMBER B 100",
    "RB.ADDRANGE A 5 6",
    "RB.REMRANGE B 0 1",
    "RB.FLIPRANGE A 0 15",
    "RB.INFO A",
    "RB.EXPORT B FORMAT STRING RANGE 0 15",
    "RB.IMPORT A abc FORMAT STRING OR",
    "RB.EXPORT A FORMAT NATIVE",
];

const NAMES: [&str; 16] = [
    "NOT", "RANGE", "LIMIT", "COUNT", "FILTER", "FORMAT", "BYID", "REV", "OR", "AND", "REPLACE", "STRING",
    "BIT", "0", "-", "+",
];

fn keys_named_like_options_work_everywhere() {
    for row in spec::rows() {
        let called = SESSION.iter().any(|line| words(line)[0] == row.name());
        assert!(called, "{} is not in the session", row.name());
    }
    let server = Server::start();
    let mut client = server.client();
    let plain = session(&mut client, "x", "y");
    for a in NAMES {
        for b in NAMES.into_iter().filter(|b| *b != a) {
            assert_eq!(session(&mut client, a, b), plain, "keys {a} and {b}");
        }
    }
}

/// The session's replies, without what is left to chance.
fn session(client: &mut Client, a: &str, b: &str) -> Vec<Outcome> {
    client.ok(&["FLUSHALL"]);
    let call = |line: &&str| -> Args {
        let name = |word: &str| match word {
            "A" => a.into(),
            "B" => b.into(),
            other => other.into(),
        };
        line.split(' ').map(name).collect()
    };
    let commands: Vec<Args> = SESSION.iter().map(call).collect();
    let mut replies = client.pipeline(&commands);
    for (line, reply) in SESSION.iter().zip(&mut replies) {
        assert!(reply.is_ok(), "{line} with {a} and {b}: {reply:?}");
        settle(line, reply);
    }
    replies
}

/// Puts members at random in order, and drops the memory that RB.INFO states:
/// with libc's allocator it depends on which block was free.
fn settle(line: &str, reply: &mut Outcome) {
    let Ok(Value::Array(items)) = reply else { return };
    if line.starts_with("RB.RANDMEMBER") {
        items.sort_by_key(|id| format!("{id:?}"));
    }
    let memory = items.iter().position(|item| *item == Value::BulkString(b"bytes".to_vec()));
    if let Some(at) = memory {
        items.drain(at..=at + 1);
    }
}
