//! Sets of ids: members, ranges, ranks.

use std::ops::RangeInclusive;

use roarbits_core::{BitRead, Bitmap};

use super::command;
use super::parse::{self, once, required, Options, SYNTAX};
use crate::ffi::{Arg, Args, Context, Refusal, Registration};
use crate::keyspace::{self, Ids};
use crate::{config, random};

command!(Add, "RB.ADD", add);
command!(Rem, "RB.REM", rem);
command!(GetBits, "RB.GETBITS", getbits);
command!(Count, "RB.COUNT", count);
command!(Min, "RB.MIN", min);
command!(Max, "RB.MAX", max);
command!(Rank, "RB.RANK", rank);
command!(Select, "RB.SELECT", select);
command!(Range, "RB.RANGE", range);
command!(Scan, "RB.SCAN", scan);
command!(RandMember, "RB.RANDMEMBER", randmember);
command!(AddRange, "RB.ADDRANGE", addrange);
command!(RemRange, "RB.REMRANGE", remrange);
command!(FlipRange, "RB.FLIPRANGE", fliprange);

/// The handlers of the family.
pub fn registrations() -> [Registration; 14] {
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
    ]
}

/// The ids that one call of RB.SCAN replies unless COUNT says otherwise.
const SCAN_COUNT: u64 = 10;

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
    let changed = keyspace::modify(context, required(args, 1)?, |bitmap| {
        let changed = change(bitmap, range);
        (changed, Ids::from(changed > 0))
    })?;
    context.reply_count(changed);
    Ok(())
}

fn fliprange(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let range = parse::id_range(required(args, 2)?, required(args, 3)?)?;
    let cardinality = keyspace::modify(context, required(args, 1)?, |bitmap| {
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
        for id in ids {
            context.reply_integer(i64::from(stored.bits().is_some_and(|bits| bits.contains(id))));
        }
    })
}

fn count(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let range = match (args.get(2), args.get(3)) {
        (None, None) => None,
        (Some(start), Some(end)) if args.len() == 4 => Some(parse::id_range(start, end)?),
        _ => return Err(SYNTAX),
    };
    let count = keyspace::read_ids(context, required(args, 1)?, |stored| {
        match (stored.bits(), range) {
            (None, _) => 0,
            (Some(bits), None) => bits.cardinality(),
            (Some(bits), Some(range)) => bits.count_range(range),
        }
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
    reply_one(context, required(args, 1)?, |bits| {
        bits.select(absolute_rank(rank, bits.cardinality())?)
    })
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

/// What RB.RANGE asks for.
enum Wanted {
    /// Ranks, both included, negative ones from the end.
    Ranks(i64, i64),
    /// A closed range of ids, of which `skip` are left out and at most `take` replied.
    Ids {
        range: RangeInclusive<u64>,
        skip: u64,
        take: Option<u64>,
    },
}

/// Which end a reply starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
}

fn range(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let (wanted, order) = parse_range(args)?;
    let context = &*context;
    keyspace::read_ids(context, required(args, 1)?, |stored| {
        let Some(bits) = stored.bits() else {
            context.reply_array(0);
            return Ok(());
        };
        reply_ranks(context, bits, wanted_ranks(bits, &wanted, order), order)
    })?
}

fn parse_range(args: Args<'_>) -> Result<(Wanted, Order), Refusal> {
    let (mut by_id, mut reversed, mut limit) = (None, None, None);
    let mut options = Options::from(args, 4);
    while let Some(option) = options.next() {
        if option.is("BYID") {
            once(&mut by_id, ())?;
        } else if option.is("REV") {
            once(&mut reversed, ())?;
        } else if option.is("LIMIT") {
            let (offset, count) = (options.value()?, options.value()?);
            once(&mut limit, (parse::number(offset)?, parse::number(count)?))?;
        } else {
            return Err(SYNTAX);
        }
    }
    let order = if reversed.is_some() {
        Order::Descending
    } else {
        Order::Ascending
    };
    let (start, stop) = (required(args, 2)?, required(args, 3)?);
    if by_id.is_none() {
        if limit.is_some() {
            return Err(Refusal::new(
                "ERR syntax error, LIMIT is only supported in combination with BYID",
            ));
        }
        return Ok((Wanted::Ranks(parse::number(start)?, parse::number(stop)?), order));
    }
    let range = match order {
        Order::Ascending => parse::id_range(start, stop)?,
        Order::Descending => parse::id_range(stop, start)?,
    };
    let (skip, take) = limit.map_or((0, None), limit_of);
    Ok((Wanted::Ids { range, skip, take }, order))
}

/// As ZRANGE: a negative offset replies nothing, a negative count everything.
fn limit_of((offset, count): (i64, i64)) -> (u64, Option<u64>) {
    match u64::try_from(offset) {
        Ok(skip) => (skip, u64::try_from(count).ok()),
        Err(_) => (0, Some(0)),
    }
}

/// The ranks to reply, counted from the lowest id, as first and number.
fn wanted_ranks(bits: &dyn BitRead, wanted: &Wanted, order: Order) -> (u128, u128) {
    match wanted {
        Wanted::Ranks(start, stop) => ranks_of_ranks(bits.cardinality(), *start, *stop, order),
        Wanted::Ids { range, skip, take } => {
            let below = range
                .start()
                .checked_sub(1)
                .map_or(0, |last| bits.count_range(0..=last));
            let inside = bits.count_range(range.clone());
            let skipped = inside.min(u128::from(*skip));
            let number = take.map_or(u128::MAX, u128::from).min(inside - skipped);
            match order {
                Order::Ascending => (below + skipped, number),
                Order::Descending => (below + inside - skipped - number, number),
            }
        }
    }
}

fn ranks_of_ranks(cardinality: u128, start: i64, stop: i64, order: Order) -> (u128, u128) {
    let first = absolute_rank(start, cardinality).unwrap_or(0);
    let Some(last) = absolute_rank(stop, cardinality) else {
        return (0, 0);
    };
    let Some(highest) = cardinality.checked_sub(1) else {
        return (0, 0);
    };
    let last = last.min(highest);
    if first > last {
        return (0, 0);
    }
    let number = last - first + 1;
    match order {
        Order::Ascending => (first, number),
        Order::Descending => (highest - last, number),
    }
}

/// Replies the `number` ids from the rank `first` on.
fn reply_ranks(
    context: &Context,
    bits: &dyn BitRead,
    (first, number): (u128, u128),
    order: Order,
) -> Result<(), Refusal> {
    let number = reply_size(number)?;
    let ids = match bits.select(first) {
        Some(id) if number > 0 => bits.ids_in(id..=u64::MAX).take(number),
        _ => {
            context.reply_array(0);
            return Ok(());
        }
    };
    context.reply_array(number);
    match order {
        Order::Ascending => ids.for_each(|id| context.reply_id(id)),
        Order::Descending => {
            let ids: Vec<u64> = ids.collect();
            ids.into_iter().rev().for_each(|id| context.reply_id(id));
        }
    }
    Ok(())
}

/// The size of a list reply.
///
/// # Errors
/// Above the config `max-reply`.
fn reply_size(ids: u128) -> Result<usize, Refusal> {
    if ids > u128::from(config::max_reply()) {
        return Err(Refusal::new("ERR reply too large, use LIMIT or RB.SCAN"));
    }
    usize::try_from(ids).map_err(|_| Refusal::new("ERR reply too large, use LIMIT or RB.SCAN"))
}

fn scan(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let cursor = parse::cursor(required(args, 2)?)?;
    let count = scan_count(args)?.min(config::max_reply());
    let page: Vec<u64> = keyspace::read_ids(context, required(args, 1)?, |stored| {
        // One more than is replied: it is where the next call starts.
        let wanted = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(1);
        stored
            .bits()
            .map(|bits| bits.ids_in(cursor..=u64::MAX).take(wanted).collect())
            .unwrap_or_default()
    })?;
    let shown = page.len().min(usize::try_from(count).unwrap_or(usize::MAX));
    context.reply_array(2);
    context.reply_id(page.get(shown).copied().unwrap_or(0));
    context.reply_array(shown);
    page.iter().take(shown).for_each(|id| context.reply_id(*id));
    Ok(())
}

fn scan_count(args: Args<'_>) -> Result<u64, Refusal> {
    let mut count = None;
    let mut options = Options::from(args, 3);
    while let Some(option) = options.next() {
        if !option.is("COUNT") {
            return Err(SYNTAX);
        }
        let value = parse::number(options.value()?)?;
        once(
            &mut count,
            u64::try_from(value)
                .ok()
                .filter(|value| *value > 0)
                .ok_or(SYNTAX)?,
        )?;
    }
    Ok(count.unwrap_or(SCAN_COUNT))
}

fn randmember(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    if args.len() > 3 {
        return Err(SYNTAX);
    }
    let key = required(args, 1)?;
    let Some(count) = args.get(2).map(parse::number).transpose()? else {
        return reply_one(context, key, |bits| {
            let cardinality = bits.cardinality();
            let rank = if cardinality == 0 {
                None
            } else {
                random::with_repetition(cardinality, 1).pop()
            };
            bits.select(rank?)
        });
    };
    let context = &*context;
    keyspace::read_ids(context, key, |stored| {
        let members = stored.bits().filter(|bits| bits.cardinality() > 0);
        let Some(bits) = members else {
            context.reply_array(0);
            return Ok(());
        };
        let ranks = random_ranks(bits.cardinality(), count)?;
        context.reply_array(ranks.len());
        for rank in ranks {
            context.reply_id(bits.select(rank).unwrap_or_default());
        }
        Ok(())
    })?
}

/// As SRANDMEMBER: a positive count asks for different members, a negative one for that many.
fn random_ranks(cardinality: u128, count: i64) -> Result<Vec<u128>, Refusal> {
    let asked = u128::from(count.unsigned_abs());
    if count < 0 {
        return Ok(random::with_repetition(cardinality, reply_size(asked)?));
    }
    Ok(random::distinct(cardinality, reply_size(asked.min(cardinality))?))
}
