//! What a replica sees.

use roarbits_tests::{tests, Server, TestList};

pub fn tests() -> TestList {
    tests![a_replica_that_caught_up_has_every_write]
}

fn a_replica_that_caught_up_has_every_write() {
    let primary = Server::plain().start();
    let replica = Server::plain().start();
    primary.client().int(&["SETBIT", "before", "1", "1"]);
    replica.replica_of(&primary);
    let (mut writer, mut reader) = (primary.client(), replica.client());
    assert_eq!(reader.digest("before"), writer.digest("before"));
    for round in 0..200 {
        writer.int(&["SETBIT", "after", &round.to_string(), "1"]);
        replica.wait_until_caught_up(&primary);
        assert_eq!(reader.int(&["BITCOUNT", "after"]), round + 1);
    }
}
