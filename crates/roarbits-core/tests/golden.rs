//! Payloads of NATIVE version 1 as the first encoder wrote them, one for each form
//! of leaf and a mixed one. The files are never written again: what an old release
//! saved must load for ever, so where one of these tests fails, the code is wrong.
//! A new version of the format gets files of its own beside them.

use std::path::Path;

use roarbits_core::codec::native;
use roarbits_core::{BitRead, Bitmap, Builder, Run};

const EVERYTHING: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// Forty Snowflake ids of three machines.
fn snowflakes() -> impl Iterator<Item = u64> {
    (0..40u64).map(|i| 0x0600_0000_0000_0000 + ((i * i) << 22) + ((i % 3) << 12))
}

/// Twenty runs of growing length.
fn runs() -> impl Iterator<Item = Run> {
    (0..20u64).map(|i| Run { start: (1 << 33) + i * 9000, end: (1 << 33) + i * 9000 + 37 * i })
}

/// 4,200 single ids of the chunk at 3 * 2^16.
fn chunk() -> impl Iterator<Item = u64> {
    (0..4200u64).map(|i| (3 << 16) + i * 15 + i % 7)
}

fn built(ids: impl Iterator<Item = u64>) -> Bitmap {
    let mut builder = Builder::new();
    ids.for_each(|id| builder.push_id(id));
    builder.finish(0)
}

fn of_runs(runs: impl Iterator<Item = Run>) -> Bitmap {
    let mut builder = Builder::new();
    runs.for_each(|run| builder.push_run(run));
    builder.finish(0)
}

/// Four hundred scattered ids above 2^63, ascending.
fn scattered() -> Vec<u64> {
    let scattered = (1..=400u64).map(|i| (1 << 63) | (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2));
    let mut ids: Vec<u64> = scattered.collect();
    ids.sort_unstable();
    ids
}

fn mixed() -> Bitmap {
    let mut builder = Builder::new();
    chunk().for_each(|id| builder.push_id(id));
    runs().for_each(|run| builder.push_run(run));
    snowflakes().chain(scattered()).for_each(|id| builder.push_id(id));
    builder.push_run(Run { start: u64::MAX - 9, end: u64::MAX });
    builder.finish(0)
}

fn empty_of(length_bytes: u64) -> Bitmap {
    Builder::new().finish(length_bytes)
}

/// Each file, and what is in it.
fn stated() -> [(&'static str, Bitmap); 8] {
    let everything = Run { start: 0, end: u64::MAX };
    [
        ("empty", empty_of(0)),
        ("empty-with-length", empty_of(126)),
        ("one-id", built([u64::MAX].into_iter())),
        ("ids", built(snowflakes())),
        ("runs", of_runs(runs())),
        ("bits", built(chunk())),
        ("everything", of_runs([everything].into_iter())),
        ("mixed", mixed()),
    ]
}

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.native"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn old_payloads_decode_to_what_they_were_made_of() {
    for (name, expected) in stated() {
        let bitmap = native::decode(&file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(bitmap.validate(), Ok(()), "{name}");
        assert_eq!(bitmap.length_bytes(), expected.length_bytes(), "{name}");
        assert_eq!(bitmap.cardinality(), expected.cardinality(), "{name}");
        assert!(bitmap.runs_in(EVERYTHING).eq(expected.runs_in(EVERYTHING)), "{name}");
    }
}

/// Into which leaves a set is cut may change from release to release; how a leaf is written may not.
#[test]
fn what_was_read_is_written_as_it_was() {
    for (name, _) in stated() {
        let payload = file(name);
        let bitmap = native::decode(&payload).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(native::encode(&bitmap, EVERYTHING), payload, "{name}");
    }
}

#[test]
fn every_form_of_leaf_is_among_them() {
    let forms = |name: &str| native::decode(&file(name)).map(|bitmap| bitmap.stats().leaves).unwrap();
    assert_eq!((forms("ids").ids, forms("runs").runs, forms("bits").bits), (1, 1, 1));
    let mixed = forms("mixed");
    assert!(mixed.bits == 1 && mixed.ids >= 1 && mixed.runs >= 1, "{mixed:?}");
}
