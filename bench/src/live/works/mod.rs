//! The work behind each row of the catalogue, a file a kind. A work loads what its
//! rows need, measures those that are wanted, and empties the servers.

mod algebra;
mod bits;
mod calendars;
mod dense;
mod hashes;
mod loading;
mod memory;
mod snowflakes;

use std::io;
use std::path::Path;

use super::catalogue::Group;
use super::contest::Contest;

/// Measures every wanted row. `data` is the folder of the real sets.
///
/// # Errors
/// A server or a command fails; the message names the row and the side.
pub fn run(contest: &mut Contest, data: Option<&Path>) -> io::Result<()> {
    for group in Group::ALL.into_iter().filter(|group| contest.wants_group(*group)).collect::<Vec<_>>() {
        match group {
            Group::Memory => memory::named(contest)?,
            Group::Real => memory::real(contest, data)?,
            Group::Growth => memory::growth(contest)?,
            Group::Calendars => calendars::run(contest)?,
            Group::FirstWrite => bits::first_writes(contest)?,
            Group::RandomBits => bits::random(contest)?,
            Group::Dense => dense::run(contest)?,
            Group::Operands => dense::by_operands(contest)?,
            Group::Hashes => hashes::run(contest)?,
            Group::Snowflakes => snowflakes::run(contest)?,
        }
        contest.each(super::Side::clear)?;
    }
    Ok(())
}
