//! Commands: parse the arguments, ask the core, reply. One file a family.

mod bits;
#[cfg(debug_assertions)]
mod debug;
mod moving;
mod parse;
mod questions;
mod sets;

use roarbits_spec::Command;

use crate::ffi::Registration;

/// Declares the handler of a row: a type that calls `$function`.
macro_rules! command {
    ($handler:ident, $name:literal, $function:path $(, keys: $keys:path)?) => {
        pub struct $handler;

        impl $crate::ffi::Handler for $handler {
            const NAME: &'static str = $name;

            fn row() -> &'static std::sync::OnceLock<&'static roarbits_spec::Command> {
                static ROW: std::sync::OnceLock<&'static roarbits_spec::Command> = std::sync::OnceLock::new();
                &ROW
            }

            fn call(
                context: &mut $crate::ffi::Context,
                args: $crate::ffi::Args<'_>,
            ) -> Result<(), $crate::ffi::Refusal> {
                $function(context, args)
            }

            $(fn keys(args: $crate::ffi::Args<'_>) -> Vec<usize> {
                $keys(args)
            })?
        }
    };
}
use command;

/// The rows that this build registers.
pub fn rows() -> Vec<&'static Command> {
    let rows = roarbits_spec::commands();
    #[cfg(debug_assertions)]
    let rows = rows.chain(roarbits_spec::debug_commands());
    rows.collect()
}

/// The handlers, one a row.
pub fn registrations() -> Vec<Registration> {
    let all = bits::registrations()
        .into_iter()
        .chain(sets::registrations())
        .chain(questions::registrations())
        .chain(moving::registrations());
    #[cfg(debug_assertions)]
    let all = all.chain(debug::registrations());
    all.collect()
}
