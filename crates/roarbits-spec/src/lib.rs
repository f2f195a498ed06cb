//! The words of Roarbits: one table of commands from which registration,
//! introspection, pages and tests come. No server and no logic of commands here.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arg;
mod bits;
mod debug;
mod derived;
mod grammar;
mod moving;
mod questions;
mod row;
mod sets;
mod texts;

pub use row::*;

/// Every command of the module, in the order of the pages.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    bits::ROWS.iter().chain(sets::ROWS).chain(questions::ROWS).chain(moving::ROWS)
}

/// The commands that only debug builds of the module register; they have no page.
pub fn debug_commands() -> impl Iterator<Item = &'static Command> {
    debug::ROWS.iter()
}

/// The command of this name, in any case of letters, development ones included.
pub fn find(name: &str) -> Option<&'static Command> {
    commands().chain(debug_commands()).find(|command| command.name.eq_ignore_ascii_case(name))
}
