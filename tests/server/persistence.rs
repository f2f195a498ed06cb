//! What survives restarts, kills and rewrites while clients write.
//!
//! `ROARBITS_BGSAVES` sets how many background saves follow each other.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_tests::{args, eventually, tests, Args, Client, Server, TestList};

use crate::samples;

pub fn tests() -> TestList {
    tests![
        // The longest one first.
        a_thousand_background_saves_in_a_row_end,
        every_acknowledged_write_survives_a_kill_during_an_aof_rewrite,
        a_background_save_under_write_load_holds_one_moment,
        every_kind_of_leaf_survives_a_clean_restart_by_rdb,
        a_key_keeps_its_ttl_through_rdb_and_aof,
    ]
}

/// Writers of the tests under load, each with a key of its own.
const WRITERS: u64 = 2;

/// What one writer knows: its ids as acknowledged, and as they are if the command
/// in flight was executed after all.
struct Known {
    key: String,
    acknowledged: BTreeSet<u64>,
    in_flight: BTreeSet<u64>,
    commands: u64,
}

/// Writes to a key until the server goes away, and counts what was acknowledged.
fn write_until_gone(mut client: Client, writer: u64, done: &AtomicU64) -> Known {
    let mut rng = StdRng::seed_from_u64(writer);
    let key = format!("writer{writer}");
    let mut ids = BTreeSet::new();
    for commands in 0.. {
        let (command, after) = random_write(&mut rng, &key, &ids);
        match client.cmd_or_gone(&command) {
            Some(Ok(_)) => {
                ids = after;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Some(Err(error)) => panic!("{key}: {error}"),
            None => {
                return Known { key, acknowledged: ids, in_flight: after, commands };
            }
        }
    }
    unreachable!("the server never went away")
}

/// A write and the ids after it.
fn random_write(rng: &mut StdRng, key: &str, ids: &BTreeSet<u64>) -> (Args, BTreeSet<u64>) {
    let mut after = ids.clone();
    // Few enough chunks that leaves become runs, bits and packed again.
    let near = rng.random_range(0..4u64) << 40 | rng.random_range(0..2_000u64);
    let command = match rng.random_range(0..5) {
        0 => {
            let end = near + rng.random_range(0..30);
            after.extend(near..=end);
            args!["RB.ADDRANGE", key, near, end]
        }
        1 => {
            let end = near + rng.random_range(0..40);
            after.retain(|id| !(near..=end).contains(id));
            args!["RB.REMRANGE", key, near, end]
        }
        2 => {
            after.remove(&near);
            args!["RB.REM", key, near]
        }
        3 => {
            after.insert(near);
            args!["RB.SETBIT", key, near, "1"]
        }
        _ => {
            let some: Vec<u64> = (0..5).map(|step| near + step * step).collect();
            after.extend(&some);
            let mut command = args!["RB.ADD", key];
            command.extend(some.iter().map(|id| id.to_string().into_bytes()));
            command
        }
    };
    (command, after)
}

fn ids_of(client: &mut Client, key: &str) -> BTreeSet<u64> {
    let texts = client.texts(&["RB.RANGE", key, "0", "-1"]);
    texts.iter().map(|text| text.parse().expect("an id")).collect()
}

fn every_acknowledged_write_survives_a_kill_during_an_aof_rewrite() {
    for preamble in ["yes", "no"] {
        let mut server = Server::builder().aof().config("aof-use-rdb-preamble", preamble).start();
        let done: Arc<[AtomicU64]> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (client, done) = (server.client(), Arc::clone(&done));
                thread::spawn(move || write_until_gone(client, writer, &done[writer as usize]))
            })
            .collect();
        let write_more = |commands: u64| {
            let before: Vec<u64> = done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
            eventually("every writer has written more", || {
                done.iter().zip(&before).all(|(now, then)| now.load(Ordering::Relaxed) >= then + commands)
            });
        };
        write_more(300);
        server.client().bgrewriteaof();
        write_more(200);
        server.client().ask(&["BGREWRITEAOF"]);
        server.kill9();
        let known: Vec<Known> = writers.into_iter().map(|writer| writer.join().expect("a writer")).collect();
        server.start_again();
        let mut client = server.client();
        for Known { key, acknowledged, in_flight, commands } in known {
            assert!(commands > 500, "{key}: only {commands} commands were acknowledged");
            let found = ids_of(&mut client, &key);
            assert!(
                found == acknowledged || found == in_flight,
                "{key}, preamble {preamble}: of {commands} commands, missing {:?}, unknown {:?}",
                acknowledged.difference(&found).take(10).collect::<Vec<_>>(),
                found.difference(&acknowledged).take(10).collect::<Vec<_>>(),
            );
        }
    }
}

fn a_background_save_under_write_load_holds_one_moment() {
    let mut server = Server::builder().start();
    let mut client = server.client();
    // Large enough that the child is at work while the parent writes.
    client.ask(&args!["RB.IMPORT", "big", samples::noise(4 << 20), "FORMAT", "STRING"]);
    client.int(&args!["RB.ADDRANGE", "big", "0", "99999"]);
    let big = client.int(&["RB.BITCOUNT", "big"]);
    let mut writer = server.client();
    // Each step adds one id to both keys and removes one from `big`, all or nothing.
    let handle = thread::spawn(move || {
        for step in 0u64..100_000 {
            let id = step * 3;
            let commands = [
                args!["MULTI"],
                args!["RB.ADD", "a", id],
                args!["RB.REM", "big", step],
                args!["RB.ADD", "big", step],
                args!["RB.ADD", "b", id],
                args!["EXEC"],
            ];
            if commands.iter().any(|command| writer.cmd_or_gone(command).is_none()) {
                return step;
            }
        }
        100_000
    });
    eventually("the writer writes", || client.int(&["RB.BITCOUNT", "a"]) > 0);
    for _ in 0..5 {
        client.bgsave();
    }
    let after_last = client.int(&["RB.BITCOUNT", "a"]);
    server.kill9();
    let steps = handle.join().expect("the writer");
    server.start_again();
    let mut client = server.client();
    let saved = client.int(&["RB.BITCOUNT", "a"]);
    assert!(saved > 0 && saved <= after_last && after_last as u64 <= steps + 1, "{saved} of {steps} steps");
    let largest = client.text(&["RB.MAX", "a"]);
    assert_eq!(largest, ((saved - 1) * 3).to_string(), "ids come in order, so none is missing");
    assert_eq!(client.digest("a"), client.digest("b"), "two keys written in one transaction");
    assert_eq!(client.int(&["RB.BITCOUNT", "big"]), big, "each removed id came back");
}

fn a_thousand_background_saves_in_a_row_end() {
    let count: u64 =
        std::env::var("ROARBITS_BGSAVES").ok().and_then(|count| count.parse().ok()).unwrap_or(1000);
    // The server looks for ended children at every tick: 2 ms instead of 100.
    let server = Server::builder().config("hz", "500").config("rdbchecksum", "no").start();
    let mut client = server.client();
    client.ask(&args!["RB.IMPORT", "big", samples::noise(1 << 18), "FORMAT", "STRING"]);
    for round in 0..count {
        // A big key is on its way to the thread that frees it while the server forks.
        client
            .pipeline(&[
                args!["COPY", "big", "copy"],
                args!["RB.ADD", "copy", round * 65_536],
                args!["RB.ADD", "big", round],
                args!["DEL", "copy"],
                args!["BGSAVE"],
            ])
            .into_iter()
            .for_each(|reply| assert!(reply.is_ok(), "round {round}: {reply:?}"));
        eventually("the child ends", || client.info_number("persistence", "rdb_bgsave_in_progress") == 0);
    }
    assert_eq!(client.info("persistence", "rdb_last_bgsave_status").as_deref(), Some("ok"));
    if !server.flavor().is_before_7() {
        assert_eq!(client.info_number("persistence", "rdb_saves"), count);
    }
}

fn every_kind_of_leaf_survives_a_clean_restart_by_rdb() {
    let mut server = Server::builder().rdb().start();
    let mut client = server.client();
    let samples = samples::of_every_leaf(&mut client);
    for sample in &samples {
        client.ok(&args!["RESTORE", sample.name, "0", &sample.payload]);
    }
    server.restart();
    let mut client = server.client();
    for sample in &samples {
        assert_eq!(client.digest(sample.name), sample.digest, "{}", sample.name);
    }
}

fn a_key_keeps_its_ttl_through_rdb_and_aof() {
    for preamble in ["yes", "no"] {
        let mut server = Server::builder().aof().config("aof-use-rdb-preamble", preamble).start();
        let mut client = server.client();
        client.int(&["RB.ADD", "k", "1", "99"]);
        client.int(&["EXPIRE", "k", "1000"]);
        client.bgrewriteaof();
        client.int(&["RB.ADD", "k", "7"]);
        server.kill9();
        server.start_again();
        let mut client = server.client();
        let left = client.int(&["TTL", "k"]);
        assert!((900..=1000).contains(&left), "TTL {left}, preamble {preamble}");
        assert_eq!(client.texts(&["RB.RANGE", "k", "0", "-1"]), ["1", "7", "99"]);
    }
}
