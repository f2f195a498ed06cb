//! Operations that store their result, and the check that all sides stored the
//! same.

use std::io;

use crate::live::contest::{Contest, Side};
use crate::live::dialect::Combine;

/// Where results go; from the second round on they replace one.
const DEST: &str = "dest";

/// A row of an operation.
pub(super) struct Operation<'a> {
    pub(super) set: &'a str,
    pub(super) name: &'a str,
    pub(super) at: Option<f64>,
    pub(super) combine: Combine,
    pub(super) keys: &'a [String],
}

/// Measures an operation on every side that has these keys, in milliseconds of the main thread.
pub(super) fn measure(contest: &mut Contest, operation: &Operation<'_>) -> io::Result<()> {
    let mut agreed: Option<i64> = None;
    let (set, name, at) = (operation.set, operation.name, operation.at);
    contest.timed(set, name, at, |side, _| {
        let Some(command) = side.subject.combine(operation.combine, DEST, operation.keys) else {
            return Ok(None);
        };
        if !has(side, operation.keys)? {
            return Ok(None);
        }
        let ns = side.cpu_ns(|link| link.ask(&command).map(drop))?;
        let count = cardinality(side, DEST)?;
        let expected = *agreed.get_or_insert(count);
        if count != expected {
            return Err(io::Error::other(format!("it stored {count} ids, another side {expected}")));
        }
        Ok(Some(ns / 1e6))
    })?;
    contest.each(|side| side.link.ask(redis::cmd("UNLINK").arg(DEST)).map(drop))
}

/// Whether a side was loaded with these keys.
fn has(side: &mut Side, keys: &[String]) -> io::Result<bool> {
    Ok(side.link.number(redis::cmd("EXISTS").arg(keys))? == keys.len() as i64)
}

/// Members of a key.
pub(super) fn cardinality(side: &mut Side, key: &str) -> io::Result<i64> {
    match side.subject.count(key) {
        Some(count) => side.link.number(&count),
        None => Ok(0),
    }
}

/// Names of so many operands.
pub(super) fn operands(n: usize) -> Vec<String> {
    (0..n).map(|at| format!("operand{at}")).collect()
}
