//! Small bitmaps of every kind of leaf, as DUMP payloads: what the tests of
//! hostile payloads and of damaged files start from.

use roarbits_tests::{args, Client, Value};

/// A bitmap's DUMP payload. Strings in it are not compressed if the server has
/// `rdbcompression no`.
pub struct Sample {
    /// What it shows.
    pub name: &'static str,
    /// The reply of DUMP.
    pub payload: Vec<u8>,
    /// The reply of DEBUG DIGEST-VALUE.
    pub digest: String,
}

/// The first id of the samples with ids of a Snowflake's size.
const SNOWFLAKE: u64 = 1_700_000_000_000 << 22;

/// Makes each kind of bitmap, dumps and deletes it: without ids, of one leaf of
/// ids, runs and bits, of two leaves, and of all ids there are.
///
/// # Panics
/// If RB.INFO tells of other leaves.
pub fn of_every_leaf(client: &mut Client) -> Vec<Sample> {
    let bits = noise(8192);
    let snowflakes: Vec<u64> =
        (0..40).map(|i| SNOWFLAKE + (((i * i) << 22) | ((i % 3) << 12) | (i % 2))).collect();
    let (near, far) = ((0..900).map(|i| i * 71), (0..900).map(|i| SNOWFLAKE + i * 71));
    let two: Vec<u64> = near.chain(far).collect();
    let runs = vec![args!["RB.ADDRANGE", "k", "10", "20"], args!["RB.ADDRANGE", "k", "100", "60000"]];
    let long = [args!["RB.ADDRANGE", "k", "100", "70000"], args!["RB.ADD", "k", SNOWFLAKE]];
    let across = [runs.as_slice(), &long].concat();
    // Name, how it is made, and how many leaves of (ids, runs, bits) it has at least.
    let kinds = [
        ("ids", vec![args!["RB.ADD", "k", "1", "5", "9", "70000"]], [1, 0, 0]),
        ("snowflakes", vec![add(&snowflakes)], [1, 0, 0]),
        ("runs", runs, [0, 1, 0]),
        ("runs of two chunks and an id", across, [0, 1, 0]),
        ("all ids", vec![args!["RB.ADDRANGE", "k", "0", u64::MAX]], [0, 1, 0]),
        ("bits", vec![args!["RB.IMPORT", "k", bits, "FORMAT", "STRING"]], [0, 0, 1]),
        ("two leaves", vec![add(&two)], [2, 0, 0]),
        ("empty", vec![args!["RB.IMPORT", "k", "", "FORMAT", "STRING"]], [0, 0, 0]),
        ("empty with a length", vec![args!["RB.SETBIT", "k", "1000", "0"]], [0, 0, 0]),
    ];
    let mut samples = Vec::new();
    for (name, commands, leaves) in kinds {
        commands.iter().for_each(|command| drop(client.ask(command)));
        let found = leaves_of(client, "k");
        assert!(
            found.iter().zip(leaves).all(|(found, least)| *found >= least),
            "leaves of the sample `{name}`: {found:?}"
        );
        let payload = client.dump("k").unwrap_or_default();
        let digest = client.digest("k");
        client.int(&["DEL", "k"]);
        samples.push(Sample { name, payload, digest });
    }
    samples
}

/// How many leaves of ids, runs and bits RB.INFO tells.
pub fn leaves_of(client: &mut Client, key: &str) -> [i64; 3] {
    let reply = client.ask(&["RB.INFO", key]);
    let Value::Array(fields) = reply else { panic!("RB.INFO replied {reply:?}") };
    ["ids_leaves", "run_leaves", "bits_leaves"].map(|wanted| {
        let name = Value::BulkString(wanted.as_bytes().to_vec());
        let simple = Value::SimpleString(wanted.to_string());
        let found = fields.chunks(2).find(|pair| pair[0] == name || pair[0] == simple);
        match found {
            Some([_, Value::Int(count)]) => *count,
            other => panic!("RB.INFO tells {wanted} as {other:?}"),
        }
    })
}

fn add(ids: &[u64]) -> Vec<Vec<u8>> {
    let mut command = args!["RB.ADD", "k"];
    command.extend(ids.iter().map(|id| id.to_string().into_bytes()));
    command
}

/// Bytes without a pattern, the same at every call.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}
