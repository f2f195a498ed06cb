//! The shape of a row of the command table.
//!
//! A row holds all that servers, clients and pages know of a command; what is
//! derivable (movable keys, the ACL category of a flag) is not repeated in it.

use std::ffi::CStr;

/// One command. Everything registered, documented or introspected comes from here.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The name as typed, upper case: `RB.SETBIT`.
    pub name: &'static str,
    /// One sentence in the imperative, no full stop.
    pub summary: &'static str,
    /// Big-O with its letters explained.
    pub complexity: &'static str,
    /// The first release that has it: `0.1.0`.
    pub since: &'static str,
    /// The family: the file name of the command in every room.
    pub group: Group,
    /// As COMMAND INFO: the number of arguments with the name; negative is a minimum.
    pub arity: i32,
    /// The flags given to the server at registration.
    pub flags: &'static [Flag],
    /// How the server finds the keys.
    pub keys: Keys,
    /// The key specs, in order of position.
    pub key_specs: &'static [KeySpec],
    /// The arguments after the name.
    pub args: &'static [Arg],
    /// The reply, in words, one line a case.
    pub reply: &'static [&'static str],
    /// The errors of its own (beyond arity and WRONGTYPE): text and when.
    pub errors: &'static [(&'static str, &'static str)],
    /// What changed since the first release: (release, change).
    pub history: &'static [(&'static str, &'static str)],
    /// Command tips of the servers' vocabulary (`nondeterministic_output`, ...).
    pub tips: &'static [&'static str],
    /// What a reader must know beyond the summary; paragraphs.
    pub notes: &'static [&'static str],
    /// Sessions executed by a test: each is run on an empty database, in order.
    pub examples: &'static [Example],
    /// The keyspace event a change fires, where it writes: `rb.setbit`. As servers take it, for
    /// it is given to them at every write.
    pub event: Option<&'static CStr>,
}

/// The families, each a file in every room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Bits by their native names.
    Bits,
    /// Sets and ranges of ids.
    Sets,
    /// Counts, members and comparisons of many keys at once.
    Questions,
    /// Moving data in and out.
    Moving,
    /// Development only; present in debug builds of the module and in no page.
    Debug,
}

/// A registration flag, in the servers' words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// May change the data set.
    Write,
    /// Never changes the data set.
    Readonly,
    /// Refused when memory is over `maxmemory`.
    DenyOom,
    /// O(1) or O(log n).
    Fast,
}

/// How the server finds the keys of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The legacy triple: first, last (negative counts from the end), step.
    Range {
        /// Position of the first key, 1 is the first argument.
        first: i32,
        /// Position of the last key; -1 is the last argument.
        last: i32,
        /// Distance between keys.
        step: i32,
    },
    /// The parser of the command reports them (`getkeys-api`).
    Parsed,
}

/// A key spec of COMMAND INFO (7.0 and later).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// What the command does to the keys.
    pub access: Access,
    /// Where the first key is.
    pub begin: BeginSearch,
    /// Which keys follow.
    pub find: FindKeys,
    /// True if the spec may miss keys that the call has.
    pub incomplete: bool,
}

/// What a command does to the keys of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads: RO, ACCESS.
    Read,
    /// Reads and changes: RW, ACCESS, UPDATE (e.g. SETBIT, which replies the old bit).
    ReadUpdate,
    /// Changes without replying content: RW, UPDATE.
    Update,
    /// Adds only: RW, INSERT.
    Insert,
    /// Removes only: RW, DELETE.
    Delete,
    /// Replaces whatever was there: OW, UPDATE.
    Overwrite,
    /// Reads metadata only: RO, no ACCESS.
    Inspect,
}

/// Where the keys of a spec begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginSearch {
    /// At a fixed position.
    Index(i32),
    /// After the first occurrence of a token, searched from a position.
    Keyword(&'static str, i32),
}

/// Which keys follow the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindKeys {
    /// Until `last` (relative; -1 is the last argument), every `step`, up to 1/`limit` of the arguments (0 = all).
    Range {
        /// Relative last position.
        last: i32,
        /// Distance between keys.
        step: i32,
        /// Divisor of the remaining arguments, 0 or 1 for none.
        limit: i32,
    },
    /// A count at `numkeys` (relative), the first key at `first` (relative), every `step`.
    Numkeys {
        /// Relative position of the count.
        numkeys: i32,
        /// Relative position of the first key.
        first: i32,
        /// Distance between keys.
        step: i32,
    },
}

/// One argument of a command, as COMMAND DOCS has it.
#[derive(Debug, Clone, Copy)]
pub struct Arg {
    /// Lower case with dashes; unique among its siblings.
    pub name: &'static str,
    /// What is typed there.
    pub kind: ArgKind,
    /// The literal word typed before it (or instead of it, for a pure token).
    pub token: Option<&'static str>,
    /// May be left out.
    pub optional: bool,
    /// May be repeated.
    pub multiple: bool,
    /// Release that added it, if later than the command.
    pub since: Option<&'static str>,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy)]
pub enum ArgKind {
    /// A key, of the key spec with this index.
    Key(usize),
    /// Any bytes.
    Text,
    /// A number (ids included).
    Integer,
    /// A number with a fraction.
    Double,
    /// A literal word: the argument's `token`.
    PureToken,
    /// One of these.
    OneOf(&'static [Arg]),
    /// All of these, in order.
    Block(&'static [Arg]),
}

/// A session that a test executes and a page shows.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The command line, as typed into redis-cli (quotes and `\xNN` as there).
    pub input: &'static str,
    /// What redis-cli prints for it (RESP2), lines joined by `\n`: `(integer) 1`, `"7"`, `(nil)`, `1) "7"`, `OK`, `(error) ERR ...`.
    pub output: &'static str,
}
