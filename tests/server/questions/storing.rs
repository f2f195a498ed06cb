//! RB.EXPRSTORE: what becomes of its destination, here, on a replica and in the log.

use roarbits_tests::{args, eventually, Client, Server, Value};

use super::{days, words};

/// Both ways of doing it.
const BUDGETS_US: [&str; 2] = ["0", "1000000000"];

fn server(budget_us: &str) -> Server {
    Server::builder().module_args(&["inline-budget", budget_us]).start()
}

fn store(client: &mut Client, line: &str) -> i64 {
    client.int(&words(&format!("RB.EXPRSTORE {line}")))
}

pub fn a_result_replaces_what_was_there() {
    for budget in BUDGETS_US {
        let server = server(budget);
        let mut client = server.client();
        days(&mut client);
        let makings = [
            args!["SET", "dest", "text"],
            args!["RPUSH", "dest", "x"],
            args!["XADD", "dest", "1-1", "f", "v"],
            args!["RB.ADDRANGE", "dest", 0, 1_000_000],
        ];
        for making in makings {
            client.int(&["DEL", "dest"]);
            client.ask(&making);
            client.int(&["PEXPIRE", "dest", "1000000"]);
            assert_eq!(store(&mut client, "dest 2 mon tue '$1 & $2'"), 2, "over {making:?}");
            assert_eq!(client.texts(&["RB.RANGE", "dest", "0", "-1"]), ["2", "3"]);
            assert_eq!(client.text(&["TYPE", "dest"]), "rb-bitmap");
            assert_eq!(client.int(&["PTTL", "dest"]), -1, "the lifetime is gone");
        }
        assert_eq!(store(&mut client, "dest 1 mon '$1' EX 1000"), 4);
        assert!((999_000..=1_000_000).contains(&client.int(&["PTTL", "dest"])));
        assert_eq!(store(&mut client, "dest 1 mon '$1'"), 4, "the same again, to stay");
        assert_eq!(client.int(&["PTTL", "dest"]), -1);
        // Of a length that the largest id needs, as every set-like write.
        assert_eq!(client.int(&["RB.BITOP", "NOT", "not", "dest"]), 1);
    }
}

pub fn the_destination_may_be_among_the_keys() {
    for budget in BUDGETS_US {
        let server = server(budget);
        let mut client = server.client();
        days(&mut client);
        assert_eq!(store(&mut client, "mon 2 mon tue '$1 | $2'"), 5);
        assert_eq!(store(&mut client, "mon 2 mon tue '$1 - $2'"), 2);
        assert_eq!(client.texts(&["RB.RANGE", "mon", "0", "-1"]), ["1", "5"]);
        assert_eq!(store(&mut client, "mon 3 mon mon wed 'xor(*)'"), 4);
        assert_eq!(client.texts(&["RB.RANGE", "mon", "0", "2"]), ["3", "4", "5"]);
        client.ok(&["SET", "string", "\x60"]);
        assert_eq!(store(&mut client, "string 2 string churned '$1 | $2'"), 3);
        assert_eq!(client.text(&["TYPE", "string"]), "rb-bitmap");
        assert_eq!(client.texts(&["RB.RANGE", "string", "0", "-1"]), ["1", "2", "3"]);
        client.int(&["RPUSH", "list", "x"]);
        let wrong = client.error(&["RB.EXPRSTORE", "list", "1", "list", "$1"]);
        assert!(wrong.starts_with("WRONGTYPE"), "{wrong}");
        assert_eq!(client.int(&["LLEN", "list"]), 1);
    }
}

pub fn an_empty_result_deletes_the_destination() {
    for budget in BUDGETS_US {
        let server = server(budget);
        let mut client = server.client();
        days(&mut client);
        for line in
            ["dest 2 mon tue '$1 - $1' EX 5", "dest 1 missing '$1'", "dest 2 churned missing '$1 & $2'"]
        {
            client.int(&["RB.ADD", "dest", "7"]);
            assert_eq!(store(&mut client, line), 0, "{line}");
            assert_eq!(client.int(&["EXISTS", "dest"]), 0, "{line}");
            assert_eq!(store(&mut client, line), 0, "{line} where there is none");
        }
        // A bitmap without ids has a length; the set of its ids is empty all the same.
        client.int(&["RB.SETBIT", "zeros", "1000", "0"]);
        assert_eq!(store(&mut client, "zeros 1 zeros '$1'"), 0);
        assert_eq!(client.int(&["EXISTS", "zeros"]), 0);
    }
}

/// PEXPIRETIME came with 7.0; the sum is the same until the clocks' grain.
fn expires_at_ms(client: &mut Client, key: &str) -> i64 {
    let Value::Array(time) = client.ask(&["TIME"]) else { panic!("TIME is no array") };
    let part = |at: usize| match &time[at] {
        Value::BulkString(digits) => String::from_utf8_lossy(digits).parse::<i64>().unwrap_or(0),
        other => panic!("TIME has {other:?}"),
    };
    part(0) * 1000 + part(1) / 1000 + client.int(&["PTTL", key])
}

pub fn a_lifetime_is_the_same_on_a_replica_and_after_a_restart() {
    for budget in BUDGETS_US {
        let mut primary = Server::builder().module_args(&["inline-budget", budget]).aof().start();
        let replica = Server::start();
        replica.replica_of(&primary);
        let mut client = primary.client();
        days(&mut client);
        assert_eq!(store(&mut client, "dest 2 mon tue '$1 & $2' EX 100000"), 2);
        assert_eq!(store(&mut client, "past 1 mon '$1' EX 1"), 4);
        replica.wait_until_caught_up(&primary);
        let mut reader = replica.client();
        let (here, there) = (expires_at_ms(&mut client, "dest"), expires_at_ms(&mut reader, "dest"));
        // Both clocks are of this machine; what differs is when each was asked.
        assert!((here - there).abs() < 20_000, "{here} and {there}");
        if !primary.flavor().is_before_7() {
            let at = client.int(&["PEXPIRETIME", "dest"]);
            assert_eq!(reader.int(&["PEXPIRETIME", "dest"]), at, "to the millisecond");
        }
        eventually("the short one is over", || client.int(&["EXISTS", "past"]) == 0);
        eventually("and on the replica", || reader.int(&["EXISTS", "past"]) == 0);
        let digest = client.digest_of_all();
        primary.kill9();
        primary.start_again();
        let mut client = primary.client();
        assert_eq!(client.digest_of_all(), digest, "as the log tells it");
        assert_eq!(client.int(&["EXISTS", "past"]), 0);
        assert!((expires_at_ms(&mut client, "dest") - here).abs() < 20_000);
    }
}
