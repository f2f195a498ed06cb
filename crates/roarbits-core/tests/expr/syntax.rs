//! What is an expression, and what is said of what is none.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::expr::{Expression, Plan, Watch, MAX_DEPTH, MAX_KEYS, MAX_TERMS, MAX_TEXT_BYTES};
use roarbits_core::Bitmap;

fn error(text: &str) -> String {
    match Expression::parse(text.as_bytes(), 3) {
        Ok(expression) => panic!("{text}: {expression:?}"),
        Err(error) => {
            let told = error.to_string();
            let place = format!(" at position {}", error.position());
            assert!(told.contains(&place), "{told}");
            told
        }
    }
}

#[test]
fn errors_name_the_place() {
    let functions = "there are any, all, xor, atleast, exactly, streak and range";
    for (text, expected) in [
        ("$1 & |", "expected an operand at position 6"),
        ("$1 &  )", "expected an operand at position 7"),
        ("$1 &", "expected an operand at position 5"),
        ("& $1", "expected an operand at position 1"),
        ("$1 & -$2", "expected an operand at position 6"),
        ("$1 & and", "expected an operand at position 6"),
        ("$1 | 5", "expected an operand at position 6"),
        ("$1 | *", "expected an operand at position 6"),
        ("$1 $2", "expected an operator at position 4"),
        ("$1 any($2)", "expected an operator at position 4"),
        ("$1 # $2", "expected an operator at position 4"),
        ("$4", "$4 but only 3 keys are given at position 1"),
        ("$1 | $44444444444444444444444", "$44444444444444444444444 but only 3 keys are given at position 6"),
        ("$1 | $0", "$0 but keys are numbered from $1 at position 6"),
        ("$1 | $", "expected the number of a key at position 7"),
        ("$1 | $x", "expected the number of a key at position 7"),
        ("($1 | $2", "unbalanced parentheses: not closed is the one at position 1"),
        ("$1 | (($2)", "unbalanced parentheses: not closed is the one at position 6"),
        ("any($1, $2", "unbalanced parentheses: not closed is the one at position 4"),
        ("$1 | $2)", "unbalanced parentheses: not opened is the one at position 8"),
        ("($1 $2)", "expected an operator or a closing parenthesis at position 5"),
        ("any($1 $2)", "expected a comma or a closing parenthesis at position 8"),
        ("any()", "expected an operand at position 5; a shell"),
        ("any($1,)", "expected an operand at position 8"),
        ("any $1", "expected an opening parenthesis at position 5"),
        ("$1 | some($2)", &format!("unknown function 'some' ({functions}) at position 6")),
        ("atleast(0, $1)", "k must be at least 1 at position 9"),
        ("atleast($1, $2)", "expected a number at position 9"),
        ("streak(2 $1)", "expected a comma at position 10"),
        ("exactly(2)", "expected a comma at position 10; a shell"),
        ("range(1 2) | $1", "expected a comma at position 9"),
        ("range(1, $1)", "expected an id at position 10"),
        ("range(1, 18446744073709551616) | $1", "an id is not above 18446744073709551615 at position 10"),
        ("range(1, 2, 3) | $1", "expected a comma or a closing parenthesis at position 11"),
        ("$1 >= $2", "expected a number at position 7"),
        ("$1 >= -", "expected a number at position 8"),
        ("$1 < 9223372036854775808", "a value is not within 64 bits at position 6"),
        ("$1 < -9223372036854775809", "a value is not within 64 bits at position 6"),
        ("$1 in 5", "expected an opening parenthesis at position 7"),
        ("$1 in ()", "expected a number at position 8"),
        ("$1 in (1, 2", "unbalanced parentheses: not closed is the one at position 7"),
        ("$1 between 1 2", "expected 'and' at position 14"),
        ("$1 between 1 and", "expected a number at position 17"),
        ("$1 ! $2", "expected an operator at position 4"),
    ] {
        assert!(error(text).starts_with(&format!("expression: {expected}")), "{text}: {}", error(text));
    }
}

#[test]
fn without_a_dollar_sign_an_error_hints_at_quoting() {
    let hint = "; a shell may have replaced $1: put the expression in single quotes";
    for text in ["", "   ", " & ", "bash & ", "any(,)", "\u{fffd}"] {
        assert!(error(text).ends_with(hint), "{text}: {}", error(text));
    }
    assert_eq!(error(""), format!("expression: expected an operand at position 1{hint}"));
    assert!(!error("$1 &").contains("shell"));
}

#[test]
fn one_key_is_told_in_the_singular() {
    let error = Expression::parse(b"$2", 1).unwrap_err().to_string();
    assert_eq!(error, "expression: $2 but only 1 key is given at position 1");
}

#[test]
fn operators_bind_as_pythons_do() {
    let parse = |text: &str| Expression::parse(text.as_bytes(), 5).unwrap();
    for (bare, full) in [
        ("$1 - $2 & $3", "($1 - $2) & $3"),
        ("$1 & $2 - $3", "$1 & ($2 - $3)"),
        ("$1 & $2 ^ $3", "($1 & $2) ^ $3"),
        ("$1 ^ $2 & $3", "$1 ^ ($2 & $3)"),
        ("$1 ^ $2 | $3", "($1 ^ $2) | $3"),
        ("$1 | $2 ^ $3", "$1 | ($2 ^ $3)"),
        ("$1 | $2 & $3 - $4 ^ $5", "$1 | (($2 & ($3 - $4)) ^ $5)"),
        ("$1 - $2 >= -2 & $3", "($1 - ($2 >= -2)) & $3"),
        ("$1 - $2 in (1,2) - $3", "$1 - ($2 in (1, 2)) - $3"),
        ("$1 between 1 and 9 & $2", "($1 between 1 and 9) & $2"),
        ("$1 = 5", "$1 == 5"),
        ("ANY($1, $2) | STREAK(2,*)", "any( $1 , $2 )|streak( 2 , * )"),
        ("$1 IN (1) & $2 BETWEEN 1 AND 2", "$1 in (1) & $2 between 1 and 2"),
        ("any(*)", "any($1, $2, $3, $4, $5)"),
        ("any(*, $1)", "any($1, $2, $3, $4, $5, $1)"),
        ("all(*)", "$1 & $2 & $3 & $4 & $5"),
    ] {
        assert_eq!(parse(bare), parse(full), "{bare}");
    }
    assert_eq!(parse("all(*)"), Expression::all(5));
    assert_ne!(parse("$1 - ($2 - $3)"), parse("$1 - $2 - $3"));
}

#[test]
fn operators_of_a_kind_group_to_the_left() {
    let sets: Vec<Bitmap> = [0..8u64, 4..8, 6..12].into_iter().map(Iterator::collect).collect();
    let count = |text: &str| {
        let expression = Expression::parse(text.as_bytes(), 3).unwrap();
        Plan::new(&expression, &sets).count(&Watch::new()).unwrap()
    };
    assert_eq!((count("$1 - $2 - $3"), count("$1 - ($2 - $3)")), (4, 6));
}

#[test]
fn predicates_are_told_by_their_keys() {
    let keys = |text: &str| Expression::parse(text.as_bytes(), 3).unwrap().predicates().collect::<Vec<_>>();
    assert_eq!(keys("$1 | $2 & $3"), []);
    assert_eq!(keys("any($2 != 1, $1 & ($3 < -4 | $2 between -1 and 1))"), [1, 2, 1]);
    assert_eq!(keys("$1 in (-9223372036854775808, 9223372036854775807)"), [0]);
}

#[test]
fn depth_length_and_operands_are_bounded() {
    let nested = |depth: usize| format!("{}$1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Expression::parse(nested(MAX_DEPTH).as_bytes(), 1).is_ok());
    let deep = format!("nested deeper than {MAX_DEPTH} at position {}", MAX_DEPTH + 1);
    assert_eq!(error(&nested(MAX_DEPTH + 1)), format!("expression: {deep}"));
    for bomb in ["(", "any(", "all((", "$1-(", "streak(1,", "$1 in ("] {
        assert!(Expression::parse(bomb.repeat(MAX_TEXT_BYTES / bomb.len()).as_bytes(), 3).is_err());
    }
    let mut every_level = "$1".to_owned();
    for _ in 0..MAX_DEPTH {
        every_level = format!("$2|$3^$1&$2-({every_level})");
    }
    let sets: Vec<Bitmap> = (1..=3).map(|n| (0..100).step_by(n).collect()).collect();
    let plan = Plan::new(&Expression::parse(every_level.as_bytes(), 3).unwrap(), &sets);
    assert_eq!(
        plan.count(&Watch::new()),
        Some(plan.test(&(0..100).collect::<Vec<_>>()).iter().filter(|kept| **kept).count() as u128)
    );
    let long = "$1|".repeat(MAX_TEXT_BYTES / 3) + "$1";
    assert!(error(&long).contains(&format!("longer than {MAX_TEXT_BYTES} bytes")));
    let many = "$1|".repeat(MAX_TERMS + 1) + "$1";
    assert!(error(&many).contains(&format!("more than {MAX_TERMS} operands and operators at position")));
    let stars = format!("any({}*)", "*,".repeat(MAX_TERMS / MAX_KEYS));
    assert!(Expression::parse(stars.as_bytes(), MAX_KEYS).is_err());
    assert!(Expression::parse(b"any(*)", MAX_KEYS).is_ok());
}

const WORDS: [&str; 30] = [
    "$1",
    "$2",
    "$3",
    "$4",
    "$",
    "$0",
    "(",
    ")",
    ",",
    "*",
    "-",
    "&",
    "^",
    "|",
    "any",
    "all",
    "xor(",
    "atleast(",
    "exactly(2,",
    "streak(",
    "range(",
    "1",
    "18446744073709551616",
    " ",
    ">=",
    "=",
    "in",
    "between",
    "and",
    "\u{e9}",
];

#[test]
fn no_bytes_make_the_parser_or_a_plan_panic() {
    let mut rng = StdRng::seed_from_u64(11);
    let sets: Vec<Bitmap> = [0..8u64, 4..8, 6..12].into_iter().map(Iterator::collect).collect();
    let mut valid = 0;
    for round in 0..60_000 {
        let text: Vec<u8> = match round % 3 {
            0 => (0..rng.random_range(0..40)).map(|_| rng.random()).collect(),
            1 => (0..rng.random_range(0..12))
                .flat_map(|_| WORDS[rng.random_range(0..WORDS.len())].bytes())
                .collect(),
            _ => {
                let mut text = b"any($1, $2 & ($3 - $1), streak(2, *)) - range(1, 7) | $1 in (1, 2)".to_vec();
                for _ in 0..rng.random_range(0..4) {
                    let at = rng.random_range(0..text.len());
                    match rng.random_range(0..3) {
                        0 => text[at] = rng.random(),
                        1 => drop(text.remove(at)),
                        _ => text.insert(at, text[rng.random_range(0..text.len())]),
                    }
                }
                text
            }
        };
        match Expression::parse(&text, 3) {
            Ok(expression) => {
                valid += 1;
                let plan = Plan::new(&expression, &sets);
                let again = Expression::parse(plan.order().as_bytes(), 3).unwrap();
                assert_eq!(Plan::new(&again, &sets).count(&Watch::new()), plan.count(&Watch::new()));
            }
            Err(error) => assert!((1..=text.len() + 2).contains(&error.position()), "{error}"),
        }
    }
    assert!(valid > 1000, "{valid}");
}
