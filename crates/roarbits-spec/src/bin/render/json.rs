//! `commands.json`: the table for programs, in the vocabulary of the servers'
//! own commands.json. It holds all of a row, so that tests need nothing else.

use roarbits_spec::{Arg, ArgKind, BeginSearch, Command, Example, FindKeys, Flag, KeySpec, Keys};
use serde::Serialize;

/// The document: an array of rows, in the order of `commands`.
///
/// # Errors
/// Whatever the JSON writer reports.
pub fn document<'a>(commands: impl Iterator<Item = &'a Command>) -> Result<String, serde_json::Error> {
    let rows: Vec<Row> = commands.map(Row::from).collect();
    let mut text = serde_json::to_string_pretty(&rows)?;
    text.push('\n');
    Ok(text)
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    complexity: &'static str,
    since: &'static str,
    group: &'static str,
    syntax: String,
    arity: i32,
    /// As given at registration.
    flags: Vec<&'static str>,
    /// As COMMAND INFO replies them.
    command_flags: Vec<&'static str>,
    acl_categories: Vec<String>,
    writes: bool,
    /// The keyspace event of a change.
    event: Option<&'static str>,
    /// Null where the server asks the command (`movable_keys`).
    keys: Option<KeyRange>,
    movable_keys: bool,
    key_specs: Vec<Spec>,
    arguments: Vec<Argument>,
    reply: &'static [&'static str],
    errors: Vec<ErrorText>,
    history: Vec<Change>,
    tips: &'static [&'static str],
    notes: &'static [&'static str],
    examples: Vec<Session>,
}

#[derive(Serialize)]
struct KeyRange {
    first: i32,
    last: i32,
    step: i32,
}

#[derive(Serialize)]
struct Spec {
    flags: Vec<&'static str>,
    begin_search: Search<Begin>,
    find_keys: Search<Find>,
}

#[derive(Serialize)]
struct Search<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    spec: T,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Begin {
    Index { index: i32 },
    Keyword { keyword: &'static str, startfrom: i32 },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Find {
    Range { lastkey: i32, keystep: i32, limit: i32 },
    Keynum { keynumidx: i32, firstkey: i32, keystep: i32 },
}

#[derive(Serialize)]
struct Argument {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_spec_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'static str>,
    optional: bool,
    multiple: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<Argument>,
}

#[derive(Serialize)]
struct ErrorText {
    text: &'static str,
    when: &'static str,
}

#[derive(Serialize)]
struct Change {
    since: &'static str,
    change: &'static str,
}

#[derive(Serialize)]
struct Session {
    input: &'static str,
    output: &'static str,
}

impl From<&Command> for Row {
    fn from(command: &Command) -> Self {
        Self {
            name: command.name,
            summary: command.summary,
            complexity: command.complexity,
            since: command.since,
            group: command.group.word(),
            syntax: command.syntax(),
            arity: command.arity,
            flags: command.flags.iter().copied().map(Flag::registered).collect(),
            command_flags: command.flags.iter().copied().map(Flag::introspected).collect(),
            acl_categories: command.acl_categories().map(|name| format!("@{name}")).to_vec(),
            writes: command.is_write(),
            event: command.event_name(),
            keys: range(command.keys),
            movable_keys: command.movable_keys(),
            key_specs: command.key_specs.iter().map(Spec::from).collect(),
            arguments: command.args.iter().map(Argument::from).collect(),
            reply: command.reply,
            errors: command.errors.iter().map(|&(text, when)| ErrorText { text, when }).collect(),
            history: command.history.iter().map(|&(since, change)| Change { since, change }).collect(),
            tips: command.tips,
            notes: command.notes,
            examples: command.examples.iter().map(Session::from).collect(),
        }
    }
}

fn range(keys: Keys) -> Option<KeyRange> {
    match keys {
        Keys::Range { first, last, step } => Some(KeyRange { first, last, step }),
        Keys::Parsed => None,
    }
}

impl From<&KeySpec> for Spec {
    fn from(spec: &KeySpec) -> Self {
        Self {
            flags: spec.words(),
            begin_search: Search::from(spec.begin),
            find_keys: Search::from(spec.find),
        }
    }
}

impl From<BeginSearch> for Search<Begin> {
    fn from(begin: BeginSearch) -> Self {
        match begin {
            BeginSearch::Index(index) => Self { kind: "index", spec: Begin::Index { index } },
            BeginSearch::Keyword(keyword, startfrom) => {
                Self { kind: "keyword", spec: Begin::Keyword { keyword, startfrom } }
            }
        }
    }
}

impl From<FindKeys> for Search<Find> {
    fn from(find: FindKeys) -> Self {
        match find {
            FindKeys::Range { last, step, limit } => {
                Self { kind: "range", spec: Find::Range { lastkey: last, keystep: step, limit } }
            }
            FindKeys::Numkeys { numkeys, first, step } => Self {
                kind: "keynum",
                spec: Find::Keynum { keynumidx: numkeys, firstkey: first, keystep: step },
            },
        }
    }
}

impl From<&Arg> for Argument {
    fn from(arg: &Arg) -> Self {
        let key_spec_index = match arg.kind {
            ArgKind::Key(index) => Some(index),
            _ => None,
        };
        Self {
            name: arg.name,
            kind: arg.kind.word(),
            key_spec_index,
            token: arg.token,
            optional: arg.optional,
            multiple: arg.multiple,
            since: arg.since,
            arguments: arg.kind.children().iter().map(Self::from).collect(),
        }
    }
}

impl From<&Example> for Session {
    fn from(example: &Example) -> Self {
        Self { input: example.input, output: example.output }
    }
}
