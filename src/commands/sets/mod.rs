//! Sets of ids: members, ranges, ranks.

mod info;
mod listing;

use std::ops::RangeInclusive;

use roarbits_core::{BitRead, Bitmap};

use super::command;
use super::parse::{self, required, SYNTAX};
use crate::ffi::{Arg, Args, Context, Refusal, Registration};
use crate::keyspace::{self, Ids};

command!(Add, "RB.ADD", add);
command!(Rem, "RB.REM", rem);
command!(GetBits, "RB.GETBITS", getbits);
command!(Count, "RB.COUNT", count);
command!(Min, "RB.MIN", min);
command!(Max, "RB.MAX", max);
command!(Rank, "RB.RANK", rank);
command!(Select, "RB.SELECT", select);
command!(Range, "RB.RANGE", listing::range);
command!(Scan, "RB.SCAN", listing::scan);
command!(RandMember, "RB.RANDMEMBER", listing::randmember);
command!(AddRange, "RB.ADDRANGE", addrange);
command!(RemRange, "RB.REMRANGE", remrange);
command!(FlipRange, "RB.FLIPRANGE", fliprange);
command!(Info, "RB.INFO", info::info);

/// The handlers of the family.
pub fn registrations() -> [Registration; 15] {
    [
        Registration::of::<Add>(),
        Registration::of::<Rem>(),
        Registration::of::<GetBits>(),
        Registration::of::<Count>(),
        Registration::of::<Min>(),
        Registration::of::<Max>(),
        Registration::of::<Rank>(),
        Registration::of::<Select>(),
        Registration::of::<Range>(),
        Registration::of::<Scan>(),
        Registration::of::<RandMember>(),
        Registration::of::<AddRange>(),
        Registration::of::<RemRange>(),
        Registration::of::<FlipRange>(),
        Registration::of::<Info>(),
    ]
}

fn add(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    change_ids(context, args, Bitmap::insert_many)
}

fn rem(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    change_ids(context, args, Bitmap::remove_many)
}

fn change_ids(
    context: &mut Context,
    args: Args<'_>,
    change: fn(&mut Bitmap, &[u64]) -> u64,
) -> Result<(), Refusal> {
    let ids = parse::ids(args, 2)?;
    let changed = keyspace::modify(context, required(args, 1)?, |bitmap| {
        let changed = change(bitmap, &ids);
        (changed, Ids::from(changed > 0))
    })?;
    context.reply_count(u128::from(changed));
    Ok(())
}

fn addrange(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    change_range(context, args, Bitmap::insert_range)
}

fn remrange(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    change_range(context, args, Bitmap::remove_range)
}

fn change_range(
    context: &mut Context,
    args: Args<'_>,
    change: fn(&mut Bitmap, RangeInclusive<u64>) -> u128,
) -> Result<(), Refusal> {
    let range = parse::id_range(required(args, 2)?, required(args, 3)?)?;
    let changed = keyspace::modify_at_large(context, required(args, 1)?, |bitmap| {
        let changed = change(bitmap, range);
        (changed, Ids::from(changed > 0))
    })?;
    context.reply_count(changed);
    Ok(())
}

fn fliprange(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let range = parse::id_range(required(args, 2)?, required(args, 3)?)?;
    let cardinality = keyspace::modify_at_large(context, required(args, 1)?, |bitmap| {
        let changed = Ids::from(!range.is_empty());
        bitmap.flip_range(range);
        (bitmap.cardinality(), changed)
    })?;
    context.reply_count(cardinality);
    Ok(())
}

fn getbits(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let ids = parse::ids(args, 2)?;
    let context = &*context;
    keyspace::read_ids(context, required(args, 1)?, |stored| {
        context.reply_array(ids.len());
        match stored.bits() {
            Some(bits) => {
                bits.contains_many(&ids).into_iter().for_each(|bit| context.reply_integer(bit.into()))
            }
            None => ids.iter().for_each(|_| context.reply_integer(0)),
        }
    })
}

fn count(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let range = match (args.get(2), args.get(3)) {
        (None, None) => None,
        (Some(start), Some(end)) if args.len() == 4 => Some(parse::id_range(start, end)?),
        _ => return Err(SYNTAX),
    };
    let count = keyspace::read_ids(context, required(args, 1)?, |stored| match (stored.bits(), range) {
        (None, _) => 0,
        (Some(bits), None) => bits.cardinality(),
        (Some(bits), Some(range)) => bits.count_range(range),
    })?;
    context.reply_count(count);
    Ok(())
}

fn min(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    reply_one(context, required(args, 1)?, |bits| bits.min())
}

fn max(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    reply_one(context, required(args, 1)?, |bits| bits.max())
}

fn select(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let rank = parse::number(required(args, 2)?)?;
    reply_one(context, required(args, 1)?, |bits| bits.select(absolute_rank(rank, bits.cardinality())?))
}

/// Replies the id that `choose` finds, or null.
fn reply_one(
    context: &Context,
    key: Arg<'_>,
    choose: impl FnOnce(&dyn BitRead) -> Option<u64>,
) -> Result<(), Refusal> {
    match keyspace::read_ids(context, key, |stored| stored.bits().and_then(choose))? {
        Some(id) => context.reply_id(id),
        None => context.reply_null(),
    }
    Ok(())
}

/// A rank from the start; null if it lies before it.
fn absolute_rank(rank: i64, cardinality: u128) -> Option<u128> {
    if rank < 0 {
        cardinality.checked_sub(u128::from(rank.unsigned_abs()))
    } else {
        Some(u128::from(rank.unsigned_abs()))
    }
}

fn rank(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let id = parse::id(required(args, 2)?)?;
    let rank = keyspace::read_ids(context, required(args, 1)?, |stored| {
        let bits = stored.bits().filter(|bits| bits.contains(id))?;
        // The member itself is counted.
        bits.rank(id).checked_sub(1)
    })?;
    match rank {
        Some(rank) => context.reply_count(rank),
        None => context.reply_null(),
    }
    Ok(())
}
