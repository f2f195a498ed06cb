//! Bytes a key of many small sets, the key itself included. Days come in order.

use std::io;

use redis::{cmd, Cmd};
use roarbits_datasets::{calendars, seeded};

use super::loading::BATCH;
use crate::live::catalogue::{CALENDARS, MEMORY};
use crate::live::contest::{Contest, Figure};
use crate::Subject;

/// Keys of one set.
const KEYS: usize = 1_000_000;

/// Rows of `Group::Calendars`.
pub(super) fn run(contest: &mut Contest) -> io::Result<()> {
    for (set, present, days) in CALENDARS {
        if !contest.wants(set, MEMORY) {
            continue;
        }
        let keys = calendars(contest.extent.ids(KEYS), present, days, &mut seeded(7));
        contest.exact(set, MEMORY, None, |side| {
            let subject = side.subject;
            let commands =
                keys.iter().enumerate().map(|(at, days)| write(subject, &format!("cal:{at}"), days));
            let bytes = side.bytes(|link| link.pipeline(BATCH, commands.flatten()))?;
            side.clear()?;
            Ok(Some(Figure::from(bytes / keys.len() as f64)))
        })?;
    }
    Ok(())
}

/// All days of a calendar in one command.
fn write(subject: Subject, key: &str, days: &[u64]) -> Option<Cmd> {
    if subject != Subject::Native {
        return subject.add(key, days);
    }
    let mut command = cmd("BITFIELD");
    command.arg(key);
    for day in days {
        command.arg("SET").arg("u1").arg(day).arg(1);
    }
    Some(command)
}
