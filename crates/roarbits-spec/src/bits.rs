//! The rows of the bit commands: the grammar, replies and errors of the native
//! commands whose names they carry, as of Redis 8.2.

use crate::row::{Access, Arg, Command, Example, Flag, Group, KeySpec, Keys};
use crate::texts;

pub(crate) const ROWS: &[Command] = &[SETBIT, GETBIT, BITCOUNT, BITPOS, BITOP, MSETBIT];

const UNIT: Arg = Arg::one_of("unit", &[Arg::word("byte", "BYTE"), Arg::word("bit", "BIT")]).optional();

const SETBIT: Command = Command {
    name: "RB.SETBIT",
    summary: "Set or clear the bit at an offset and reply the bit that was there",
    complexity: "O(log n) where n is the number of ids and runs stored, whatever the offset; on a plain string as SETBIT",
    since: "0.1.0",
    group: Group::Bits,
    arity: 4,
    flags: &[Flag::Write, Flag::DenyOom, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::ReadUpdate, 1)],
    args: &[Arg::key("key", 0), Arg::integer("offset"), Arg::integer("value")],
    reply: &["Integer: the bit that was at the offset, 0 or 1."],
    errors: &[texts::OFFSET, texts::BIT, texts::STRING_OFFSET],
    history: &[],
    tips: &[],
    notes: &[
        "SETBIT, but for the offsets: they reach 18446744073709551615 and may have leading zeros. A first write costs \
         under 1 KB at any of them.",
        "The logical length grows to cover the offset, also when the bit is cleared, as the string of SETBIT would. On a \
         plain string the native SETBIT runs, with its limits and its event, so that code can change names first and \
         keys later.",
    ],
    examples: &[
        Example::new("RB.SETBIT visited 7301234567890123456 1", "(integer) 0"),
        Example::new("RB.SETBIT visited 7301234567890123456 1", "(integer) 1"),
        Example::new("RB.SETBIT visited 18446744073709551615 1", "(integer) 0"),
        Example::new("RB.SETBIT visited 18446744073709551615 0", "(integer) 1"),
        Example::new("RB.BITCOUNT visited", "(integer) 1"),
        Example::new(
            "RB.SETBIT visited 18446744073709551616 1",
            "(error) ERR bit offset is not an integer or out of range",
        ),
        Example::new("SETBIT legacy 7 1", "(integer) 0"),
        Example::new("RB.SETBIT legacy 8 1", "(integer) 0"),
        Example::new("GET legacy", r#""\x01\x80""#),
    ],
    event: Some(c"rb.setbit"),
};

const GETBIT: Command = Command {
    name: "RB.GETBIT",
    summary: "Reply the bit at an offset",
    complexity: "O(log n) where n is the number of ids and runs stored; O(1) on a plain string",
    since: "0.1.0",
    group: Group::Bits,
    arity: 3,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[Arg::key("key", 0), Arg::integer("offset")],
    reply: &["Integer: the bit, 0 past the end and on a missing key."],
    errors: &[texts::OFFSET],
    history: &[],
    tips: &[],
    notes: &["GETBIT, for offsets to 18446744073709551615. RB.GETBITS asks for many at once."],
    examples: &[
        Example::new("RB.ADD visited 7301234567890123456", "(integer) 1"),
        Example::new("RB.GETBIT visited 7301234567890123456", "(integer) 1"),
        Example::new("RB.GETBIT visited 7301234567890123457", "(integer) 0"),
        Example::new("RB.GETBIT nosuchkey 5", "(integer) 0"),
        Example::new("SET legacy A", "OK"),
        Example::new("RB.GETBIT legacy 1", "(integer) 1"),
    ],
    event: None,
};

const BITCOUNT: Command = Command {
    name: "RB.BITCOUNT",
    summary: "Count the bits set, in all or in a range of bytes or bits",
    complexity: "O(1); with a range O(log n) where n is the number of ids and runs stored; on a plain string as BITCOUNT",
    since: "0.1.0",
    group: Group::Bits,
    arity: -2,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::block("range", &[Arg::integer("start"), Arg::integer("end"), UNIT]).optional(),
    ],
    reply: &[
        "Integer: the number of bits set, 0 on a missing key.",
        "Bulk string (RESP2) or big number (RESP3): a count above 9223372036854775807.",
    ],
    errors: &[texts::NUMBER, texts::SYNTAX],
    history: &[],
    tips: &[],
    notes: &[
        "BITCOUNT as of Redis 8.2, on every server: start and end count bytes unless BIT is given, are signed 64-bit \
         numbers, and negative ones count from the end of the logical length. RB.COUNT takes closed ranges of ids.",
    ],
    examples: &[
        Example::new("RB.ADD day 0 5 7 8 7301234567890123456", "(integer) 5"),
        Example::new("RB.BITCOUNT day", "(integer) 5"),
        Example::new("RB.BITCOUNT day 0 0", "(integer) 3"),
        Example::new("RB.BITCOUNT day 5 8 BIT", "(integer) 3"),
        Example::new("RB.BITCOUNT day -1 -1", "(integer) 1"),
        Example::new("RB.BITCOUNT nosuchkey", "(integer) 0"),
        Example::new("SET legacy foobar", "OK"),
        Example::new("RB.BITCOUNT legacy", "(integer) 26"),
        Example::new("RB.BITCOUNT legacy 5 30 BIT", "(integer) 17"),
    ],
    event: None,
};

const BITPOS: Command = Command {
    name: "RB.BITPOS",
    summary: "Find the first bit that is 1 or 0, in all or in a range of bytes or bits",
    complexity: "O(log n) where n is the number of ids and runs stored; on a plain string as BITPOS",
    since: "0.1.0",
    group: Group::Bits,
    arity: -3,
    flags: &[Flag::Readonly, Flag::Fast],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::integer("bit"),
        Arg::block(
            "range",
            &[
                Arg::integer("start"),
                Arg::block("end-unit-block", &[Arg::integer("end"), UNIT]).optional(),
            ],
        )
        .optional(),
    ],
    reply: &[
        "Integer: the position from the start of the key, or -1 if there is none.",
        "Bulk string (RESP2) or big number (RESP3): a position above 9223372036854775807.",
    ],
    errors: &[
        ("ERR The bit argument must be 1 or 0.", "bit is a number other than 0 and 1"),
        texts::NUMBER,
        texts::SYNTAX,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "BITPOS as of Redis 8.2: a search for 0 with no end takes the key as padded with zeros to the right and finds \
         the first position past it; with an end it replies -1 when all bits of the range are 1. On a missing key the \
         answer is 0 for bit 0 and -1 for bit 1.",
    ],
    examples: &[
        Example::new("RB.ADD day 8 9 7301234567890123456", "(integer) 3"),
        Example::new("RB.BITPOS day 1", "(integer) 8"),
        Example::new("RB.BITPOS day 0", "(integer) 0"),
        Example::new("RB.BITPOS day 1 2", "(integer) 7301234567890123456"),
        Example::new("RB.BITPOS day 0 8 9 BIT", "(integer) -1"),
        Example::new("RB.BITPOS nosuchkey 0", "(integer) 0"),
        Example::new("RB.BITPOS nosuchkey 1", "(integer) -1"),
        Example::new("RB.SETBIT last 18446744073709551615 1", "(integer) 0"),
        Example::new("RB.BITPOS last 1", r#""18446744073709551615""#),
        Example::new("RB.BITPOS day 2", "(error) ERR The bit argument must be 1 or 0."),
    ],
    event: None,
};

const BITOP: Command = Command {
    name: "RB.BITOP",
    summary: "Combine bitmaps bit by bit and store the result",
    complexity: "O(L) where L is the number of leaves of the sources; what only one source has is shared, not copied",
    since: "0.1.0",
    group: Group::Bits,
    arity: -4,
    flags: &[Flag::Write, Flag::DenyOom],
    keys: Keys::Range { first: 2, last: -1, step: 1 },
    key_specs: &[KeySpec::one(Access::Overwrite, 2), KeySpec::range(Access::Read, 3, -1, 1)],
    args: &[
        Arg::one_of(
            "operation",
            &[
                Arg::word("and", "AND"),
                Arg::word("or", "OR"),
                Arg::word("xor", "XOR"),
                Arg::word("not", "NOT"),
                Arg::word("diff", "DIFF"),
                Arg::word("diff1", "DIFF1"),
                Arg::word("andor", "ANDOR"),
                Arg::word("one", "ONE"),
            ],
        ),
        Arg::key("destkey", 0),
        Arg::key("key", 1).multiple(),
    ],
    reply: &["Integer: the logical length of the result in bytes, which is the longest source's."],
    errors: &[
        texts::SYNTAX,
        ("ERR BITOP NOT must be called with a single source key.", "NOT is given more than one source"),
        (
            "ERR BITOP DIFF must be called with at least two source keys.",
            "DIFF, DIFF1 or ANDOR (the text names which) is given one source",
        ),
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
        "BITOP as of Redis 8.2 on every server, DIFF, DIFF1, ANDOR and ONE included. DIFF: in the first source and in \
         none of the others. DIFF1: in one of the others and not in the first. ANDOR: in the first and in at least one \
         of the others. ONE: in exactly one source.",
        "Sources may be bitmaps and plain strings together; a missing one counts as zeros. The destination may be among \
         the sources; it is overwritten whatever its type, and its TTL goes. A result of length 0 deletes it.",
        "NOT flips every bit of the logical length, so the complement of one large id is one run, not exabytes.",
    ],
    examples: &[
        Example::new("RB.ADD mon 1 2 3 7301234567890123456", "(integer) 4"),
        Example::new("RB.ADD tue 2 3 4", "(integer) 3"),
        Example::new("RB.BITOP AND both mon tue", "(integer) 912654320986265433"),
        Example::new("RB.RANGE both 0 -1", "1) \"2\"\n2) \"3\""),
        Example::new("RB.BITOP DIFF monday-only mon tue", "(integer) 912654320986265433"),
        Example::new("RB.RANGE monday-only 0 -1", "1) \"1\"\n2) \"7301234567890123456\""),
        Example::new("RB.BITOP ONE once mon tue", "(integer) 912654320986265433"),
        Example::new("RB.RANGE once 0 -1", "1) \"1\"\n2) \"4\"\n3) \"7301234567890123456\""),
        Example::new("RB.BITOP NOT inverse tue", "(integer) 1"),
        Example::new("RB.RANGE inverse 0 -1", "1) \"0\"\n2) \"1\"\n3) \"5\"\n4) \"6\"\n5) \"7\""),
        Example::new("RB.BITOP OR inverse nosuchkey", "(integer) 0"),
        Example::new("EXISTS inverse", "(integer) 0"),
        Example::new(
            "RB.BITOP NOT inverse mon tue",
            "(error) ERR BITOP NOT must be called with a single source key.",
        ),
    ],
    event: Some(c"rb.bitop"),
};

const MSETBIT: Command = Command {
    name: "RB.MSETBIT",
    summary: "Set or clear bits of several keys in one atomic step",
    complexity: "O(k log n) where k is the number of bits and n the number of ids and runs stored in a key",
    since: "0.1.0",
    group: Group::Bits,
    arity: -4,
    flags: &[Flag::Write, Flag::DenyOom, Flag::Fast],
    keys: Keys::Range { first: 1, last: -1, step: 3 },
    key_specs: &[KeySpec::range(Access::ReadUpdate, 1, -1, 3)],
    args: &[Arg::block("bit", &[Arg::key("key", 0), Arg::integer("offset"), Arg::integer("value")]).multiple()],
    reply: &["Array of integers: the bit that was there, one for each triple, in order."],
    errors: &[texts::OFFSET, texts::BIT, texts::STRING_OFFSET],
    history: &[],
    tips: &[],
    notes: &[
        "One RB.SETBIT for each triple, with nothing in between. All arguments, the types of all keys and the limits of \
         plain strings are checked before the first write: either every bit is written or none. A triple sees what the \
         ones before it wrote.",
    ],
    examples: &[
        Example::new(
            "RB.MSETBIT active 7301234567890123456 1 paid 7301234567890123456 1 trial 7301234567890123456 0",
            "1) (integer) 0\n2) (integer) 0\n3) (integer) 0",
        ),
        Example::new("RB.MSETBIT paid 7301234567890123456 0 paid 42 1", "1) (integer) 1\n2) (integer) 0"),
        Example::new("RB.RANGE paid 0 -1", "1) \"42\""),
        Example::new("LPUSH queue job", "(integer) 1"),
        Example::new(
            "RB.MSETBIT active 43 1 queue 43 1",
            "(error) WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
        Example::new("RB.GETBIT active 43", "(integer) 0"),
    ],
    event: Some(c"rb.msetbit"),
};
