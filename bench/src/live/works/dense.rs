//! Thirty million dense ids: bytes, counting, operations on up to thirty operands.

use std::io;

use roarbits_datasets::DataSet;

use super::algebra::{measure, operands, Operation};
use super::bits::PIPELINE;
use super::loading::{if_loaded, load, shuffled};
use crate::live::catalogue::{AND_2, AND_7, AND_BY_OPERANDS, COUNT, MEMORY, OR_7, OR_BY_OPERANDS};
use crate::live::contest::{Contest, Figure, Side};
use crate::live::dialect::{string_of, Combine};
use crate::Subject;

const KEY: &str = "d1";
const SET: &str = DataSet::D1.name;
/// Calls of one sample of counting; fewer where a count takes what the bitmap holds.
const COUNTS: usize = 1000;
const SLOW_COUNTS: usize = 5;

/// Rows of `Group::Dense`.
pub(super) fn run(contest: &mut Contest) -> io::Result<()> {
    if contest.wants(SET, MEMORY) || contest.wants(SET, COUNT) {
        one_key(contest)?;
    }
    let rows = [(AND_2, Combine::And, 2), (AND_7, Combine::And, 7), (OR_7, Combine::Or, 7)];
    if rows.iter().any(|(name, ..)| contest.wants(SET, name)) {
        let keys = operands(7);
        load_operands(contest, &keys, |_| true)?;
        for (name, combine, n) in rows {
            let keys = keys.get(..n).unwrap_or_default();
            measure(contest, &Operation { set: SET, name, at: None, combine, keys })?;
        }
    }
    Ok(())
}

fn one_key(contest: &mut Contest) -> io::Result<()> {
    let ids = contest.extent.of(DataSet::D1).ids(0);
    let (bits, ids) = (string_of(&ids), shuffled(ids));
    let load_side = |side: &mut Side| {
        let subject = side.subject;
        side.bytes(|link| match (subject, subject.load_dense(KEY, &bits)) {
            (Subject::Native, Some(command)) => link.ask(&command).map(drop),
            _ => load(subject, link, KEY, &ids),
        })
    };
    match contest.wants(SET, MEMORY) {
        true => contest
            .exact(SET, MEMORY, None, |side| Ok(Some(Figure::from(load_side(side)? / ids.len() as f64))))?,
        false => contest.each(|side| load_side(side).map(drop))?,
    }
    count_all(contest, SET, KEY)?;
    contest.each(Side::clear)
}

/// The row of counting a key, by the server's own time.
pub(super) fn count_all(contest: &mut Contest, set: &str, key: &str) -> io::Result<()> {
    contest.timed(set, COUNT, None, |side, _| {
        let subject = side.subject;
        let Some(name) = subject.count_name() else { return Ok(None) };
        let calls = if matches!(subject, Subject::Roarbits | Subject::Set) { COUNTS } else { SLOW_COUNTS };
        if_loaded(side, key, |side| {
            let commands = (0..calls).filter_map(|_| subject.count(key));
            side.in_command_us(name, |link| link.pipeline(PIPELINE, commands)).map(Some)
        })
    })
}

/// Rows of `Group::Operands`: ours beside the server's own.
pub(super) fn by_operands(contest: &mut Contest) -> io::Result<()> {
    let series = contest.extent.operands();
    let keys = operands(series.iter().max().copied().unwrap_or_default());
    load_operands(contest, &keys, |subject| matches!(subject, Subject::Roarbits | Subject::Native))?;
    for n in series {
        let keys = keys.get(..*n).unwrap_or_default();
        for (name, combine) in [(AND_BY_OPERANDS, Combine::And), (OR_BY_OPERANDS, Combine::Or)] {
            measure(contest, &Operation { set: SET, name, at: Some(*n as f64), combine, keys })?;
        }
    }
    Ok(())
}

fn load_operands(
    contest: &mut Contest,
    keys: &[String],
    takes_part: impl Fn(Subject) -> bool,
) -> io::Result<()> {
    for (seed, key) in keys.iter().enumerate() {
        let bits = string_of(&contest.extent.of(DataSet::D1).ids(1 + seed as u64));
        contest.each(|side| match side.subject.load_dense(key, &bits) {
            Some(command) if takes_part(side.subject) => side.link.ask(&command).map(drop),
            _ => Ok(()),
        })?;
    }
    Ok(())
}
