//! Bits by their native names: the order of checks, the defaults, the replies and
//! the error texts of Redis 8.2, whatever the server.

mod bitop;

use std::ops::RangeInclusive;

use roarbits_core::BitRead;

use super::command;
use super::parse::{self, required, SYNTAX};
use crate::ffi::{Arg, Args, Context, Refusal, Registration};
use crate::keyspace::{self, BitWrite, OldBit};

pub use bitop::{check_sources, combination, Operation};

command!(SetBit, "RB.SETBIT", setbit);
command!(GetBit, "RB.GETBIT", getbit);
command!(BitCount, "RB.BITCOUNT", bitcount);
command!(BitPos, "RB.BITPOS", bitpos);
command!(BitOp, "RB.BITOP", bitop::bitop);
command!(MSetBit, "RB.MSETBIT", msetbit);

/// The handlers of the family.
pub fn registrations() -> [Registration; 6] {
    [
        Registration::of::<SetBit>(),
        Registration::of::<GetBit>(),
        Registration::of::<BitCount>(),
        Registration::of::<BitPos>(),
        Registration::of::<BitOp>(),
        Registration::of::<MSetBit>(),
    ]
}

fn setbit(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let write = bit_write(args, 1)?;
    let old = keyspace::write_bit(context, &write)?;
    reply_old_bit(context, &old);
    Ok(())
}

fn msetbit(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    if args.len() % 3 != 1 {
        return Err(context.wrong_arity());
    }
    let writes: Vec<_> =
        (1..args.len()).step_by(3).map(|first| bit_write(args, first)).collect::<Result<_, _>>()?;
    let old_bits = keyspace::write_bits(context, &writes)?;
    context.reply_array(old_bits.len());
    for old in &old_bits {
        reply_old_bit(context, old);
    }
    Ok(())
}

/// Parses `key offset bit` from `first` on.
fn bit_write(args: Args<'_>, first: usize) -> Result<BitWrite<'_>, Refusal> {
    let (offset_arg, bit_arg) = (required(args, first + 1)?, required(args, first + 2)?);
    Ok(BitWrite {
        key: required(args, first)?,
        offset_arg,
        bit_arg,
        offset: parse::offset(offset_arg)?,
        bit: parse::bit(bit_arg)?,
    })
}

fn reply_old_bit(context: &Context, old: &OldBit) {
    match old {
        OldBit::Known(bit) => context.reply_integer(i64::from(*bit)),
        OldBit::Native(reply) => context.reply_with(reply),
    }
}

fn getbit(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let offset = parse::offset(required(args, 2)?)?;
    let bit = keyspace::read_bits(context, required(args, 1)?, |stored| {
        stored.bits().is_some_and(|bits| bits.contains(offset))
    })?;
    context.reply_integer(i64::from(bit));
    Ok(())
}

/// What start and end count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Byte,
    Bit,
}

/// A start and an end as natively: signed, negative ones from the end.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: i64,
    /// Null reaches to the end of the value.
    end: Option<i64>,
    unit: Unit,
}

impl Window {
    /// The bits it covers of a value of `length_bytes`; null if it covers none.
    fn bits(self, length_bytes: u64) -> Option<RangeInclusive<u64>> {
        let total = i128::from(length_bytes) * if self.unit == Unit::Bit { 8 } else { 1 };
        let from_the_end = |index: i64| {
            let index = i128::from(index);
            if index < 0 {
                (total + index).max(0)
            } else {
                index
            }
        };
        let start = from_the_end(self.start);
        let end = self.end.map_or(total - 1, from_the_end).min(total - 1);
        if start > end {
            return None;
        }
        let (first, last) = match self.unit {
            Unit::Bit => (start, end),
            Unit::Byte => (start * 8, end * 8 + 7),
        };
        Some(u64::try_from(first).ok()?..=u64::try_from(last).ok()?)
    }
}

fn unit(arg: Arg<'_>) -> Result<Unit, Refusal> {
    if arg.is("BIT") {
        Ok(Unit::Bit)
    } else if arg.is("BYTE") {
        Ok(Unit::Byte)
    } else {
        Err(SYNTAX)
    }
}

fn bitcount(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let window = bitcount_window(args)?;
    let count = keyspace::read_bits(context, required(args, 1)?, |stored| {
        let Some(bits) = stored.bits() else { return 0 };
        match window {
            None => bits.cardinality(),
            // Natively this is 0 whatever the length, while clamping could leave the first byte.
            Some(Window { start, end: Some(end), .. }) if start < 0 && end < start => 0,
            Some(window) => window.bits(bits.length_bytes()).map_or(0, |range| bits.count_range(range)),
        }
    })?;
    context.reply_count(count);
    Ok(())
}

fn bitcount_window(args: Args<'_>) -> Result<Option<Window>, Refusal> {
    match args.len() {
        2 => Ok(None),
        4 | 5 => {
            let start = parse::number(required(args, 2)?)?;
            let end = Some(parse::number(required(args, 3)?)?);
            let unit = args.get(4).map_or(Ok(Unit::Byte), unit)?;
            Ok(Some(Window { start, end, unit }))
        }
        _ => Err(SYNTAX),
    }
}

fn bitpos(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let bit = match parse::number(required(args, 2)?)? {
        0 => false,
        1 => true,
        _ => return Err(Refusal::new("ERR The bit argument must be 1 or 0.")),
    };
    let window = bitpos_window(args)?;
    let position = keyspace::read_bits(context, required(args, 1)?, |stored| match stored.bits() {
        Some(bits) if bit => first_set(bits, window),
        Some(bits) => first_clear(bits, window),
        // A missing key is clear bits without end.
        None => (!bit).then_some(0),
    })?;
    match position {
        Some(position) => context.reply_count(u128::from(position)),
        None => context.reply_integer(-1),
    }
    Ok(())
}

fn bitpos_window(args: Args<'_>) -> Result<Window, Refusal> {
    if args.len() > 6 {
        return Err(SYNTAX);
    }
    let start = args.get(3).map_or(Ok(0), parse::number)?;
    // Natively the unit is checked before the end.
    let unit = args.get(5).map_or(Ok(Unit::Byte), unit)?;
    let end = args.get(4).map(parse::number).transpose()?;
    Ok(Window { start, end, unit })
}

fn first_set(bits: &dyn BitRead, window: Window) -> Option<u64> {
    let range = window.bits(bits.length_bytes())?;
    bits.next_present(*range.start()).filter(|position| range.contains(position))
}

/// With no end given the value counts as padded with clear bits to the right, as far
/// as ids reach.
fn first_clear(bits: &dyn BitRead, window: Window) -> Option<u64> {
    let range = window.bits(bits.length_bytes())?;
    let position = bits.next_absent(*range.start())?;
    (window.end.is_none() || range.contains(&position)).then_some(position)
}
