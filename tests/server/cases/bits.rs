//! Bits by their native names: whatever the native command answers, ours must.

use std::time::Duration;

use roarbits_tests::{args, Client, Outcome, Protocol, Server, Value, PATIENCE};

use super::words;

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

// https://github.com/aviggiano/redis-roaring/issues/151: a fast path set the bit.
pub fn clearing_a_bit_of_a_missing_key_sets_none() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 5 0", 0);
    twins.both("GETBIT k 5", 0);
    twins.both("BITCOUNT k", 0);
    twins.hold("k", b"\0");
}

// https://github.com/redis/redis/issues/2787
pub fn bitpos_of_a_clear_bit_starts_at_the_given_byte() {
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
pub fn bitpos_counts_from_the_start_of_the_value() {
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

pub fn a_value_of_ones_has_its_first_clear_bit_past_its_end() {
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
pub fn a_bit_cleared_far_out_leaves_the_first_bit_clear() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 63 0", 0);
    twins.both("BITPOS k 0", 0);
    twins.both("BITPOS k 1", -1);
    twins.hold("k", &[0; 8]);
}

// https://github.com/redis/redis/issues/1759
pub fn bitop_not_flips_the_padding_of_the_last_byte() {
    let mut twins = Twins::start();
    twins.both("SETBIT k 9 1", 0);
    twins.both("BITOP NOT dest k", 2);
    twins.hold("dest", &[0xff, 0xbf]);
    twins.both("BITCOUNT dest", 15);
}

// https://github.com/aviggiano/redis-roaring/pull/143
pub fn bitop_not_replaces_its_source_and_any_other_dest() {
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
pub fn large_offsets_round_trip_exactly() {
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

pub fn a_source_of_another_type_is_one_error_and_nothing_else() {
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
            let first = wire.read(PATIENCE);
            assert!(is_error(&first, wrong), "{line}: {first:?}");
            let second = wire.read(PATIENCE);
            assert_eq!(second, Some(Value::BulkString(b"after".to_vec())), "{line}");
        }
    }
    assert_eq!(wire.read(Duration::from_millis(50)), None);
    assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), ["7"]);
}

fn is_error(reply: &Option<Value>, text: &str) -> bool {
    matches!(reply, Some(Value::ServerError(error)) if roarbits_tests::error_text(error) == text)
}

pub fn missing_sources_are_zeros_and_only_missing_ones_delete_dest() {
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
