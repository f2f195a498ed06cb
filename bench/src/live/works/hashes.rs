//! A million hashes: many ids a command, and operations.

use std::io;

use redis::cmd;
use roarbits_datasets::DataSet;

use super::algebra::{measure, operands, Operation};
use super::loading::{adds, load, shuffled, BATCH, BATCHES};
use crate::live::catalogue::{ADD, AND_2, GET, OR_2, OR_7};
use crate::live::contest::{Contest, Side};
use crate::live::dialect::Combine;
use crate::Subject;

const SET: &str = DataSet::D3_1M.name;
/// Ids that one sample asks for.
const ASKED: usize = 200_000;

/// Rows of `Group::Hashes`.
pub(super) fn run(contest: &mut Contest) -> io::Result<()> {
    let set = contest.extent.of(DataSet::D3_1M);
    let ids = shuffled(set.ids(1));
    if contest.wants(SET, ADD) || contest.wants(SET, GET) {
        let asked = half_present(&ids, &set.ids(2), contest.extent.ids(ASKED));
        contest.timed(SET, ADD, None, |side, _| add(side, &ids))?;
        if !contest.wants(SET, ADD) {
            contest.each(|side| load(side.subject, &mut side.link, "ids", &ids))?;
        }
        contest.timed(SET, GET, None, |side, _| get(side, &asked))?;
        contest.each(Side::clear)?;
    }
    let rows = [(AND_2, Combine::And, 2), (OR_2, Combine::Or, 2), (OR_7, Combine::Or, 7)];
    if rows.iter().any(|(name, ..)| contest.wants(SET, name)) {
        let keys = operands(7);
        for (seed, key) in keys.iter().enumerate() {
            let ids = shuffled(set.ids(1 + seed as u64));
            contest.each(|side| match side.subject {
                // Seven would fill 3.5 GB and say nothing more; a Set has no goal there.
                Subject::Native | Subject::Set if seed >= 2 => Ok(()),
                subject => load(subject, &mut side.link, key, &ids),
            })?;
        }
        for (name, combine, n) in rows {
            let keys = keys.get(..n).unwrap_or_default();
            measure(contest, &Operation { set: SET, name, at: None, combine, keys })?;
        }
    }
    Ok(())
}

fn add(side: &mut Side, ids: &[u64]) -> io::Result<Option<f64>> {
    let subject = side.subject;
    if subject.add("", &[]).is_none() {
        return Ok(None);
    }
    side.link.ask(cmd("UNLINK").arg("ids"))?;
    side.meter.used_memory()?;
    let ns = side.cpu_ns(|link| link.pipeline(BATCHES, adds(subject, "ids", ids)))?;
    Ok(Some(ns / ids.len() as f64))
}

fn get(side: &mut Side, asked: &[u64]) -> io::Result<Option<f64>> {
    let subject = side.subject;
    if subject.get_bits("", &[]).is_none() {
        return Ok(None);
    }
    let commands = asked.chunks(BATCH).filter_map(|batch| subject.get_bits("ids", batch));
    let ns = side.cpu_ns(|link| link.pipeline(BATCHES, commands))?;
    Ok(Some(ns / asked.len() as f64))
}

/// `n` ids in any order, every other one of them a member.
pub(super) fn half_present(members: &[u64], others: &[u64], n: usize) -> Vec<u64> {
    let step = (others.len() * 2 / n.max(1)).max(1);
    let pairs = members.iter().step_by(step).zip(others.iter().step_by(step));
    shuffled(pairs.flat_map(|(member, other)| [*member, *other]).take(n).collect())
}
