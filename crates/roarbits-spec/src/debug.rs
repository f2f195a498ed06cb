//! The row of the development command, which only debug builds register.

use crate::row::{Access, Arg, BeginSearch, Command, Example, FindKeys, Flag, Group, KeySpec, Keys};

pub(crate) const ROWS: &[Command] = &[DEBUG];

const VALIDATED: KeySpec = KeySpec {
    access: Access::Inspect,
    begin: BeginSearch::Keyword("VALIDATE", 1),
    find: FindKeys::Range { last: 0, step: 1, limit: 0 },
    incomplete: true,
};

const REPORTED: KeySpec = KeySpec {
    access: Access::Inspect,
    begin: BeginSearch::Keyword("KEYS", 1),
    find: FindKeys::Numkeys { numkeys: 0, first: 1, step: 1 },
    incomplete: true,
};

const DEBUG: Command = Command {
    name: "RB.DEBUG",
    summary: "Check a bitmap's invariants, or provoke a fault to test its handling",
    complexity: "VALIDATE: O(n) where n is the number of ids and runs stored; otherwise O(1)",
    since: "0.1.0",
    group: Group::Debug,
    arity: -2,
    flags: &[Flag::Readonly],
    keys: Keys::Parsed,
    key_specs: &[VALIDATED, REPORTED],
    args: &[Arg::one_of(
        "subcommand",
        &[
            Arg::key("validated", 0).token("VALIDATE"),
            Arg::word("panic", "PANIC"),
            Arg::block(
                "open",
                &[
                    Arg::integer("numkeys").token("KEYS"),
                    Arg::key("reported", 1).multiple(),
                    Arg::text("opened").token("OPEN"),
                ],
            ),
        ],
    )],
    reply: &[
        "VALIDATE: OK if every invariant of the structure holds, else an error that names the first that does not.",
        "PANIC: an error reply; the server lives on.",
        "KEYS: OK if the opened key is among the reported ones; otherwise the server aborts, as it does for any \
         command that opens a key it did not report.",
    ],
    errors: &[],
    history: &[],
    tips: &[],
    notes: &[],
    examples: &[
        Example::new("RB.ADD dau 1 5", "(integer) 2"),
        Example::new("RB.DEBUG VALIDATE dau", "OK"),
        Example::new("RB.DEBUG KEYS 2 dau mau OPEN dau", "OK"),
    ],
    event: None,
};
