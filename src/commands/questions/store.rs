//! RB.EXPRSTORE: the ids that an expression keeps, as a bitmap of their own.

use roarbits_core::expr::{Expression, Plan};
use roarbits_core::{BitRead, Bitmap, Watch};

use super::expr::{parse_expression, planned_us};
use super::{key_args, numkeys, required, Sources, Strings};
use crate::commands::parse::{self, once, Options, SYNTAX};
use crate::ffi::{Args, Context, Refusal};
use crate::keyspace::{self, Propagation};
use crate::offload::{self, Effect, Work};

/// The position of the count of keys.
const NUMKEYS: usize = 2;
const FIRST_KEY: usize = NUMKEYS + 1;

/// The positions of dest and of the keys of a call, as far as it can be parsed.
pub fn keys(args: Args<'_>) -> Vec<usize> {
    match numkeys(args, NUMKEYS) {
        Ok((_, end)) => std::iter::once(1).chain(FIRST_KEY..end).collect(),
        Err(_) => Vec::new(),
    }
}

pub fn exprstore(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let (count, end) = numkeys(args, NUMKEYS)?;
    let expression = parse_expression(required(args, end)?.bytes(), count)?;
    let lifetime_s = parse_lifetime(args, end + 1)?;
    let mut sources = Sources::of(context, key_args(args, FIRST_KEY, count), Strings::IDS)?;
    // What the command reads of dest must not be older than what is written there.
    sources.bind(required(args, 1)?.bytes());
    offload::answer(context, args, Store { sources, expression, lifetime_s, options: end + 1 })
}

/// Seconds until dest expires, if it does.
fn parse_lifetime(args: Args<'_>, position: usize) -> Result<Option<i64>, Refusal> {
    let mut lifetime = None;
    let mut options = Options::from(args, position);
    while let Some(option) = options.next() {
        if !option.is("EX") {
            return Err(SYNTAX);
        }
        let seconds = parse::number(options.value()?)?;
        // As natively: what is not a future within the clock's range is refused.
        let fits = seconds > 0 && seconds <= i64::MAX / 1000 - FARTHEST_CLOCK_S;
        if !fits {
            return Err(Refusal::new("ERR invalid expire time in 'rb.exprstore' command"));
        }
        once(&mut lifetime, seconds)?;
    }
    Ok(lifetime)
}

/// No server's clock shows more seconds since 1970.
const FARTHEST_CLOCK_S: i64 = 1 << 40;

struct Store {
    sources: Sources,
    expression: Expression,
    lifetime_s: Option<i64>,
    /// The position of the options, which do not propagate as they are.
    options: usize,
}

impl Store {
    fn plan(&self) -> Plan {
        Plan::new(&self.expression, &self.sources.bitmaps())
    }
}

impl Work for Store {
    type Answer = Bitmap;
    const EFFECT: Effect = Effect::Writes;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        planned_us(&self.sources, &self.expression, |plan| plan.estimate().micros)
    }

    fn run(&self, watch: &Watch) -> Option<Bitmap> {
        self.plan().evaluate(watch)
    }

    fn answer_bytes(&self, answer: &Bitmap) -> u64 {
        keyspace::own_bytes(answer)
    }

    fn finish(&mut self, context: &mut Context, args: Args<'_>, result: Bitmap) -> Result<(), Refusal> {
        let dest = required(args, 1)?;
        let cardinality = result.cardinality();
        let propagation = match self.sources.are_current(context) {
            true => Propagation::Arguments(1..self.options),
            false => Propagation::Value,
        };
        keyspace::store(context, args, dest, result, self.lifetime_s, propagation)?;
        context.reply_count(cardinality);
        Ok(())
    }
}
