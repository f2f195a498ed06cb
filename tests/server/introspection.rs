//! What the server tells of the commands, and the sessions of their rows.

use roarbits_tests::{args, spec, terminal, tests, Server, TestList, Value};

pub fn tests() -> TestList {
    tests![
        every_row_is_registered_and_nothing_else,
        examples_reply_what_the_pages_show,
    ]
}

fn every_row_is_registered_and_nothing_else() {
    let server = Server::start();
    let mut client = server.client();
    let rows = spec::rows();
    for row in &rows {
        let info = client.ask(&args!["COMMAND", "INFO", row.name()]);
        let Value::Array(entries) = info else {
            panic!("COMMAND INFO {}: {info:?}", row.name())
        };
        let Some(Value::Array(entry)) = entries.first() else {
            panic!("{} is not registered", row.name())
        };
        assert_eq!(
            entry.get(1),
            Some(&Value::Int(row.arity())),
            "arity of {}",
            row.name()
        );
    }
    let Value::Array(all) = client.ask(&["COMMAND"]) else {
        panic!("COMMAND replied no array")
    };
    let name = |entry: &Value| match entry {
        Value::Array(fields) => match fields.first() {
            Some(Value::BulkString(name)) => String::from_utf8_lossy(name).to_uppercase(),
            other => panic!("a command named {other:?}"),
        },
        other => panic!("COMMAND has {other:?}"),
    };
    let registered: Vec<String> = all
        .iter()
        .map(name)
        .filter(|name| name.starts_with("RB."))
        .collect();
    let unknown: Vec<&String> = registered
        .iter()
        .filter(|name| !rows.iter().any(|row| row.name() == *name))
        .collect();
    assert!(unknown.is_empty(), "registered without a row: {unknown:?}");
}

fn examples_reply_what_the_pages_show() {
    let server = Server::start();
    let mut client = server.client();
    let mut different = Vec::new();
    for row in spec::rows() {
        client.ok(&["FLUSHALL"]);
        for (input, output) in row.examples() {
            let typed = terminal::split(&input).unwrap_or_else(|problem| panic!("{}: {problem}", row.name()));
            let printed = terminal::print(&client.cmd(&typed));
            if printed != output {
                different.push(format!(
                    "{}: {input}\n  page:   {output}\n  server: {printed}",
                    row.name()
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
