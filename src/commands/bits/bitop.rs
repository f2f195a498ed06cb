//! RB.BITOP: bitmaps combined bit by bit and stored.

use roarbits_core::{BitRead, Bitmap, Combination, Watch};

use crate::commands::parse::{required, SYNTAX};
use crate::ffi::{Arg, Args, Context, Refusal};
use crate::keyspace::{self, Propagation, Sources, Strings};
use crate::offload::{self, Effect, Work, LEAF_US};

/// RB.BITOP.
pub fn bitop(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let operation = operation(required(args, 1)?)?;
    check_sources(operation, args.len().saturating_sub(3))?;
    let mut sources = Sources::of(context, args.from(3), Strings::BITS)?;
    // What is read of dest must not be older than what is written there.
    sources.bind(required(args, 2)?.bytes());
    offload::answer(context, args, Store { sources, operation })
}

/// Bitmaps to combine, and how.
struct Store {
    sources: Sources,
    operation: Operation,
}

impl Work for Store {
    type Answer = Bitmap;
    const EFFECT: Effect = Effect::Writes;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        self.sources.leaves().saturating_mul(LEAF_US)
    }

    fn run(&self, watch: &Watch) -> Option<Bitmap> {
        let bitmaps = self.sources.bitmaps();
        match self.operation {
            Operation::Not => Some(bitmaps.first().map(Bitmap::not).unwrap_or_default()),
            Operation::Combine(how) => how.evaluate_watched(&bitmaps.iter().collect::<Vec<_>>(), watch),
        }
    }

    fn answer_bytes(&self, result: &Bitmap) -> u64 {
        keyspace::own_bytes(result)
    }

    /// In the place of the old value, whose storage is reused.
    fn in_place(self, context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
        let bitmaps = self.sources.bitmaps();
        let length_bytes = bitmaps.iter().map(Bitmap::length_bytes).max().unwrap_or(0);
        let dest = required(args, 2)?;
        match self.operation {
            _ if length_bytes == 0 => keyspace::delete(context, dest),
            Operation::Not => {
                keyspace::replace(context, dest, bitmaps.first().map(Bitmap::not).unwrap_or_default());
            }
            Operation::Combine(how) => {
                drop(self.sources);
                let operands: Vec<&Bitmap> = bitmaps.iter().collect();
                keyspace::rebuild(context, dest, |bitmap| how.evaluate_into(&operands, bitmap));
            }
        }
        context.reply_count(u128::from(length_bytes));
        Ok(())
    }

    fn finish(&mut self, context: &mut Context, args: Args<'_>, result: Bitmap) -> Result<(), Refusal> {
        let length_bytes = result.length_bytes();
        let propagation = match self.sources.are_current(context) {
            true => Propagation::Arguments(1..args.len()),
            false => Propagation::Value,
        };
        keyspace::store(context, args, required(args, 2)?, result, None, propagation)?;
        context.reply_count(u128::from(length_bytes));
        Ok(())
    }
}

/// What RB.BITOP does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Not in the one source, within its logical length.
    Not,
    /// As the core combines bitmaps.
    Combine(Combination),
}

const OPERATIONS: &[(&str, Operation)] = &[
    ("AND", Operation::Combine(Combination::And)),
    ("OR", Operation::Combine(Combination::Or)),
    ("XOR", Operation::Combine(Combination::Xor)),
    ("NOT", Operation::Not),
    ("DIFF", Operation::Combine(Combination::Diff)),
    ("DIFF1", Operation::Combine(Combination::Diff1)),
    ("ANDOR", Operation::Combine(Combination::AndOr)),
    ("ONE", Operation::Combine(Combination::One)),
];

fn operation(arg: Arg<'_>) -> Result<Operation, Refusal> {
    OPERATIONS.iter().find(|(word, _)| arg.is(word)).map(|(_, operation)| *operation).ok_or(SYNTAX)
}

/// An operation that has no complement.
///
/// # Errors
/// NOT, or none of the words: a syntax error.
pub fn combination(arg: Arg<'_>) -> Result<Combination, Refusal> {
    match operation(arg)? {
        Operation::Combine(how) => Ok(how),
        Operation::Not => Err(SYNTAX),
    }
}

/// Whether an operation takes so many sources.
///
/// # Errors
/// The native text for too few, or for more than one of NOT.
pub fn check_sources(operation: Operation, sources: usize) -> Result<(), Refusal> {
    let two =
        |word| Err(Refusal::made(format!("ERR BITOP {word} must be called with at least two source keys.")));
    match operation {
        Operation::Not if sources != 1 => {
            Err(Refusal::new("ERR BITOP NOT must be called with a single source key."))
        }
        Operation::Combine(Combination::Diff) if sources < 2 => two("DIFF"),
        Operation::Combine(Combination::Diff1) if sources < 2 => two("DIFF1"),
        Operation::Combine(Combination::AndOr) if sources < 2 => two("ANDOR"),
        _ => Ok(()),
    }
}
