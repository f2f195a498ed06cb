//! Whole bitmaps in and out: RB.EXPORT and RB.IMPORT.

mod formats;
mod hostile;
mod modes;

use roarbits_tests::{args, tests, Args, Client, TestList, Value};

use formats::{
    a_plain_string_exports_what_its_bitmap_would, a_range_exports_exactly_its_ids,
    auto_finds_every_format_but_string, every_format_carries_every_shape_there_and_back,
};
use hostile::{bad_options_change_nothing, bad_payloads_are_named_and_change_nothing};
use modes::{combining_keeps_the_ttl_and_needs_a_bitmap, every_mode_combines_ids_and_lengths};

pub fn tests() -> TestList {
    tests![
        a_plain_string_exports_what_its_bitmap_would,
        a_range_exports_exactly_its_ids,
        auto_finds_every_format_but_string,
        every_format_carries_every_shape_there_and_back,
        bad_options_change_nothing,
        bad_payloads_are_named_and_change_nothing,
        combining_keeps_the_ttl_and_needs_a_bitmap,
        every_mode_combines_ids_and_lengths,
    ]
}

const FORMATS: [&str; 4] = ["PORTABLE64", "PORTABLE32", "STRING", "NATIVE"];

/// A bitmap to move: ids, and a length in bytes if it is longer than they ask.
#[derive(Clone)]
struct Shape {
    name: &'static str,
    ids: Vec<u64>,
    length_bytes: u64,
}

impl Shape {
    fn of(name: &'static str, ids: impl IntoIterator<Item = u64>) -> Shape {
        Shape::longer(name, ids, 0)
    }

    fn longer(name: &'static str, ids: impl IntoIterator<Item = u64>, length_bytes: u64) -> Shape {
        let mut ids: Vec<u64> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let covers = ids.last().map_or(0, |last| last / 8 + 1);
        Shape { name, ids, length_bytes: length_bytes.max(covers) }
    }

    /// What covers the largest id: all that the portable formats can say of the length.
    fn covering_bytes(&self) -> u64 {
        self.ids.last().map_or(0, |last| last / 8 + 1)
    }

    /// True if the format can carry it in a reply of a few megabytes.
    fn fits(&self, format: &str) -> bool {
        match format {
            "STRING" => self.length_bytes < 4 << 20,
            "PORTABLE32" => self.ids.last().is_none_or(|last| *last <= u64::from(u32::MAX)),
            _ => true,
        }
    }

    /// Stores it as a bitmap of exactly its length.
    fn store(&self, client: &mut Client, key: &str) {
        client.int(&args!["RB.IMPORT", key, "", "FORMAT", "STRING"]);
        for part in self.ids.chunks(10_000) {
            let ids = part.iter().map(|id| id.to_string().into_bytes());
            client.int(&args!["RB.ADD", key].into_iter().chain(ids).collect::<Args>());
        }
        if self.length_bytes > self.covering_bytes() {
            client.int(&args!["RB.SETBIT", key, self.length_bytes * 8 - 1, "0"]);
        }
    }
}

/// Shapes of every form, and of the sizes around where form changes.
fn shapes() -> Vec<Shape> {
    vec![
        Shape::of("empty", []),
        Shape::longer("no ids, 126 bytes", [], 126),
        Shape::of("the first id", [0]),
        Shape::longer("few ids, longer than they ask", [1, 5, 1_000], 5_000),
        Shape::of("the last 32-bit id", [u64::from(u32::MAX)]),
        Shape::of("both ends", [0, u64::MAX]),
        Shape::of("array of 4096", (0..4_096).map(|n| n * 16)),
        Shape::of("bits of 4097", (0..4_097).map(|n| n * 15)),
        Shape::of("every second id of three chunks", (0..3 * 32_768).map(|n| n * 2)),
        Shape::of("a run over chunks", 65_000..200_000),
        Shape::of("runs", (0..2_000).flat_map(|n| n * 100..n * 100 + 20)),
        Shape::of("a full chunk", 65_536..131_072),
        Shape::of("snowflakes", (0..5_000).map(|n| 7_301_234_567_890_123_456 + ((n / 3) << 22) + (n % 3))),
        Shape::of("across 32 bits", (1 << 32) - 500..(1 << 32) + 500),
        Shape::of(
            "all forms",
            (0..500).map(|n| n * 997).chain(600_000..800_000).chain((0..40_000).map(|n| 1_000_000 + n * 3)),
        ),
    ]
}

/// The ids of a key, all of them.
fn ids(client: &mut Client, key: &str) -> Vec<u64> {
    let texts = client.texts(&["RB.RANGE", key, "0", "-1"]);
    texts.iter().map(|id| id.parse().unwrap_or_else(|error| panic!("{id}: {error}"))).collect()
}

/// The logical length of a key in bytes.
fn length(client: &mut Client, key: &str) -> u64 {
    let Value::Array(fields) = client.ask(&["RB.INFO", key]) else { panic!("{key} is missing") };
    let name = Value::BulkString(b"length".to_vec());
    let at = fields.iter().position(|field| *field == name).unwrap_or(fields.len());
    match fields.get(at + 1) {
        Some(Value::Int(bytes)) => *bytes as u64,
        other => panic!("length of {key}: {other:?}"),
    }
}
