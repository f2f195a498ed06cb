//! The commands with native names against the native commands themselves: one
//! server, two databases, the same random calls in both, and no difference in
//! replies, error texts or final bytes.
//!
//! Database 0 is native throughout. In database 1 the same keys are bitmaps or
//! plain strings, as the calls before made them: SET makes a string, RB.IMPORT
//! and RB.BITOP make a bitmap, the first RB.SETBIT on a missing key too. `s` and
//! `t` stay plain strings, `h` a HyperLogLog, `list` a list, `none` missing.
//!
//! | Variable | Meaning | Default |
//! |---|---|---|
//! | `ROARBITS_DIFFERENTIAL` | commands of the long random test | 120,000 |
//! | `ROARBITS_SEED` | repeats a run | of the clock, printed |
//!
//! Left out, because the names differ there on purpose (docs/commands): offsets
//! above 4294967295 on bitmaps, and leading zeros. Malformed calls are compared
//! on Redis 8.2, whose texts ours are; what other servers say otherwise is the
//! table `ROWS` in `known`.

mod calls;
mod far;
mod ids;
mod known;

use rand::rngs::StdRng;
use rand::Rng;
use roarbits_tests::{args, random, tests, Args, Client, Flavor, Outcome, Server, TestList, Value};

use calls::{Call, Calls};
use far::offsets_at_the_end_of_a_string_answer_as_natively;
use ids::set_like_calls_answer_as_sorted_sets_do;
use known::servers_differ_from_8_2_only_where_the_table_says;

pub fn tests() -> TestList {
    tests![
        random_calls_answer_as_the_native_commands_do,
        offsets_at_the_end_of_a_string_answer_as_natively,
        set_like_calls_answer_as_sorted_sets_do,
        servers_differ_from_8_2_only_where_the_table_says,
    ]
}

/// Calls sent at once; between batches keys may expire.
const BATCH: usize = 200;
/// Batches after which all keys are compared byte for byte.
const BATCHES_A_COMPARISON: usize = 5;

/// Both sides: database 0 native, database 1 ours; `s` and `t` are strings there too.
struct Sides {
    native: Client,
    ours: Client,
    flavor: Flavor,
    _server: Server,
}

impl Sides {
    fn start() -> Sides {
        let server = Server::start();
        let (mut native, mut ours) = (server.client(), server.client());
        ours.ok(&["SELECT", "1"]);
        // What expires stays until it is looked at.
        native.ok(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
        for client in [&mut native, &mut ours] {
            client.ok(&["MSET", "s", "", "t", ""]);
        }
        Sides { native, ours, flavor: server.flavor(), _server: server }
    }

    /// The bytes that both sides hold at a key; None if it is missing.
    ///
    /// # Panics
    /// If they differ.
    fn same_bytes(&mut self, key: &str) -> Option<Vec<u8>> {
        let native = bytes_or_missing(self.native.ask(&["GET", key]));
        let ours = match self.ours.text(&["TYPE", key]).as_str() {
            "string" => self.ours.ask(&["GET", key]),
            _ => self.ours.ask(&["RB.EXPORT", key, "FORMAT", "STRING"]),
        };
        let ours = bytes_or_missing(ours);
        assert!(native == ours, "{key}: {}", first_difference(&native, &ours));
        native
    }
}

fn bytes_or_missing(reply: Value) -> Option<Vec<u8>> {
    match reply {
        Value::BulkString(bytes) => Some(bytes),
        Value::Nil => None,
        other => panic!("not a string: {other:?}"),
    }
}

fn first_difference(native: &Option<Vec<u8>>, ours: &Option<Vec<u8>>) -> String {
    let (Some(native), Some(ours)) = (native, ours) else {
        return format!("native exists: {}, ours: {}", native.is_some(), ours.is_some());
    };
    let at = native.iter().zip(ours).position(|(a, b)| a != b);
    let at = at.unwrap_or(native.len().min(ours.len()));
    format!(
        "native {} bytes, ours {}; at byte {at}: {:?} and {:?}",
        native.len(),
        ours.len(),
        native.get(at),
        ours.get(at)
    )
}

fn random_calls_answer_as_the_native_commands_do() {
    let wanted = random::count("ROARBITS_DIFFERENTIAL", 120_000);
    let mut rng = random::seeded("differential");
    let mut sides = Sides::start();
    let mut calls = Calls::new(sides.flavor);
    let (mut done, mut batch) = (0, 0);
    while done < wanted {
        if batch % BATCHES_A_COMPARISON == 0 {
            compare_keys(&mut sides, &mut calls, batch);
            prepare(&mut sides, &mut rng);
        }
        let random: Vec<Call> = (0..BATCH).map(|_| calls.next(&mut rng)).collect();
        run(&mut sides, &random, batch);
        done += random.iter().filter(|call| call.is_ours()).count();
        batch += 1;
    }
    compare_keys(&mut sides, &mut calls, batch);
    println!("differential: {done} commands, {}", calls.tally());
    calls.assert_all_kinds_came();
}

/// Compares every key's bytes, and tells the generator how long they are.
fn compare_keys(sides: &mut Sides, calls: &mut Calls, batch: usize) {
    for key in calls::BITMAPS.iter().chain(calls::STRINGS) {
        if sides.native.text(&["TYPE", key]) == "list" {
            continue;
        }
        let bytes = sides.same_bytes(key);
        calls.set_length(key, bytes.map_or(0, |bytes| bytes.len() as u64));
        let expiry = |client: &mut Client| client.int(&["TTL", key]) >= 0;
        assert_eq!(expiry(&mut sides.native), expiry(&mut sides.ours), "{key} expires, batch {batch}");
    }
}

/// Puts back what calls may have overwritten, and lets a key expire now and then.
fn prepare(sides: &mut Sides, rng: &mut StdRng) {
    let expiring = calls::BITMAPS[rng.random_range(0..calls::BITMAPS.len())];
    for client in [&mut sides.native, &mut sides.ours] {
        client.ask(&["DEL", "list"]);
        client.int(&["RPUSH", "list", "x"]);
        client.ask(&["PEXPIRE", expiring, "1"]);
    }
    std::thread::sleep(std::time::Duration::from_millis(3));
}

/// Sends calls to both sides and compares reply by reply.
fn run(sides: &mut Sides, random: &[Call], batch: usize) {
    let native: Vec<Args> = random.iter().flat_map(|call| call.native.iter().cloned()).collect();
    let ours: Vec<Args> = random.iter().map(|call| call.ours.clone()).collect();
    let mut native = sides.native.pipeline(&native).into_iter();
    let ours = sides.ours.pipeline(&ours);
    for (at, (call, ours)) in random.iter().zip(ours).enumerate() {
        let replies: Vec<Outcome> = native.by_ref().take(call.native.len()).collect();
        let expected = call.expected(replies);
        let ours = call.comparable(ours);
        assert!(
            expected == ours,
            "batch {batch}, call {at}: native {expected:?}, ours {ours:?}\n{}",
            story(&random[..=at])
        );
    }
}

/// The last calls of a batch that touch a key of the last one.
fn story(calls: &[Call]) -> String {
    const SHOWN: usize = 25;
    let Some(last) = calls.last() else {
        return String::new();
    };
    let related = calls.iter().filter(|call| call.shares_key_with(last));
    let lines: Vec<String> = related.map(|call| call.text()).collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

/// What `args!` makes of words and numbers already written out.
fn line(words: &[&str]) -> Args {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// A stretch of both sides at a key: the same bytes, read where they lie.
fn same_window(sides: &mut Sides, key: &str, first_byte: u64, last_byte: u64) {
    let native = sides.native.bytes(&args!["GETRANGE", key, first_byte, last_byte]);
    let (start, end) = (first_byte * 8, last_byte * 8 + 7);
    let ours = args!["RB.EXPORT", key, "FORMAT", "STRING", "RANGE", start, end];
    assert_eq!(native, sides.ours.bytes(&ours), "{key}, bytes {first_byte}..{last_byte}");
}
