//! Who may ask where: replicas, users, transactions, scripts, RESP3, clusters; and what
//! EXPLAIN tells.

use roarbits_tests::{args, Client, Cluster, Server, Value};

use super::{bulk, days, words};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// Counts, ids and tests of one expression.
fn answers(client: &mut Client) -> Vec<Value> {
    let question = "RB.EXPR 4 mon tue wed churned 'atleast(2, $1, $2, $3) - $4'";
    let mut replies: Vec<Value> = ["", "IDS", "IDS AFTER 2", "TEST 1 2 3"]
        .map(|rest| client.ask(&words(&format!("{question} {rest}"))))
        .into();
    replies.push(client.ask(&["RB.BITOPCARD", "OR", "mon", "tue"]));
    replies.push(client.ask(&["RB.COMPARE", "mon", "tue"]));
    replies
}

fn expected_answers() -> Vec<Value> {
    let list = |ids: &[u64]| Value::Array(ids.iter().map(bulk).collect());
    let counts = [("a", 4), ("b", 3), ("union", 5), ("inter", 2), ("a_only", 2), ("b_only", 1)];
    let mut map: Vec<Value> =
        counts.iter().flat_map(|(name, count)| [bulk(name), Value::Int(*count)]).collect();
    map.extend(["jaccard", "0.40000000000000002", "overlap", "0.66666666666666663"].map(bulk));
    map.extend(["cosine", "0.57735026918962584", "relation", "overlap"].map(bulk));
    let bits = Value::Array([0, 1, 0].map(Value::Int).to_vec());
    vec![Value::Int(3), list(&[2, 4, 5]), list(&[4, 5]), bits, Value::Int(5), Value::Array(map)]
}

/// Replies with doubles as numbers: servers print them with 15 or 17 digits.
fn rounded(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(rounded).collect()),
        Value::BulkString(text) => match String::from_utf8_lossy(&text).parse::<f64>() {
            Ok(number) if text.contains(&b'.') => bulk(format!("{number:.9}")),
            _ => Value::BulkString(text),
        },
        other => other,
    }
}

fn assert_answers(client: &mut Client, place: &str) {
    let found: Vec<Value> = answers(client).into_iter().map(rounded).collect();
    let expected: Vec<Value> = expected_answers().into_iter().map(rounded).collect();
    assert_eq!(found, expected, "{place}");
}

pub fn operands_of_every_type_are_taken_or_refused() {
    for budget in ["0", "1000000000"] {
        let server = Server::builder().module_args(&["inline-budget", budget]).start();
        let mut client = server.client();
        days(&mut client);
        client.ok(&["SET", "string", "\x50"]);
        client.ok(&["SET", "number", "77"]);
        client.int(&["PFADD", "hll", "a"]);
        client.int(&["RPUSH", "list", "x"]);
        assert_eq!(client.int(&words("RB.EXPR 2 mon string '$1 & $2'")), 2);
        assert_eq!(client.int(&words("RB.EXPR 2 mon missing '$1 | $2'")), 4);
        // "77" is 00110111 twice.
        assert_eq!(client.texts(&words("RB.EXPR 1 number '$1' IDS LIMIT 0 4")), ["2", "3", "5", "6"]);
        assert_eq!(client.text(&["OBJECT", "ENCODING", "number"]), "int", "as it was");
        assert_eq!(client.int(&["RB.BITOPCARD", "AND", "mon", "string"]), 2);
        let hll = client.int(&["BITCOUNT", "hll"]);
        assert_eq!(client.int(&["RB.BITOPCARD", "OR", "hll"]), hll, "bits, as to BITOP");
        for key in ["hll", "list"] {
            for line in [
                format!("RB.EXPR 2 mon {key} '$1 & $2'"),
                format!("RB.EXPR 2 mon {key} '$1'"),
                format!("RB.EXPR 1 {key} '$1' IDS LIMIT 0 0"),
                format!("RB.EXPRSTORE dest 2 mon {key} '$1'"),
                format!("RB.COMPARE mon {key}"),
                format!("RB.COMPARE {key} missing"),
            ] {
                assert_eq!(client.error(&words(&line)), WRONG_TYPE, "{line}");
                assert_eq!(client.text(&["ECHO", "own"]), "own");
            }
        }
        assert_eq!(client.error(&["RB.BITOPCARD", "OR", "mon", "list"]), WRONG_TYPE);
        assert_eq!(client.int(&["EXISTS", "dest"]), 0);
        // Large strings: counted as they are, else too much to be copied.
        let limited = ["inline-budget", budget, "string-copy-max", "1000"];
        let small = Server::builder().module_args(&limited).start();
        let mut client = small.client();
        client.ok(&args!["SET", "large", vec![255u8; 1_200]]);
        assert_eq!(client.int(&["RB.EXPR", "1", "large", "$1"]), 9_600);
        assert_eq!(client.int(&["RB.BITOPCARD", "OR", "large"]), 9_600);
        for call in [
            args!["RB.EXPR", 1, "large", "$1", "IDS"],
            args!["RB.EXPR", 1, "large", "$1", "TEST", 1],
            args!["RB.EXPRSTORE", "dest", 1, "large", "$1"],
            args!["RB.BITOP", "OR", "dest", "large"],
        ] {
            let text = client.error(&call);
            assert!(text.contains("string-copy-max") && text.contains("RB.CONVERT"), "{text}");
        }
        assert_eq!(client.int(&["EXISTS", "dest"]), 0);
    }
}

pub fn questions_are_answered_by_a_replica() {
    for budget in ["0", "1000000000"] {
        let primary = Server::start();
        let replica = Server::builder().module_args(&["inline-budget", budget]).start();
        days(&mut primary.client());
        replica.replica_of(&primary);
        assert_answers(&mut replica.client(), "a replica");
        let refused = replica.client().error(&["RB.EXPRSTORE", "dest", "1", "mon", "$1"]);
        assert!(refused.starts_with("READONLY"), "{refused}");
        assert_eq!(replica.client().digest_of_all(), primary.client().digest_of_all());
    }
}

pub fn a_user_needs_every_operand() {
    let server = Server::builder().module_args(&["inline-budget", "0"]).start();
    let mut admin = server.client();
    days(&mut admin);
    admin.ok(&["ACL", "SETUSER", "u", "on", ">p", "~mon", "~tue", "~dest", "+@all"]);
    let mut client = server.client_as("u", "p");
    for line in [
        "RB.EXPR 2 mon churned '$1'",
        "RB.EXPR 2 churned mon '$2' IDS",
        "RB.EXPR 2 mon churned '$1' TEST 3",
        "RB.EXPRSTORE dest 2 mon churned '$1'",
        "RB.EXPRSTORE other 2 mon tue '$1'",
        "RB.BITOPCARD AND mon churned",
        "RB.COMPARE mon churned",
        "RB.COMPARE churned mon",
    ] {
        let refused = client.error(&words(line));
        assert!(refused.starts_with("NOPERM"), "{line}: {refused}");
        // 6.2 words it otherwise than later servers, in a transaction too.
        client.ok(&["MULTI"]);
        assert!(client.error(&words(line)).starts_with("NOPERM"), "{line} in MULTI");
        assert!(client.error(&["EXEC"]).starts_with("EXECABORT"));
    }
    assert_eq!(client.int(&words("RB.EXPR 2 mon tue '$1 & $2'")), 2);
    assert_eq!(client.int(&words("RB.EXPRSTORE dest 2 mon tue '$1 & $2'")), 2);
    assert_eq!(admin.int(&["EXISTS", "other"]), 0);
}

pub fn questions_are_asked_in_transactions_and_scripts() {
    for budget in ["0", "1000000000"] {
        let server = Server::builder().module_args(&["inline-budget", budget]).start();
        let mut client = server.client();
        days(&mut client);
        client.ok(&["MULTI"]);
        for call in ["RB.EXPR 2 mon tue '$1 & $2'", "RB.EXPRSTORE dest 2 mon tue '$1 | $2'", "RB.COUNT dest"]
        {
            client.ask(&words(call));
        }
        let replies = client.ask(&["EXEC"]);
        assert_eq!(replies, Value::Array([2, 5, 5].map(Value::Int).to_vec()));
        let script = "local n = redis.call('RB.EXPR', '2', KEYS[1], KEYS[2], '$1 & $2') \
                      local ids = redis.call('RB.EXPR', '2', KEYS[1], KEYS[2], '$2', 'IDS', 'AFTER', '2') \
                      redis.call('RB.EXPRSTORE', KEYS[3], '2', KEYS[1], KEYS[2], '$1 - $2') \
                      return {n, ids[1], ids[2], redis.call('RB.COUNT', KEYS[3])}";
        let reply = client.ask(&["EVAL", script, "3", "mon", "tue", "lua"]);
        assert_eq!(reply, Value::Array(vec![Value::Int(2), bulk(3), bulk(4), Value::Int(2)]));
        assert_eq!(client.texts(&["RB.RANGE", "lua", "0", "-1"]), ["1", "5"]);
        assert_answers(&mut client, "outside");
    }
}

pub fn maps_and_doubles_have_their_resp3_forms() {
    for budget in ["0", "1000000000"] {
        let server = Server::builder().module_args(&["inline-budget", budget]).start();
        days(&mut server.client());
        let mut client = server.resp3();
        let flat = client.ask(&["RB.COMPARE", "mon", "missing"]);
        let explained = client.ask(&words("RB.EXPR 2 mon tue '$1' EXPLAIN"));
        if server.flavor().is_before_7() {
            assert!(matches!(&flat, Value::Array(items) if items.len() == 20), "{flat:?}");
            assert!(matches!(&explained, Value::Array(items) if items.len() == 10), "{explained:?}");
            continue;
        }
        let Value::Map(pairs) = flat else { panic!("RB.COMPARE replied {flat:?}") };
        let found: Vec<(Value, Value)> = pairs;
        let name = |text: &str| match &found.iter().find(|(name, _)| *name == bulk(text)) {
            Some((_, value)) => value.clone(),
            None => panic!("no {text} in {found:?}"),
        };
        assert_eq!(found.len(), 10);
        assert_eq!((name("a"), name("b")), (Value::Int(4), Value::Int(0)));
        assert_eq!(
            (name("jaccard"), name("overlap"), name("cosine")),
            (Value::Double(0.0), Value::Nil, Value::Nil)
        );
        assert_eq!(name("relation"), bulk("disjoint"));
        assert!(matches!(explained, Value::Map(pairs) if pairs.len() == 5));
        let Value::Map(pairs) = client.ask(&["RB.COMPARE", "mon", "tue"]) else { panic!("no map") };
        let cosine = pairs.iter().find(|(name, _)| *name == bulk("cosine")).map(|(_, value)| value.clone());
        assert_eq!(cosine, Some(Value::Double(2.0 / 12f64.sqrt())));
        // More ids than an integer holds.
        let all = client.ask(&["RB.EXPR", "1", "missing", "range(0, 18446744073709551615) - $1"]);
        assert!(
            matches!(&all, Value::BigNumber(digits) if digits.as_slice() == b"18446744073709551616"),
            "{all:?}"
        );
    }
}

pub fn questions_work_under_hash_tags_in_a_cluster() {
    let cluster = Cluster::start_with(&Server::builder().module_args(&["inline-budget", "0"]));
    let keys = ["{day}:mon", "{day}:tue", "{day}:both"];
    let (owner, stranger) = (cluster.owner(keys[0]), cluster.stranger(keys[0]));
    let mut client = cluster.nodes()[owner].client();
    client.int(&["RB.ADD", keys[0], "1", "2", "3"]);
    client.int(&["RB.ADD", keys[1], "2", "3", "4"]);
    let store = ["RB.EXPRSTORE", keys[2], "2", keys[0], keys[1], "$1 & $2"];
    assert_eq!(client.int(&store), 2);
    let count = ["RB.EXPR", "2", keys[0], keys[1], "$1 ^ $2", "COUNT"];
    assert_eq!(client.int(&count), 2);
    let moved = format!("MOVED {} 127.0.0.1:{}", cluster.slot(keys[0]), cluster.nodes()[owner].port());
    let card = ["RB.BITOPCARD", "OR", keys[0], keys[1]];
    let compare = ["RB.COMPARE", keys[0], keys[1]];
    for call in [&store[..], &count, &card, &compare] {
        assert_eq!(cluster.nodes()[stranger].client().error(call), moved, "{call:?}");
    }
    let crossed = "CROSSSLOT Keys in request don't hash to the same slot";
    assert_eq!(client.error(&["RB.EXPR", "2", keys[0], "elsewhere", "$1"]), crossed);
    assert_eq!(client.error(&["RB.EXPRSTORE", "elsewhere", "1", keys[0], "$1"]), crossed);
    for replica in cluster.replicas_of(owner) {
        cluster.nodes()[replica].wait_until_caught_up(&cluster.nodes()[owner]);
        let mut reader = cluster.nodes()[replica].client();
        reader.ok(&["READONLY"]);
        assert_eq!(reader.int(&count), 2, "read-only, on a replica");
        assert_eq!(reader.digest(keys[2]), client.digest(keys[2]));
        assert_eq!(reader.error(&store), moved);
    }
}

pub fn explain_tells_how_it_was_done() {
    for (budget, place) in [("0", "worker"), ("1000000000", "inline")] {
        let server = Server::builder().module_args(&["inline-budget", budget]).start();
        let mut client = server.client();
        days(&mut client);
        for rest in ["", "COUNT", "IDS LIMIT 0 2"] {
            let line = format!("RB.EXPR 3 mon tue wed 'atleast(2, *)' EXPLAIN {rest}");
            let Value::Array(map) = client.ask(&words(&line)) else { panic!("no map of {line}") };
            let names = ["order", "leaves_estimated", "leaves_touched", "where", "us"].map(bulk);
            assert_eq!(map.iter().step_by(2).cloned().collect::<Vec<_>>(), names);
            assert!(
                matches!(&map[1], Value::BulkString(order) if order.starts_with(b"atleast(2")),
                "{map:?}"
            );
            assert!(matches!(map[3], Value::Int(1..)) && matches!(map[5], Value::Int(0..)), "{map:?}");
            assert_eq!(map[7], bulk(place), "{line}");
            assert!(matches!(map[9], Value::Int(0..)), "{map:?}");
        }
        assert!(matches!(client.ask(&words("RB.EXPR 1 mon '$1' explain test 1")), Value::Array(_)));
    }
}

pub fn a_list_above_max_reply_is_refused() {
    for budget in ["0", "1000000000"] {
        let server = Server::builder().module_args(&["inline-budget", budget, "max-reply", "5000"]).start();
        let mut client = server.client();
        client.int(&["RB.ADDRANGE", "runs", "1", "1000000"]);
        let refused = "ERR reply too large, use LIMIT or RB.SCAN";
        assert_eq!(client.error(&words("RB.EXPR 1 runs '$1' IDS")), refused);
        assert_eq!(client.error(&words("RB.EXPR 1 runs '$1' IDS LIMIT 0 5001")), refused);
        assert_eq!(client.error(&words("RB.EXPR 1 runs '$1' IDS AFTER 994999")), refused);
        // Longer than a worker leaves to the main thread to write.
        let ids = client.texts(&words("RB.EXPR 1 runs '$1' IDS AFTER 995000"));
        let wanted: Vec<String> = (995_001..=1_000_000).map(|id: u64| id.to_string()).collect();
        assert_eq!(ids, wanted);
        assert_eq!(client.texts(&words("RB.EXPR 1 runs '$1' IDS LIMIT 900000 1")), ["900001"]);
        assert_eq!(client.int(&words("RB.EXPR 1 runs '$1'")), 1_000_000);
    }
}

/// What a question costs is not only what it looks at: ids have to be written, too.
pub fn a_long_page_is_written_by_a_worker() {
    let server = Server::start();
    let mut client = server.client();
    client.int(&["RB.ADDRANGE", "range", "0", "2000000"]);
    for (rest, place) in [("LIMIT 0 100", "inline"), ("LIMIT 0 1000000", "worker"), ("", "worker")] {
        let line = format!("RB.EXPR 1 range $1 EXPLAIN IDS {rest}");
        let reply = client.cmd(&words(&line));
        match (rest, reply) {
            ("", Err(error)) => assert_eq!(error, "ERR reply too large, use LIMIT or RB.SCAN"),
            (_, Ok(Value::Array(map))) => assert_eq!(map[7], bulk(place), "{line}"),
            (_, other) => panic!("{line}: {other:?}"),
        }
    }
    let ids = client.ask(&words("RB.EXPR 1 range $1 IDS LIMIT 500000 1000000"));
    let Value::Array(ids) = ids else { panic!("no list") };
    assert_eq!((ids.len(), &ids[0], &ids[999_999]), (1_000_000, &bulk(500_000), &bulk(1_499_999)));
}
