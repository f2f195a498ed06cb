//! What the server tells of the commands.

use roarbits_tests::{args, spec, tests, Server, TestList, Value};

pub fn tests() -> TestList {
    tests![every_row_is_registered_and_nothing_else]
}

fn every_row_is_registered_and_nothing_else() {
    let server = Server::start();
    let mut client = server.client();
    let rows = spec::rows();
    for row in &rows {
        let info = client.ask(&args!["COMMAND", "INFO", row.name()]);
        let Value::Array(entries) = info else { panic!("COMMAND INFO {}: {info:?}", row.name()) };
        let Some(Value::Array(entry)) = entries.first() else { panic!("{} is not registered", row.name()) };
        // Before 7.0 modules cannot say an arity: the server shows -1, the module checks.
        let arity = if server.flavor().is_before_7() { -1 } else { row.arity() };
        assert_eq!(entry.get(1), Some(&Value::Int(arity)), "arity of {}", row.name());
    }
    let Value::Array(all) = client.ask(&["COMMAND"]) else { panic!("COMMAND replied no array") };
    let name = |entry: &Value| match entry {
        Value::Array(fields) => match fields.first() {
            Some(Value::BulkString(name)) => String::from_utf8_lossy(name).to_uppercase(),
            other => panic!("a command named {other:?}"),
        },
        other => panic!("COMMAND has {other:?}"),
    };
    let registered: Vec<String> = all.iter().map(name).filter(|name| name.starts_with("RB.")).collect();
    let unknown: Vec<&String> =
        registered.iter().filter(|name| !rows.iter().any(|row| row.name() == *name)).collect();
    assert!(unknown.is_empty(), "registered without a row: {unknown:?}");
}
