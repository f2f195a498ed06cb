//! Native commands that an operator renamed or disabled: the module runs some of them,
//! and must do without.

use roarbits_tests::{args, tests, Client, Server, TestList};

pub fn tests() -> TestList {
    tests![
        without_get_short_strings_are_read,
        without_setbit_strings_are_refused_and_nothing_is_written,
        without_config_the_default_limit_of_a_bulk_holds,
        without_memory_info_tells_the_rest,
    ]
}

fn server_without(command: &str) -> (Server, Client) {
    let server = Server::builder().config("rename-command", &format!("{command} \"\"")).start();
    let client = server.client();
    (server, client)
}

const NOT_RUN: &str = "ERR the server refused to run the native command, it may be renamed or disabled";

fn without_get_short_strings_are_read() {
    let (_server, mut client) = server_without("GET");
    client.ok(&["SET", "text", "AB"]);
    client.ok(&["SET", "number", "77"]);
    assert_eq!(client.int(&["RB.GETBIT", "text", "1"]), 1);
    assert_eq!(client.int(&["RB.BITCOUNT", "text"]), 4);
    assert_eq!(client.int(&["RB.BITCOUNT", "number"]), 10);
    assert_eq!(client.int(&["RB.BITOP", "OR", "both", "text", "number"]), 2);
}

fn without_setbit_strings_are_refused_and_nothing_is_written() {
    let (_server, mut client) = server_without("SETBIT");
    client.ok(&["SET", "text", "AB"]);
    assert_eq!(client.error(&["RB.SETBIT", "text", "2", "1"]), NOT_RUN);
    for call in
        [["RB.MSETBIT", "new", "1", "1", "text", "2", "1"], ["RB.MSETBIT", "text", "2", "1", "new", "1", "1"]]
    {
        assert_eq!(client.error(&call), NOT_RUN);
        assert_eq!(client.int(&["EXISTS", "new"]), 0);
        assert_eq!(client.text(&["GET", "text"]), "AB");
    }
    assert_eq!(client.ints(&["RB.MSETBIT", "new", "1", "1", "new", "1", "0"]), [0, 1]);
}

fn without_config_the_default_limit_of_a_bulk_holds() {
    let (_server, mut client) = server_without("CONFIG");
    client.ok(&["SET", "text", "AB"]);
    assert_eq!(client.ints(&["RB.MSETBIT", "new", "1", "1", "text", "20000000", "1"]), [0, 0]);
    assert_eq!(client.int(&["STRLEN", "text"]), 2_500_001);
    client.int(&args!["RB.IMPORT", "large", vec![0x55; 2 << 20], "FORMAT", "STRING"]);
    assert_eq!(client.bytes(&["RB.EXPORT", "large", "FORMAT", "STRING"]).len(), 2 << 20);
    client.int(&["RB.SETBIT", "far", "4294967296", "1"]);
    assert_eq!(
        client.error(&["RB.EXPORT", "far", "FORMAT", "STRING"]),
        "ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE"
    );
}

fn without_memory_info_tells_the_rest() {
    let (_server, mut client) = server_without("MEMORY");
    client.ok(&["SET", "text", "AB"]);
    client.int(&["RB.ADD", "ids", "1", "5"]);
    for (key, cardinality) in [("text", 4), ("ids", 2)] {
        let fields = "local i = redis.call('RB.INFO', KEYS[1]) return {i[4], i[8]}";
        assert_eq!(client.ints(&["EVAL", fields, "1", key]), [cardinality, 0]);
    }
}
