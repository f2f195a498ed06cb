//! What is refused, in which words, and how keys are counted.

use roarbits_tests::{args, Args, Server, Value};

use super::{bulk, days, words};

pub fn a_syntax_error_names_its_place() {
    let server = Server::start();
    let mut client = server.client();
    days(&mut client);
    let shell = "; a shell may have replaced $1: put the expression in single quotes";
    let known = "any, all, xor, atleast, exactly, streak and range";
    let errors = [
        ("$1 & & $2", "expected an operand at position 6".to_string()),
        ("$1 & $4", "$4 but only 3 keys are given at position 6".to_string()),
        ("$1 & ($2 | $3", "unbalanced parentheses: not closed is the one at position 6".to_string()),
        ("$1 & $2)", "unbalanced parentheses: not opened is the one at position 8".to_string()),
        ("some($1)", format!("unknown function 'some' (there are {known}) at position 1")),
        ("$0", "$0 but keys are numbered from $1 at position 1".to_string()),
        ("atleast(0, *)", "k must be at least 1 at position 9".to_string()),
        (
            "$1 | range(0, 18446744073709551616)",
            "an id is not above 18446744073709551615 at position 15".to_string(),
        ),
        (" &  & ", format!("expected an operand at position 2{shell}")),
    ];
    for (text, wanted) in errors {
        let wanted = format!("ERR expression: {wanted}");
        let found = client.error(&["RB.EXPR", "3", "mon", "tue", "wed", text]);
        assert!(found.starts_with(&wanted), "{text}: {found}");
        let found = client.error(&["RB.EXPRSTORE", "dest", "3", "mon", "tue", "wed", text]);
        assert!(found.starts_with(&wanted), "{text}: {found}");
    }
    let only = client.error(&["RB.EXPR", "1", "mon", "$2"]);
    assert_eq!(only, "ERR expression: $2 but only 1 key is given at position 1");
    for text in ["$1 >= 2", "$1 in (1, 2)", "$1 between 1 and 9", "2 & ($1 == -3)"] {
        let found = client.error(&["RB.EXPR", "1", "mon", text]);
        let is_told = found.contains("only columns have values") || text.starts_with('2');
        assert!(found.starts_with("ERR expression: ") && is_told, "{text}: {found}");
    }
    let deep = format!("{}$1{}", "(".repeat(65), ")".repeat(65));
    assert!(client
        .error(&["RB.EXPR", "1", "mon", &deep])
        .starts_with("ERR expression: nested deeper than 64"));
    let long = format!("$1{}", " ".repeat(64 << 10));
    assert!(client.error(&["RB.EXPR", "1", "mon", &long]).contains("longer than 65536 bytes"));
    let many = vec!["$1"; 17_000].join("|");
    assert!(client.error(&["RB.EXPR", "1", "mon", &many]).contains("more than 16384 operands and operators"));
    assert_eq!(client.int(&["EXISTS", "dest"]), 0);
}

pub fn options_are_checked_and_obeyed() {
    let server = Server::start();
    let mut client = server.client();
    days(&mut client);
    let ask = |rest: &str| words(&format!("RB.EXPR 3 mon tue wed 'any(*)' {rest}"));
    let syntax = "ERR syntax error";
    for wrong in [
        "WHO",
        "COUNT COUNT",
        "COUNT EXPLAIN",
        "COUNT IDS",
        "IDS COUNT",
        "IDS EXPLAIN",
        "IDS AFTER",
        "IDS AFTER 1 AFTER 2",
        "IDS LIMIT 0",
        "IDS LIMIT 0 1 LIMIT 0 1",
        "TEST",
        "EXPLAIN EXPLAIN",
        "EXPLAIN TEST",
        "AFTER 1",
        "LIMIT 0 1",
    ] {
        assert_eq!(client.error(&ask(wrong)), syntax, "{wrong}");
    }
    let (id, number) =
        ("ERR id is not an integer or out of range", "ERR value is not an integer or out of range");
    for (wrong, text) in [
        ("TEST x", id),
        ("TEST 1 COUNT", id),
        ("TEST -1", id),
        ("IDS AFTER -1", id),
        ("IDS AFTER 18446744073709551616", id),
        ("IDS LIMIT x 1", number),
        ("IDS LIMIT 00 1", number),
        ("IDS LIMIT 0 +1", number),
    ] {
        assert_eq!(client.error(&ask(wrong)), text, "{wrong}");
    }
    let five = ["1", "2", "3", "4", "5"].map(bulk);
    let all = [five.as_slice(), &[bulk("7301234567890123456")]].concat();
    for (right, ids) in [
        ("ids", &all[..]),
        ("IDS AFTER 0", &all[..]),
        ("IDS AFTER 0005", &all[5..]),
        ("IDS AFTER 18446744073709551615", &[]),
        ("IDS LIMIT 1 3", &all[1..4]),
        ("IDS LIMIT 0 0", &[]),
        ("IDS LIMIT 9 9", &[]),
        ("IDS LIMIT 4 -1", &all[4..]),
        ("IDS LIMIT -1 3", &[]),
        ("IDS limit 1 2 after 2", &all[3..5]),
    ] {
        assert_eq!(client.ask(&ask(right)), Value::Array(ids.to_vec()), "{right}");
    }
    assert_eq!(client.int(&ask("")), 6);
    assert_eq!(client.int(&ask("count")), 6);
    assert_eq!(client.ints(&ask("TEST 0 1 007301234567890123456 1")), [0, 1, 1, 1]);
    let store = |rest: &str| words(&format!("RB.EXPRSTORE dest 1 mon '$1' {rest}"));
    for wrong in ["EX", "EX 5 EX 6", "PX 5", "NX", "EX 5 6"] {
        assert_eq!(client.error(&store(wrong)), syntax, "{wrong}");
    }
    let expire = "ERR invalid expire time in 'rb.exprstore' command";
    for wrong in ["0", "-1", "9223372036854775807", "9223372036854775"] {
        assert_eq!(client.error(&store(&format!("EX {wrong}"))), expire, "{wrong}");
    }
    for wrong in ["x", "05", "+5", "9223372036854775808"] {
        assert_eq!(client.error(&store(&format!("EX {wrong}"))), number, "{wrong}");
    }
    assert_eq!(client.int(&["EXISTS", "dest"]), 0);
    assert_eq!(client.error(&["RB.BITOPCARD", "NOT", "mon"]), syntax);
    assert_eq!(client.error(&["RB.BITOPCARD", "NAND", "mon", "tue"]), syntax);
    for two in ["DIFF", "DIFF1", "ANDOR"] {
        let text = format!("ERR BITOP {two} must be called with at least two source keys.");
        assert_eq!(client.error(&["RB.BITOPCARD", two, "mon"]), text);
    }
}

pub fn a_count_of_keys_is_read_as_strictly_as_by_the_server() {
    let server = Server::builder().debug_library().start();
    let mut admin = server.client();
    admin.ok(&["ACL", "SETUSER", "u", "on", ">p", "~pub:*", "+@all"]);
    admin.int(&["RB.ADD", "private", "1"]);
    for mut client in [server.client(), server.client_as("u", "p")] {
        for count in
            ["01", "+1", "-1", "0", "99", " 1", "1 ", "0x1", "1.0", "", "9223372036854775808", "1025"]
        {
            for key in ["pub:a", "private"] {
                for call in [
                    args!["RB.EXPR", count, key, "$1", "COUNT"],
                    args!["RB.EXPRSTORE", "pub:dest", count, key, "$1", "EX", "1"],
                ] {
                    let error = client.error(&call);
                    let is_of_the_count = [
                        "ERR numkeys should be greater than 0",
                        "ERR value is not an integer or out of range",
                        "ERR Number of keys can't be greater than number of args",
                        "ERR too many keys (1025, limit 1024)",
                    ]
                    .contains(&error.as_str())
                        || error.starts_with("NOPERM")
                        || error.starts_with("ERR Invalid arguments")
                        || error == "ERR syntax error";
                    assert!(is_of_the_count, "numkeys {count:?}, key {key}: {error}");
                }
            }
        }
    }
    // The expression is taken for a key, and lacks.
    assert_eq!(admin.error(&["RB.EXPR", "2", "pub:a", "$1"]), "ERR syntax error");
    assert_eq!(admin.int(&["EXISTS", "pub:dest"]), 0);
}

pub fn keys_named_as_options_are_keys() {
    let server = Server::builder().debug_library().start();
    let mut client = server.client();
    let names = ["COUNT", "IDS", "LIMIT", "EXPLAIN", "TEST", "AFTER", "EX", "$1", "*", "1"];
    for (nth, name) in names.iter().enumerate() {
        client.int(&args!["RB.ADD", *name, nth, 100]);
    }
    let mut call: Args = args!["RB.EXPR", names.len()];
    call.extend(args_of(&names));
    call.extend(args!["exactly(1, *)", "IDS", "LIMIT", 0, 3]);
    assert_eq!(client.texts(&call), ["0", "1", "2"]);
    assert_eq!(client.texts(&[args!["COMMAND", "GETKEYS"], call].concat()), names);
    let mut call: Args = args!["RB.EXPRSTORE", "EX", names.len()];
    call.extend(args_of(&names));
    call.extend(args!["all(*)", "EX", 100]);
    assert_eq!(client.int(&call), 1);
    assert_eq!(client.texts(&["RB.RANGE", "EX", "0", "-1"]), ["100"]);
    let keys = [&["EX"], &names[..]].concat();
    assert_eq!(client.texts(&[args!["COMMAND", "GETKEYS"], call].concat()), keys);
    assert_eq!(client.int(&["RB.BITOPCARD", "ONE", "OR", "AND"]), 0);
    let getkeys = ["COMMAND", "GETKEYS", "RB.BITOPCARD", "ONE", "OR", "AND", "NOT"];
    assert_eq!(client.texts(&getkeys), ["OR", "AND", "NOT"]);
    assert_eq!(client.texts(&["COMMAND", "GETKEYS", "RB.COMPARE", "IDS", "EXPLAIN"]), ["IDS", "EXPLAIN"]);
    // A word that is no key is none, even where a number of keys could be meant.
    let call = ["COMMAND", "GETKEYS", "RB.EXPR", "1", "1", "$1", "IDS", "AFTER", "5"];
    assert_eq!(client.texts(&call), ["1"]);
}

fn args_of(words: &[&str]) -> Args {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
