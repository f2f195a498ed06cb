//! Bytes an id: named sets, real sets, and sets of growing size. Ids arrive
//! shuffled, by the commands that applications use. A peer's OPTIMIZE counts for
//! it where it helps; ours needs none.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use redis::cmd;
use roarbits_datasets::{real, seeded, DataSet};

use super::loading::{holds, load, shuffled};
use crate::comparison::rounded;
use crate::live::catalogue::{GROWING, MEMORY, MEMORY_BY_IDS};
use crate::live::contest::{Contest, Figure, Side};
use crate::live::dialect::string_of;
use crate::Subject;

/// Seed of every set here.
const SEED: u64 = 1;
/// From so many ids on, bits of the server's own bitmaps are not set one by one.
const SINGLE_BITS: usize = 2_000_000;
/// What the server itself keeps of a value: its object, and the pair (type, value)
/// of one of a module. Both are 16 bytes of their own.
const OBJECT_BYTES: f64 = 16.0;

/// Rows of `Group::Memory`.
pub(super) fn named(contest: &mut Contest) -> io::Result<()> {
    for set in DataSet::ALL.into_iter().filter(|set| *set != DataSet::D1) {
        if contest.wants(set.name, MEMORY) {
            let ids = shuffled(contest.extent.of(set).ids(SEED));
            contest.exact(set.name, MEMORY, None, |side| of_one_key(side, &ids))?;
        }
    }
    Ok(())
}

/// Rows of `Group::Growth`.
pub(super) fn growth(contest: &mut Contest) -> io::Result<()> {
    for (name, set) in GROWING {
        for cardinality in contest.extent.cardinalities() {
            let ids = shuffled(set.shape.ids(*cardinality, &mut seeded(SEED)));
            contest.exact(name, MEMORY_BY_IDS, Some(*cardinality as f64), |side| of_one_key(side, &ids))?;
        }
    }
    Ok(())
}

/// Bytes an id of a key with these ids; the key is gone afterwards.
pub(super) fn of_one_key(side: &mut Side, ids: &[u64]) -> io::Result<Option<Figure>> {
    let subject = side.subject;
    let is_dense = ids.iter().max().is_some_and(|last| last / 10 < ids.len() as u64);
    if !holds(subject, ids) || (subject == Subject::Native && ids.len() > SINGLE_BITS && !is_dense) {
        return Ok(None);
    }
    let bytes = side.bytes(|link| match subject {
        Subject::Native if is_dense => link.ask(cmd("SET").arg("ids").arg(string_of(ids))).map(drop),
        _ => load(subject, link, "ids", ids),
    })?;
    let figure = optimized(side, &["ids".to_owned()], bytes, ids.len() as f64)?;
    side.clear()?;
    Ok(Some(figure))
}

/// The figure of loaded keys, or what is left of it after the peer's OPTIMIZE.
fn optimized(side: &mut Side, keys: &[String], bytes: f64, ids: f64) -> io::Result<Figure> {
    let subject = side.subject;
    if subject.optimize("").is_none() {
        return Ok(Figure::from(bytes / ids));
    }
    let change =
        side.bytes(|link| link.pipeline(100, keys.iter().filter_map(|key| subject.optimize(key))))?;
    if change > -0.01 * bytes {
        return Ok(Figure::from(bytes / ids));
    }
    let note = format!("{} before OPTIMIZE", rounded(bytes / ids));
    Ok(Figure { value: (bytes + change) / ids, note })
}

/// Rows of `Group::Real`: two hundred keys each; what the server keeps of a key
/// whatever it holds is taken off.
pub(super) fn real(contest: &mut Contest, data: Option<&Path>) -> io::Result<()> {
    let Some(folder) = data else { return Ok(()) };
    for archive in
        real::ARCHIVES.into_iter().filter(|archive| contest.wants(archive, MEMORY)).collect::<Vec<_>>()
    {
        let sets: BTreeMap<String, Vec<u64>> =
            real::load(folder, archive)?.into_iter().map(|set| (set.name, shuffled(set.values))).collect();
        contest.exact(archive, MEMORY, None, |side| of_keys(side, &sets))?;
    }
    Ok(())
}

fn of_keys(side: &mut Side, sets: &BTreeMap<String, Vec<u64>>) -> io::Result<Option<Figure>> {
    let subject = side.subject;
    if !sets.values().all(|ids| holds(subject, ids)) {
        return Ok(None);
    }
    let keys: Vec<String> = sets.keys().cloned().collect();
    // A small number is a value that costs nothing beside its key.
    let keys_bytes =
        side.bytes(|link| link.pipeline(100, keys.iter().map(|key| cmd("SET").arg(key).arg(1).to_owned())))?;
    side.clear()?;
    let bytes = side.bytes(|link| sets.iter().try_for_each(|(key, ids)| load(subject, link, key, ids)))?;
    let objects = match subject {
        Subject::Roarbits | Subject::R | Subject::R64 => 2.0,
        _ => 1.0,
    };
    let own = bytes - keys_bytes - objects * OBJECT_BYTES * keys.len() as f64;
    let ids: usize = sets.values().map(Vec::len).sum();
    let figure = optimized(side, &keys, own, ids as f64)?;
    side.clear()?;
    Ok(Some(figure))
}
