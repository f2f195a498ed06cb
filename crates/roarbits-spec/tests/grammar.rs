//! Syntax lines, by example.

use roarbits_spec::{find, Arg, Command};

fn syntax(name: &str) -> String {
    find(name).map(Command::syntax).unwrap_or_default()
}

#[test]
fn arguments_follow_the_name() {
    assert_eq!(syntax("RB.SETBIT"), "RB.SETBIT key offset value");
}

#[test]
fn a_block_may_be_left_out_as_a_whole() {
    assert_eq!(syntax("RB.COUNT"), "RB.COUNT key [start end]");
}

#[test]
fn optional_blocks_nest() {
    assert_eq!(syntax("RB.BITCOUNT"), "RB.BITCOUNT key [start end [BYTE|BIT]]");
    assert_eq!(syntax("RB.BITPOS"), "RB.BITPOS key bit [start [end [BYTE|BIT]]]");
}

#[test]
fn what_repeats_is_shown_twice() {
    assert_eq!(syntax("RB.ADD"), "RB.ADD key id [id ...]");
    assert_eq!(syntax("RB.MSETBIT"), "RB.MSETBIT key offset value [key offset value ...]");
}

#[test]
fn a_choice_of_words_needs_no_brackets() {
    assert_eq!(syntax("RB.BITOP"), "RB.BITOP AND|OR|XOR|NOT|DIFF|DIFF1|ANDOR|ONE destkey key [key ...]");
}

#[test]
fn a_token_stands_before_what_it_introduces() {
    assert_eq!(syntax("RB.RANGE"), "RB.RANGE key start stop [BYID] [REV] [LIMIT offset count]");
    assert_eq!(
        syntax("RB.EXPORT"),
        "RB.EXPORT key [FORMAT PORTABLE64|PORTABLE32|STRING|NATIVE] [RANGE start end]"
    );
}

#[test]
fn a_choice_of_phrases_is_bracketed() {
    assert_eq!(
        syntax("RB.DEBUG"),
        "RB.DEBUG <VALIDATE validated | PANIC | KEYS numkeys reported [reported ...] OPEN opened>"
    );
}

#[test]
fn an_optional_choice_of_phrases_has_one_pair_of_brackets() {
    const PHRASES: &[Arg] = &[Arg::integer("seconds").token("EX"), Arg::word("keep", "KEEPTTL")];
    assert_eq!(Arg::one_of("expiry", PHRASES).optional().syntax(), "[EX seconds | KEEPTTL]");
    assert_eq!(
        Arg::one_of("expiry", PHRASES).token("TTL").optional().syntax(),
        "[TTL <EX seconds | KEEPTTL>]"
    );
    let repeated = Arg::one_of("expiry", PHRASES).multiple();
    assert_eq!(repeated.syntax(), "<EX seconds | KEEPTTL> [<EX seconds | KEEPTTL> ...]");
}

#[test]
fn what_may_repeat_or_be_absent_is_bracketed_twice() {
    assert_eq!(Arg::integer("id").multiple().optional().syntax(), "[id [id ...]]");
    assert_eq!(Arg::integer("id").multiple().token("IDS").optional().syntax(), "[IDS id [id ...]]");
}
