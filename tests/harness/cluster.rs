//! Six nodes on loopback, three primaries with a replica each, formed by
//! redis-cli and waited for until every node agrees.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::reply::Outcome;
use crate::server::Builder;
use crate::{eventually, places, Client, Server};

const NODES: usize = 6;
/// Longer than a node keeps trying a manual failover.
const MANUAL_FAILOVER: Duration = Duration::from_secs(6);

/// A running cluster. Its nodes are ordinary servers.
pub struct Cluster {
    nodes: Vec<Server>,
}

impl Cluster {
    /// Six nodes with the release library, nothing persisted.
    ///
    /// # Panics
    /// If they do not form a cluster.
    pub fn start() -> Cluster {
        Cluster::start_with(&Server::builder())
    }

    /// Six nodes made by a builder.
    ///
    /// # Panics
    /// If they do not form a cluster.
    pub fn start_with(builder: &Builder) -> Cluster {
        // A busy machine must not look like a dead node: 5 s, not the 1 s that is quickest.
        let builder = builder.clone().config("cluster-enabled", "yes").config("cluster-node-timeout", "5000");
        let nodes: Vec<Server> = (0..NODES).map(|_| builder.clone().start()).collect();
        let cluster = Cluster { nodes };
        cluster.form();
        cluster.wait_until_ok();
        cluster
    }

    /// The nodes, in the order of creation: indexes of this list name nodes below.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// A node, to restart or kill.
    pub fn node_mut(&mut self, node: usize) -> &mut Server {
        &mut self.nodes[node]
    }

    /// A connection of the `redis` crate's cluster client, which follows redirections.
    ///
    /// # Panics
    /// If it cannot connect.
    pub fn client(&self) -> redis::cluster::ClusterConnection {
        let urls = self.nodes.iter().map(|node| format!("redis://127.0.0.1:{}", node.port()));
        let client = redis::cluster::ClusterClient::new(urls.collect::<Vec<_>>());
        match client.and_then(|client| client.get_connection()) {
            Ok(connection) => connection,
            Err(error) => panic!("no connection to the cluster: {error}"),
        }
    }

    /// The hash slot of a key.
    ///
    /// # Panics
    /// If no node answers.
    pub fn slot(&self, key: &str) -> u16 {
        self.nodes[0].client().int(&["CLUSTER", "KEYSLOT", key]) as u16
    }

    /// The node that owns the slot of a key. Nodes are asked one after the other, so
    /// none may own a slot that moves meanwhile: then they are asked again.
    ///
    /// # Panics
    /// If none does in time.
    pub fn owner(&self, key: &str) -> usize {
        let slot = self.slot(key);
        let owns = |node: &usize| self.topology(*node).iter().any(|line| line.is_self && line.owns(slot));
        let mut owner = None;
        eventually(&format!("a node owns slot {slot} of {key}"), || {
            owner = (0..NODES).find(owns);
            owner.is_some()
        });
        owner.unwrap_or_else(|| panic!("no node owns slot {slot}"))
    }

    /// A primary that does not own the slot of a key.
    ///
    /// # Panics
    /// If the cluster has lost its primaries.
    pub fn stranger(&self, key: &str) -> usize {
        let owner = self.owner(key);
        let is_other_primary = |node: &usize| *node != owner && self.is_primary(*node);
        (0..NODES).find(is_other_primary).unwrap_or_else(|| panic!("no primary but the owner of {key}"))
    }

    /// The replicas of a node.
    ///
    /// # Panics
    /// If the node does not answer.
    pub fn replicas_of(&self, primary: usize) -> Vec<usize> {
        let id = self.id(primary);
        (0..NODES)
            .filter(|node| self.topology(*node).iter().any(|line| line.is_self && line.primary == id))
            .collect()
    }

    /// True if a node owns slots or may.
    ///
    /// # Panics
    /// If the node does not answer.
    pub fn is_primary(&self, node: usize) -> bool {
        self.topology(node).iter().any(|line| line.is_self && line.primary == "-")
    }

    /// The 40 hex digits that name a node.
    ///
    /// # Panics
    /// If the node does not answer.
    pub fn id(&self, node: usize) -> String {
        self.nodes[node].client().text(&["CLUSTER", "MYID"])
    }

    /// Begins to move a slot: the owner migrates it, the other node imports it.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let (slot, from_id, to_id) = (slot.to_string(), self.id(from), self.id(to));
        self.nodes[to].client().ok(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        self.nodes[from].client().ok(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
    }

    /// Moves one key of a slot that is being moved.
    pub fn move_key(&self, key: &str, from: usize, to: usize) -> Outcome {
        let port = self.nodes[to].port().to_string();
        self.nodes[from].client().cmd(&["MIGRATE", "127.0.0.1", &port, key, "0", "30000"])
    }

    /// Ends the move of a slot: every primary learns the new owner, which is first.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn end_move(&self, slot: u16, to: usize) {
        let (slot, id) = (slot.to_string(), self.id(to));
        let others = (0..NODES).filter(|node| *node != to && self.is_primary(*node));
        for node in std::iter::once(to).chain(others) {
            self.nodes[node].client().ok(&["CLUSTER", "SETSLOT", &slot, "NODE", &id]);
        }
    }

    /// Lets a replica take over from its primary and waits until it has. A
    /// manual failover gives up after 5 s (on 6.2 now and then, when epochs have
    /// just changed); it is asked for again until it succeeds.
    ///
    /// # Panics
    /// If it has not in time.
    pub fn fail_over(&self, replica: usize) {
        let mut asked: Option<Instant> = None;
        eventually("the replica has taken over", || {
            if self.is_primary(replica) {
                return true;
            }
            if asked.is_none_or(|at| at.elapsed() > MANUAL_FAILOVER) {
                // Refused by a node that has become a primary in this moment.
                let reply = self.nodes[replica].client().cmd(&["CLUSTER", "FAILOVER"]);
                assert!(reply.is_ok() || self.is_primary(replica), "CLUSTER FAILOVER: {reply:?}");
                asked = Some(Instant::now());
            }
            false
        });
        self.wait_until_ok();
    }

    /// Waits until every running node finds the cluster whole: state ok, all
    /// nodes known, all slots covered, every replica's link up.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_until_ok(&self) {
        for node in &self.nodes {
            let mut client = node.client();
            eventually("the cluster is ok", || is_ok(&mut client));
        }
    }

    fn form(&self) {
        let addresses = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port()));
        let output = Command::new(places::cli_binary())
            .args(["--cluster", "create"])
            .args(addresses)
            .args(["--cluster-replicas", "1", "--cluster-yes"])
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("redis-cli does not run: {error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "no cluster: {text}{}", String::from_utf8_lossy(&output.stderr));
    }

    fn topology(&self, node: usize) -> Vec<NodeLine> {
        let text = self.nodes[node].client().text(&["CLUSTER", "NODES"]);
        text.lines().filter_map(NodeLine::parse).collect()
    }
}

fn is_ok(client: &mut Client) -> bool {
    let text = client.text(&["CLUSTER", "INFO"]);
    let has = |line: &str| text.lines().any(|found| found.trim() == line);
    let is_linked = match client.info("replication", "role").as_deref() {
        Some("slave") => client.info("replication", "master_link_status").as_deref() == Some("up"),
        _ => client.info_number("replication", "connected_slaves") == 1,
    };
    has("cluster_state:ok") && has("cluster_known_nodes:6") && has("cluster_slots_ok:16384") && is_linked
}

/// What is used of a line of CLUSTER NODES:
/// `id address flags primary ping pong epoch link slot [slot ...]`.
struct NodeLine {
    is_self: bool,
    primary: String,
    slots: Vec<(u16, u16)>,
}

impl NodeLine {
    fn parse(line: &str) -> Option<NodeLine> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let range = |word: &&str| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            // Slots on the move (`[93-<-id]`) are not numbers and not owned.
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        Some(NodeLine {
            is_self: words.get(2)?.split(',').any(|flag| flag == "myself"),
            primary: (*words.get(3)?).to_string(),
            slots: words.iter().skip(8).filter_map(range).collect(),
        })
    }

    fn owns(&self, slot: u16) -> bool {
        self.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot))
    }
}
