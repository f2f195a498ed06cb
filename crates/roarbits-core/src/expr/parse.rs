//! Parses an expression by descent, no deeper than parentheses may be nested.

use super::error::{Fault, Hint, SyntaxError};
use super::token::{self, Symbol, Token};
use super::{MAX_DEPTH, MAX_TERMS, MAX_TEXT_BYTES};
use crate::bitmap::{Combination, Gate};

/// A parsed expression over numbered operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub(super) root: Term,
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Term {
    /// The ids of a key, counted from 0.
    Key(usize),
    /// A closed range of ids; none if it is reversed.
    Range(u64, u64),
    /// The ids whose value in a column passes a test.
    Predicate(Predicate),
    /// What a gate keeps of others.
    Gate(Gate, Vec<Term>),
}

/// A test of the values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// The key of the column, counted from 0.
    pub key: usize,
    /// What its values are tested for.
    pub test: Test,
}

/// What a value is tested for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// To be just that: `=` or `==`.
    Equal(i64),
    /// To be anything else: `!=`.
    Unequal(i64),
    /// To be less: `<`.
    Less(i64),
    /// To be that or less: `<=`.
    LessOrEqual(i64),
    /// To be greater: `>`.
    Greater(i64),
    /// To be that or greater: `>=`.
    GreaterOrEqual(i64),
    /// To be one of those, at least one: `in (1, 2)`.
    In(Vec<i64>),
    /// To be within bounds, both included: `between 1 and 9`; none is if they are reversed.
    Between(i64, i64),
}

impl Expression {
    /// Parses `text`, in which `$1` to `$keys` may occur; `keys` is at most `MAX_KEYS`. O(text).
    ///
    /// # Errors
    /// What the text violates first, and where; that it is too long, too deep or has too many operands.
    pub fn parse(text: &[u8], keys: usize) -> Result<Self, SyntaxError> {
        let hint = if text.contains(&b'$') { Hint::None } else { Hint::Quoting };
        let error = |(fault, at): Failure| SyntaxError { fault, position: at + 1, hint };
        if text.len() > MAX_TEXT_BYTES {
            return Err(error((Fault::TooLong, MAX_TEXT_BYTES)));
        }
        let mut parser = Parser { text, token: Token::End, at: 0, after: 0, keys, terms: 0, depth: 0 };
        parser.advance();
        parser.whole().map(|root| Self { root }).map_err(error)
    }

    /// The AND of all `keys`, 1 to `MAX_KEYS`.
    pub fn all(keys: usize) -> Self {
        let keys = (0..keys).map(Term::Key).collect();
        Self { root: Term::Gate(Gate::Combine(Combination::And), keys) }
    }

    /// The keys, counted from 0, of which column predicates are asked, as often as they are.
    pub fn predicates(&self) -> impl Iterator<Item = usize> + '_ {
        let mut terms = vec![&self.root];
        std::iter::from_fn(move || loop {
            match terms.pop()? {
                Term::Predicate(predicate) => return Some(predicate.key),
                Term::Gate(_, inner) => terms.extend(inner.iter().rev()),
                Term::Key(_) | Term::Range(..) => {}
            }
        })
    }
}

/// A fault, and the byte of the text at which it is, from 0 on.
type Failure = (Fault, usize);

struct Parser<'a> {
    text: &'a [u8],
    /// The token to be taken next, where it begins and ends.
    token: Token<'a>,
    at: usize,
    after: usize,
    keys: usize,
    /// Terms so far.
    terms: usize,
    /// Open parentheses.
    depth: usize,
}

/// The operators, from the loosest to the one that binds tightest.
const OPERATORS: [(Symbol, Combination); 4] = [
    (Symbol::Or, Combination::Or),
    (Symbol::Xor, Combination::Xor),
    (Symbol::And, Combination::And),
    (Symbol::Minus, Combination::Diff),
];

/// What makes a test of a value.
type OfValue = fn(i64) -> Test;

const COMPARISONS: [(Symbol, OfValue); 6] = [
    (Symbol::Equal, Test::Equal),
    (Symbol::Unequal, Test::Unequal),
    (Symbol::Less, Test::Less),
    (Symbol::LessOrEqual, Test::LessOrEqual),
    (Symbol::Greater, Test::Greater),
    (Symbol::GreaterOrEqual, Test::GreaterOrEqual),
];

/// What a function makes of its operands, by its first argument if it takes `k`.
enum Function {
    Of(Combination),
    Counted(fn(u32) -> Gate),
    Range,
}

impl Function {
    fn named(name: &[u8]) -> Option<Self> {
        let known: [(&[u8], Self); 7] = [
            (b"any", Self::Of(Combination::Or)),
            (b"all", Self::Of(Combination::And)),
            (b"xor", Self::Of(Combination::Xor)),
            (b"atleast", Self::Counted(|k| Gate::Combine(Combination::AtLeast(k)))),
            (b"exactly", Self::Counted(|k| Gate::Combine(Combination::Exactly(k)))),
            (b"streak", Self::Counted(Gate::Streak)),
            (b"range", Self::Range),
        ];
        known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, function)| function)
    }
}

/// Letters of an unknown name that are repeated to the user.
const SHOWN_LETTERS: usize = 32;

impl<'a> Parser<'a> {
    fn advance(&mut self) {
        (self.token, self.at, self.after) = token::next(self.text, self.after);
    }

    fn expected<T>(&self, what: &'static str) -> Result<T, Failure> {
        Err((Fault::Expected(what), self.at))
    }

    /// Takes a symbol if it is the next token.
    fn takes(&mut self, symbol: Symbol) -> bool {
        let is_next = self.token == Token::Symbol(symbol);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Takes a word if it is the next token, in whatever case.
    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.token, Token::Word(next) if next.eq_ignore_ascii_case(word.as_bytes()));
        if is_next {
            self.advance();
        }
        is_next
    }

    fn whole(&mut self) -> Result<Term, Failure> {
        let root = self.operation(0)?;
        match self.token {
            Token::End => Ok(root),
            Token::Symbol(Symbol::Close) => Err((Fault::NotOpened, self.at)),
            _ => self.expected("an operator"),
        }
    }

    /// Operands joined by one operator, each of operators that bind tighter.
    fn operation(&mut self, level: usize) -> Result<Term, Failure> {
        let Some((symbol, combination)) = OPERATORS.get(level) else {
            return self.operand();
        };
        let first = self.operation(level + 1)?;
        if self.token != Token::Symbol(*symbol) {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.takes(*symbol) {
            terms.push(self.operation(level + 1)?);
        }
        self.gate(Gate::Combine(*combination), terms)
    }

    fn gate(&mut self, gate: Gate, terms: Vec<Term>) -> Result<Term, Failure> {
        self.count_term()?;
        Ok(Term::Gate(gate, terms))
    }

    fn count_term(&mut self) -> Result<(), Failure> {
        self.terms += 1;
        if self.terms > MAX_TERMS {
            return Err((Fault::TooManyTerms, self.at));
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<Term, Failure> {
        let at = self.at;
        self.count_term()?;
        match self.token {
            Token::Key(digits) => {
                let key = self.key(digits)?;
                self.advance();
                Ok(self.test()?.map_or(Term::Key(key), |test| Term::Predicate(Predicate { key, test })))
            }
            Token::Word(name) if !is_reserved(name) => {
                let Some(function) = Function::named(name) else {
                    let shown = &name[..name.len().min(SHOWN_LETTERS)];
                    return Err((Fault::UnknownFunction(String::from_utf8_lossy(shown).into_owned()), at));
                };
                self.advance();
                let opened = self.at;
                if self.token != Token::Symbol(Symbol::Open) {
                    return self.expected("an opening parenthesis");
                }
                self.open()?;
                let term = self.call(function)?;
                self.close(opened, "a comma or a closing parenthesis")?;
                Ok(term)
            }
            Token::Symbol(Symbol::Open) => {
                self.open()?;
                let term = self.operation(0)?;
                self.close(at, "an operator or a closing parenthesis")?;
                Ok(term)
            }
            _ => self.expected("an operand"),
        }
    }

    fn key(&self, digits: &[u8]) -> Result<usize, Failure> {
        if digits.is_empty() {
            return Err((Fault::Expected("the number of a key"), self.at + 1));
        }
        match number::<usize>(digits) {
            Some(0) => Err((Fault::NoKeyZero, self.at)),
            Some(key) if key <= self.keys => Ok(key - 1),
            _ => {
                let shown = &digits[..digits.len().min(SHOWN_LETTERS)];
                let digits = String::from_utf8_lossy(shown).into_owned();
                Err((Fault::NoSuchKey { digits, keys: self.keys }, self.at))
            }
        }
    }

    fn open(&mut self) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((Fault::TooDeep, self.at));
        }
        self.advance();
        Ok(())
    }

    fn close(&mut self, opened: usize, expected: &'static str) -> Result<(), Failure> {
        self.depth -= 1;
        if self.takes(Symbol::Close) {
            return Ok(());
        }
        match self.token {
            Token::End => Err((Fault::NotClosed, opened)),
            _ => self.expected(expected),
        }
    }

    /// The arguments of a function.
    fn call(&mut self, function: Function) -> Result<Term, Failure> {
        match function {
            Function::Of(combination) => {
                let terms = self.list()?;
                self.gate(Gate::Combine(combination), terms)
            }
            Function::Counted(gate) => {
                let at = self.at;
                let Token::Number(digits) = self.token else {
                    return self.expected("a number");
                };
                // More than there can be operands is no error, and keeps nothing.
                let k = number(digits).unwrap_or(u32::MAX);
                if k == 0 {
                    return Err((Fault::NoStreakOfNone, at));
                }
                self.advance();
                if !self.takes(Symbol::Comma) {
                    return self.expected("a comma");
                }
                let terms = self.list()?;
                self.gate(gate(k), terms)
            }
            Function::Range => {
                let first = self.id()?;
                if !self.takes(Symbol::Comma) {
                    return self.expected("a comma");
                }
                Ok(Term::Range(first, self.id()?))
            }
        }
    }

    fn list(&mut self) -> Result<Vec<Term>, Failure> {
        let mut terms = Vec::new();
        loop {
            if self.token == Token::Symbol(Symbol::Star) {
                for key in 0..self.keys {
                    self.count_term()?;
                    terms.push(Term::Key(key));
                }
                self.advance();
            } else {
                terms.push(self.operation(0)?);
            }
            if !self.takes(Symbol::Comma) {
                return Ok(terms);
            }
        }
    }

    fn id(&mut self) -> Result<u64, Failure> {
        let Token::Number(digits) = self.token else {
            return self.expected("an id");
        };
        let id = number(digits).ok_or((Fault::NotAnId, self.at))?;
        self.advance();
        Ok(id)
    }

    /// What the values of a key are tested for, if a test follows it.
    fn test(&mut self) -> Result<Option<Test>, Failure> {
        let comparison = COMPARISONS.iter().find(|(symbol, _)| self.token == Token::Symbol(*symbol));
        if let Some((_, test)) = comparison {
            self.advance();
            return Ok(Some(test(self.value()?)));
        }
        if self.takes_word("in") {
            return self.values().map(|values| Some(Test::In(values)));
        }
        if !self.takes_word("between") {
            return Ok(None);
        }
        let low = self.value()?;
        if !self.takes_word("and") {
            return self.expected("'and'");
        }
        Ok(Some(Test::Between(low, self.value()?)))
    }

    fn values(&mut self) -> Result<Vec<i64>, Failure> {
        let opened = self.at;
        if self.token != Token::Symbol(Symbol::Open) {
            return self.expected("an opening parenthesis");
        }
        self.open()?;
        let mut values = vec![self.value()?];
        while self.takes(Symbol::Comma) {
            self.count_term()?;
            values.push(self.value()?);
        }
        self.close(opened, "a comma or a closing parenthesis")?;
        Ok(values)
    }

    /// A number with or without a sign.
    fn value(&mut self) -> Result<i64, Failure> {
        let at = self.at;
        let is_negative = self.takes(Symbol::Minus);
        let Token::Number(digits) = self.token else {
            return self.expected("a number");
        };
        let magnitude = number::<i128>(digits).map(|n| if is_negative { -n } else { n });
        let value = magnitude.and_then(|n| i64::try_from(n).ok()).ok_or((Fault::NotAValue, at))?;
        self.advance();
        Ok(value)
    }
}

fn is_reserved(word: &[u8]) -> bool {
    ["in", "between", "and"].iter().any(|reserved| word.eq_ignore_ascii_case(reserved.as_bytes()))
}

/// The number that digits write; `None` if it is out of range.
fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
