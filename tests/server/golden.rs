//! Values saved by released builds, kept as bytes and never regenerated: what a
//! release has written every later one must read, and write again as it was.
//!
//! A file is the body of a DUMP payload (no version, no checksum; saved with
//! `rdbcompression no`). A new encoding gets new files beside the old ones. To make
//! one that does not exist yet, run with ROARBITS_NEW_GOLDEN=1; an existing one is
//! never written.

use std::fs;
use std::path::PathBuf;

use roarbits_tests::{args, dump, tests, Args, Client, Server, TestList};

pub fn tests() -> TestList {
    tests![values_of_the_first_encoding_are_read_and_written_as_they_were]
}

/// A name, and the commands that make the value under the key `made`.
type Case = (&'static str, fn() -> Vec<Args>);

const FIRST_ENCODING: &[Case] = &[
    ("empty-with-length", || vec![args!["RB.SETBIT", "made", "1000", "0"]]),
    ("ids-snowflake", || {
        let ids = (0..40u64).map(|i| 7_301_234_567_890_123_456 + ((i * i) << 22) + ((i % 8) << 12));
        vec![with_ids("made", ids)]
    }),
    ("ids-one-last", || vec![args!["RB.ADD", "made", "18446744073709551615"]]),
    ("runs", || {
        (0..20u64)
            .map(|i| args!["RB.ADDRANGE", "made", (i * 5000).to_string(), (i * 5000 + 7 * i + 1).to_string()])
            .collect()
    }),
    ("runs-full-range", || vec![args!["RB.ADDRANGE", "made", "-", "+"]]),
    ("bits", || vec![with_ids("made", (0..8000u64).map(|i| (1 << 40) + 2 * i * i % 65_521))]),
    ("mixed", || {
        let sparse = (0..900u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1);
        vec![
            with_ids("made", sparse),
            with_ids("made", (0..7000u64).map(|i| (1 << 33) + 3 * i * i % 65_521)),
            args!["RB.ADDRANGE", "made", "4611686018427387904", "6917529027641081856"],
            args!["RB.SETBIT", "made", "9999999999999999999", "0"],
        ]
    }),
];

fn with_ids(key: &str, ids: impl Iterator<Item = u64>) -> Args {
    let mut command = args!["RB.ADD", key];
    command.extend(ids.map(|id| id.to_string().into_bytes()));
    command
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("server/golden/rb-bitmap-1").join(format!("{name}.body"))
}

fn golden_body(client: &mut Client, name: &str) -> Vec<u8> {
    let path = path_of(name);
    if !path.exists() && std::env::var_os("ROARBITS_NEW_GOLDEN").is_some() {
        let made = client.dump("made").expect("the key was made");
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(&path, dump::body(&made)).expect("a writable file");
    }
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn values_of_the_first_encoding_are_read_and_written_as_they_were() {
    let server = Server::builder().debug_library().config("rdbcompression", "no").start();
    let mut client = server.client();
    for (name, commands) in FIRST_ENCODING {
        client.ok(&["FLUSHALL"]);
        for command in commands() {
            client.ask(&command);
        }
        let made = client.dump("made").expect("the key was made");
        let body = golden_body(&mut client, name);
        client.ok(&args!["RESTORE", "read", "0", dump::with_body(&made, &body)]);
        assert_eq!(client.digest("read"), client.digest("made"), "{name} holds what it was made of");
        let written = client.dump("read").expect("the key was restored");
        assert!(dump::body(&written) == body, "{name} is written as it was");
    }
}
