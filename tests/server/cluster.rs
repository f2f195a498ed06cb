//! Six nodes: routing, moving slots, failing over, always under write load.
//!
//! The writer here follows MOVED and ASK and tries again as a cluster client
//! does, and remembers every acknowledged id; nothing of those may be missing
//! and nothing else may be there.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use roarbits_tests::{
    args, eventually, tests, Args, Client, Cluster, Outcome, Protocol, TestList, Value, PATIENCE,
};

pub fn tests() -> TestList {
    tests![
        keys_are_routed_and_replicas_answer_reads,
        a_slot_moved_while_its_keys_are_written_loses_nothing,
        resharded_partitions_still_add_up,
        slots_that_migrate_atomically_while_written_lose_nothing,
        a_failover_and_a_killed_primary_lose_nothing,
    ]
}

/// A client of the whole cluster: sends a command where the last answer said.
struct Routed {
    ports: Vec<u16>,
    clients: HashMap<u16, Client>,
    /// Where each slot was last found, by its tag.
    known: HashMap<String, u16>,
    redirected: Arc<AtomicU64>,
}

impl Routed {
    fn new(cluster: &Cluster) -> Routed {
        Routed {
            ports: cluster.nodes().iter().map(|node| node.port()).collect(),
            clients: HashMap::new(),
            known: HashMap::new(),
            redirected: Arc::default(),
        }
    }

    /// The reply of a command on the keys of one tag, wherever they are.
    fn call(&mut self, tag: &str, command: &Args) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        let mut asked = None;
        for turn in 0.. {
            let usual = self.known.get(tag).copied().unwrap_or(self.ports[0]);
            let reply = match asked.take() {
                Some(port) => self.ask_at(port, command),
                None => self.call_at(usual, command),
            };
            match reply {
                Some(Err(error)) if error.starts_with("MOVED ") => {
                    self.known.insert(tag.to_string(), port_in(&error));
                    self.redirected.fetch_add(1, Ordering::Relaxed);
                }
                Some(Err(error)) if error.starts_with("ASK ") => {
                    asked = Some(port_in(&error));
                    self.redirected.fetch_add(1, Ordering::Relaxed);
                }
                Some(Err(error)) if !is_passing(&error) => return Err(error),
                Some(Ok(value)) => return Ok(value),
                passing => {
                    assert!(Instant::now() < deadline, "no answer for {tag}: {passing:?}");
                    if passing.is_none() {
                        // That node is gone: any other knows who has its slots.
                        self.known.insert(tag.to_string(), self.ports[turn % self.ports.len()]);
                    }
                    thread::sleep(Duration::from_millis(5));
                }
            }
        }
        unreachable!("the deadline has not come")
    }

    /// True if so many replicas have what was last written to a tag.
    fn is_safe(&mut self, tag: &str, replicas: u64) -> bool {
        let port = self.known.get(tag).copied().unwrap_or(self.ports[0]);
        let waited = self.call_at(port, &args!["WAIT", replicas, "5000"]);
        waited == Some(Ok(Value::Int(replicas as i64)))
    }

    /// None if the node is gone.
    fn call_at(&mut self, port: u16, command: &Args) -> Option<Outcome> {
        let reply = self.client(port)?.cmd_or_gone(command);
        if reply.is_none() {
            self.clients.remove(&port);
        }
        reply
    }

    fn ask_at(&mut self, port: u16, command: &Args) -> Option<Outcome> {
        self.client(port)?.pipeline(&[args!["ASKING"], command.clone()]).pop()
    }

    fn client(&mut self, port: u16) -> Option<&mut Client> {
        match self.clients.entry(port) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => Some(new.insert(Client::try_connect(port, Protocol::Resp2, None).ok()?)),
        }
    }
}

/// The port at the end of `MOVED 866 127.0.0.1:7001`.
fn port_in(redirection: &str) -> u16 {
    let port = redirection.rsplit(':').next().and_then(|port| port.parse().ok());
    port.unwrap_or_else(|| panic!("no port in: {redirection}"))
}

/// True if a cluster client tries again.
fn is_passing(error: &str) -> bool {
    ["TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN"].iter().any(|word| error.starts_with(word))
}

/// Acknowledged ids by key.
type Ids = BTreeMap<String, BTreeSet<u64>>;

/// A thread that adds and removes ids in turn until it is told to stop.
struct Writer {
    stop: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
    redirected: Arc<AtomicU64>,
    thread: JoinHandle<Ids>,
}

impl Writer {
    /// `tag_of` names the tag of a step; `replicas` says how many must have each write.
    fn start(cluster: &Cluster, tag_of: fn(u64) -> String, replicas: u64) -> Writer {
        let routed = Routed::new(cluster);
        let redirected = Arc::clone(&routed.redirected);
        let (stop, steps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (told, made) = (Arc::clone(&stop), Arc::clone(&steps));
        let thread = thread::spawn(move || write_until(routed, &told, &made, tag_of, replicas));
        Writer { stop, steps, redirected, thread }
    }

    fn redirected(&self) -> u64 {
        self.redirected.load(Ordering::Relaxed)
    }

    /// Waits until so many more steps are made.
    fn goes_on(&self, steps: u64) {
        let wanted = self.steps.load(Ordering::Relaxed) + steps;
        eventually("the writer goes on", || self.steps.load(Ordering::Relaxed) >= wanted);
    }

    /// Waits until the writer has been sent elsewhere so often.
    fn is_redirected(&self, times: u64) {
        eventually("the writer finds what has moved", || self.redirected() >= times);
    }

    fn finish(self) -> Ids {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the writer")
    }
}

fn write_until(
    mut routed: Routed,
    stop: &AtomicBool,
    steps: &AtomicU64,
    tag_of: fn(u64) -> String,
    replicas: u64,
) -> Ids {
    let mut ids = Ids::new();
    for step in 0u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let tag = tag_of(step);
        let key = format!("{{{tag}}}:{}", step % 5);
        let id = (step * 7_919) << (step % 3 * 16);
        let set = ids.entry(key.clone()).or_default();
        let command = if step % 8 == 7 {
            args!["RB.REM", &key, set.pop_first().unwrap_or(0)]
        } else {
            set.insert(id);
            args!["RB.ADD", &key, id]
        };
        let outcome = routed.call(&tag, &command);
        assert!(outcome.is_ok(), "step {step}: {outcome:?}");
        if replicas > 0 && !routed.is_safe(&tag, replicas) {
            // Written again, as whoever needs it would do.
            let outcome = routed.call(&tag, &command);
            assert!(outcome.is_ok(), "step {step} again: {outcome:?}");
        }
        steps.fetch_add(1, Ordering::Relaxed);
    }
    ids
}

/// Asserts that the keys hold the acknowledged ids and nothing else.
fn assert_all_there(cluster: &Cluster, ids: &Ids, tag_of_key: impl Fn(&str) -> String, what: &str) {
    let mut routed = Routed::new(cluster);
    for (key, expected) in ids {
        let reply = routed.call(&tag_of_key(key), &args!["RB.RANGE", key, "0", "-1"]);
        let Ok(Value::Array(found)) = reply else { panic!("{key}: {reply:?}") };
        let found: BTreeSet<u64> = found
            .iter()
            .map(|id| match id {
                Value::BulkString(digits) => String::from_utf8_lossy(digits).parse().expect("an id"),
                other => panic!("{key} holds {other:?}"),
            })
            .collect();
        assert!(
            found == *expected,
            "{what}: {key} has {} of {} ids, missing {:?}, unknown {:?}",
            found.len(),
            expected.len(),
            expected.difference(&found).take(5).collect::<Vec<_>>(),
            found.difference(expected).take(5).collect::<Vec<_>>(),
        );
    }
}

/// `tag` of `{tag}:3`.
fn tag(key: &str) -> String {
    key.trim_start_matches('{').split('}').next().unwrap_or(key).to_string()
}

fn keys_are_routed_and_replicas_answer_reads() {
    let cluster = Cluster::start();
    let (a, b) = ("{tag}:a", "{tag}:b");
    let (owner, stranger) = (cluster.owner(a), cluster.stranger(a));
    let mut client = cluster.nodes()[owner].client();
    client.int(&args!["RB.ADD", a, "1", "2", u64::MAX]);
    client.int(&args!["RB.ADD", b, "2", "3", 1u64 << 40]);
    let moved = format!("MOVED {} 127.0.0.1:{}", cluster.slot(a), cluster.nodes()[owner].port());
    for command in
        [args!["RB.ADD", a, "5"], args!["RB.BITCOUNT", a], args!["RB.BITOP", "OR", "{tag}:c", a, b]]
    {
        assert_eq!(cluster.nodes()[stranger].client().error(&command), moved);
    }
    // 2^61 bytes: a length as the equivalent string would have.
    assert_eq!(client.int(&["RB.BITOP", "OR", "{tag}:or", a, b]), 1 << 61);
    assert_eq!(client.texts(&["RB.RANGE", "{tag}:or", "0", "2"]), ["1", "2", "3"]);
    assert_eq!(client.int(&["RB.BITOP", "DIFF", "{tag}:diff", a, b]), 1 << 61);
    assert_eq!(
        client.texts(&args!["RB.RANGE", "{tag}:diff", "0", "-1"]),
        ["1".to_string(), u64::MAX.to_string()]
    );
    assert_eq!(
        client.error(&["RB.BITOP", "OR", "{tag}:c", a, "elsewhere"]),
        "CROSSSLOT Keys in request don't hash to the same slot"
    );
    for replica in cluster.replicas_of(owner) {
        cluster.nodes()[replica].wait_until_caught_up(&cluster.nodes()[owner]);
        let mut reader = cluster.nodes()[replica].client();
        assert_eq!(reader.error(&["RB.BITCOUNT", a]), moved, "before READONLY");
        reader.ok(&["READONLY"]);
        assert_eq!(reader.int(&["RB.BITCOUNT", a]), 3);
        assert_eq!(reader.int(&["RB.BITCOUNT", "{tag}:or"]), 5);
        assert_eq!(reader.error(&["RB.ADD", a, "9"]), moved, "a write goes to the primary");
        for key in [a, b, "{tag}:or", "{tag}:diff"] {
            assert_eq!(reader.digest(key), client.digest(key), "{key}");
        }
    }
}

/// Moves a slot from one node to another, with a pause after each key. What a
/// writer makes in the meantime is made at the new owner.
fn move_slot(cluster: &Cluster, slot: u16, (from, to): (usize, usize), pause: Duration) {
    cluster.begin_move(slot, from, to);
    let mut source = cluster.nodes()[from].client();
    loop {
        let keys = source.texts(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "2"]);
        if keys.is_empty() {
            break;
        }
        for key in keys {
            let moved = cluster.move_key(&key, from, to);
            assert!(moved.is_ok(), "MIGRATE of {key}: {moved:?}");
            thread::sleep(pause);
        }
    }
    cluster.end_move(slot, to);
}

fn a_slot_moved_while_its_keys_are_written_loses_nothing() {
    let cluster = Cluster::start();
    let writer = Writer::start(&cluster, |_| "moved".to_string(), 0);
    writer.goes_on(50);
    let slot = cluster.slot("{moved}:0");
    for _ in 0..4 {
        let (from, to) = (cluster.owner("{moved}:0"), cluster.stranger("{moved}:0"));
        let before = writer.redirected();
        move_slot(&cluster, slot, (from, to), Duration::from_millis(20));
        writer.is_redirected(before + 1);
        writer.goes_on(50);
    }
    let ids = writer.finish();
    assert_all_there(&cluster, &ids, tag, "after four moves");
    let union: BTreeSet<u64> = ids.values().flatten().copied().collect();
    let mut command = args!["RB.BITOP", "OR", "{moved}:or"];
    command.extend(ids.keys().map(|key| key.clone().into_bytes()));
    let mut routed = Routed::new(&cluster);
    assert!(routed.call("moved", &command).is_ok());
    let count = routed.call("moved", &args!["RB.BITCOUNT", "{moved}:or"]);
    assert_eq!(count, Ok(Value::Int(union.len() as i64)));
    let owner = cluster.owner("{moved}:0");
    for replica in cluster.replicas_of(owner) {
        cluster.nodes()[replica].wait_until_caught_up(&cluster.nodes()[owner]);
        let digest = cluster.nodes()[owner].client().digest("{moved}:or");
        assert_eq!(cluster.nodes()[replica].client().digest("{moved}:or"), digest);
    }
}

const PARTITIONS: u64 = 32;

/// The partition of a step: by a hash, since the low bits of ids may all be zero.
fn partition(step: u64) -> String {
    format!("p{}", (step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % PARTITIONS)
}

/// The first key of every partition that `node` owns.
fn partitions_of(cluster: &Cluster, node: usize) -> Vec<String> {
    let firsts = (0..PARTITIONS).map(|part| format!("{{p{part}}}:0"));
    firsts.filter(|key| cluster.owner(key) == node).collect()
}

fn resharded_partitions_still_add_up() {
    let cluster = Cluster::start();
    let writer = Writer::start(&cluster, partition, 0);
    // Enough for every partition to be written, each key of it more likely than not.
    writer.goes_on(500);
    // redis-cli's own reshard takes slots in their order, with or without keys: 1,500 of
    // them took 25 s on 8.2.3, and redis-cli 7.0 ended half way on both Valkeys.
    let (from, to) = (cluster.owner("{p0}:0"), cluster.stranger("{p0}:0"));
    let moving = partitions_of(&cluster, from);
    for key in &moving {
        move_slot(&cluster, cluster.slot(key), (from, to), Duration::ZERO);
    }
    writer.is_redirected(moving.len() as u64);
    let ids = writer.finish();
    assert!(ids.len() >= 100, "{} keys", ids.len());
    assert!(moving.iter().all(|key| cluster.owner(key) == to), "all have moved");
    assert_all_there(&cluster, &ids, tag, "after the reshard");
    let mut routed = Routed::new(&cluster);
    let counts: i64 = ids
        .keys()
        .map(|key| match routed.call(&tag(key), &args!["RB.BITCOUNT", key]) {
            Ok(Value::Int(count)) => count,
            other => panic!("{key}: {other:?}"),
        })
        .sum();
    assert_eq!(counts, ids.values().map(|set| set.len() as i64).sum::<i64>());
}

/// CLUSTER MIGRATESLOTS of Valkey 9, which one module that does not agree refuses to all.
fn slots_that_migrate_atomically_while_written_lose_nothing() {
    let cluster = Cluster::start();
    let writer = Writer::start(&cluster, partition, 0);
    // Enough for every partition to be written, each key of it more likely than not.
    writer.goes_on(500);
    let (from, to) = (cluster.owner("{p0}:0"), cluster.stranger("{p0}:0"));
    let moving = partitions_of(&cluster, from);
    for key in &moving {
        let (slot, id) = (cluster.slot(key).to_string(), cluster.id(to));
        let call = ["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", &slot, &slot, "NODE", &id];
        cluster.nodes()[from].client().ok(&call);
        eventually("the slot has moved", || cluster.owner(key) == to);
    }
    assert!(!moving.is_empty(), "nothing to move");
    writer.is_redirected(moving.len() as u64);
    let ids = writer.finish();
    assert_all_there(&cluster, &ids, tag, "after the migration");
}

fn a_failover_and_a_killed_primary_lose_nothing() {
    let mut cluster = Cluster::start();
    let writer = Writer::start(&cluster, |_| "kept".to_string(), 1);
    writer.goes_on(150);
    let primary = cluster.owner("{kept}:0");
    let replica = cluster.replicas_of(primary)[0];
    cluster.fail_over(replica);
    writer.goes_on(50);
    assert_eq!(cluster.owner("{kept}:0"), replica, "the replica asked for has the slots");
    // Now the other way round, and nobody asks.
    cluster.node_mut(replica).kill9();
    eventually("the former primary takes over again", || cluster.is_primary(primary));
    // There is no replica left: each step waits for one in vain.
    writer.goes_on(1);
    let ids = writer.finish();
    let written: usize = ids.values().map(BTreeSet::len).sum();
    assert!(written > 100, "only {written} ids");
    assert_all_there(&cluster, &ids, tag, "after a failover and a kill");
    // The killed node comes back empty and is filled as a replica.
    cluster.node_mut(replica).start_again();
    cluster.wait_until_ok();
    cluster.nodes()[replica].wait_until_caught_up(&cluster.nodes()[primary]);
    for key in ids.keys() {
        let (here, there) = (&cluster.nodes()[primary], &cluster.nodes()[replica]);
        assert_eq!(there.client().digest(key), here.client().digest(key), "{key}");
    }
}
