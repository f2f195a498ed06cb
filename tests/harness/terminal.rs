//! Command lines as typed into redis-cli, and replies as it prints them: the
//! language of the examples in the command table.

use redis::Value;

use crate::reply::error_text;
use crate::Args;

/// Splits a typed line into arguments: blanks separate, `"..."` understands
/// `\n \r \t \b \a \" \\ \xNN`, `'...'` understands `\'`.
///
/// # Errors
/// What is wrong with the quotes.
pub fn split(line: &str) -> Result<Args, String> {
    let mut rest = line.trim_start().as_bytes();
    let mut arguments = Vec::new();
    while !rest.is_empty() {
        let (argument, after) = argument(rest).map_err(|what| format!("{what} in: {line}"))?;
        arguments.push(argument);
        rest = after.trim_ascii_start();
    }
    Ok(arguments)
}

fn argument(mut rest: &[u8]) -> Result<(Vec<u8>, &[u8]), &'static str> {
    let mut argument = Vec::new();
    while let [first, after @ ..] = rest {
        match first {
            b'"' | b'\'' => {
                rest = quoted(*first, after, &mut argument)?;
                match rest.first() {
                    None => {}
                    Some(next) if next.is_ascii_whitespace() => {}
                    Some(_) => return Err("a closing quote must be followed by a blank"),
                }
            }
            blank if blank.is_ascii_whitespace() => break,
            plain => {
                argument.push(*plain);
                rest = after;
            }
        }
    }
    Ok((argument, rest))
}

fn quoted<'a>(quote: u8, mut rest: &'a [u8], argument: &mut Vec<u8>) -> Result<&'a [u8], &'static str> {
    loop {
        match rest {
            [] => return Err("an unclosed quote"),
            [closing, after @ ..] if *closing == quote => return Ok(after),
            [b'\\', b'\'', after @ ..] if quote == b'\'' => {
                argument.push(b'\'');
                rest = after;
            }
            [b'\\', b'x', high, low, after @ ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                argument.push(nibble(*high) << 4 | nibble(*low));
                rest = after;
            }
            [b'\\', escaped, after @ ..] if quote == b'"' => {
                argument.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = after;
            }
            [plain, after @ ..] => {
                argument.push(*plain);
                rest = after;
            }
        }
    }
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

/// A reply as redis-cli prints it on a terminal, without the last line feed:
/// `(integer) 1`, `"7"`, `(nil)`, `1) "7"`, `OK`, `(error) ERR ...`.
pub fn print(reply: &Result<Value, String>) -> String {
    match reply {
        Ok(value) => print_value(value, 0),
        Err(text) => format!("(error) {text}"),
    }
}

fn print_value(value: &Value, indent: usize) -> String {
    match value {
        Value::Nil => "(nil)".to_string(),
        Value::Int(number) => format!("(integer) {number}"),
        Value::BulkString(bytes) => quote(bytes),
        Value::SimpleString(text) => text.clone(),
        Value::Okay => "OK".to_string(),
        Value::ServerError(error) => format!("(error) {}", error_text(error)),
        Value::Array(items) if items.is_empty() => "(empty array)".to_string(),
        Value::Array(items) => print_list(items, ')', indent),
        Value::Set(items) if items.is_empty() => "(empty set)".to_string(),
        Value::Set(items) => print_list(items, '~', indent),
        Value::Map(pairs) if pairs.is_empty() => "(empty hash)".to_string(),
        Value::Map(pairs) => print_map(pairs, indent),
        Value::Double(number) => format!("(double) {number}"),
        Value::Boolean(true) => "(true)".to_string(),
        Value::Boolean(false) => "(false)".to_string(),
        Value::VerbatimString { text, .. } => text.clone(),
        Value::BigNumber(digits) => String::from_utf8_lossy(digits).into_owned(),
        other => format!("{other:?}"),
    }
}

/// Items are numbered and numbers are aligned; the items of an inner list stand
/// below each other, the first behind the number of the outer one.
fn print_list(items: &[Value], sign: char, indent: usize) -> String {
    let width = items.len().to_string().len();
    let inner = indent + width + 2;
    let lines = items.iter().enumerate().map(|(at, item)| {
        let margin = if at == 0 { 0 } else { indent };
        format!("{:margin$}{:>width$}{sign} {}", "", at + 1, print_value(item, inner))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn print_map(pairs: &[(Value, Value)], indent: usize) -> String {
    let width = pairs.len().to_string().len();
    let inner = indent + width + 2;
    let lines = pairs.iter().enumerate().map(|(at, (key, value))| {
        let margin = if at == 0 { 0 } else { indent };
        let key = print_value(key, inner);
        format!("{:margin$}{:>width$}# {key} => {}", "", at + 1, print_value(value, inner))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn quote(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'\\' | b'"' => text.extend(['\\', char::from(*byte)]),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            7 => text.push_str("\\a"),
            8 => text.push_str("\\b"),
            b' '..=b'~' => text.push(char::from(*byte)),
            other => text.push_str(&format!("\\x{other:02x}")),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_as_redis_cli_splits_it() {
        let expected: Args =
            vec![b"SET".to_vec(), b"a b".to_vec(), vec![0, 255, b'"'], b"it's".to_vec(), vec![]];
        assert_eq!(split(r#" SET "a b" "\x00\xff\"" 'it\'s' "" "#), Ok(expected));
        assert!(split(r#"SET "open"#).is_err());
        assert!(split(r#"SET "a"b"#).is_err());
    }

    #[test]
    fn nested_replies_are_numbered_and_aligned() {
        let inner = Value::Array(vec![Value::Int(1), Value::Nil]);
        let reply = Value::Array(vec![Value::BulkString(b"x\xff".to_vec()), inner, Value::Array(vec![])]);
        let printed = "1) \"x\\xff\"\n2) 1) (integer) 1\n   2) (nil)\n3) (empty array)";
        assert_eq!(print(&Ok(reply)), printed);
        let many = Value::Array((0..10).map(Value::Int).collect());
        assert!(print(&Ok(many)).starts_with(" 1) (integer) 0\n 2) (integer) 1\n"));
        assert_eq!(print(&Err("ERR syntax error".into())), "(error) ERR syntax error");
    }
}
