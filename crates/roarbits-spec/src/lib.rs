//! The words of Roarbits: one table of commands from which registration,
//! introspection, pages and tests come. No server and no logic of commands here.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod row;

pub use row::*;

/// Every command of the module, in the order of the pages.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    [].into_iter()
}
