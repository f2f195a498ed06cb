//! Single bits: the first of a key, and random ones.

use std::io;

use rand::Rng;
use redis::Cmd;
use roarbits_datasets::seeded;

use super::loading::load;
use crate::live::catalogue::{offsets, Extent, FIRST_WRITE, GET_BIT, NO_KEY, RANDOM, SET_BIT};
use crate::live::contest::{Contest, Side};
use crate::Subject;

/// Ids of the key that random bits go to.
const LOADED: usize = 1_000_000;
/// Where they lie.
const BELOW: u64 = 100_000_000;
/// Bits of one sample.
const SAMPLE: usize = 100_000;
/// Commands of one pipeline, as the goals say.
pub(super) const PIPELINE: usize = 16;
/// Keys of one sample of first writes.
const KEYS: usize = 500;
/// What all of them may take where a first write takes what its offset says.
const OFFSETS_A_SAMPLE: u64 = 200_000_000;

/// Rows of `Group::FirstWrite`: no pipeline, so that the whole call counts.
pub(super) fn first_writes(contest: &mut Contest) -> io::Result<()> {
    let extent = contest.extent;
    for offset in offsets() {
        contest
            .timed(NO_KEY, FIRST_WRITE, Some(*offset as f64), |side, _| first_write(side, *offset, extent))?;
        contest.each(Side::clear)?;
    }
    Ok(())
}

fn first_write(side: &mut Side, offset: u64, extent: Extent) -> io::Result<Option<f64>> {
    let subject = side.subject;
    if offset > subject.largest_id() {
        return Ok(None);
    }
    let wanted = if extent == Extent::Full { KEYS } else { KEYS / 10 };
    let keys = match subject {
        Subject::Native => wanted.min((OFFSETS_A_SAMPLE / (offset + 1)).max(1) as usize),
        _ => wanted,
    };
    let writes: Vec<Cmd> = (0..keys).filter_map(|key| subject.set_bit(&format!("k{key}"), offset)).collect();
    side.clear()?;
    let ns = side.cpu_ns(|link| writes.iter().try_for_each(|write| link.ask(write).map(drop)))?;
    Ok(Some(ns / 1e3 / keys as f64))
}

/// Rows of `Group::RandomBits`.
pub(super) fn random(contest: &mut Contest) -> io::Result<()> {
    let loaded = random_ids(0, contest.extent.ids(LOADED));
    contest.each(|side| load(side.subject, &mut side.link, "ids", &loaded))?;
    let sample = contest.extent.ids(SAMPLE);
    contest.timed(RANDOM, SET_BIT, None, |side, round| {
        let (subject, ids) = (side.subject, random_ids(1 + round as u64, sample));
        let Some(name) = subject.set_bit_name() else { return Ok(None) };
        let commands = ids.iter().filter_map(|id| subject.set_bit("ids", *id));
        side.in_command_us(name, |link| link.pipeline(PIPELINE, commands)).map(Some)
    })?;
    contest.timed(RANDOM, GET_BIT, None, |side, round| {
        get_bits(side, "ids", &random_ids(101 + round as u64, sample))
    })
}

/// The mean time inside GETBIT of these ids, in microseconds.
pub(super) fn get_bits(side: &mut Side, key: &str, ids: &[u64]) -> io::Result<Option<f64>> {
    let subject = side.subject;
    let Some(name) = subject.get_bit_name() else { return Ok(None) };
    let commands = ids.iter().filter_map(|id| subject.get_bit(key, *id));
    side.in_command_us(name, |link| link.pipeline(PIPELINE, commands)).map(Some)
}

fn random_ids(seed: u64, n: usize) -> Vec<u64> {
    let mut rng = seeded(seed);
    (0..n).map(|_| rng.random_range(0..BELOW)).collect()
}
