//! What the server tells of the module: its commands as their rows have them, its
//! configs, its section of INFO, and what it says when it refuses to load.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use roarbits_tests::spec::{self, Row};
use roarbits_tests::{args, places, tests, Client, Flavor, Server, TestList, Value};
use serde_json::{json, Map, Value as Json};

pub fn tests() -> TestList {
    tests![
        command_info_is_the_row,
        command_docs_is_the_row,
        key_specs_are_the_rows,
        every_row_is_registered_and_nothing_else,
        categories_are_given_where_modules_can_give_them,
        the_module_is_listed_with_its_version,
        info_has_a_section_of_the_module,
        max_reply_is_a_config_of_the_server,
        load_arguments_are_defaults_that_the_config_file_beats,
        wrong_load_arguments_are_refused_with_the_reason,
    ]
}

/// The entry of COMMAND INFO.
fn command_info(client: &mut Client, name: &str) -> Vec<Value> {
    let Value::Array(mut entries) = client.ask(&args!["COMMAND", "INFO", name]) else {
        panic!("COMMAND INFO {name} is no array")
    };
    match entries.pop() {
        Some(Value::Array(fields)) => fields,
        other => panic!("{name} is not registered: {other:?}"),
    }
}

/// A reply of RESP3 as JSON; sets are sorted arrays.
fn json_of(value: &Value) -> Json {
    match value {
        Value::Int(number) => json!(number),
        Value::SimpleString(text) => json!(text),
        Value::BulkString(bytes) => json!(String::from_utf8_lossy(bytes)),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::Set(items) => sorted(items.iter().map(json_of).collect()),
        Value::Map(pairs) => {
            let pair = |(name, value): &(Value, Value)| match json_of(name) {
                Json::String(name) => (name, json_of(value)),
                other => panic!("a map with the name {other}"),
            };
            Json::Object(pairs.iter().map(pair).collect())
        }
        other => panic!("{other:?} where COMMAND tells of a command"),
    }
}

fn sorted(mut items: Vec<Json>) -> Json {
    items.sort_by_key(Json::to_string);
    Json::Array(items)
}

fn words(value: &Json) -> BTreeSet<String> {
    let items = value.as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item.as_str().unwrap_or_default().to_string()).collect()
}

fn field(row: &Row, name: &str) -> Json {
    row.json().get(name).cloned().unwrap_or_else(|| panic!("{} has no {name}", row.name()))
}

fn command_info_is_the_row() {
    let server = Server::start();
    let mut client = if server.flavor().is_before_7() { server.client() } else { server.resp3() };
    for row in spec::rows() {
        let info = command_info(&mut client, row.name());
        let at = |position: usize| info.get(position).map(json_of).unwrap_or_default();
        assert_eq!(at(0), json!(row.name().to_lowercase()));
        // Before 7.0 modules cannot say an arity: the server shows -1, the module checks.
        let arity = if server.flavor().is_before_7() { -1 } else { row.arity() };
        assert_eq!(at(1), json!(arity), "arity of {}", row.name());
        let mut flags = words(&field(&row, "command_flags"));
        if !server.flavor().is_before_7() {
            flags.insert("module".to_string());
        }
        let keys = field(&row, "keys");
        if keys.is_null() {
            // The module tells where they are, in every call anew.
            flags.insert("movablekeys".to_string());
        }
        assert_eq!(words(&at(2)), flags, "flags of {}", row.name());
        let triple = if keys.is_null() {
            json!([0, 0, 0])
        } else {
            json!([keys["first"], keys["last"], keys["step"]])
        };
        // Of keys that the module tells, later servers show what the specs say of a first one.
        let of_specs = json!([1, 1, 1]);
        let shown = json!([at(3), at(4), at(5)]);
        let is_first = keys.is_null() && has_range_spec(&row) && shown == of_specs;
        assert!(shown == triple || is_first, "keys of {}: {shown}", row.name());
        if !server.flavor().is_before_7() {
            assert_eq!(words(&at(7)), words(&field(&row, "tips")), "tips of {}", row.name());
        }
    }
}

/// True if a spec of the row is a range from the first argument on.
fn has_range_spec(row: &Row) -> bool {
    let specs = field(row, "key_specs");
    specs.as_array().into_iter().flatten().any(|spec| {
        spec["find_keys"]["type"] == json!("range") && spec["begin_search"]["spec"]["index"] == json!(1)
    })
}

fn key_specs_are_the_rows() {
    let server = Server::start();
    let mut client = server.resp3();
    for row in spec::rows() {
        let info = command_info(&mut client, row.name());
        let told = info.get(8).map(json_of).unwrap_or_default();
        let mut expected = field(&row, "key_specs");
        for key_spec in expected.as_array_mut().into_iter().flatten() {
            let flags = key_spec["flags"].as_array().cloned().unwrap_or_default();
            key_spec["flags"] = sorted(flags);
        }
        assert_eq!(told, expected, "key specs of {}", row.name());
    }
}

fn command_docs_is_the_row() {
    let server = Server::start();
    let mut client = server.resp3();
    for row in spec::rows() {
        let docs = json_of(&client.ask(&args!["COMMAND", "DOCS", row.name()]));
        let mut told = docs[row.name().to_lowercase()].as_object().cloned().unwrap_or_default();
        let arguments = told.remove("arguments").unwrap_or_default();
        let history = told.remove("history").unwrap_or_else(|| json!([]));
        let expected = json!({
            "summary": field(&row, "summary"),
            "since": field(&row, "since"),
            "complexity": field(&row, "complexity"),
            // Servers set it for every module.
            "group": "module",
            "module": "roarbits",
        });
        assert_eq!(Json::Object(told), expected, "{}", row.name());
        let entry = |entry: &Json| json!([entry["since"], entry["change"]]);
        let expected: Json = field(&row, "history").as_array().into_iter().flatten().map(entry).collect();
        assert_eq!(history, expected, "history of {}", row.name());
        assert_eq!(
            without_display(arguments),
            told_of(&field(&row, "arguments")),
            "arguments of {}",
            row.name()
        );
    }
}

/// Servers from 7.2 on add how an argument is displayed, which is its name.
fn without_display(arguments: Json) -> Json {
    let Json::Array(arguments) = arguments else { panic!("no arguments: {arguments}") };
    let argument = |argument: Json| {
        let Json::Object(mut fields) = argument else { panic!("no argument: {argument}") };
        if let Some(display) = fields.remove("display_text") {
            assert_eq!(Some(&display), fields.get("name"));
        }
        if let Some(inner) = fields.remove("arguments") {
            fields.insert("arguments".to_string(), without_display(inner));
        }
        Json::Object(fields)
    };
    arguments.into_iter().map(argument).collect()
}

/// Arguments of a row as COMMAND DOCS tells them.
fn told_of(arguments: &Json) -> Json {
    let argument = |argument: &Json| {
        let mut told = Map::new();
        for name in ["name", "type", "key_spec_index", "token", "since"] {
            if let Some(value) = argument.get(name) {
                told.insert(name.to_string(), value.clone());
            }
        }
        let is_set = |flag: &&str| argument[*flag] == json!(true);
        let flags: Vec<Json> =
            ["multiple", "optional"].iter().filter(|flag| is_set(flag)).map(|flag| json!(flag)).collect();
        if !flags.is_empty() {
            told.insert("flags".to_string(), Json::Array(flags));
        }
        if let Some(inner) = argument.get("arguments") {
            told.insert("arguments".to_string(), told_of(inner));
        }
        Json::Object(told)
    };
    arguments.as_array().into_iter().flatten().map(argument).collect()
}

fn every_row_is_registered_and_nothing_else() {
    let (server, plain) = (Server::start(), Server::plain().start());
    let rows: BTreeSet<String> = spec::rows().iter().map(|row| row.name().to_lowercase()).collect();
    let names = |client: &mut Client| -> BTreeSet<String> {
        let Value::Array(all) = client.ask(&["COMMAND"]) else { panic!("COMMAND is no array") };
        let name = |entry: &Value| match entry {
            Value::Array(fields) => json_of(&fields[0]).as_str().unwrap_or_default().to_string(),
            other => panic!("COMMAND has {other:?}"),
        };
        all.iter().map(name).collect()
    };
    let (mut with, mut without) = (server.client(), plain.client());
    let added: BTreeSet<String> = names(&mut with).difference(&names(&mut without)).cloned().collect();
    assert_eq!(added, rows);
    let counts = (with.int(&["COMMAND", "COUNT"]), without.int(&["COMMAND", "COUNT"]));
    assert_eq!(counts.0 - counts.1, rows.len() as i64);
    if !server.flavor().is_before_7() {
        let listed = with.texts(&["COMMAND", "LIST", "FILTERBY", "MODULE", "roarbits"]);
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), rows);
    }
}

fn categories_are_given_where_modules_can_give_them() {
    let server = Server::start();
    let mut client = server.client();
    let has_categories = server.flavor().has_module_acl_categories();
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in spec::rows() {
        let categories = words(&field(&row, "acl_categories"));
        for category in &categories {
            members.entry(category.clone()).or_default().insert(row.name().to_lowercase());
        }
        let told = words(&json_of(&command_info(&mut client, row.name())[6]));
        let expected = if has_categories { categories } else { BTreeSet::new() };
        assert_eq!(told, expected, "categories of {}", row.name());
    }
    for (category, expected) in members {
        let name = category.trim_start_matches('@');
        if has_categories {
            let listed: BTreeSet<String> = client.texts(&["ACL", "CAT", name]).into_iter().collect();
            let own = listed.into_iter().filter(|name| name.starts_with("rb."));
            assert_eq!(own.collect::<BTreeSet<_>>(), expected, "{category}");
        } else if name == "roarbits" {
            assert_eq!(client.error(&["ACL", "CAT", name]), "ERR Unknown category 'roarbits'");
        }
    }
    if has_categories {
        client.ok(&["ACL", "SETUSER", "u", "on", ">p", "~*", "+@roarbits", "-@write"]);
        let mut reader = server.client_as("u", "p");
        assert_eq!(reader.int(&["RB.BITCOUNT", "k"]), 0);
        assert!(reader.error(&["RB.SETBIT", "k", "1", "1"]).starts_with("NOPERM"));
        assert!(reader.error(&["GET", "k"]).starts_with("NOPERM"));
    }
}

/// The version in the workspace's manifest.
fn released_version() -> (u32, u32, u32) {
    let manifest = fs::read_to_string(places::repository().join("Cargo.toml")).unwrap_or_default();
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|rest| rest.strip_suffix('"')).expect("the workspace has a version");
    let numbers: Vec<u32> = version.split('.').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [major, minor, patch] => (major, minor, patch),
        _ => panic!("the version {version}"),
    }
}

fn the_module_is_listed_with_its_version() {
    let server = Server::builder().module_args(&["max-reply", "7"]).start();
    let Value::Array(modules) = server.client().ask(&["MODULE", "LIST"]) else {
        panic!("MODULE LIST is no array")
    };
    let fields = |module: &Value| -> BTreeMap<String, Json> {
        let Value::Array(flat) = module else { panic!("MODULE LIST has {module:?}") };
        let pairs = flat.chunks_exact(2);
        pairs
            .map(|pair| (json_of(&pair[0]).as_str().unwrap_or_default().to_string(), json_of(&pair[1])))
            .collect()
    };
    let own: Vec<_> =
        modules.iter().map(fields).filter(|module| module["name"] == json!("roarbits")).collect();
    assert_eq!(own.len(), 1, "{modules:?}");
    let (major, minor, patch) = released_version();
    assert_eq!(own[0]["ver"], json!(10_000 * major + 100 * minor + patch));
    if !server.flavor().is_before_7() {
        assert_eq!(own[0]["args"], json!(["max-reply", "7"]));
    }
}

fn info_has_a_section_of_the_module() {
    let server = Server::start();
    let mut client = server.client();
    let text = client.text(&["INFO", "roarbits"]);
    let fields: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    let expected = [
        "version",
        "build",
        "threads",
        "queue",
        "offloaded",
        "inline",
        "inline_forced",
        "refused",
        "cancelled",
        "retried",
        "longest_inline_us",
        "snapshots_live",
        "snapshot_bytes",
        "work_us",
        "offload_bytes",
        "drops_pending",
        "drops_done",
        "panics_caught",
    ];
    assert_eq!(fields, expected.map(|name| format!("roarbits_{name}")), "{text}");
    let (major, minor, patch) = released_version();
    let version = client.info("roarbits", "roarbits_version");
    assert_eq!(version, Some(format!("{major}.{minor}.{patch}")));
    assert_eq!(client.info("roarbits", "roarbits_build").as_deref(), Some("release"));
    assert!(client.text(&["INFO", "everything"]).contains("# roarbits\r\n"));
}

const TOO_LARGE: &str = "ERR reply too large, use LIMIT or RB.SCAN";

/// True if a list of so many ids is replied.
fn replies(client: &mut Client, ids: u64) -> bool {
    client.ask(&["DEL", "k"]);
    client.ask(&args!["RB.ADDRANGE", "k", 1, ids]);
    match client.cmd(&["RB.RANGE", "k", "0", "-1"]) {
        Ok(Value::Array(items)) => {
            assert_eq!(items.len() as u64, ids);
            true
        }
        Err(text) => {
            assert_eq!(text, TOO_LARGE);
            false
        }
        other => panic!("RB.RANGE replied {other:?}"),
    }
}

fn max_reply_is_a_config_of_the_server() {
    let server = Server::start();
    let mut client = server.client();
    let name = "roarbits.max-reply";
    if server.flavor().is_before_7() {
        assert_eq!(client.texts(&["CONFIG", "GET", name]), Vec::<String>::new());
        assert!(client.error(&["CONFIG", "SET", name, "3"]).starts_with("ERR Unsupported CONFIG parameter"));
        return;
    }
    assert_eq!(client.texts(&["CONFIG", "GET", name]), [name, "1000000"]);
    client.ok(&["CONFIG", "SET", name, "3"]);
    assert_eq!(client.texts(&["CONFIG", "GET", name]), [name, "3"]);
    assert!(replies(&mut client, 3) && !replies(&mut client, 4));
    for wrong in ["0", "-1", "many", "9223372036854775808"] {
        assert!(
            client.error(&["CONFIG", "SET", name, wrong]).starts_with("ERR CONFIG SET failed"),
            "{wrong}"
        );
    }
    assert_eq!(client.texts(&["CONFIG", "GET", name]), [name, "3"]);
}

fn load_arguments_are_defaults_that_the_config_file_beats() {
    let loaded = Server::builder().module_args(&["MAX-REPLY", "5"]).start();
    assert!(replies(&mut loaded.client(), 5) && !replies(&mut loaded.client(), 6));
    if !Flavor::current().is_before_7() {
        let both =
            Server::builder().module_args(&["max-reply", "5"]).config("roarbits.max-reply", "7").start();
        assert!(replies(&mut both.client(), 7) && !replies(&mut both.client(), 8));
    }
}

fn wrong_load_arguments_are_refused_with_the_reason() {
    let range = "not loaded: max-reply must be a number from 1 to 2147483648, not";
    let refused: [(&[&str], &str); 7] = [
        (&["speed", "3"], "not loaded: unknown load argument 'speed'"),
        (&["max-reply"], "not loaded: load argument max-reply has no value"),
        (&["max-reply", "5", "max-reply"], "not loaded: load argument max-reply has no value"),
        (&["max-reply", "0"], &format!("{range} '0'")),
        (&["max-reply", "-5"], &format!("{range} '-5'")),
        (&["max-reply", "many"], &format!("{range} 'many'")),
        (&["max-reply", "9223372036854775808"], &format!("{range} '9223372036854775808'")),
    ];
    for (arguments, reason) in refused {
        match Server::builder().module_args(arguments).try_start() {
            Ok(_) => panic!("{arguments:?} was taken"),
            Err(report) => assert!(report.contains(reason), "{arguments:?}: {report}"),
        }
    }
}
