//! Replies that list ids: by rank, by id, page by page, at random.

use std::ops::RangeInclusive;

use roarbits_core::codec::string;
use roarbits_core::BitRead;

use super::{absolute_rank, reply_one};
use crate::commands::parse::{self, once, required, Options, SYNTAX, TOO_LARGE};
use crate::ffi::{Args, Context, Refusal};
use crate::keyspace::{self, Stored};
use crate::{config, random};

/// The ids that one call of RB.SCAN replies unless COUNT says otherwise.
const SCAN_COUNT: u64 = 10;

/// What RB.RANGE asks for.
enum Wanted {
    /// Ranks, both included, negative ones from the end.
    Ranks(i64, i64),
    /// A closed range of ids, of which `skip` are left out and at most `take` replied.
    Ids { range: RangeInclusive<u64>, skip: u64, take: Option<u64> },
}

/// Which end a reply starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
}

/// RB.RANGE.
pub fn range(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
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
    let order = if reversed.is_some() { Order::Descending } else { Order::Ascending };
    let (start, stop) = (required(args, 2)?, required(args, 3)?);
    if by_id.is_none() {
        if limit.is_some() {
            return Err(Refusal::new("ERR syntax error, LIMIT is only supported in combination with BYID"));
        }
        return Ok((Wanted::Ranks(parse::number(start)?, parse::number(stop)?), order));
    }
    let range = match order {
        Order::Ascending => parse::id_range(start, stop)?,
        Order::Descending => parse::id_range(stop, start)?,
    };
    let (skip, take) = limit.map_or((0, None), parse::limit);
    Ok((Wanted::Ids { range, skip, take }, order))
}

/// The ranks to reply, counted from the lowest id, as first and number.
fn wanted_ranks(bits: &dyn BitRead, wanted: &Wanted, order: Order) -> (u128, u128) {
    match wanted {
        Wanted::Ranks(start, stop) => ranks_of_ranks(bits.cardinality(), *start, *stop, order),
        Wanted::Ids { range, skip, take } => {
            let below = range.start().checked_sub(1).map_or(0, |last| bits.count_range(0..=last));
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
        return Err(TOO_LARGE);
    }
    usize::try_from(ids).map_err(|_| TOO_LARGE)
}

/// RB.SCAN.
pub fn scan(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let cursor = parse::cursor(required(args, 2)?)?;
    let count = scan_count(args)?.min(config::max_reply());
    let page: Vec<u64> = keyspace::read_ids(context, required(args, 1)?, |stored| {
        // One more than is replied: it is where the next call starts.
        let wanted = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(1);
        stored.bits().map(|bits| bits.ids_in(cursor..=u64::MAX).take(wanted).collect()).unwrap_or_default()
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
        once(&mut count, u64::try_from(value).ok().filter(|value| *value > 0).ok_or(SYNTAX)?)?;
    }
    Ok(count.unwrap_or(SCAN_COUNT))
}

/// RB.RANDMEMBER.
pub fn randmember(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    if args.len() > 3 {
        return Err(SYNTAX);
    }
    let key = required(args, 1)?;
    let Some(count) = args.get(2).map(parse::number).transpose()? else {
        return reply_one(context, key, |bits| {
            let cardinality = bits.cardinality();
            let rank = if cardinality == 0 { None } else { random::with_repetition(cardinality, 1).pop() };
            bits.select(rank?)
        });
    };
    let context = &*context;
    keyspace::read_ids(context, key, |stored| {
        // A string finds a rank by a scan: of many, it is read once.
        let decoded = match &stored {
            Stored::String(bits) => Some(string::decode(bits.bytes())),
            Stored::Missing | Stored::Bitmap(_) => None,
        };
        let bits = decoded.as_ref().map(|bitmap| bitmap as &dyn BitRead).or(stored.bits());
        let Some(bits) = bits.filter(|bits| bits.cardinality() > 0) else {
            context.reply_array(0);
            return Ok(());
        };
        let members = bits.select_all(&random_ranks(bits.cardinality(), count)?);
        context.reply_array(members.len());
        members.into_iter().for_each(|id| context.reply_id(id));
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
