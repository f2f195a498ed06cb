//! Cuts the text of an expression into tokens.

/// The smallest part of an expression that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `$` and the digits after it, of which there may be none.
    Key(&'a [u8]),
    /// Digits.
    Number(&'a [u8]),
    /// Letters.
    Word(&'a [u8]),
    /// An operator, a comparison or punctuation.
    Symbol(Symbol),
    /// A byte that begins nothing.
    Unknown,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Open,
    Close,
    Comma,
    Star,
    Minus,
    And,
    Xor,
    Or,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// All symbols, the longer first.
const SYMBOLS: [(&[u8], Symbol); 15] = [
    (b"==", Symbol::Equal),
    (b"!=", Symbol::Unequal),
    (b"<=", Symbol::LessOrEqual),
    (b">=", Symbol::GreaterOrEqual),
    (b"=", Symbol::Equal),
    (b"<", Symbol::Less),
    (b">", Symbol::Greater),
    (b"(", Symbol::Open),
    (b")", Symbol::Close),
    (b",", Symbol::Comma),
    (b"*", Symbol::Star),
    (b"-", Symbol::Minus),
    (b"&", Symbol::And),
    (b"^", Symbol::Xor),
    (b"|", Symbol::Or),
];

/// The token at `at` or after the spaces there, its place, and the place after it.
pub(super) fn next(text: &[u8], at: usize) -> (Token<'_>, usize, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (at, rest) = (at + spaces, &rest[spaces..]);
    let (token, length) = first(rest);
    (token, at, at + length)
}

fn first(rest: &[u8]) -> (Token<'_>, usize) {
    let Some((byte, after)) = rest.split_first() else {
        return (Token::End, 0);
    };
    if *byte == b'$' {
        let digits = leading(after, u8::is_ascii_digit);
        return (Token::Key(digits), 1 + digits.len());
    }
    let digits = leading(rest, u8::is_ascii_digit);
    if !digits.is_empty() {
        return (Token::Number(digits), digits.len());
    }
    let word = leading(rest, u8::is_ascii_alphabetic);
    if !word.is_empty() {
        return (Token::Word(word), word.len());
    }
    let symbol = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text));
    symbol.map_or((Token::Unknown, 1), |(text, symbol)| (Token::Symbol(*symbol), text.len()))
}

fn leading(bytes: &[u8], is_part: impl Fn(&u8) -> bool) -> &[u8] {
    &bytes[..bytes.iter().take_while(|byte| is_part(byte)).count()]
}
