//! A background save shares pages with the server that goes on writing. How many a
//! gigabyte key costs while it is written, copied and combined is held against the pages
//! that the writes change and no more than they.
//!
//! Pages that change, counted by hand for each write: the one page of a leaf's words in
//! which the bit is, and the page of the leaf's header (64 bytes a leaf, so that many
//! share one). A node counts what is below each child: 64 leaves a node, three arrays of
//! 512 bytes to a kilobyte; all nodes together are a fraction of the headers' pages.
//! Whatever a copied path allocates is new to the server and no page of the child.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_tests::{args, eventually, Args, Client, Server, Value};

use crate::samples;

/// Leaves of the key, 8 KB each.
const LEAVES: u64 = 128 << 10;
const LEAF_BITS: u64 = 1 << 16;
const CONTAINERS_AN_IMPORT: u64 = 8 << 10;
const CONTAINER_BYTES: usize = 8 << 10;
const WRITES: u64 = 10_000;
const PAGE_BYTES: u64 = 4096;
const PAGE_BITS: u64 = PAGE_BYTES * 8;
const HEADER_BYTES: u64 = 64;
const NODE_BYTES: u64 = 4096;
/// The child has a stack, buffers and an allocator of its own.
const CHILD_BYTES: u64 = 8 << 20;
const MOST_TIMES: u64 = 3;

/// Keys after each of which the child rests, so that it is still there when the last
/// write is done, on a busy machine too: 15 s.
const RESTS: u64 = 60;
const REST_MICROSECONDS: &str = "250000";

pub fn a_save_beside_writes_copies_the_pages_they_change() {
    let server = Server::builder()
        .config("rdbcompression", "no")
        .config("rdbchecksum", "no")
        .config("rdb-key-save-delay", REST_MICROSECONDS)
        .start();
    let mut client = server.client();
    load(&mut client);
    (0..RESTS).for_each(|nth| client.ok(&["SET", &format!("rest:{nth}"), "x"]));
    let bytes = client.int(&["MEMORY", "USAGE", "k"]);
    assert!(bytes >= 1 << 30, "{bytes} bytes are no gigabyte");
    client.int(&args!["RB.ADD", "small", 5, 1u64 << 32, (1u64 << 33) - 1]);

    client.ask(&["BGSAVE"]);
    let mut rng = StdRng::seed_from_u64(1);
    let ids: Vec<u64> = (0..WRITES).map(|_| rng.random_range(0..LEAVES * LEAF_BITS)).collect();
    let (first, second) = ids.split_at(ids.len() / 2);
    let mut written = write(&mut client, first);
    client.int(&["COPY", "k", "copy"]);
    written.extend(write(&mut client, second));
    client.ask(&["RB.BITOP", "OR", "union", "k", "small"]);
    let saving = client.info_number("persistence", "rdb_bgsave_in_progress");
    assert_eq!(saving, 1, "the save ended before the writes did");
    eventually("the background save ends", || {
        client.info_number("persistence", "rdb_bgsave_in_progress") == 0
    });
    assert_eq!(client.info("persistence", "rdb_last_bgsave_status").as_deref(), Some("ok"));

    let copied = client.info_number("persistence", "rdb_last_cow_size");
    let changed = changed_pages(&written) * PAGE_BYTES + CHILD_BYTES;
    println!("a save of {bytes} bytes beside {WRITES} writes: {copied} bytes copied, {changed} changed");
    assert!(copied > 0 && copied <= MOST_TIMES * changed, "{copied} bytes copied for {changed} changed");
}

/// Pages of words, of headers and of nodes that writes to these ids change at most.
fn changed_pages(ids: &[u64]) -> u64 {
    let words: BTreeSet<u64> = ids.iter().map(|id| id / PAGE_BITS).collect();
    let leaves: BTreeSet<u64> = ids.iter().map(|id| id / LEAF_BITS).collect();
    let nodes: BTreeSet<u64> = leaves.iter().map(|leaf| leaf / 64).collect();
    let headers = (leaves.len() as u64).min(LEAVES * HEADER_BYTES / PAGE_BYTES);
    words.len() as u64 + headers + nodes.len() as u64 * NODE_BYTES / PAGE_BYTES
}

/// Sets and clears bits; those that were another before.
fn write(client: &mut Client, ids: &[u64]) -> Vec<u64> {
    let bit = |id: u64| (id >> 7) & 1;
    let mut written = Vec::new();
    for ids in ids.chunks(500) {
        let calls: Vec<Args> = ids.iter().map(|id| args!["RB.SETBIT", "k", *id, bit(*id)]).collect();
        for (id, reply) in ids.iter().zip(client.pipeline(&calls)) {
            match reply {
                Ok(Value::Int(old)) if old as u64 == bit(*id) => (),
                Ok(_) => written.push(*id),
                Err(error) => panic!("RB.SETBIT {id}: {error}"),
            }
        }
    }
    written
}

/// Imports bits without a pattern, 64 MB of containers at a time.
fn load(client: &mut Client) {
    let noise = samples::noise(CONTAINERS_AN_IMPORT as usize * CONTAINER_BYTES);
    for first in (0..LEAVES).step_by(CONTAINERS_AN_IMPORT as usize) {
        let payload = portable64(first, &noise);
        client.ask(&args!["RB.IMPORT", "k", payload, "FORMAT", "PORTABLE64", "OR"]);
    }
}

/// One bucket of bitmap containers from chunk `first` on, in the format of
/// github.com/RoaringBitmap/RoaringFormatSpec.
fn portable64(first: u64, noise: &[u8]) -> Vec<u8> {
    const COOKIE_WITHOUT_RUNS: u32 = 12_346;
    let containers = noise.chunks_exact(CONTAINER_BYTES);
    let count = containers.len() as u32;
    let mut out = 1u64.to_le_bytes().to_vec();
    out.extend(((first >> 16) as u32).to_le_bytes());
    out.extend(COOKIE_WITHOUT_RUNS.to_le_bytes());
    out.extend(count.to_le_bytes());
    for (nth, bits) in containers.enumerate() {
        let cardinality: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        out.extend(((first + nth as u64) as u16).to_le_bytes());
        out.extend(((cardinality - 1) as u16).to_le_bytes());
    }
    (0..count).for_each(|nth| out.extend((8 + 8 * count + nth * CONTAINER_BYTES as u32).to_le_bytes()));
    out.extend(noise);
    out
}
