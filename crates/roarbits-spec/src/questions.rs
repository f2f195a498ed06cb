//! The rows of the questions: counts, members and comparisons of many keys at once,
//! without temporary keys.

use crate::row::{Access, Arg, Command, Example, Flag, Group, KeySpec, Keys};
use crate::texts;

pub(crate) const ROWS: &[Command] = &[BITOPCARD, EXPR, EXPRSTORE, COMPARE];

const WAITS: &str = "What takes longer than `inline-budget` is done by a worker on snapshots: the client waits, no other does. \
                     Inside MULTI and scripts, where no client can wait, it runs in place.";

const STRINGS_TOO: &str =
    "Keys may be bitmaps and plain string bitmaps together; a missing one has no ids. Strings are copied for a worker, \
     up to `string-copy-max` bytes a call.";

const BITOPCARD: Command = Command {
    name: "RB.BITOPCARD",
    summary: "Count the ids that a combination of bitmaps has, storing nothing",
    complexity: "O(L) where L is the number of leaves of the keys; nothing is built",
    since: "0.1.0",
    group: Group::Questions,
    arity: -3,
    flags: &[Flag::Readonly],
    keys: Keys::Range { first: 2, last: -1, step: 1 },
    key_specs: &[KeySpec::range(Access::Read, 2, -1, 1)],
    args: &[
        Arg::one_of(
            "operation",
            &[
                Arg::word("and", "AND"),
                Arg::word("or", "OR"),
                Arg::word("xor", "XOR"),
                Arg::word("diff", "DIFF"),
                Arg::word("diff1", "DIFF1"),
                Arg::word("andor", "ANDOR"),
                Arg::word("one", "ONE"),
            ],
        ),
        Arg::key("key", 0).multiple(),
    ],
    reply: &["Integer: the number of ids that RB.BITOP of the same name would set in its result."],
    errors: &[
        texts::SYNTAX,
        (
            "ERR BITOP DIFF must be called with at least two source keys.",
            "DIFF, DIFF1 or ANDOR (the text names which) is given one key",
        ),
        texts::STRINGS,
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
    ],
    history: &[],
    tips: &[],
    notes: &["The operations are those of RB.BITOP but NOT.", STRINGS_TOO, WAITS],
    examples: &[
        Example::new("RB.ADD mon 1 2 3 7301234567890123456", "(integer) 4"),
        Example::new("RB.ADD tue 2 3 4", "(integer) 3"),
        Example::new("RB.BITOPCARD AND mon tue", "(integer) 2"),
        Example::new("RB.BITOPCARD OR mon tue", "(integer) 5"),
        Example::new("RB.BITOPCARD DIFF mon tue nosuchkey", "(integer) 2"),
        Example::new("SETBIT legacy 3 1", "(integer) 0"),
        Example::new("RB.BITOPCARD AND mon legacy", "(integer) 1"),
    ],
    event: None,
};

const EXPR: Command = Command {
    name: "RB.EXPR",
    summary: "Ask an expression over bitmaps for a count, for ids, or about given ids",
    complexity: "O(L) where L is the number of leaves that can decide; IDS costs by the page, TEST by the ids given",
    since: "0.1.0",
    group: Group::Questions,
    arity: -4,
    flags: &[Flag::Readonly],
    keys: Keys::Parsed,
    key_specs: &[KeySpec::counted(Access::Read, 1)],
    args: &[
        Arg::integer("numkeys"),
        Arg::key("key", 0).multiple(),
        Arg::text("expression"),
        Arg::word("explain", "EXPLAIN").optional(),
        Arg::one_of(
            "question",
            &[
                Arg::word("count", "COUNT"),
                Arg::block(
                    "ids",
                    &[
                        Arg::word("ids-token", "IDS"),
                        Arg::integer("after").token("AFTER").optional(),
                        Arg::block("limit", &[Arg::integer("offset"), Arg::integer("count")])
                            .token("LIMIT")
                            .optional(),
                    ],
                ),
                Arg::integer("id").token("TEST").multiple(),
            ],
        )
        .optional(),
    ],
    reply: &[
        "Integer: the number of ids, without an option or with COUNT.",
        "Array of strings: the ids ascending, with IDS.",
        "Array of integers: 0 or 1 for each id given, with TEST.",
        "Map: `order` (the expression as it was run), `leaves_estimated`, `leaves_touched`, `where` (inline or worker) \
         and `us`, with EXPLAIN, which runs the question and leaves its answer out.",
    ],
    errors: &[
        texts::NUMKEYS,
        texts::MORE_KEYS_THAN_ARGUMENTS,
        texts::TOO_MANY_KEYS,
        texts::EXPRESSION,
        texts::SYNTAX,
        texts::ID,
        texts::NUMBER,
        texts::TOO_LARGE,
        texts::STRINGS,
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "`$1` to `$n` are the keys. `-` is difference, `&` intersection, `^` symmetric difference, `|` union; `-` binds \
         tightest, then `&`, `^`, `|`; parentheses group. any(...), all(...), xor(...), atleast(k, ...), exactly(k, ...) \
         and streak(k, ...), which keeps members of k consecutive operands, take operands or `*` for all keys. \
         range(a, b) has every id from a to b. There is no unary not: `range(0, 99) - $1`.",
        "From a shell put the expression in single quotes, or the shell replaces $1.",
        "AFTER id begins behind an id: the last one of a page asks for the next. LIMIT skips and takes ids, as everywhere.",
        STRINGS_TOO,
        WAITS,
    ],
    examples: &[
        Example::new("RB.ADD mon 1 2 3 5", "(integer) 4"),
        Example::new("RB.ADD tue 2 3 4", "(integer) 3"),
        Example::new("RB.ADD wed 3 4 5 7301234567890123456", "(integer) 4"),
        Example::new("RB.ADD churned 3", "(integer) 1"),
        Example::new("RB.EXPR 4 mon tue wed churned 'atleast(2, $1, $2, $3) - $4'", "(integer) 3"),
        Example::new(
            "RB.EXPR 4 mon tue wed churned 'atleast(2, $1, $2, $3) - $4' IDS",
            "1) \"2\"\n2) \"4\"\n3) \"5\"",
        ),
        Example::new(
            "RB.EXPR 3 mon tue wed 'any(*)' IDS AFTER 3 LIMIT 0 2",
            "1) \"4\"\n2) \"5\"",
        ),
        Example::new(
            "RB.EXPR 3 mon tue wed 'streak(2, *)' TEST 2 3 5",
            "1) (integer) 1\n2) (integer) 1\n3) (integer) 0",
        ),
        Example::new(
            "RB.EXPR 2 mon tue '$1 & & $2'",
            "(error) ERR expression: expected an operand at position 6",
        ),
    ],
    event: None,
};

const EXPRSTORE: Command = Command {
    name: "RB.EXPRSTORE",
    summary: "Store the ids that an expression over bitmaps keeps",
    complexity: "O(L) where L is the number of leaves that can decide; what one operand alone decides is shared, not copied",
    since: "0.1.0",
    group: Group::Questions,
    arity: -5,
    flags: &[Flag::Write, Flag::DenyOom],
    keys: Keys::Parsed,
    key_specs: &[KeySpec::one(Access::Overwrite, 1), KeySpec::counted(Access::Read, 2)],
    args: &[
        Arg::key("destkey", 0),
        Arg::integer("numkeys"),
        Arg::key("key", 1).multiple(),
        Arg::text("expression"),
        Arg::integer("seconds").token("EX").optional(),
    ],
    reply: &["Integer: the number of ids stored."],
    errors: &[
        texts::NUMKEYS,
        texts::MORE_KEYS_THAN_ARGUMENTS,
        texts::TOO_MANY_KEYS,
        texts::EXPRESSION,
        texts::SYNTAX,
        ("ERR invalid expire time in 'rb.exprstore' command", "the seconds of EX are not a future the server can tell"),
        texts::STRINGS,
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
        texts::PAUSED,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "The expression is that of RB.EXPR. The destination may be among the keys; it is overwritten whatever its type, \
         and its TTL goes, unless EX gives it one. An empty result deletes it.",
        "Replicas get the same value: by the command itself if no key changed while a worker had it in hand, else by \
         value. A change of the destination meanwhile is never lost: if the expression reads it, it is run again.",
        WAITS,
    ],
    examples: &[
        Example::new("RB.ADD mon 1 2 3", "(integer) 3"),
        Example::new("RB.ADD tue 2 3 4", "(integer) 3"),
        Example::new("RB.EXPRSTORE both 2 mon tue '$1 & $2' EX 3600", "(integer) 2"),
        Example::new("RB.RANGE both 0 -1", "1) \"2\"\n2) \"3\""),
        Example::new("TTL both", "(integer) 3600"),
        Example::new("RB.EXPRSTORE both 2 mon tue '$1 - $1'", "(integer) 0"),
        Example::new("EXISTS both", "(integer) 0"),
    ],
    event: Some(c"rb.exprstore"),
};

const COMPARE: Command = Command {
    name: "RB.COMPARE",
    summary: "Compare two sets of ids: counts, similarities, relation",
    complexity: "O(L) where L is the number of leaves of both; nothing is built",
    since: "0.1.0",
    group: Group::Questions,
    arity: 3,
    flags: &[Flag::Readonly],
    keys: Keys::Range { first: 1, last: 2, step: 1 },
    key_specs: &[KeySpec::range(Access::Read, 1, 1, 1)],
    args: &[Arg::key("key1", 0), Arg::key("key2", 0)],
    reply: &[
        "Map: the counts `a`, `b`, `union`, `inter`, `a_only` and `b_only`; `jaccard` (inter / union), `overlap` (inter / \
         the smaller) and `cosine` (inter / the root of a * b), each null when undefined; `relation`: the first that \
         holds of equal, disjoint, subset, superset, overlap.",
    ],
    errors: &[
        texts::STRINGS,
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
    ],
    history: &[],
    tips: &[],
    notes: &[STRINGS_TOO, WAITS],
    examples: &[
        Example::new("RB.ADD mon 1 2 3 4", "(integer) 4"),
        Example::new("RB.ADD tue 3", "(integer) 1"),
        Example::new(
            "RB.COMPARE tue mon",
            " 1) \"a\"\n 2) (integer) 1\n 3) \"b\"\n 4) (integer) 4\n 5) \"union\"\n 6) (integer) 4\n 7) \"inter\"\n 8) (integer) 1\n 9) \"a_only\"\n\
             10) (integer) 0\n11) \"b_only\"\n12) (integer) 3\n13) \"jaccard\"\n14) \"0.25\"\n15) \"overlap\"\n\
             16) \"1\"\n17) \"cosine\"\n18) \"0.5\"\n19) \"relation\"\n20) \"subset\"",
        ),
    ],
    event: None,
};
