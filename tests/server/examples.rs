//! The command table's examples, run as its pages print them.

use roarbits_tests::{args, spec, terminal, tests, Client, Server, TestList};

pub fn tests() -> TestList {
    tests![every_example_of_every_row_prints_what_its_page_says]
}

fn every_example_of_every_row_prints_what_its_page_says() {
    let server = Server::start();
    let mut client = server.client();
    let rows = spec::rows();
    let wrong: Vec<String> = rows.iter().flat_map(|row| run_session(&mut client, row)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs one row's session on an empty database; what was printed otherwise.
fn run_session(client: &mut Client, row: &spec::Row) -> Vec<String> {
    let (name, examples) = (row.name(), row.examples());
    client.ok(&args!["FLUSHALL"]);
    assert!(examples.iter().any(|(input, _)| input.starts_with(name)), "{name} has no example that calls it");
    examples
        .into_iter()
        .filter_map(|(input, output)| {
            let typed = terminal::split(&input).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            let printed = terminal::print(&client.cmd(&typed));
            (printed != output)
                .then(|| format!("{name}: {input}\n  page:   {output:?}\n  server: {printed:?}"))
        })
        .collect()
}
