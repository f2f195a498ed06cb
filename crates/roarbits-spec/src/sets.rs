//! The rows of the set commands: ids, closed ranges, ranks.

use crate::row::{Access, Arg, Command, Example, Flag, Group, KeySpec, Keys};
use crate::texts;

pub(crate) const ROWS: &[Command] = &[
    ADD, REM, GETBITS, COUNT, MIN, MAX, RANK, SELECT, RANGE, SCAN, RANDMEMBER, ADDRANGE, REMRANGE, FLIPRANGE,
    INFO,
];

const KEY_AND_IDS: &[Arg] = &[Arg::key("key", 0), Arg::integer("id").multiple()];
/// Bounds are texts, since `-` and `+` are bounds too.
const KEY_AND_RANGE: &[Arg] = &[Arg::key("key", 0), Arg::text("start"), Arg::text("end")];
const HUGE_COUNT: &str = "Bulk string (RESP2) or big number (RESP3): a count above 9223372036854775807.";

const ADD: Command = Command {
    name: "RB.ADD",
    summary: "Add ids to a bitmap",
    complexity: "O(k log n) where k is the number of ids given and n the number of ids and runs stored",
    since: "0.1.0",
    group: Group::Sets,
    arity: -3,
    flags: &[Flag::Write, Flag::DenyOom, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Insert, 1)],
    args: KEY_AND_IDS,
    reply: &["Integer: how many of the ids were not there before."],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &["Any order will do. All ids are checked before the first is added."],
    examples: &[
        Example::new(
            "RB.ADD dau 7301234567890123456 7301234567890123457 42",
            "(integer) 3",
        ),
        Example::new("RB.ADD dau 42 18446744073709551615", "(integer) 1"),
        Example::new("RB.COUNT dau", "(integer) 4"),
        Example::new(
            "RB.ADD dau 43 -1",
            "(error) ERR id is not an integer or out of range",
        ),
        Example::new("RB.GETBIT dau 43", "(integer) 0"),
    ],
    event: Some("rb.add"),
};

const REM: Command = Command {
    name: "RB.REM",
    summary: "Remove ids from a bitmap",
    complexity: "O(k log n) where k is the number of ids given and n the number of ids and runs stored",
    since: "0.1.0",
    group: Group::Sets,
    arity: -3,
    flags: &[Flag::Write, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Delete, 1)],
    args: KEY_AND_IDS,
    reply: &["Integer: how many of the ids were there."],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &["A bitmap that becomes empty stays, with its logical length, like the string it replaces."],
    examples: &[
        Example::new("RB.ADD dau 1 2 7301234567890123456", "(integer) 3"),
        Example::new("RB.REM dau 2 9", "(integer) 1"),
        Example::new("RB.RANGE dau 0 -1", "1) \"1\"\n2) \"7301234567890123456\""),
        Example::new("RB.REM dau 1 7301234567890123456", "(integer) 2"),
        Example::new("RB.COUNT dau", "(integer) 0"),
        Example::new("EXISTS dau", "(integer) 1"),
        Example::new("RB.REM nosuchkey 1", "(integer) 0"),
        Example::new("EXISTS nosuchkey", "(integer) 0"),
    ],
    event: Some("rb.rem"),
};

const GETBITS: Command = Command {
    name: "RB.GETBITS",
    summary: "Tell for each of several ids whether it is a member",
    complexity: "O(k log n) where k is the number of ids given and n the number of ids and runs stored",
    since: "0.1.0",
    group: Group::Sets,
    arity: -3,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: KEY_AND_IDS,
    reply: &["Array of integers: 1 or 0 for each id, in order."],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &[],
    examples: &[
        Example::new("RB.ADD dau 1 3 18446744073709551615", "(integer) 3"),
        Example::new(
            "RB.GETBITS dau 1 2 3 18446744073709551615",
            "1) (integer) 1\n2) (integer) 0\n3) (integer) 1\n4) (integer) 1",
        ),
        Example::new("RB.GETBITS nosuchkey 7301234567890123456", "1) (integer) 0"),
    ],
    event: None,
};

const COUNT: Command = Command {
    name: "RB.COUNT",
    summary: "Count the ids, in all or in a closed range of ids",
    complexity: "O(1); with a range O(log n) where n is the number of ids and runs stored; O(N) on a string of N bytes",
    since: "0.1.0",
    group: Group::Sets,
    arity: -2,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::block("range", &[Arg::text("start"), Arg::text("end")]).optional(),
    ],
    reply: &["Integer: the number of ids.", HUGE_COUNT],
    errors: &[texts::ID, texts::SYNTAX],
    history: &[],
    tips: &[],
    notes: &["RB.BITCOUNT counts by the bytes and negative indexes of BITCOUNT instead."],
    examples: &[
        Example::new("RB.ADD dau 10 20 30 7301234567890123456", "(integer) 4"),
        Example::new("RB.COUNT dau", "(integer) 4"),
        Example::new("RB.COUNT dau 10 20", "(integer) 2"),
        Example::new("RB.COUNT dau 21 +", "(integer) 2"),
        Example::new("RB.COUNT dau 30 10", "(integer) 0"),
        Example::new("RB.ADDRANGE everyone - +", r#""18446744073709551616""#),
        Example::new("RB.COUNT everyone", r#""18446744073709551616""#),
        Example::new("RB.COUNT everyone 1 9223372036854775807", "(integer) 9223372036854775807"),
        Example::new("RB.COUNT nosuchkey", "(integer) 0"),
    ],
    event: None,
};

const MIN: Command = Command {
    name: "RB.MIN",
    summary: "Reply the smallest id",
    complexity: "O(log n) where n is the number of ids and runs stored; O(N) on a string of N bytes",
    since: "0.1.0",
    group: Group::Sets,
    arity: 2,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0)],
    reply: &[
        "Bulk string: the id.",
        "Null: no id is set, or the key is missing.",
    ],
    errors: &[],
    history: &[],
    tips: &[],
    notes: &[],
    examples: &[
        Example::new(
            "RB.ADD dau 7301234567890123456 42 18446744073709551615",
            "(integer) 3",
        ),
        Example::new("RB.MIN dau", r#""42""#),
        Example::new("RB.MIN nosuchkey", "(nil)"),
        Example::new("SET legacy A", "OK"),
        Example::new("RB.MIN legacy", r#""1""#),
    ],
    event: None,
};

const MAX: Command = Command {
    name: "RB.MAX",
    summary: "Reply the largest id",
    complexity: "O(log n) where n is the number of ids and runs stored; O(N) on a string of N bytes",
    since: "0.1.0",
    group: Group::Sets,
    arity: 2,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0)],
    reply: &[
        "Bulk string: the id.",
        "Null: no id is set, or the key is missing.",
    ],
    errors: &[],
    history: &[],
    tips: &[],
    notes: &[],
    examples: &[
        Example::new("RB.ADD dau 7301234567890123456 42", "(integer) 2"),
        Example::new("RB.MAX dau", r#""7301234567890123456""#),
        Example::new("RB.ADD dau 18446744073709551615", "(integer) 1"),
        Example::new("RB.MAX dau", r#""18446744073709551615""#),
        Example::new("RB.MAX nosuchkey", "(nil)"),
    ],
    event: None,
};

const RANK: Command = Command {
    name: "RB.RANK",
    summary: "Reply the position of an id among the members",
    complexity: "O(log n) where n is the number of ids and runs stored; O(N) on a string of N bytes",
    since: "0.1.0",
    group: Group::Sets,
    arity: 3,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0), Arg::integer("id")],
    reply: &[
        "Integer: the 0-based rank, as ZRANK.",
        "Bulk string (RESP2) or big number (RESP3): a rank above 9223372036854775807.",
        "Null: the id is not a member, or the key is missing.",
    ],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &["RB.SELECT is the inverse. `RB.COUNT key - id` counts the members up to any id, member or not."],
    examples: &[
        Example::new("RB.ADD dau 10 20 7301234567890123456", "(integer) 3"),
        Example::new("RB.RANK dau 10", "(integer) 0"),
        Example::new("RB.RANK dau 7301234567890123456", "(integer) 2"),
        Example::new("RB.RANK dau 15", "(nil)"),
        Example::new("RB.RANK nosuchkey 10", "(nil)"),
    ],
    event: None,
};

const SELECT: Command = Command {
    name: "RB.SELECT",
    summary: "Reply the id at a position among the members",
    complexity: "O(log n) where n is the number of ids and runs stored; O(N) on a string of N bytes",
    since: "0.1.0",
    group: Group::Sets,
    arity: 3,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0), Arg::integer("rank")],
    reply: &[
        "Bulk string: the id.",
        "Null: there is no such position, or the key is missing.",
    ],
    errors: &[texts::NUMBER],
    history: &[],
    tips: &[],
    notes: &["Ranks start at 0; negative ones count from the end, -1 is the largest id."],
    examples: &[
        Example::new("RB.ADD dau 10 20 7301234567890123456", "(integer) 3"),
        Example::new("RB.SELECT dau 0", r#""10""#),
        Example::new("RB.SELECT dau -1", r#""7301234567890123456""#),
        Example::new("RB.SELECT dau 3", "(nil)"),
        Example::new(
            "RB.SELECT dau first",
            "(error) ERR value is not an integer or out of range",
        ),
    ],
    event: None,
};

const RANGE: Command = Command {
    name: "RB.RANGE",
    summary: "Reply the ids between two ranks or two ids",
    complexity: "O(log n + m) where n is the number of ids and runs stored and m the number of ids replied",
    since: "0.1.0",
    group: Group::Sets,
    arity: -4,
    flags: &[Flag::Readonly],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::text("start"),
        Arg::text("stop"),
        Arg::word("byid", "BYID").optional(),
        Arg::word("rev", "REV").optional(),
        Arg::block("limit", &[Arg::integer("offset"), Arg::integer("count")]).token("LIMIT").optional(),
    ],
    reply: &["Array of bulk strings: the ids, ascending, or descending with REV."],
    errors: &[
        texts::ID,
        texts::NUMBER,
        texts::SYNTAX,
        (
            "ERR syntax error, LIMIT is only supported in combination with BYID",
            "LIMIT is given without BYID",
        ),
        texts::TOO_LARGE,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "By rank as ZRANGE: start and stop are 0-based, both included, negative ones count from the end, and with REV \
         rank 0 is the largest id.",
        "With BYID they are ids, both included, `-` and `+` the lowest and the highest; with REV the higher one comes \
         first. LIMIT skips offset ids of the range and replies at most count; offset costs O(log n) only.",
    ],
    examples: &[
        Example::new("RB.ADD dau 10 20 30 40 7301234567890123456", "(integer) 5"),
        Example::new("RB.RANGE dau 0 1", "1) \"10\"\n2) \"20\""),
        Example::new("RB.RANGE dau -2 -1", "1) \"40\"\n2) \"7301234567890123456\""),
        Example::new("RB.RANGE dau 0 1 REV", "1) \"7301234567890123456\"\n2) \"40\""),
        Example::new("RB.RANGE dau 15 40 BYID", "1) \"20\"\n2) \"30\"\n3) \"40\""),
        Example::new("RB.RANGE dau - + BYID LIMIT 1 2", "1) \"20\"\n2) \"30\""),
        Example::new("RB.RANGE dau + 25 BYID REV LIMIT 0 2", "1) \"7301234567890123456\"\n2) \"40\""),
        Example::new("RB.RANGE dau 41 50 BYID", "(empty array)"),
        Example::new(
            "RB.RANGE dau 0 -1 LIMIT 0 1",
            "(error) ERR syntax error, LIMIT is only supported in combination with BYID",
        ),
    ],
    event: None,
};

const SCAN: Command = Command {
    name: "RB.SCAN",
    summary: "Walk all ids in ascending order, some at a time",
    complexity: "O(log n + m) a call where n is the number of ids and runs stored and m the number of ids replied",
    since: "0.1.0",
    group: Group::Sets,
    arity: -3,
    flags: &[Flag::Readonly],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::integer("cursor"),
        Arg::integer("count").token("COUNT").optional(),
    ],
    reply: &[
        "Array of two: the next cursor, a bulk string, `0` when the walk is over; and an array of ids, bulk strings.",
    ],
    errors: &[
        ("ERR invalid cursor", "the cursor is not a decimal from 0 to 18446744073709551615"),
        texts::NUMBER,
        texts::SYNTAX,
    ],
    history: &[],
    tips: &["nondeterministic_output"],
    notes: &[
        "Start with cursor 0 and call again with the cursor replied until it is 0. An id that is a member from the \
         first call to the last is returned exactly once, whatever is written meanwhile. COUNT bounds the ids of one \
         call and is 10 by default.",
    ],
    examples: &[
        Example::new("RB.ADD dau 100 101 102 103 104", "(integer) 5"),
        Example::new(
            "RB.SCAN dau 0 COUNT 3",
            "1) \"103\"\n2) 1) \"100\"\n   2) \"101\"\n   3) \"102\"",
        ),
        Example::new("RB.SCAN dau 103 COUNT 3", "1) \"0\"\n2) 1) \"103\"\n   2) \"104\""),
        Example::new("RB.SCAN nosuchkey 0", "1) \"0\"\n2) (empty array)"),
        Example::new("RB.SCAN dau -1", "(error) ERR invalid cursor"),
    ],
    event: None,
};

const RANDMEMBER: Command = Command {
    name: "RB.RANDMEMBER",
    summary: "Reply one or several ids at random, each equally likely",
    complexity: "O(k log n) where k is the absolute value of count and n the number of ids and runs stored",
    since: "0.1.0",
    group: Group::Sets,
    arity: -2,
    flags: &[Flag::Readonly],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0), Arg::integer("count").optional()],
    reply: &[
        "Bulk string: without count, an id.",
        "Null: without count, no id is set or the key is missing.",
        "Array of bulk strings: with count, the ids; empty if no id is set or the key is missing.",
    ],
    errors: &[texts::NUMBER, texts::SYNTAX, texts::TOO_LARGE],
    history: &[],
    tips: &["nondeterministic_output"],
    notes: &[
        "As SRANDMEMBER: a positive count replies that many different ids, or all if there are fewer; a negative one \
         replies exactly that many, and ids may repeat.",
    ],
    examples: &[
        Example::new("RB.ADD winners 7301234567890123456", "(integer) 1"),
        Example::new("RB.RANDMEMBER winners", r#""7301234567890123456""#),
        Example::new("RB.RANDMEMBER winners 5", "1) \"7301234567890123456\""),
        Example::new("RB.RANDMEMBER winners -2", "1) \"7301234567890123456\"\n2) \"7301234567890123456\""),
        Example::new("RB.RANDMEMBER winners 0", "(empty array)"),
        Example::new("RB.RANDMEMBER nosuchkey", "(nil)"),
        Example::new("RB.RANDMEMBER nosuchkey 3", "(empty array)"),
    ],
    event: None,
};

const ADDRANGE: Command = Command {
    name: "RB.ADDRANGE",
    summary: "Add every id of a closed range",
    complexity: "O(log n + L) where n is the number of ids and runs stored and L the number of leaves the range replaces",
    since: "0.1.0",
    group: Group::Sets,
    arity: 4,
    flags: &[Flag::Write, Flag::DenyOom],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Insert, 1)],
    args: KEY_AND_RANGE,
    reply: &["Integer: how many ids were not there before.", HUGE_COUNT],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &["A span of any length is one run: it costs a few bytes and microseconds, not ids."],
    examples: &[
        Example::new("RB.ADDRANGE tickets 0 1000000000000", "(integer) 1000000000001"),
        Example::new("RB.ADDRANGE tickets 5 10", "(integer) 0"),
        Example::new("RB.ADDRANGE tickets 1000000000000 1000000000004", "(integer) 4"),
        Example::new("RB.ADDRANGE tickets 20 10", "(integer) 0"),
        Example::new("RB.ADDRANGE everyone - +", r#""18446744073709551616""#),
    ],
    event: Some("rb.addrange"),
};

const REMRANGE: Command = Command {
    name: "RB.REMRANGE",
    summary: "Remove every id of a closed range",
    complexity:
        "O(log n + L) where n is the number of ids and runs stored and L the number of leaves in the range",
    since: "0.1.0",
    group: Group::Sets,
    arity: 4,
    flags: &[Flag::Write],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Delete, 1)],
    args: KEY_AND_RANGE,
    reply: &["Integer: how many ids were there.", HUGE_COUNT],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &["The logical length stays, and so does a bitmap that becomes empty."],
    examples: &[
        Example::new("RB.ADDRANGE tickets 0 99", "(integer) 100"),
        Example::new("RB.REMRANGE tickets 10 19", "(integer) 10"),
        Example::new("RB.REMRANGE tickets 95 +", "(integer) 5"),
        Example::new("RB.COUNT tickets", "(integer) 85"),
        Example::new("RB.MAX tickets", r#""94""#),
        Example::new("RB.REMRANGE nosuchkey - +", "(integer) 0"),
    ],
    event: Some("rb.remrange"),
};

const FLIPRANGE: Command = Command {
    name: "RB.FLIPRANGE",
    summary: "Flip every id of a closed range: members leave, the others enter",
    complexity:
        "O(log n + L) where n is the number of ids and runs stored and L the number of leaves in the range",
    since: "0.1.0",
    group: Group::Sets,
    arity: 4,
    flags: &[Flag::Write, Flag::DenyOom],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Update, 1)],
    args: KEY_AND_RANGE,
    reply: &[
        "Integer: the number of ids of the whole bitmap afterwards.",
        HUGE_COUNT,
    ],
    errors: &[texts::ID],
    history: &[],
    tips: &[],
    notes: &[],
    examples: &[
        Example::new("RB.ADD flags 1 3", "(integer) 2"),
        Example::new("RB.FLIPRANGE flags 0 4", "(integer) 3"),
        Example::new("RB.RANGE flags 0 -1", "1) \"0\"\n2) \"2\"\n3) \"4\""),
        Example::new("RB.FLIPRANGE flags 4 5", "(integer) 3"),
        Example::new("RB.RANGE flags 0 -1", "1) \"0\"\n2) \"2\"\n3) \"5\""),
        Example::new("RB.FLIPRANGE large 0 4294967295", "(integer) 4294967296"),
    ],
    event: Some("rb.fliprange"),
};

const INFO: Command = Command {
    name: "RB.INFO",
    summary: "Describe a bitmap: its size, memory and inner form",
    complexity: "O(L) where L is the number of leaves",
    since: "0.1.0",
    group: Group::Sets,
    arity: 2,
    flags: &[Flag::Readonly],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Inspect, 1)],
    args: &[Arg::key("key", 0)],
    reply: &[
        "Map (RESP3) or flat array (RESP2), its fields in this order:",
        "`type`: `rb-bitmap`, or `string` for a plain string bitmap.",
        "`cardinality`: the number of ids.",
        "`length`: the logical length in bytes, as STRLEN of the equivalent string.",
        "`bytes`: the memory of the value, as MEMORY USAGE says.",
        "`shared_bytes`: the part of it that other keys or snapshots share at the moment.",
        "`rdb_bytes`: its size in an RDB file or a DUMP payload.",
        "`ids_leaves`, `run_leaves`, `bits_leaves`: leaves of the tree by form: packed ids, packed runs, plain bits.",
        "`ids_containers`, `run_containers`, `bits_containers`: stretches of 2^16 ids with at least one, by the form of their leaf.",
        "Null: the key is missing.",
    ],
    errors: &[],
    history: &[],
    tips: &["nondeterministic_output"],
    notes: &[],
    examples: &[
        Example::new("RB.ADD dau 1 5 7", "(integer) 3"),
        Example::new(
            r#"EVAL "local i = redis.call('RB.INFO', KEYS[1]) return {i[2], i[4], i[6]}" 1 dau"#,
            "1) \"rb-bitmap\"\n2) (integer) 3\n3) (integer) 1",
        ),
        Example::new("RB.INFO nosuchkey", "(nil)"),
    ],
    event: None,
};
