//! The rows of the commands that move whole bitmaps in and out.

use crate::row::{Access, Arg, Command, Example, Flag, Group, KeySpec, Keys};
use crate::texts;

pub(crate) const ROWS: &[Command] = &[EXPORT, IMPORT];

const PORTABLE64: Arg = Arg::word("portable64", "PORTABLE64");
const PORTABLE32: Arg = Arg::word("portable32", "PORTABLE32");
const STRING: Arg = Arg::word("string", "STRING");
const NATIVE: Arg = Arg::word("native", "NATIVE");

const EXPORT: Command = Command {
    name: "RB.EXPORT",
    summary: "Reply a bitmap, or a range of it, as one payload",
    complexity: "O(P) where P is the size of the payload in bytes",
    since: "0.1.0",
    group: Group::Moving,
    arity: -2,
    flags: &[Flag::Readonly],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::Read, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::one_of("format", &[PORTABLE64, PORTABLE32, STRING, NATIVE]).token("FORMAT").optional(),
        Arg::block("range", &[Arg::text("start"), Arg::text("end")]).token("RANGE").optional(),
    ],
    reply: &["Bulk string: the payload.", "Null: the key is missing."],
    errors: &[
        texts::ID,
        texts::SYNTAX,
        ("ERR bitmap has ids beyond 32 bits", "the format is PORTABLE32 and an id to export is above 4294967295"),
        (
            "ERR RANGE start must be a multiple of 8 with FORMAT STRING",
            "the format is STRING and the range does not start at a byte",
        ),
        (
            "ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE",
            "the payload would be too large for one reply; known before it is built",
        ),
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "PORTABLE64, the default: the portable 64-bit Roaring format, read by CRoaring, Java, Go and Rust. \
         PORTABLE32: the portable 32-bit one. Both carry the ids and not the logical length.",
        "STRING: the bytes of the equivalent string, first bit first, exactly as long as the logical length; with RANGE \
         the bytes of the range, which must start at a multiple of 8. It is the one format whose size follows the \
         largest id.",
        "NATIVE: the module's own versioned, self-checking coding, compact and with the logical length.",
        "RANGE keeps the ids from start to end, both included; `-` and `+` are the lowest and the highest.",
    ],
    examples: &[
        Example::new("RB.ADD dau 1 5", "(integer) 2"),
        Example::new(
            "RB.EXPORT dau",
            r#""\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00:0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x05\x00""#,
        ),
        Example::new("RB.EXPORT dau FORMAT STRING", r#""D""#),
        Example::new("RB.ADD dau 8 4294967296", "(integer) 2"),
        Example::new("RB.EXPORT dau FORMAT STRING RANGE 8 15", r#""\x80""#),
        Example::new("RB.EXPORT dau FORMAT PORTABLE32", "(error) ERR bitmap has ids beyond 32 bits"),
        Example::new(
            "RB.EXPORT dau FORMAT PORTABLE32 RANGE - 5",
            r#"":0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x05\x00""#,
        ),
        Example::new("RB.EXPORT nosuchkey", "(nil)"),
    ],
    event: None,
};

const IMPORT: Command = Command {
    name: "RB.IMPORT",
    summary: "Store a payload as a bitmap, or combine it with one",
    complexity: "O(P + L) where P is the size of the payload in bytes and L the number of leaves it is combined with",
    since: "0.1.0",
    group: Group::Moving,
    arity: -3,
    flags: &[Flag::Write, Flag::DenyOom],
    keys: Keys::FIRST,
    key_specs: &[KeySpec::one(Access::ReadUpdate, 1)],
    args: &[
        Arg::key("key", 0),
        Arg::text("payload"),
        Arg::one_of("format", &[Arg::word("auto", "AUTO"), PORTABLE64, PORTABLE32, STRING, NATIVE])
            .token("FORMAT")
            .optional(),
        Arg::one_of(
            "mode",
            &[
                Arg::word("replace", "REPLACE"),
                Arg::word("or", "OR"),
                Arg::word("and", "AND"),
                Arg::word("xor", "XOR"),
                Arg::word("diff", "DIFF"),
            ],
        )
        .optional(),
    ],
    reply: &[
        "Integer: the number of ids of the bitmap afterwards.",
        "Bulk string (RESP2) or big number (RESP3): a count above 9223372036854775807.",
    ],
    errors: &[
        texts::SYNTAX,
        (
            "ERR invalid roaring payload: <what> at byte N",
            "the payload is not a valid one of its format; the key is unchanged",
        ),
        texts::BUSY,
        texts::MEMORY,
        texts::TOO_LARGE_IN_PLACE,
        texts::REPLACED,
        texts::PAUSED,
    ],
    history: &[],
    tips: &[],
    notes: &[
        "AUTO, the default format, is whichever of PORTABLE64, PORTABLE32 and NATIVE validates, and an error unless \
         exactly one does. It never means STRING: any bytes are a string.",
        "REPLACE, the default, overwrites a key of any type and drops its TTL. OR, AND, XOR and DIFF (the key less the \
         payload) need a bitmap or a missing key, which is an empty bitmap and is created whatever the result, and keep \
         the TTL.",
        "Every length, order and count is checked before the payload is trusted. The logical length is the payload's \
         (NATIVE, STRING) or what covers its largest id; in a combination the longer of the two.",
    ],
    examples: &[
        Example::new(
            r#"RB.IMPORT dau "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00:0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x05\x00""#,
            "(integer) 2",
        ),
        Example::new("RB.RANGE dau 0 -1", "1) \"1\"\n2) \"5\""),
        Example::new(r#"RB.IMPORT dau "\x80\x01" FORMAT STRING OR"#, "(integer) 4"),
        Example::new("RB.RANGE dau 0 -1", "1) \"0\"\n2) \"1\"\n3) \"5\"\n4) \"15\""),
        Example::new("RB.IMPORT dau D FORMAT STRING DIFF", "(integer) 2"),
        Example::new(r#"RB.IMPORT dau "\xff" FORMAT STRING"#, "(integer) 8"),
    ],
    event: Some(c"rb.import"),
};
