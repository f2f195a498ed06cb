//! Ids into a key, by the commands that applications use.

use std::io;

use redis::{cmd, Cmd};
use roarbits_datasets::{seeded, Arrival};

use crate::live::contest::Side;
use crate::live::link::Link;
use crate::Subject;

/// Ids of one command.
pub(super) const BATCH: usize = 1000;
/// Commands of many ids in one pipeline.
pub(super) const BATCHES: usize = 8;
/// Commands of one id in one pipeline, where they only load.
const SINGLES: usize = 500;
/// Decides in which order ids arrive.
const ORDER_SEED: u64 = 77;

/// `ids` as they arrive: in any order.
pub(super) fn shuffled(ids: Vec<u64>) -> Vec<u64> {
    Arrival::Shuffled.order(ids, &mut seeded(ORDER_SEED))
}

/// Adds ids in the order given, a thousand a command, or bit by bit where there
/// is no such command.
pub(super) fn load(subject: Subject, link: &mut Link, key: &str, ids: &[u64]) -> io::Result<()> {
    match subject {
        Subject::Native => link.pipeline(SINGLES, ids.iter().filter_map(|id| subject.set_bit(key, *id))),
        _ => link.pipeline(BATCHES, adds(subject, key, ids)),
    }
}

/// The commands that add ids, a thousand each.
pub(super) fn adds<'i>(subject: Subject, key: &'i str, ids: &'i [u64]) -> impl Iterator<Item = Cmd> + 'i {
    ids.chunks(BATCH).filter_map(move |batch| subject.add(key, batch))
}

/// Whether a subject can hold these ids.
pub(super) fn holds(subject: Subject, ids: &[u64]) -> bool {
    ids.iter().max().is_none_or(|last| *last <= subject.largest_id())
}

/// A figure of a side that was loaded with this key; a missing key would give one of nothing.
pub(super) fn if_loaded<F>(
    side: &mut Side,
    key: &str,
    figure: impl FnOnce(&mut Side) -> io::Result<Option<F>>,
) -> io::Result<Option<F>> {
    match side.link.number(cmd("EXISTS").arg(key))? {
        1 => figure(side),
        _ => Ok(None),
    }
}
