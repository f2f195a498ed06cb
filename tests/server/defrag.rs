//! Active defragmentation: the server moves what nobody shares and no content changes.

use roarbits_tests::{args, eventually, tests, Client, Server, TestList, Value};

/// Bitmaps whose leaves are allocated in turns, so that deleting every other one leaves holes.
const BITMAPS: u64 = 8;
const ADDS_EACH: u64 = 400;
const IDS_AN_ADD: u64 = 250;

pub fn tests() -> TestList {
    tests![
        bitmaps_are_defragmented_at_once_and_stay_equal,
        bitmaps_are_defragmented_in_steps_and_stay_equal,
        a_copied_bitmap_stays_equal_to_its_original,
    ]
}

fn bitmaps_are_defragmented_at_once_and_stay_equal() {
    defragments("1000000");
}

fn bitmaps_are_defragmented_in_steps_and_stay_equal() {
    defragments("1");
}

/// `max_scan_fields` decides whether a bitmap is done in one call or with a cursor.
fn defragments(max_scan_fields: &str) {
    let server = fragmented(max_scan_fields);
    let mut client = server.client();
    let before = contents(&mut client);
    let (holes, leaves) = (client.info_number("memory", "allocator_frag_bytes"), leaves(&mut client));
    client.ok(&["CONFIG", "SET", "activedefrag", "yes"]);
    let mut round = 0;
    eventually("leaves are moved into holes", || {
        round += 1;
        write_and_undo(&mut client, round);
        // Keys and whatever else the server keeps for so few are a handful of blocks.
        client.info_number("stats", "active_defrag_hits") > leaves / 3
            && client.info_number("memory", "allocator_frag_bytes") < holes / 2
    });
    assert!(client.info_number("stats", "active_defrag_key_hits") > 0);
    client.ok(&["CONFIG", "SET", "activedefrag", "no"]);
    assert!(contents(&mut client) == before, "{max_scan_fields} scan fields");
}

fn a_copied_bitmap_stays_equal_to_its_original() {
    let server = fragmented("1");
    let mut client = server.client();
    let (before, leaves) = (contents(&mut client), leaves(&mut client));
    for bitmap in (0..BITMAPS).step_by(2) {
        let (original, copy) = (format!("bitmap:{bitmap}"), format!("copy:{bitmap}"));
        client.int(&["COPY", &original, &copy]);
        // From here on the two share all but one path.
        client.int(&["RB.ADD", &original, "1"]);
    }
    client.int(&["COPY", "bitmap:2", "unwritten"]);
    client.int(&["DEL", "copy:0"]);
    client.ok(&["CONFIG", "SET", "activedefrag", "yes"]);
    // The one that is not shared any more moves: a quarter of all leaves, half of which
    // lie badly.
    eventually("a bitmap is defragmented", || {
        client.info_number("stats", "active_defrag_hits") > leaves / 16
    });
    client.ok(&["CONFIG", "SET", "activedefrag", "no"]);
    assert_eq!(client.digest("unwritten"), client.digest("bitmap:2"));
    for bitmap in (0..BITMAPS).step_by(2) {
        let original = format!("bitmap:{bitmap}");
        client.int(&["RB.REM", &original, "1"]);
        if bitmap > 0 {
            assert_eq!(client.digest(format!("copy:{bitmap}")), client.digest(&original));
        }
    }
    assert!(contents(&mut client) == before);
}

/// A server whose bitmaps 0, 2, 4, 6 lie between the holes of the deleted ones.
fn fragmented(max_scan_fields: &str) -> Server {
    let server = Server::builder()
        .config("hz", "100")
        .config("active-defrag-ignore-bytes", "100kb")
        .config("active-defrag-threshold-lower", "1")
        .config("active-defrag-threshold-upper", "10")
        .config("active-defrag-cycle-min", "50")
        .config("active-defrag-cycle-max", "75")
        .config("active-defrag-max-scan-fields", max_scan_fields)
        .start();
    let mut client = server.client();
    for add in 0..ADDS_EACH {
        for bitmap in 0..BITMAPS {
            let mut words = args!["RB.ADD", format!("bitmap:{bitmap}")];
            words.extend(
                (0..IDS_AN_ADD).map(|i| snowflake(bitmap, add * IDS_AN_ADD + i).to_string().into_bytes()),
            );
            client.int(&words);
        }
    }
    for bitmap in (1..BITMAPS).step_by(2) {
        client.int(&["DEL", &format!("bitmap:{bitmap}")]);
    }
    // Big values are freed by a thread. As many bytes are left as were deleted.
    let left: i64 = names().map(|name| client.int(&["MEMORY", "USAGE", &name])).sum();
    eventually("holes are left", || {
        client.info_number("memory", "allocator_frag_bytes") > left as u64 * 9 / 10
    });
    server
}

/// The bitmaps that are not deleted.
fn names() -> impl Iterator<Item = String> {
    (0..BITMAPS).step_by(2).map(|bitmap| format!("bitmap:{bitmap}"))
}

/// How many leaves the bitmaps have, all of packed ids.
fn leaves(client: &mut Client) -> u64 {
    let of = |name: String| {
        let Value::Array(fields) = client.ask(&["RB.INFO", &name]) else { panic!("RB.INFO is no array") };
        let at = fields.iter().position(|field| *field == Value::BulkString(b"ids_leaves".to_vec()));
        match at.and_then(|at| fields.get(at + 1)) {
            Some(Value::Int(leaves)) => *leaves as u64,
            other => panic!("leaves of {name}: {other:?}"),
        }
    };
    names().map(of).sum()
}

/// About one id in 100 ms, of 8 machines.
fn snowflake(bitmap: u64, i: u64) -> u64 {
    let scattered = (i + bitmap).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (1_700_000_000_000 + i * 100 + scattered % 100) << 22 | (scattered % 8) << 12
}

/// Digest and cardinality of every bitmap left.
fn contents(client: &mut Client) -> Vec<(String, i64)> {
    names().map(|name| (client.digest(&name), client.int(&["RB.COUNT", &name]))).collect()
}

/// Changes every bitmap and takes the change back, with a snapshot of it held in between.
fn write_and_undo(client: &mut Client, round: u64) {
    for bitmap in (0..BITMAPS).step_by(2) {
        let name = format!("bitmap:{bitmap}");
        let id = (snowflake(bitmap, round * 97) + 1).to_string();
        client.int(&["COPY", &name, "snapshot"]);
        assert_eq!(client.int(&["RB.ADD", &name, &id]), 1);
        assert_eq!(client.int(&["RB.GETBIT", "snapshot", &id]), 0);
        assert_eq!(client.int(&["RB.REM", &name, &id]), 1);
        client.int(&["DEL", "snapshot"]);
    }
}
