//! A million Snowflake ids: bits, counting, operations, ranks, and moving whole
//! values. They come in the order of their time, as such ids do.

use std::fs;
use std::io;

use redis::{cmd, Cmd};
use roarbits_datasets::{days_later, DataSet};

use super::algebra::{measure, Operation};
use super::bits::get_bits;
use super::dense::count_all;
use super::hashes::half_present;
use super::loading::{holds, if_loaded, load, shuffled};
use crate::live::catalogue::{
    AND_2, AND_APART, COPY, DUMP, GET_BIT, LAST, OR_2, OR_APART, RDB, RESTORE, UNLINK,
};
use crate::live::contest::{Contest, Figure, Side};
use crate::live::dialect::Combine;
use crate::Subject;

const SET: &str = DataSet::D4_SLOW.name;
/// Ids that one sample asks for.
const ASKED: usize = 100_000;
/// Ids of one answer by rank.
const LAST_IDS: usize = 1000;
/// Calls of one sample of it; a peer that walks to each rank gets one.
const LAST_CALLS: usize = 200;
/// A million ids at one a second last 11.6 days.
const DAYS_APART: u64 = 20;

/// Rows of `Group::Snowflakes`.
pub(super) fn run(contest: &mut Contest) -> io::Result<()> {
    let set = contest.extent.of(DataSet::D4_SLOW);
    let (ids, others) = (set.ids(1), set.ids(2));
    let asked = half_present(&shuffled(ids.clone()), &shuffled(others.clone()), contest.extent.ids(ASKED));
    let (last, cardinality) = (contest.extent.ids(LAST_IDS).max(10), ids.len());
    for (key, ids) in [("ids", ids.clone()), ("others", others), ("later", days_later(&ids, DAYS_APART))] {
        contest.each(|side| match holds(side.subject, &ids) {
            true => load(side.subject, &mut side.link, key, &ids),
            false => Ok(()),
        })?;
    }
    contest
        .timed(SET, GET_BIT, None, |side, _| if_loaded(side, "ids", |side| get_bits(side, "ids", &asked)))?;
    count_all(contest, SET, "ids")?;
    operations(contest)?;
    contest
        .timed(SET, LAST, None, |side, _| if_loaded(side, "ids", |side| by_rank(side, last, cardinality)))?;
    moves(contest)?;
    contest.each(|side| side.link.ask(cmd("UNLINK").arg(&["others", "later", "copy"])).map(drop))?;
    contest.exact(SET, RDB, None, |side| if_loaded(side, "ids", |side| rdb(side, cardinality)))
}

fn operations(contest: &mut Contest) -> io::Result<()> {
    for (name, combine, other) in [
        (AND_2, Combine::And, "others"),
        (OR_2, Combine::Or, "others"),
        (AND_APART, Combine::And, "later"),
        (OR_APART, Combine::Or, "later"),
    ] {
        let keys = ["ids".to_owned(), other.to_owned()];
        measure(contest, &Operation { set: SET, name, at: None, combine, keys: &keys })?;
    }
    Ok(())
}

fn by_rank(side: &mut Side, n: usize, cardinality: usize) -> io::Result<Option<f64>> {
    let Some(command) = side.subject.last("ids", n, cardinality) else { return Ok(None) };
    let calls = if side.subject == Subject::Roarbits { LAST_CALLS } else { 1 };
    let ns = side.cpu_ns(|link| (0..calls).try_for_each(|_| link.ask(&command).map(drop)))?;
    Ok(Some(ns / 1e3 / calls as f64))
}

fn moves(contest: &mut Contest) -> io::Result<()> {
    contest
        .timed(SET, DUMP, None, |side, _| if_loaded(side, "ids", |side| ms(side, cmd("DUMP").arg("ids"))))?;
    contest.timed(SET, RESTORE, None, |side, _| {
        if_loaded(side, "ids", |side| {
            let restore = restore(side)?;
            ms(side, &restore)
        })
    })?;
    contest.timed(SET, UNLINK, None, |side, _| {
        if_loaded(side, "ids", |side| {
            // What was restored shares nothing with another key.
            let restore = restore(side)?;
            side.link.ask(&restore)?;
            ms(side, cmd("UNLINK").arg("copy"))
        })
    })?;
    contest.timed(SET, COPY, None, |side, _| {
        if_loaded(side, "ids", |side| {
            side.link.ask(cmd("UNLINK").arg("copy"))?;
            side.meter.used_memory()?;
            match ms(side, cmd("COPY").arg("ids").arg("copy")) {
                // A type may have no copy: that is the peer's answer.
                Err(error) if side.subject != Subject::Roarbits => {
                    eprintln!("{SET}: {COPY}, {}: {error}", side.subject.title());
                    Ok(None)
                }
                figure => figure,
            }
        })
    })
}

/// The command that makes `copy` anew, which is missing then.
fn restore(side: &mut Side) -> io::Result<Cmd> {
    side.link.ask(cmd("UNLINK").arg("copy"))?;
    let payload = side.link.bytes(cmd("DUMP").arg("ids"))?;
    side.meter.used_memory()?;
    Ok(cmd("RESTORE").arg("copy").arg(0).arg(payload).to_owned())
}

fn ms(side: &mut Side, command: &Cmd) -> io::Result<Option<f64>> {
    side.cpu_ns(|link| link.ask(command).map(drop)).map(|ns| Some(ns / 1e6))
}

fn rdb(side: &mut Side, cardinality: usize) -> io::Result<Option<Figure>> {
    let full = saved_bytes(side)?;
    side.link.ask(&cmd("FLUSHALL"))?;
    Ok(Some(Figure::from((full - saved_bytes(side)?) / cardinality as f64)))
}

/// The size of the file that SAVE writes.
fn saved_bytes(side: &mut Side) -> io::Result<f64> {
    side.link.ask(&cmd("SAVE"))?;
    fs::metadata(side.server.dump_file()).map(|file| file.len() as f64)
}
