//! What ends a call before it is done.

use roarbits_tests::{args, eventually, Client, Server, Value};

use super::gate::{digests, figure, nothing_is_left, one_worker, Gate, Waiting};

const REPLACED: &str = "TRYAGAIN roarbits: the dataset was replaced";
const PAUSED: &str = "TRYAGAIN roarbits: writes are paused, retry";

/// Two keys and the call that unites them.
fn sources(client: &mut Client) {
    client.int(&["RB.ADD", "a", "1", "2", "3"]);
    client.int(&["RB.ADD", "b", "3", "4", "7301234567890123456"]);
}

fn store() -> Vec<Vec<u8>> {
    args!["RB.EXPRSTORE", "dest", 2, "a", "b", "$1 | $2"]
}

fn bitop() -> Vec<Vec<u8>> {
    args!["RB.BITOP", "OR", "other", "a", "b"]
}

fn count() -> Vec<Vec<u8>> {
    args!["RB.EXPR", 2, "a", "b", "$1 | $2"]
}

pub fn a_replaced_dataset_ends_what_is_in_flight() {
    let server = one_worker().start();
    let mut client = server.client();
    for replacing in [args!["FLUSHALL"], args!["FLUSHDB"], args!["SWAPDB", 0, 1]] {
        client.ok(&["FLUSHALL"]);
        Gate::prepare(&mut client);
        sources(&mut client);
        let gate = Gate::close_with(&server, 4);
        let mut waiting = [store(), bitop(), count()].map(|call| Waiting::behind(&server, &call));
        let cancelled = figure(&mut client, "cancelled");
        client.ok(&replacing);
        for call in &mut waiting {
            assert_eq!(call.reply(), Err(REPLACED.to_string()), "after {replacing:?}");
        }
        assert!(figure(&mut client, "cancelled") >= cancelled + 3);
        nothing_is_left(&mut client);
        gate.open(&mut client);
        for database in ["0", "1"] {
            client.ok(&["SELECT", database]);
            assert_eq!(client.int(&["EXISTS", "dest", "other"]), 0, "{replacing:?}, database {database}");
        }
        client.ok(&["SELECT", "0"]);
        // The connections go on.
        assert_eq!(waiting[0].wire.call(&["PING"]), Ok(Value::SimpleString("PONG".to_string())));
    }
    // Another database is another matter.
    client.ok(&["FLUSHALL"]);
    Gate::prepare(&mut client);
    sources(&mut client);
    let gate = Gate::close(&server);
    let mut waiting = Waiting::behind(&server, &store());
    client.ok(&["SELECT", "2"]);
    client.ok(&["FLUSHDB"]);
    client.ok(&["SELECT", "0"]);
    gate.open(&mut client);
    assert_eq!(waiting.reply(), Ok(Value::Int(5)));
    assert_eq!(client.int(&["RB.COUNT", "dest"]), 5);
}

pub fn a_client_that_goes_away_stores_nothing() {
    let server = one_worker().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    sources(&mut client);
    let gate = Gate::close(&server);
    let cancelled = figure(&mut client, "cancelled");
    let (killed, gone) = (Waiting::behind(&server, &store()), Waiting::behind(&server, &bitop()));
    let mut stays = Waiting::behind(&server, &count());
    assert_eq!(client.int(&["CLIENT", "KILL", "ID", &killed.id()]), 1);
    drop(gone);
    eventually("both are cancelled", || figure(&mut client, "cancelled") == cancelled + 2);
    gate.open(&mut client);
    assert_eq!(stays.reply(), Ok(Value::Int(5)), "who stays is answered");
    nothing_is_left(&mut client);
    assert_eq!(client.int(&["EXISTS", "dest", "other"]), 0);
    // One that is in hand, not only in the queue.
    let hand = Gate::close_with(&server, 1);
    eventually("a worker has it in hand", || figure(&mut client, "queue") == 0);
    hand.open(&mut client);
    nothing_is_left(&mut client);
}

pub fn a_store_during_a_pause_is_refused_or_waits_for_its_end() {
    let server = one_worker().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    sources(&mut client);
    let gate = Gate::close(&server);
    let mut waiting = [store(), bitop()].map(|call| Waiting::behind(&server, &call));
    let mut read = Waiting::behind(&server, &count());
    client.ok(&["CLIENT", "PAUSE", "1000000", "WRITE"]);
    gate.open(&mut client);
    for call in &mut waiting {
        assert_eq!(call.reply(), Err(PAUSED.to_string()));
    }
    assert_eq!(read.reply(), Ok(Value::Int(5)), "reads are not paused");
    client.ok(&["CLIENT", "UNPAUSE"]);
    assert_eq!(client.int(&["EXISTS", "dest", "other"]), 0);
    nothing_is_left(&mut client);
    // How long it waits is not this test's business: once, at least, it waits long enough.
    eventually("a pause ends in time", || {
        let gate = Gate::close(&server);
        let mut waiting = Waiting::behind(&server, &store());
        client.ok(&["CLIENT", "PAUSE", "1000000", "WRITE"]);
        gate.open(&mut client);
        let early = waiting.wire.read(std::time::Duration::from_millis(20));
        client.ok(&["CLIENT", "UNPAUSE"]);
        if early.is_some() {
            return false;
        }
        let reply = waiting.reply();
        assert!(reply == Ok(Value::Int(5)) || reply == Err(PAUSED.to_string()), "{reply:?}");
        reply.is_ok()
    });
    assert_eq!(client.int(&["RB.COUNT", "dest"]), 5);
    // A pause of everything holds the store up as well; the server lives.
    let gate = Gate::close(&server);
    let mut waiting = Waiting::behind(&server, &bitop());
    client.ok(&["CLIENT", "PAUSE", "200", "ALL"]);
    drop(gate);
    let reply = waiting.reply();
    assert!(
        reply == Ok(Value::Int(912_654_320_986_265_433)) || reply == Err(PAUSED.to_string()),
        "{reply:?}"
    );
    assert_eq!(client.int(&["EXISTS", "other"]), i64::from(reply.is_ok()));
}

pub fn a_new_primary_ends_stores() {
    let (server, primary) = (one_worker().start(), Server::start());
    primary.client().int(&["RB.ADD", "new", "1"]);
    let mut client = server.client();
    Gate::prepare(&mut client);
    sources(&mut client);
    let gate = Gate::close(&server);
    let mut waiting = Waiting::behind(&server, &store());
    client.ok(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]);
    // Redis itself tells blocked clients that the instance's state changed.
    let told = waiting.reply().map_err(|text| text.split_whitespace().next().map(str::to_string));
    let prefix = told.expect_err("no store of a replica").unwrap_or_default();
    assert!(["TRYAGAIN", "UNBLOCKED", "-UNBLOCKED"].contains(&prefix.as_str()), "{prefix}");
    drop(gate);
    eventually("the link is up", || {
        client.info("replication", "master_link_status").as_deref() == Some("up")
    });
    server.wait_until_caught_up(&primary);
    nothing_is_left(&mut client);
    assert_eq!(digests(&mut client), digests(&mut primary.client()));
    assert_eq!(client.int(&["EXISTS", "dest"]), 0);
    // It answers questions as before, and stores again once it is its own primary.
    assert_eq!(client.int(&["RB.EXPR", "1", "new", "$1"]), 1);
    server.replica_of_nobody();
    let mut client = server.client();
    assert_eq!(client.int(&["RB.EXPRSTORE", "dest", "1", "new", "$1"]), 1);
}

pub fn a_shutdown_does_not_wait_for_workers() {
    let mut server = one_worker().aof().start();
    let mut client = server.client();
    Gate::prepare(&mut client);
    sources(&mut client);
    let before = digests(&mut client);
    let gate = Gate::close(&server);
    let waiting = Waiting::behind(&server, &store());
    assert!(server.stop().success(), "{}", server.log_tail());
    drop((gate, waiting));
    server.start_again();
    let mut client = server.client();
    assert_eq!(client.int(&["EXISTS", "dest"]), 0);
    assert_eq!(digests(&mut client), before);
    assert_eq!(client.cmd(&count()), Ok(Value::Int(5)));
}
