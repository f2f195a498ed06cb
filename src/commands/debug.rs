//! The development command of debug builds.

use super::command;
use super::parse::{self, required, SYNTAX};
use crate::ffi::{Args, Context, Refusal, Registration};
use crate::keyspace::{self, Stored};

command!(Debug, "RB.DEBUG", debug, keys: keys);

/// The handler of the family.
pub fn registrations() -> [Registration; 1] {
    [Registration::of::<Debug>()]
}

/// A parsed call, with the positions of keys.
enum Request {
    /// Check the bitmap at a key.
    Validate(usize),
    /// Panic.
    Panic,
    /// Report `keys`, then open the key at `open`.
    Keys { keys: Vec<usize>, open: usize },
}

fn parse(args: Args<'_>) -> Result<Request, Refusal> {
    let word = required(args, 1)?;
    if word.is("VALIDATE") && args.len() == 3 {
        return Ok(Request::Validate(2));
    }
    if word.is("PANIC") && args.len() == 2 {
        return Ok(Request::Panic);
    }
    if !word.is("KEYS") {
        return Err(SYNTAX);
    }
    let count = usize::try_from(parse::number(required(args, 2)?)?).map_err(|_| SYNTAX)?;
    let open = args.len().checked_sub(1).ok_or(SYNTAX)?;
    let expected = count.checked_add(5).ok_or(SYNTAX)?;
    if args.len() != expected || !required(args, open - 1)?.is("OPEN") {
        return Err(SYNTAX);
    }
    Ok(Request::Keys { keys: (3..3 + count).collect(), open })
}

fn keys(args: Args<'_>) -> Vec<usize> {
    match parse(args) {
        Ok(Request::Validate(key)) => vec![key],
        Ok(Request::Keys { keys, .. }) => keys,
        Ok(Request::Panic) | Err(_) => Vec::new(),
    }
}

fn debug(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    match parse(args)? {
        Request::Validate(key) => validate(context, args, key)?,
        // The point of the subcommand: the trampoline must survive it.
        Request::Panic => std::panic::panic_any("asked for by RB.DEBUG PANIC"),
        Request::Keys { open, .. } => drop(context.open_read(required(args, open)?)),
    }
    context.reply_ok();
    Ok(())
}

fn validate(context: &Context, args: Args<'_>, key: usize) -> Result<(), Refusal> {
    keyspace::read_bits(context, required(args, key)?, |stored| match stored {
        Stored::Bitmap(bitmap) => bitmap.validate().map_err(|broken| Refusal::made(format!("ERR {broken}"))),
        Stored::Missing | Stored::String(_) => Ok(()),
    })?
}
