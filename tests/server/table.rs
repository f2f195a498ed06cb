//! What each command needs so that loops can show things of all of them: for a
//! write a call that creates, one that changes, one that changes nothing; for a
//! read a call that answers. Tests take kinds and cases, never copies of them: a
//! new type is a `Kind`, a new command a line below, and a command of the table
//! (`docs/commands.json`) without a line fails [`complete`].
//!
//! Calls are words. `KEY` is the key that is written (or read), `OTHER` a second
//! one of the same kind, `SOURCE` one that is only read, `MISSING` one that never
//! exists; [`Names`] says how the four are called in a database.

use std::collections::BTreeSet;

use roarbits_tests::spec::{self, Row};
use roarbits_tests::{args, Args, Client, Value};

/// Words of a call, placeholders among them.
pub type Words = &'static [&'static str];

/// A data type of the module.
pub struct Kind {
    /// As TYPE replies it.
    pub name: &'static str,
    /// Makes what `KEY` and `OTHER` hold before a call that changes.
    pub sample: Words,
    /// Makes what `SOURCE` holds.
    pub source: Words,
    /// Changes any key of the kind, however it was made.
    pub touch: Words,
    /// Takes the sample and makes it differ in the least way, one call each.
    pub least_differences: &'static [Words],
    /// Each list makes the same value from nothing.
    pub histories: &'static [&'static [Words]],
    /// The value as bytes: one value, one text.
    pub export: Words,
}

/// Compressed bitmaps.
pub static BITMAP: Kind = Kind {
    name: "rb-bitmap",
    sample: &["RB.ADD", "KEY", "1", "5", "70000"],
    source: &["RB.ADD", "SOURCE", "5", "9", "7301234567890123456"],
    touch: &["RB.FLIPRANGE", "KEY", "3", "3"],
    least_differences: &[
        &["RB.ADD", "KEY", "6"],
        &["RB.REM", "KEY", "5"],
        // 70000 is in byte 8750: one byte more, no id more.
        &["RB.SETBIT", "KEY", "70008", "0"],
    ],
    histories: &[
        &[&["RB.ADD", "KEY", "0", "1", "2", "70000"]],
        &[&["RB.ADD", "KEY", "70000"], &["RB.ADDRANGE", "KEY", "0", "2"]],
        &[&["RB.ADDRANGE", "KEY", "0", "70000"], &["RB.REMRANGE", "KEY", "3", "69999"]],
        &[&["RB.SETBIT", "KEY", "70000", "1"], &["RB.FLIPRANGE", "KEY", "-", "2"]],
    ],
    export: &["RB.EXPORT", "KEY", "FORMAT", "NATIVE"],
};

/// Every kind there is.
pub static KINDS: &[&Kind] = &[&BITMAP];

/// What becomes of a plain string in the key that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnString {
    /// The native command runs on it, with its event.
    Native(&'static str),
    /// It is refused with a text that names RB.CONVERT.
    Refused,
    /// It is overwritten, like anything else.
    Replaced,
}

/// What the server's `maxmemory` means to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It can grow: refused when memory is out.
    Grows,
    /// It only frees: always allowed.
    Frees,
}

/// A write command.
pub struct Write {
    /// As typed.
    pub name: &'static str,
    /// What its key holds.
    pub kind: &'static Kind,
    /// See there.
    pub memory: Memory,
    /// See there.
    pub on_string: OnString,
    /// Create `KEY` (and `OTHER` where it is named) from nothing.
    pub creates: &'static [Words],
    /// Change samples, each key that is written.
    pub changes: &'static [Words],
    /// Change nothing in samples.
    pub same: &'static [Words],
    /// Change nothing where `KEY` is missing, and do not create it.
    pub same_on_missing: &'static [Words],
    /// Store over a `KEY` of any type and drop its TTL.
    pub replaces: &'static [Words],
    /// Delete a `KEY` of any type.
    pub deletes: &'static [Words],
}

/// What a read does with a string that is a HyperLogLog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnHll {
    /// A string is a string, as to the native command of that name.
    Read,
    /// It is no set of ids.
    Refused,
}

/// A read command.
pub struct Read {
    /// As typed.
    pub name: &'static str,
    /// What its key holds.
    pub kind: &'static Kind,
    /// See there.
    pub on_hll: OnHll,
    /// A call that answers.
    pub call: Words,
}

/// Every write command.
pub static WRITES: &[Write] = &[
    Write {
        name: "RB.SETBIT",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Native("setbit"),
        creates: &[&["RB.SETBIT", "KEY", "18446744073709551615", "1"], &["RB.SETBIT", "KEY", "1000", "0"]],
        changes: &[
            &["RB.SETBIT", "KEY", "6", "1"],
            &["RB.SETBIT", "KEY", "5", "0"],
            &["RB.SETBIT", "KEY", "80000", "0"],
        ],
        same: &[&["RB.SETBIT", "KEY", "5", "1"], &["RB.SETBIT", "KEY", "6", "0"]],
        same_on_missing: &[],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.MSETBIT",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Native("setbit"),
        creates: &[&["RB.MSETBIT", "KEY", "18446744073709551615", "1", "OTHER", "7", "0"]],
        changes: &[
            &["RB.MSETBIT", "KEY", "6", "1", "OTHER", "5", "0"],
            &["RB.MSETBIT", "KEY", "6", "1", "KEY", "7", "1"],
        ],
        same: &[&["RB.MSETBIT", "KEY", "5", "1", "OTHER", "6", "0"]],
        same_on_missing: &[],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.BITOP",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Replaced,
        creates: &[&["RB.BITOP", "OR", "KEY", "SOURCE", "MISSING"], &["RB.BITOP", "NOT", "KEY", "SOURCE"]],
        changes: &[
            &["RB.BITOP", "NOT", "KEY", "SOURCE"],
            &["RB.BITOP", "XOR", "KEY", "KEY", "SOURCE"],
            &["RB.BITOP", "ONE", "KEY", "OTHER", "SOURCE", "MISSING"],
        ],
        same: &[],
        same_on_missing: &[&["RB.BITOP", "OR", "KEY", "MISSING"]],
        replaces: &[&["RB.BITOP", "AND", "KEY", "SOURCE"]],
        deletes: &[&["RB.BITOP", "AND", "KEY", "MISSING", "MISSING"]],
    },
    Write {
        name: "RB.ADD",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Refused,
        creates: &[&["RB.ADD", "KEY", "0", "18446744073709551615"]],
        changes: &[&["RB.ADD", "KEY", "5", "6"], &["RB.ADD", "KEY", "7301234567890123456"]],
        same: &[&["RB.ADD", "KEY", "5", "1"]],
        same_on_missing: &[],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.REM",
        kind: &BITMAP,
        memory: Memory::Frees,
        on_string: OnString::Refused,
        creates: &[],
        changes: &[&["RB.REM", "KEY", "5", "6"], &["RB.REM", "KEY", "1", "5", "70000"]],
        same: &[&["RB.REM", "KEY", "6", "18446744073709551615"]],
        same_on_missing: &[&["RB.REM", "KEY", "5"]],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.ADDRANGE",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Refused,
        creates: &[&["RB.ADDRANGE", "KEY", "-", "+"], &["RB.ADDRANGE", "KEY", "10", "10"]],
        changes: &[&["RB.ADDRANGE", "KEY", "5", "6"], &["RB.ADDRANGE", "KEY", "-", "+"]],
        same: &[&["RB.ADDRANGE", "KEY", "5", "5"], &["RB.ADDRANGE", "KEY", "9", "3"]],
        same_on_missing: &[&["RB.ADDRANGE", "KEY", "9", "3"]],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.REMRANGE",
        kind: &BITMAP,
        memory: Memory::Frees,
        on_string: OnString::Refused,
        creates: &[],
        changes: &[&["RB.REMRANGE", "KEY", "5", "60000"], &["RB.REMRANGE", "KEY", "-", "+"]],
        same: &[&["RB.REMRANGE", "KEY", "6", "60000"], &["RB.REMRANGE", "KEY", "9", "3"]],
        same_on_missing: &[&["RB.REMRANGE", "KEY", "-", "+"]],
        replaces: &[],
        deletes: &[],
    },
    Write {
        name: "RB.FLIPRANGE",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Refused,
        creates: &[&["RB.FLIPRANGE", "KEY", "-", "+"]],
        changes: &[&["RB.FLIPRANGE", "KEY", "5", "5"], &["RB.FLIPRANGE", "KEY", "-", "+"]],
        same: &[&["RB.FLIPRANGE", "KEY", "9", "3"]],
        same_on_missing: &[&["RB.FLIPRANGE", "KEY", "9", "3"]],
        replaces: &[],
        deletes: &[],
    },
    // As strings, `D` is the ids 1 and 5, `C` is 1, 6 and 7, `U` is 1, 3, 5 and 7.
    Write {
        name: "RB.IMPORT",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Refused,
        creates: &[
            &["RB.IMPORT", "KEY", "D", "FORMAT", "STRING"],
            &["RB.IMPORT", "KEY", "D", "FORMAT", "STRING", "OR"],
            &["RB.IMPORT", "KEY", "D", "AND", "FORMAT", "STRING"],
        ],
        changes: &[
            &["RB.IMPORT", "KEY", "C", "FORMAT", "STRING", "OR"],
            &["RB.IMPORT", "KEY", "C", "FORMAT", "STRING", "AND"],
            &["RB.IMPORT", "KEY", "C", "FORMAT", "STRING", "XOR"],
            &["RB.IMPORT", "KEY", "C", "FORMAT", "STRING", "DIFF"],
        ],
        same: &[
            &["RB.IMPORT", "KEY", "D", "FORMAT", "STRING", "OR"],
            &["RB.IMPORT", "KEY", "\x02", "FORMAT", "STRING", "DIFF"],
            &["RB.IMPORT", "KEY", "", "FORMAT", "STRING", "XOR"],
        ],
        same_on_missing: &[],
        replaces: &[&["RB.IMPORT", "KEY", "U", "FORMAT", "STRING"]],
        deletes: &[],
    },
    Write {
        name: "RB.EXPRSTORE",
        kind: &BITMAP,
        memory: Memory::Grows,
        on_string: OnString::Replaced,
        creates: &[
            &["RB.EXPRSTORE", "KEY", "2", "SOURCE", "MISSING", "$1 | $2"],
            &["RB.EXPRSTORE", "KEY", "1", "MISSING", "range(3, 9) - $1"],
        ],
        changes: &[
            &["RB.EXPRSTORE", "KEY", "2", "OTHER", "SOURCE", "$2 - $1"],
            &["RB.EXPRSTORE", "KEY", "2", "KEY", "SOURCE", "$1 ^ $2"],
            &["RB.EXPRSTORE", "KEY", "3", "KEY", "OTHER", "SOURCE", "exactly(3, *)"],
        ],
        same: &[],
        same_on_missing: &[&["RB.EXPRSTORE", "KEY", "2", "MISSING", "KEY", "$1 | $2"]],
        replaces: &[&["RB.EXPRSTORE", "KEY", "1", "SOURCE", "$1"]],
        deletes: &[
            &["RB.EXPRSTORE", "KEY", "1", "SOURCE", "$1 - $1"],
            &["RB.EXPRSTORE", "KEY", "2", "MISSING", "SOURCE", "$1 & $2"],
        ],
    },
];

const fn read(name: &'static str, on_hll: OnHll, call: Words) -> Read {
    Read { name, kind: &BITMAP, on_hll, call }
}

/// Every read command.
pub static READS: &[Read] = &[
    read("RB.GETBIT", OnHll::Read, &["RB.GETBIT", "KEY", "5"]),
    read("RB.BITCOUNT", OnHll::Read, &["RB.BITCOUNT", "KEY"]),
    read("RB.BITPOS", OnHll::Read, &["RB.BITPOS", "KEY", "1"]),
    read("RB.GETBITS", OnHll::Refused, &["RB.GETBITS", "KEY", "5", "6"]),
    read("RB.COUNT", OnHll::Refused, &["RB.COUNT", "KEY"]),
    read("RB.MIN", OnHll::Refused, &["RB.MIN", "KEY"]),
    read("RB.MAX", OnHll::Refused, &["RB.MAX", "KEY"]),
    read("RB.RANK", OnHll::Refused, &["RB.RANK", "KEY", "5"]),
    read("RB.SELECT", OnHll::Refused, &["RB.SELECT", "KEY", "1"]),
    read("RB.RANGE", OnHll::Refused, &["RB.RANGE", "KEY", "0", "-1"]),
    read("RB.SCAN", OnHll::Refused, &["RB.SCAN", "KEY", "0"]),
    read("RB.RANDMEMBER", OnHll::Refused, &["RB.RANDMEMBER", "KEY", "-3"]),
    read("RB.INFO", OnHll::Refused, &["RB.INFO", "KEY"]),
    read("RB.EXPORT", OnHll::Refused, &["RB.EXPORT", "KEY"]),
    read("RB.BITOPCARD", OnHll::Read, &["RB.BITOPCARD", "DIFF1", "KEY", "SOURCE"]),
    read("RB.EXPR", OnHll::Refused, &["RB.EXPR", "2", "KEY", "SOURCE", "$1 | $2", "IDS"]),
    read("RB.COMPARE", OnHll::Refused, &["RB.COMPARE", "KEY", "SOURCE"]),
];

/// How the placeholders are called: all start with one prefix.
#[derive(Debug, Clone)]
pub struct Names(String);

impl Names {
    /// Names that start with a prefix.
    pub fn new(prefix: &str) -> Names {
        Names(prefix.to_string())
    }

    /// The key of a placeholder.
    pub fn of(&self, placeholder: &str) -> String {
        format!("{}:{}", self.0, placeholder.to_lowercase())
    }

    /// The key that is written.
    pub fn key(&self) -> String {
        self.of("KEY")
    }

    /// The call with keys for its placeholders.
    pub fn fill(&self, words: Words) -> Args {
        let word = |word: &&str| match is_placeholder(word) {
            true => self.of(word).into_bytes(),
            false => word.as_bytes().to_vec(),
        };
        words.iter().map(word).collect()
    }

    /// Makes `KEY` and `OTHER` samples of the kind and `SOURCE` its source, anew.
    pub fn prepare(&self, client: &mut Client, kind: &Kind) {
        self.prepare_missing(client, kind);
        for placeholder in ["KEY", "OTHER"] {
            client.ask(&at(kind.sample, &self.of(placeholder)));
        }
    }

    /// Leaves `KEY` and `OTHER` missing and makes `SOURCE` anew.
    pub fn prepare_missing(&self, client: &mut Client, kind: &Kind) {
        client.ask(&args!["DEL", self.of("KEY"), self.of("OTHER"), self.of("SOURCE")]);
        client.ask(&self.fill(kind.source));
    }
}

/// A call of the table, with what it starts from and comes to.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What its keys hold before it.
    pub start: Start,
    /// The call.
    pub words: Words,
    /// What it comes to.
    pub effect: Effect,
}

/// What the keys of a call hold before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Nothing but `SOURCE`.
    Missing,
    /// Samples.
    Samples,
}

/// What a call does to every key that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It differs, or is new.
    Changes,
    /// It goes.
    Deletes,
    /// It is as before.
    Nothing,
}

/// Every call of a write.
pub fn cases(write: &Write) -> Vec<Case> {
    let lists = [
        (Start::Missing, Effect::Changes, write.creates),
        (Start::Samples, Effect::Changes, write.changes),
        (Start::Samples, Effect::Changes, write.replaces),
        (Start::Samples, Effect::Deletes, write.deletes),
        (Start::Samples, Effect::Nothing, write.same),
        (Start::Missing, Effect::Nothing, write.same_on_missing),
    ];
    let of = |(start, effect, list): (Start, Effect, &'static [Words])| {
        list.iter().map(move |words| Case { start, words, effect })
    };
    lists.into_iter().flat_map(of).collect()
}

/// Makes what the keys of a call hold before it.
pub fn prepare(client: &mut Client, names: &Names, kind: &Kind, start: Start) {
    match start {
        Start::Missing => names.prepare_missing(client, kind),
        Start::Samples => names.prepare(client, kind),
    }
}

/// A script that runs a call; `function` is `redis.call` or `redis.pcall`.
pub fn script_of(call: &Args, function: &str) -> Args {
    // Which keys the call has is all the same to a single server; undeclared ones are not.
    let row = spec::row(&text_of(&call[0]));
    let keys: Vec<Vec<u8>> = keys_of(&row, call).iter().map(|used| call[used.position].clone()).collect();
    let mut script = args!["EVAL", format!("return {function}(unpack(ARGV))"), keys.len()];
    script.extend(keys);
    script.extend(call.iter().cloned());
    script
}

fn is_placeholder(word: &str) -> bool {
    ["KEY", "OTHER", "SOURCE", "MISSING"].contains(&word)
}

/// The call on one key, whatever the placeholder.
pub fn at(words: Words, key: &str) -> Args {
    let word = |word: &&str| match is_placeholder(word) {
        true => key.as_bytes().to_vec(),
        false => word.as_bytes().to_vec(),
    };
    words.iter().map(word).collect()
}

/// One call of every command that works on samples, reads first.
pub fn one_call_each() -> Vec<(&'static str, &'static Kind, Words)> {
    let reads = READS.iter().map(|read| (read.name, read.kind, read.call));
    let writes = WRITES.iter().map(|write| (write.name, write.kind, write.changes[0]));
    reads.chain(writes).collect()
}

/// Fails unless every row of the command table has exactly one line here, of its sort.
///
/// # Panics
/// Naming what lacks one.
pub fn complete() {
    let rows = spec::rows();
    let named = |writes: bool| -> BTreeSet<String> {
        let of_sort = rows.iter().filter(|row| row.is_write() == writes);
        of_sort.map(|row| row.name().to_string()).collect()
    };
    let writes: BTreeSet<String> = WRITES.iter().map(|write| write.name.to_string()).collect();
    let reads: BTreeSet<String> = READS.iter().map(|read| read.name.to_string()).collect();
    assert_eq!(writes, named(true), "write commands with a case");
    assert_eq!(reads, named(false), "read commands with a case");
    assert_eq!(writes.len(), WRITES.len(), "one case a command");
    assert_eq!(reads.len(), READS.len(), "one case a command");
    for write in WRITES {
        assert!(!write.changes.is_empty(), "{} needs a call that changes", write.name);
        assert!(
            !write.same.is_empty() || !write.same_on_missing.is_empty(),
            "{} needs a call that changes nothing",
            write.name
        );
    }
}

/// A key of a call, by the key specs of the command's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// Its position in the call, the name being 0.
    pub position: usize,
    /// The flags of its spec: `RW`, `access`, ...
    pub flags: Vec<String>,
}

impl KeyUse {
    /// True if the spec has a flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }

    /// True if the command may change the key.
    pub fn is_written(&self) -> bool {
        !self.has("RO")
    }
}

/// The keys of a call by the row's specs, in order of position.
///
/// # Panics
/// If a spec is of a form that this reader does not know.
pub fn keys_of(row: &Row, call: &Args) -> Vec<KeyUse> {
    let specs = row.json()["key_specs"].as_array().cloned().unwrap_or_default();
    let mut uses: Vec<KeyUse> = specs.iter().flat_map(|spec| keys_of_spec(spec, call)).collect();
    uses.sort_by_key(|used| used.position);
    assert!(!uses.is_empty(), "{} has no keys", row.name());
    uses
}

fn keys_of_spec(spec: &serde_json::Value, call: &Args) -> Vec<KeyUse> {
    let number = |part: &str, field: &str| -> i64 {
        let value = &spec[part]["spec"][field];
        value.as_i64().unwrap_or_else(|| panic!("no {part}.{field} in {spec}"))
    };
    let text = |value: &serde_json::Value| value.as_str().map(str::to_string);
    let begin = match spec["begin_search"]["type"].as_str() {
        Some("index") => number("begin_search", "index"),
        Some("keyword") => {
            let word = text(&spec["begin_search"]["spec"]["keyword"]).unwrap_or_default();
            let from = number("begin_search", "startfrom");
            let is_word = |arg: &&Vec<u8>| arg.eq_ignore_ascii_case(word.as_bytes());
            match call.iter().skip(from as usize).position(|arg| is_word(&arg)) {
                Some(at) => from + at as i64 + 1,
                None => return Vec::new(),
            }
        }
        _ => panic!("a spec that begins otherwise: {spec}"),
    };
    let positions: Vec<i64> = match spec["find_keys"]["type"].as_str() {
        Some("range") => {
            let last = number("find_keys", "lastkey");
            let last = if last < 0 { call.len() as i64 + last } else { begin + last };
            (begin..=last).step_by(number("find_keys", "keystep") as usize).collect()
        }
        Some("keynum") => {
            let count_at = (begin + number("find_keys", "keynumidx")) as usize;
            let count: i64 = String::from_utf8_lossy(&call[count_at]).parse().unwrap_or(0);
            let first = begin + number("find_keys", "firstkey");
            let step = number("find_keys", "keystep");
            (0..count).map(|nth| first + nth * step).collect()
        }
        _ => panic!("a spec that finds keys otherwise: {spec}"),
    };
    let flags: Vec<String> = spec["flags"].as_array().into_iter().flatten().filter_map(text).collect();
    let used = |position: i64| KeyUse { position: position as usize, flags: flags.clone() };
    positions.into_iter().map(used).collect()
}

/// The keys of a call that its command writes, each once, in order of name.
pub fn written_keys(row: &Row, call: &Args) -> Vec<String> {
    let written = keys_of(row, call).into_iter().filter(KeyUse::is_written);
    let names: BTreeSet<String> = written.map(|used| text_of(&call[used.position])).collect();
    names.into_iter().collect()
}

/// An argument as text.
pub fn text_of(arg: &[u8]) -> String {
    String::from_utf8_lossy(arg).into_owned()
}

/// A reply without what differs between two right runs of one call (nothing does but
/// random members and sizes in memory).
pub fn is_repeatable(row: &Row) -> bool {
    let tips = row.json()["tips"].as_array().cloned().unwrap_or_default();
    !tips.contains(&serde_json::Value::from("nondeterministic_output"))
}

/// True if a reply is an array that holds an error, or an error.
pub fn holds_error(value: &Value) -> bool {
    match value {
        Value::ServerError(_) => true,
        Value::Array(items) => items.iter().any(holds_error),
        _ => false,
    }
}
