//! Six nodes: routing, moving slots, failing over.

use roarbits_tests::{tests, Cluster, Server, TestList};

pub fn tests() -> TestList {
    tests![a_native_key_survives_a_move_and_a_failover]
}

fn a_native_key_survives_a_move_and_a_failover() {
    let cluster = Cluster::start_with(&Server::plain());
    let key = "{tag}:k";
    let (owner, stranger) = (cluster.owner(key), cluster.stranger(key));
    cluster.nodes()[owner].client().int(&["SETBIT", key, "7", "1"]);
    let moved = format!("MOVED {} 127.0.0.1:{}", cluster.slot(key), cluster.nodes()[owner].port());
    assert_eq!(cluster.nodes()[stranger].client().error(&["BITCOUNT", key]), moved);

    let slot = cluster.slot(key);
    cluster.begin_move(slot, owner, stranger);
    assert!(cluster.move_key(key, owner, stranger).is_ok());
    cluster.end_move(slot, stranger);
    assert_eq!(cluster.owner(key), stranger);

    let replica = cluster.replicas_of(stranger)[0];
    cluster.nodes()[replica].wait_until_caught_up(&cluster.nodes()[stranger]);
    cluster.fail_over(replica);
    assert_eq!(cluster.nodes()[replica].client().int(&["BITCOUNT", key]), 1);
}
