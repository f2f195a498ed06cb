//! Which keys a call has, as the server sees it: cluster redirection, ACL and the
//! module's own check. Loops over the table, for every command and key position;
//! servers run the library with assertions, which ends a server whose command opens
//! a key that it did not report.

use roarbits_tests::spec::{self, Row};
use roarbits_tests::{args, eventually, tests, Args, Client, Flavor, Server, TestList};

use crate::table::{keys_of, one_call_each, text_of, KeyUse, Names, Words, READS, WRITES};

pub fn tests() -> TestList {
    tests![
        a_node_without_the_slot_says_moved_for_every_key,
        a_user_needs_a_permission_for_every_key,
        a_user_needs_the_permissions_of_the_key_specs,
        keys_named_as_options_are_keys,
        getkeys_asks_the_parser_that_executes,
        a_count_of_keys_is_read_as_strictly_as_by_the_server,
        opening_an_unreported_key_ends_a_debug_build,
        a_panic_is_an_error_reply_and_the_server_lives,
        a_release_build_has_no_debug_command,
    ]
}

fn debug_server() -> Server {
    Server::builder().debug_library().start()
}

/// A call that works, with keys of the prefix, and where they are.
struct Keyed {
    row: Row,
    call: Args,
    uses: Vec<KeyUse>,
}

impl Keyed {
    fn of(name: &str, words: Words, prefix: &str) -> Keyed {
        let row = spec::row(name);
        let call = Names::new(prefix).fill(words);
        let uses = keys_of(&row, &call);
        Keyed { row, call, uses }
    }

    /// The call with another key at the position of one use.
    fn with_key(&self, used: &KeyUse, key: &str) -> Args {
        let mut call = self.call.clone();
        call[used.position] = key.as_bytes().to_vec();
        call
    }
}

/// One call of every command, RB.DEBUG included, which is the only one whose keys are
/// counted.
fn all_calls(prefix: &str) -> Vec<Keyed> {
    let mut calls: Vec<Keyed> =
        one_call_each().into_iter().map(|(name, _, words)| Keyed::of(name, words, prefix)).collect();
    for write in WRITES {
        let lists = [write.creates, write.replaces, write.deletes].concat();
        calls.extend(lists.into_iter().map(|words| Keyed::of(write.name, words, prefix)));
    }
    calls
}

/// Two nodes that know each other, the first with the lower half of the slots.
struct Pair {
    nodes: [Server; 2],
}

const SLOTS: u32 = 16_384;

impl Pair {
    fn start() -> Pair {
        let node = || {
            Server::builder()
                .debug_library()
                .config("cluster-enabled", "yes")
                .config("cluster-require-full-coverage", "no")
                .start()
        };
        let pair = Pair { nodes: [node(), node()] };
        let halves = [0..SLOTS / 2, SLOTS / 2..SLOTS];
        for (nth, (node, slots)) in pair.nodes.iter().zip(halves).enumerate() {
            let mut add = args!["CLUSTER", "ADDSLOTS"];
            add.extend(slots.map(|slot| slot.to_string().into_bytes()));
            node.client().ok(&add);
            node.client().ok(&args!["CLUSTER", "SET-CONFIG-EPOCH", nth + 1]);
        }
        let port = pair.nodes[1].port().to_string();
        pair.nodes[0].client().ok(&["CLUSTER", "MEET", "127.0.0.1", &port]);
        for node in &pair.nodes {
            let mut client = node.client();
            eventually("both nodes know who has which slots", || {
                let info = client.text(&["CLUSTER", "INFO"]);
                info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
            });
        }
        pair
    }

    /// A hash tag whose slot the node has: `{12}`.
    fn tag_of(&self, node: usize, client: &mut Client, from: u32) -> String {
        let has = |slot: i64| (slot as u32 >= SLOTS / 2) == (node == 1);
        let mut tags = (from..).map(|number| format!("{{{number}}}"));
        let found = tags.find(|tag| has(client.int(&["CLUSTER", "KEYSLOT", tag])));
        found.unwrap_or_else(|| panic!("no tag"))
    }
}

fn a_node_without_the_slot_says_moved_for_every_key() {
    let pair = Pair::start();
    let mut client = pair.nodes[0].client();
    let own = pair.tag_of(0, &mut client, 0);
    let other_own = pair.tag_of(0, &mut client, own.trim_matches(['{', '}']).parse::<u32>().unwrap_or(0) + 1);
    let strange = pair.tag_of(1, &mut client, 0);
    let slot = client.int(&["CLUSTER", "KEYSLOT", &strange]);
    let moved = format!("MOVED {slot} 127.0.0.1:{}", pair.nodes[1].port());
    let cross = "CROSSSLOT Keys in request don't hash to the same slot";
    for call in all_calls(&strange) {
        assert_eq!(client.error(&call.call), moved, "{}", call.row.name());
    }
    for call in all_calls(&own) {
        let name = call.row.name();
        assert!(client.cmd(&call.call).is_ok(), "{name} where its slot is");
        for used in &call.uses {
            let rest_is_strange = call.uses.iter().all(|other| other == used);
            for tag in [&other_own, &strange] {
                let call = call.with_key(used, &format!("{tag}:elsewhere"));
                match (rest_is_strange, tag == &strange) {
                    (false, _) => assert_eq!(client.error(&call), cross, "{name} key at {}", used.position),
                    (true, true) => assert_eq!(client.error(&call), moved, "{name} key at {}", used.position),
                    (true, false) => assert!(client.cmd(&call).is_ok(), "{name} of another slot"),
                }
            }
        }
    }
    // Keys that are counted, which only the module's own parser finds.
    let debug = |key: &str| args!["RB.DEBUG", "KEYS", 2, format!("{own}:a"), key, "OPEN", format!("{own}:a")];
    client.ok(&debug(&format!("{own}:b")));
    assert_eq!(client.error(&debug(&format!("{strange}:b"))), cross);
    assert_eq!(client.error(&["RB.DEBUG", "KEYS", "1", &strange, "OPEN", &strange]), moved);
    assert_eq!(client.error(&["RB.DEBUG", "VALIDATE", &strange]), moved);
}

/// What a user without a permission for a key is told.
fn no_permission_for_a_key(flavor: Flavor) -> &'static str {
    if flavor.is_redis() && flavor.version < (7, 2, 0) {
        "NOPERM this user has no permissions to access one of the keys used as arguments"
    } else {
        "NOPERM No permissions to access a key"
    }
}

fn a_user_needs_a_permission_for_every_key() {
    let server = debug_server();
    server.client().ok(&["ACL", "SETUSER", "u", "on", ">p", "~pub:*", "+@all"]);
    let mut client = server.client_as("u", "p");
    let refusal = no_permission_for_a_key(server.flavor());
    for call in all_calls("pub") {
        let name = call.row.name();
        assert!(client.cmd(&call.call).is_ok(), "{name} of permitted keys");
        for used in &call.uses {
            let refused = call.with_key(used, "private");
            assert_eq!(client.error(&refused), refusal, "{name}, key at {}", used.position);
        }
    }
    assert_eq!(server.client().int(&["EXISTS", "private"]), 0);
    assert_eq!(client.error(&["RB.DEBUG", "KEYS", "2", "pub:a", "private", "OPEN", "pub:a"]), refusal);
    assert_eq!(client.error(&["RB.DEBUG", "KEYS", "1", "private", "OPEN", "pub:a"]), refusal);
    assert_eq!(client.error(&["RB.DEBUG", "VALIDATE", "private"]), refusal);
}

fn a_user_needs_the_permissions_of_the_key_specs() {
    let server = debug_server();
    let users = ["%R~r:*", "%W~w:*", "%RW~rw:*"];
    let mut rule = vec!["ACL", "SETUSER", "u", "on", ">p", "+@all"];
    rule.extend(users);
    server.client().ok(&rule);
    let mut client = server.client_as("u", "p");
    let refusal = no_permission_for_a_key(server.flavor());
    for call in all_calls("rw") {
        let name = call.row.name();
        for used in &call.uses {
            let reads = used.has("access");
            let writes = used.has("insert") || used.has("delete") || used.has("update");
            // A key of which only size and type are told needs any permission at all.
            for (key, permitted) in [("r:key", !writes), ("w:key", !reads), ("rw:key", true)] {
                let outcome = client.cmd(&call.with_key(used, key));
                let expected = if permitted { Ok(()) } else { Err(refusal.to_string()) };
                assert_eq!(outcome.map(|_| ()), expected, "{name}, {key} at {}", used.position);
            }
        }
    }
}

fn keys_named_as_options_are_keys() {
    let server = debug_server();
    let mut client = server.client();
    for word in
        ["NOT", "AND", "RANGE", "LIMIT", "COUNT", "FILTER", "EXPR", "SUM", "FORMAT", "KEYS", "OPEN", "BYID"]
    {
        for call in all_calls("k") {
            client.ok(&["FLUSHALL"]);
            let mut named = call.call.clone();
            for used in &call.uses {
                named[used.position] = word.as_bytes().to_vec();
            }
            let outcome = client.cmd(&named);
            assert!(outcome.is_ok(), "{} of keys named {word}: {outcome:?}", call.row.name());
            let asked: Args = [args!["COMMAND", "GETKEYS"], named].concat();
            assert_eq!(client.texts(&asked), vec![word; call.uses.len()], "{}", call.row.name());
        }
    }
    client.ok(&["RB.DEBUG", "KEYS", "2", "OPEN", "KEYS", "OPEN", "KEYS"]);
}

fn getkeys_asks_the_parser_that_executes() {
    let server = debug_server();
    let mut client = server.client();
    for call in all_calls("k") {
        let keys: Vec<String> = call.uses.iter().map(|used| text_of(&call.call[used.position])).collect();
        let asked: Args = [args!["COMMAND", "GETKEYS"], call.call].concat();
        assert_eq!(client.texts(&asked), keys, "{}", call.row.name());
    }
    let getkeys = ["COMMAND", "GETKEYS", "RB.DEBUG"];
    let of = |call: &[&'static str]| [&getkeys, call].concat();
    assert_eq!(client.texts(&of(&["KEYS", "2", "a", "b", "OPEN", "a"])), ["a", "b"]);
    assert_eq!(client.texts(&of(&["VALIDATE", "a"])), ["a"]);
    client.ok(&["RB.DEBUG", "KEYS", "2", "a", "b", "OPEN", "a"]);
    client.ok(&["RB.DEBUG", "KEYS", "2", "a", "b", "OPEN", "b"]);
    assert_eq!(READS.len() + WRITES.len(), spec::rows().len(), "every command was asked");
}

fn a_count_of_keys_is_read_as_strictly_as_by_the_server() {
    let server = debug_server();
    server.client().ok(&["ACL", "SETUSER", "u", "on", ">p", "~pub:*", "+@all"]);
    let refusal = no_permission_for_a_key(server.flavor());
    for mut client in [server.client(), server.client_as("u", "p")] {
        for count in ["01", "+1", "-1", "99", " 1", "1 ", "0x1", "1.0", "", "9223372036854775808"] {
            for key in ["pub:a", "private"] {
                let error = client.error(&["RB.DEBUG", "KEYS", count, key, "OPEN", key]);
                let is_an_error_of_arguments = error == "ERR syntax error"
                    || error == "ERR value is not an integer or out of range"
                    || error.starts_with("ERR Invalid arguments")
                    || error == refusal;
                assert!(is_an_error_of_arguments, "numkeys {count:?}, key {key}: {error}");
            }
        }
    }
}

fn opening_an_unreported_key_ends_a_debug_build() {
    let mut server = debug_server();
    server.client().ok(&["RB.DEBUG", "KEYS", "1", "reported", "OPEN", "reported"]);
    server.check();
    server.expect_crash();
    let reply = server.client().cmd_or_gone(&["RB.DEBUG", "KEYS", "1", "reported", "OPEN", "other"]);
    assert_eq!(reply, None);
    assert!(!server.wait_for_end().success());
    let log = server.log();
    assert!(log.contains("a command opened a key that it did not report"), "{}", server.log_tail());
}

fn a_panic_is_an_error_reply_and_the_server_lives() {
    let mut server = debug_server();
    let mut client = server.client();
    assert_eq!(client.info_number("roarbits", "roarbits_panics_caught"), 0);
    server.expect_crash();
    for caught in 1..=3 {
        assert_eq!(client.error(&["RB.DEBUG", "PANIC"]), "ERR roarbits: internal error, please report");
        assert_eq!(client.info_number("roarbits", "roarbits_panics_caught"), caught);
        assert_eq!(client.int(&["RB.ADD", "k", &caught.to_string()]), 1);
    }
    assert!(server.log().contains("internal error in RB.DEBUG, please report"), "{}", server.log_tail());
    server.check();
}

fn a_release_build_has_no_debug_command() {
    let server = Server::start();
    let mut client = server.client();
    for call in [["RB.DEBUG", "PANIC"], ["rb.debug", "panic"]] {
        assert!(client.error(&call).starts_with("ERR unknown command"));
    }
    assert_eq!(client.info("roarbits", "roarbits_build").as_deref(), Some("release"));
}
