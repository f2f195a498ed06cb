//! Questions: counts, members and comparisons of many keys at once, without temporary keys and,
//! where they take long, off the main thread.

mod compare;
mod expr;
mod store;

use roarbits_core::{Bitmap, Combination, Watch};

use super::bits::{check_sources, combination, Operation};
use super::command;
use super::parse::{self, required};
use crate::ffi::{Arg, Args, Context, Refusal, Registration};
use crate::keyspace::{Sources, Strings};
use crate::offload::{self, Effect, Work, LEAF_US};

command!(BitOpCard, "RB.BITOPCARD", bitopcard);
command!(Expr, "RB.EXPR", expr::expr, keys: expr::keys);
command!(ExprStore, "RB.EXPRSTORE", store::exprstore, keys: store::keys);
command!(Compare, "RB.COMPARE", compare::compare);

/// The handlers of the family.
pub fn registrations() -> [Registration; 4] {
    [
        Registration::of::<BitOpCard>(),
        Registration::of::<Expr>(),
        Registration::of::<ExprStore>(),
        Registration::of::<Compare>(),
    ]
}

/// Keys that one question may name.
const MAX_KEYS: usize = roarbits_core::expr::MAX_KEYS;

/// The count of keys at `position`, and the position after the last of them.
fn numkeys(args: Args<'_>, position: usize) -> Result<(usize, usize), Refusal> {
    let count = parse::number(required(args, position)?)?;
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or(Refusal::new("ERR numkeys should be greater than 0"))?;
    if count > MAX_KEYS {
        return Err(Refusal::made(format!("ERR too many keys ({count}, limit {MAX_KEYS})")));
    }
    let end = position + 1 + count;
    if end > args.len() {
        return Err(Refusal::new("ERR Number of keys can't be greater than number of args"));
    }
    Ok((count, end))
}

/// The arguments of `count` keys from `first` on.
fn key_args<'a>(args: Args<'a>, first: usize, count: usize) -> impl Iterator<Item = Arg<'a>> + 'a {
    args.from(first).take(count)
}

struct CountCombined {
    sources: Sources,
    how: Combination,
}

fn bitopcard(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let how = combination(required(args, 1)?)?;
    check_sources(Operation::Combine(how), args.len().saturating_sub(2))?;
    let sources = Sources::of(context, args.from(2), Strings::COUNTED_BITS)?;
    offload::answer(context, args, CountCombined { sources, how })
}

impl Work for CountCombined {
    type Answer = u128;
    const EFFECT: Effect = Effect::Reads;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        self.sources.leaves().saturating_mul(LEAF_US)
    }

    fn run(&self, watch: &Watch) -> Option<u128> {
        let bitmaps = self.sources.bitmaps();
        self.how.count_watched(&bitmaps.iter().collect::<Vec<&Bitmap>>(), watch)
    }

    fn answer_bytes(&self, _: &u128) -> u64 {
        0
    }

    fn finish(&mut self, context: &mut Context, _: Args<'_>, count: u128) -> Result<(), Refusal> {
        context.reply_count(count);
        Ok(())
    }
}
