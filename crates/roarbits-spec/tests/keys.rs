//! The two ways in which a server finds keys must agree: the legacy triple
//! (cluster redirection, tracking, 6.2) and the key specs (ACL, COMMAND INFO).

use std::collections::BTreeSet;

use roarbits_spec::{commands, debug_commands, BeginSearch, Command, FindKeys, KeySpec, Keys};

/// A position counted from the start, or from the end where negative.
fn resolve(position: i32, argc: i32) -> i32 {
    if position < 0 {
        argc + position
    } else {
        position
    }
}

fn steps(first: i32, last: i32, step: i32) -> BTreeSet<i32> {
    let step = usize::try_from(step).expect("a step is positive");
    (first..=last).step_by(step).collect()
}

fn of_triple(keys: Keys, argc: i32) -> Option<BTreeSet<i32>> {
    match keys {
        Keys::Range { first, last, step } => Some(steps(first, resolve(last, argc), step)),
        Keys::Parsed => None,
    }
}

fn of_spec(spec: &KeySpec, argc: i32) -> Option<BTreeSet<i32>> {
    match (spec.begin, spec.find) {
        (BeginSearch::Index(first), FindKeys::Range { last, step, limit: 0 }) => {
            let last = if last < 0 { argc + last } else { first + last };
            Some(steps(first, last, step))
        }
        _ => None,
    }
}

/// The argument counts of some legal calls.
fn call_lengths(command: &Command) -> impl Iterator<Item = i32> {
    let stride = match command.keys {
        Keys::Range { step, .. } => step,
        Keys::Parsed => 1,
    };
    let calls = if command.arity > 0 { 1 } else { 5 };
    let least = command.arity.abs();
    (0..calls).map(move |n| least + n * stride)
}

#[test]
fn key_specs_and_the_legacy_triple_find_the_same_keys() {
    for command in commands() {
        for argc in call_lengths(command) {
            let Some(triple) = of_triple(command.keys, argc) else {
                continue;
            };
            let specs =
                command.key_specs.iter().flat_map(|spec| of_spec(spec, argc).expect("an index and a range"));
            let specs: Vec<_> = specs.collect();
            let distinct: BTreeSet<_> = specs.iter().copied().collect();
            assert_eq!(specs.len(), distinct.len(), "{}: a key in two specs", command.name);
            assert_eq!(distinct, triple, "{} with {argc} arguments", command.name);
        }
    }
}

#[test]
fn a_call_of_least_length_has_a_key() {
    for command in commands() {
        match of_triple(command.keys, command.arity.abs()) {
            Some(keys) => assert!(!keys.is_empty(), "{}", command.name),
            None => assert!(command.movable_keys(), "{}", command.name),
        }
    }
}

/// The keys that a counting spec finds in a call.
fn of_counted(spec: &KeySpec, call: &[&str]) -> Vec<String> {
    let (BeginSearch::Index(begin), FindKeys::Numkeys { numkeys, first, step: 1 }) = (spec.begin, spec.find)
    else {
        return Vec::new();
    };
    let count: usize = call[(begin + numkeys) as usize].parse().expect("a number of keys");
    call.iter().skip((begin + first) as usize).take(count).map(ToString::to_string).collect()
}

#[test]
fn a_counting_spec_finds_as_many_keys_as_the_number_says() {
    let calls: [&[&str]; 2] = [
        &["RB.EXPR", "2", "a", "b", "$1 & $2", "IDS", "LIMIT", "0", "2"],
        &["RB.EXPRSTORE", "d", "2", "a", "b", "$1 & $2", "EX", "9"],
    ];
    for call in calls {
        let command = roarbits_spec::find(call[0]).expect("a row");
        let keys: Vec<_> = command.key_specs.iter().flat_map(|spec| of_counted(spec, call)).collect();
        assert_eq!(keys, ["a", "b"], "{}", command.name);
    }
}

#[test]
fn bitop_reports_its_destination_and_every_source() {
    let bitop = roarbits_spec::find("RB.BITOP").expect("a row");
    assert_eq!(of_triple(bitop.keys, 6), Some(BTreeSet::from([2, 3, 4, 5])));
}

#[test]
fn msetbit_reports_the_first_of_each_triple() {
    let msetbit = roarbits_spec::find("RB.MSETBIT").expect("a row");
    assert_eq!(of_triple(msetbit.keys, 10), Some(BTreeSet::from([1, 4, 7])));
}

#[test]
fn a_spec_that_depends_on_words_admits_that_it_may_miss_keys() {
    for command in commands().chain(debug_commands()) {
        for spec in command.key_specs {
            let by_word = matches!(spec.begin, BeginSearch::Keyword(..));
            assert!(!by_word || (spec.incomplete && command.movable_keys()), "{}", command.name);
        }
    }
}
