//! Files that were cut or changed on disk: the server says so and ends, or loads
//! a valid value; it never crashes. On the library built with assertions, which
//! ends the server if a loaded value breaks an invariant.
//!
//! `ROARBITS_SEED` repeats a run of random changes, `ROARBITS_DAMAGES` says how
//! many of each kind there are.

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_tests::{args, dump, places, tests, Server, TestList, Value, PATIENCE};
use xxhash_rust::xxh3::xxh3_64;

use crate::samples::{self, Sample};

pub fn tests() -> TestList {
    tests![
        a_cut_rdb_file_is_a_load_error,
        a_changed_rdb_file_is_a_load_error,
        a_changed_rdb_file_without_checksums_is_a_load_error_or_a_valid_value,
        a_changed_import_in_an_aof_is_reported,
        a_cut_aof_keeps_what_is_whole,
    ]
}

/// True if a log names the file as what went wrong.
fn says_why(log: &str) -> bool {
    let reasons = [
        LOAD_ERROR,
        "Short read or OOM loading DB",
        "Wrong signature",
        "Wrong RDB checksum",
        "Can't handle RDB format",
    ];
    reasons.iter().any(|reason| log.contains(reason))
}

/// A log, which quotes names of the file as they are: damaged ones need not be UTF-8.
fn text_of(log: &Path) -> String {
    fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The end of a piece that covers the rest of it.
const PIECE_CHECKSUM_BYTES: usize = 8;

fn damages() -> usize {
    let given = std::env::var("ROARBITS_DAMAGES").ok();
    given.and_then(|count| count.parse().ok()).unwrap_or(24)
}

fn seeded() -> (u64, StdRng) {
    let given = std::env::var("ROARBITS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    (seed, StdRng::seed_from_u64(seed))
}

/// A stopped server whose RDB file holds every kind of leaf.
struct Stopped {
    server: Server,
    samples: Vec<Sample>,
    file: PathBuf,
    whole: Vec<u8>,
}

fn stopped_with_rdb(checksum: &str) -> Stopped {
    let builder = Server::builder().debug_library().rdb();
    let builder = builder.config("rdbcompression", "no").config("rdbchecksum", checksum);
    let mut server = builder.start();
    let mut client = server.client();
    let samples = samples::of_every_leaf(&mut client);
    for sample in &samples {
        client.ok(&args!["RESTORE", sample.name, "0", &sample.payload]);
    }
    client.ok(&["SET", "native", "text"]);
    assert!(server.stop().success());
    let file = server.dir().join("dump.rdb");
    let whole = fs::read(&file).expect("an RDB file");
    Stopped { server, samples, file, whole }
}

/// After its load error a server looks at the file as redis-check-rdb does, which
/// on 6.2 and 7.0 runs in circles where a module's value is cut, whatever module
/// it is of (rdbLoadCheckModuleValue does not look for the end of the file).
const CHECKER_LIMIT: Duration = Duration::from_millis(300);
const LOAD_ERROR: &str = "Internal error in RDB reading";

impl Stopped {
    /// Starts on other bytes; true if the server runs, and then it answers for
    /// every key that it has. A refusal is an end with a line in the log. (Its
    /// exit code may be 0: it is what the checker of the file found.)
    fn runs_on(&mut self, bytes: &[u8], what: &str) -> bool {
        fs::write(&self.file, bytes).expect("an RDB file");
        let log_path = self.server.dir().join("damage.log");
        let mut child = self.launch(&log_path);
        let started = Instant::now();
        let mut failed = None;
        let runs = loop {
            let ended = child.try_wait().expect("the server's state");
            let log = text_of(&log_path);
            if let Some(status) = ended {
                assert!(status.code().is_some(), "{what}: {status}\n{log}");
                assert!(says_why(&log), "{what}: {status}\n{log}");
                break false;
            }
            if log.contains("Ready to accept connections") {
                self.answers(what);
                break true;
            }
            if log.contains(LOAD_ERROR) && failed.get_or_insert_with(Instant::now).elapsed() > CHECKER_LIMIT {
                break false;
            }
            assert!(started.elapsed() < PATIENCE, "{what}: neither runs nor ends\n{log}");
            thread::sleep(Duration::from_millis(2));
        };
        // Both fail only if it has ended already.
        let _ = child.kill();
        let _ = child.wait();
        let log = text_of(&log_path);
        for mark in ["BUG REPORT", "crashed by signal", "ASSERTION", "panicked", "is not valid"] {
            assert!(!log.contains(mark), "{what}: {mark}\n{log}");
        }
        runs
    }

    /// By hand: `Server` waits for an answer or the end, and the checker comes to neither.
    fn launch(&self, log: &Path) -> Child {
        let log = File::create(log).expect("a log");
        Command::new(places::server_binary())
            .arg("server.conf")
            .current_dir(self.server.dir())
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("a log"))
            .stdout(log)
            .spawn()
            .expect("a server")
    }

    fn answers(&self, what: &str) {
        let mut client = self.server.client();
        for key in client.texts(&["KEYS", "*"]) {
            if client.text(&["TYPE", &key]) != "rb-bitmap" {
                continue;
            }
            for question in [vec!["RB.BITCOUNT", &key], vec!["RB.RANGE", &key, "0", "10"], vec!["DUMP", &key]]
            {
                assert!(client.cmd(&question).is_ok(), "{what}: {question:?}");
            }
        }
    }

    /// The piece of a sample in the file. (Behind the module's id stand an opcode
    /// and the piece's length, and an end mark behind it.)
    fn piece_of(&self, sample: &Sample) -> Range<usize> {
        let body = &dump::body(&sample.payload)[1..];
        let at = self.whole.windows(body.len()).position(|window| window == body);
        let at = at.unwrap_or_else(|| panic!("no {} in the file", sample.name));
        let magic = body.windows(4).position(|window| window == b"RBN\x01").expect("a piece");
        at + magic..at + body.len() - 1
    }

    fn starts_on_the_whole_file(mut self) {
        fs::write(&self.file, &self.whole).expect("an RDB file");
        self.server.start_again();
        let mut client = self.server.client();
        for sample in &self.samples {
            assert_eq!(client.digest(sample.name), sample.digest, "{}", sample.name);
        }
    }
}

fn a_cut_rdb_file_is_a_load_error() {
    let mut stopped = stopped_with_rdb("yes");
    let piece = stopped.piece_of(&stopped.samples[0]);
    let length = stopped.whole.len();
    // One small value with what stands around it, and places all over the file.
    let in_a_value = (piece.start - 12..piece.end + 2).step_by(2);
    let anywhere = (0..damages()).map(|step| length * step / damages());
    let near_the_end = [length - 1, length - 8, length - 9, length - 10];
    for cut in in_a_value.chain(anywhere).chain(near_the_end) {
        let bytes = stopped.whole[..cut].to_vec();
        assert!(!stopped.runs_on(&bytes, &format!("cut to {cut} of {length} bytes")));
    }
    stopped.starts_on_the_whole_file();
}

fn a_changed_rdb_file_is_a_load_error() {
    let mut stopped = stopped_with_rdb("yes");
    let (seed, mut rng) = seeded();
    let length = stopped.whole.len();
    // The name of a field, which the log then quotes.
    let name = stopped.whole.windows(8).position(|window| window == b"used-mem").expect("a field");
    // Behind magic and version, which the server may tolerate.
    let anywhere = (0..damages()).map(|_| (rng.random_range(9..length), rng.random_range(1..=255u8)));
    for (at, flipped) in [(name, 0x80)].into_iter().chain(anywhere) {
        let mut bytes = stopped.whole.clone();
        bytes[at] ^= flipped;
        let what = format!("byte {at} ^ {flipped}, ROARBITS_SEED={seed}");
        // A checksum of 0 means none; nothing else can hide the change.
        assert!(!stopped.runs_on(&bytes, &what), "{what}");
    }
    stopped.starts_on_the_whole_file();
}

fn a_changed_rdb_file_without_checksums_is_a_load_error_or_a_valid_value() {
    let mut stopped = stopped_with_rdb("no");
    let (seed, mut rng) = seeded();
    let (mut refused, mut accepted) = (0, 0);
    for round in 0..damages() {
        let sample = &stopped.samples[round % stopped.samples.len()];
        let name = sample.name;
        let piece = stopped.piece_of(sample);
        let checksum_at = piece.end - PIECE_CHECKSUM_BYTES;
        let (at, flipped) = (rng.random_range(piece.start..checksum_at), 1u8 << rng.random_range(0..8));
        let mut bytes = stopped.whole.clone();
        bytes[at] ^= flipped;
        let what = format!("{name}: byte {} ^ {flipped}, ROARBITS_SEED={seed}", at - piece.start);
        // The piece has a checksum of its own.
        assert!(!stopped.runs_on(&bytes, &what), "{what}");
        let checksum = xxh3_64(&bytes[piece.start..checksum_at]).to_le_bytes();
        bytes[checksum_at..piece.end].copy_from_slice(&checksum);
        match stopped.runs_on(&bytes, &format!("{what}, checksum right")) {
            true => accepted += 1,
            false => refused += 1,
        }
    }
    println!("changes with a right checksum: {refused} refused, {accepted} valid");
    stopped.starts_on_the_whole_file();
}

/// The one file of a rewritten AOF that holds commands.
fn aof_of(server: &Server) -> PathBuf {
    let old = server.dir().join("appendonly.aof");
    if old.is_file() {
        return old;
    }
    let folder = fs::read_dir(server.dir().join("appendonlydir")).expect("an AOF");
    let files = folder.flatten().map(|entry| entry.path());
    let mut bases = files.filter(|path| path.to_string_lossy().ends_with(".base.aof"));
    bases.next().expect("a base file of commands")
}

fn rewritten_aof() -> (Server, PathBuf, Vec<u8>) {
    let builder = Server::builder().debug_library().aof();
    let mut server = builder.config("aof-use-rdb-preamble", "no").start();
    let mut client = server.client();
    client.int(&["RB.ADD", "k", "1", "2", "3", "1000"]);
    client.bgrewriteaof();
    server.kill9();
    let file = aof_of(&server);
    let whole = fs::read(&file).expect("an AOF");
    (server, file, whole)
}

fn a_changed_import_in_an_aof_is_reported() {
    let (mut server, file, whole) = rewritten_aof();
    let at = whole.windows(4).position(|window| window == b"RBN\x01").expect("an import");
    let mut bytes = whole.clone();
    bytes[at + 6] ^= 1;
    fs::write(&file, &bytes).expect("an AOF");
    // A server goes on after a command that fails, and reports it.
    server.start_again();
    assert_eq!(server.client().int(&["EXISTS", "k"]), 0);
    let log = server.log();
    assert!(log.contains("invalid roaring payload: wrong checksum at byte"), "{}", server.log_tail());
    server.kill9();
    fs::write(&file, &whole).expect("an AOF");
    server.start_again();
    assert_eq!(server.client().int(&["RB.BITCOUNT", "k"]), 4);
}

fn a_cut_aof_keeps_what_is_whole() {
    let mut server = Server::builder().debug_library().aof().start();
    let mut client = server.client();
    client.int(&["RB.ADD", "k", "1", "2", "3"]);
    client.int(&["RB.ADD", "k", "77777"]);
    let digest = client.digest("k");
    client.int(&["RB.ADD", "last", "4", "5", "6"]);
    server.kill9();
    let file = match server.flavor().is_before_7() {
        true => server.dir().join("appendonly.aof"),
        false => {
            let folder = fs::read_dir(server.dir().join("appendonlydir")).expect("an AOF");
            let mut files = folder.flatten().map(|entry| entry.path());
            files.find(|path| path.to_string_lossy().ends_with(".incr.aof")).expect("commands")
        }
    };
    let whole = fs::read(&file).expect("an AOF");
    for missing in [1, 5, 20] {
        fs::write(&file, &whole[..whole.len() - missing]).expect("an AOF");
        server.start_again();
        let mut client = server.client();
        assert_eq!(client.digest("k"), digest, "{missing} bytes missing");
        assert_eq!(client.cmd(&["RB.MIN", "last"]), Ok(Value::Nil), "{missing} bytes missing");
        server.kill9();
    }
}
