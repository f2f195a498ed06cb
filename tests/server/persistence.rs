//! What survives restarts, kills and rewrites.

use roarbits_tests::{tests, Server, TestList};

pub fn tests() -> TestList {
    tests![native_data_survives_a_clean_restart_by_rdb, native_data_survives_a_kill_by_aof]
}

fn native_data_survives_a_clean_restart_by_rdb() {
    let mut server = Server::plain().rdb().start();
    server.client().int(&["SETBIT", "k", "1000", "1"]);
    let digest = server.client().digest("k");
    server.restart();
    assert_eq!(server.client().digest("k"), digest);
    assert_eq!(server.client().int(&["BITCOUNT", "k"]), 1);
}

fn native_data_survives_a_kill_by_aof() {
    for preamble in ["yes", "no"] {
        let mut server = Server::plain().aof().config("aof-use-rdb-preamble", preamble).start();
        let mut client = server.client();
        client.int(&["SETBIT", "k", "1000", "1"]);
        client.bgrewriteaof();
        client.int(&["SETBIT", "k", "2000", "1"]);
        server.kill9();
        server.start_again();
        assert_eq!(server.client().int(&["BITCOUNT", "k"]), 2, "aof-use-rdb-preamble {preamble}");
    }
}
