//! RB.EXPR: one expression over many keys, asked for a count, for ids or about given ids.

use std::time::Instant;

use roarbits_core::expr::{Expression, Plan};
use roarbits_core::Watch;

use super::{key_args, numkeys, required, Sources, Strings};
use crate::commands::parse::{self, once, Options, SYNTAX, TOO_LARGE};
use crate::config;
use crate::ffi::{Args, Context, Refusal, Replies};
use crate::offload::{self, Effect, Work, LEAF_US};

/// Ids that a page finds in one leaf of each operand, where they are few.
const IDS_A_LEAF: u64 = 256;
/// Ids read and written into a reply in a microsecond.
const IDS_REPLIED_A_US: u64 = 20;
/// Ids looked up in one operand in a microsecond.
const TESTS_A_US: u64 = 4;
/// Bytes that an id takes in a reply that waits to be sent, about.
const REPLY_BYTES_AN_ID: u64 = 32;
/// Longer lists are written by the worker.
const LONG_REPLY: usize = 1000;

/// The position of the first key.
const FIRST_KEY: usize = 2;

/// What is asked of the ids that the expression keeps.
enum Question {
    Count,
    Ids { after: Option<u64>, offset: u64, limit: u64 },
    Test(Vec<u64>),
}

/// Whether the reply is how the question was answered, in the place of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Explain {
    No,
    Yes,
}

/// The positions of the keys of a call, as far as it can be parsed.
pub fn keys(args: Args<'_>) -> Vec<usize> {
    match numkeys(args, 1) {
        Ok((_, end)) => (FIRST_KEY..end).collect(),
        Err(_) => Vec::new(),
    }
}

pub fn expr(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let (count, end) = numkeys(args, 1)?;
    let expression = parse_expression(required(args, end)?.bytes(), count)?;
    let (question, explain) = parse_question(args, end + 1)?;
    let strings = match question {
        Question::Count => Strings::COUNTED_IDS,
        Question::Ids { .. } | Question::Test(_) => Strings::IDS,
    };
    let sources = Sources::of(context, key_args(args, FIRST_KEY, count), strings)?;
    offload::answer(context, args, Ask { sources, expression, question, explain })
}

/// Microseconds that decoding strings takes and, if that is not too long already, what `ask` says of the plan.
pub fn planned_us(sources: &Sources, expression: &Expression, ask: impl FnOnce(&Plan) -> u64) -> u64 {
    /// Bytes of plain strings decoded in a microsecond.
    const DECODED_BYTES_A_US: u64 = 500;
    let decoding_us = sources.copied_bytes() / DECODED_BYTES_A_US;
    if decoding_us > config::inline_budget_us() {
        return decoding_us;
    }
    decoding_us.saturating_add(ask(&Plan::new(expression, &sources.bitmaps())))
}

/// Parses an expression over `keys` keys.
///
/// # Errors
/// A syntax error, with its place, or a predicate on a column, which no key can be yet.
pub fn parse_expression(text: &[u8], keys: usize) -> Result<Expression, Refusal> {
    let expression = Expression::parse(text, keys).map_err(|error| Refusal::made(format!("ERR {error}")))?;
    let predicate = expression.predicates().next();
    match predicate {
        None => Ok(expression),
        Some(key) => Err(Refusal::made(format!(
            "ERR expression: ${} is compared with a value, but it is not a column, only columns have values",
            key + 1
        ))),
    }
}

fn parse_question(args: Args<'_>, position: usize) -> Result<(Question, Explain), Refusal> {
    let mut options = Options::from(args, position);
    let (mut explain, mut question) = (None, None);
    while let Some(option) = options.next() {
        if option.is("EXPLAIN") && question.is_none() {
            once(&mut explain, ())?;
        } else if option.is("COUNT") {
            once(&mut question, Question::Count)?;
        } else if option.is("IDS") {
            once(&mut question, parse_ids(&mut options)?)?;
        } else if option.is("TEST") {
            let ids: Vec<u64> = options.rest().map(parse::id).collect::<Result<_, _>>()?;
            if ids.is_empty() {
                return Err(SYNTAX);
            }
            once(&mut question, Question::Test(ids))?;
        } else {
            return Err(SYNTAX);
        }
    }
    let explain = if explain.is_some() { Explain::Yes } else { Explain::No };
    Ok((question.unwrap_or(Question::Count), explain))
}

/// `[AFTER id] [LIMIT offset count]`, which end the call.
fn parse_ids(options: &mut Options<'_>) -> Result<Question, Refusal> {
    let (mut after, mut limit) = (None, None);
    while let Some(option) = options.next() {
        if option.is("AFTER") {
            once(&mut after, parse::id(options.value()?)?)?;
        } else if option.is("LIMIT") {
            let (offset, count) = (options.value()?, options.value()?);
            once(&mut limit, (parse::number(offset)?, parse::number(count)?))?;
        } else {
            return Err(SYNTAX);
        }
    }
    let (offset, limit) = limit.map_or((0, None), parse::limit);
    Ok(Question::Ids { after, offset, limit: limit.unwrap_or(u64::MAX) })
}

struct Ask {
    sources: Sources,
    expression: Expression,
    question: Question,
    explain: Explain,
}

/// What was found.
enum Found {
    Count(u128),
    Ids(Vec<u64>),
    Bits(Vec<bool>),
    Refused(Refusal),
    Explained(Explanation),
}

/// What EXPLAIN tells.
struct Explanation {
    order: String,
    leaves_estimated: u64,
    leaves_touched: u64,
    place: &'static str,
    us: u64,
}

impl Work for Ask {
    type Answer = Found;
    const EFFECT: Effect = Effect::Reads;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        let keys = self.sources.len() as u64;
        planned_us(&self.sources, &self.expression, |plan| match &self.question {
            Question::Count => plan.estimate().micros,
            Question::Ids { offset, limit, .. } => {
                let most = u64::try_from(plan.most()).unwrap_or(u64::MAX);
                let replied = (*limit).min(config::max_reply()).min(most);
                let leaves = offset.saturating_add(replied).min(most) / IDS_A_LEAF + 1;
                let walk_us = leaves.saturating_mul(keys).saturating_mul(LEAF_US).min(plan.estimate().micros);
                walk_us.saturating_add(replied / IDS_REPLIED_A_US)
            }
            Question::Test(ids) => (ids.len() as u64).saturating_mul(keys) / TESTS_A_US,
        })
    }

    fn run(&self, watch: &Watch) -> Option<Found> {
        let begin = Instant::now();
        let plan = self.plan();
        let found = self.question.ask(&plan, watch)?;
        if self.explain == Explain::No {
            return Some(found);
        }
        Some(Found::Explained(Explanation {
            order: plan.order(),
            leaves_estimated: plan.estimate().leaves,
            leaves_touched: watch.leaves(),
            place: offload::place(),
            us: u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX),
        }))
    }

    fn answer_bytes(&self, found: &Found) -> u64 {
        match found {
            Found::Ids(ids) => ids.len() as u64 * REPLY_BYTES_AN_ID,
            Found::Bits(bits) => bits.len() as u64,
            Found::Count(_) | Found::Refused(_) | Found::Explained(_) => 0,
        }
    }

    fn reply_early(&self, replies: &Replies, found: Found) -> Option<Found> {
        match found {
            Found::Ids(ids) if ids.len() > LONG_REPLY => {
                reply_ids(replies, &ids);
                None
            }
            found => Some(found),
        }
    }

    fn finish(&mut self, context: &mut Context, _: Args<'_>, found: Found) -> Result<(), Refusal> {
        found.reply(context)
    }
}

impl Ask {
    fn plan(&self) -> Plan {
        Plan::new(&self.expression, &self.sources.bitmaps())
    }
}

impl Question {
    fn ask(&self, plan: &Plan, watch: &Watch) -> Option<Found> {
        match self {
            Self::Count => plan.count(watch).map(Found::Count),
            Self::Test(ids) => Some(Found::Bits(plan.test(ids))),
            Self::Ids { after, offset, limit } => {
                // One more than may be replied tells that there are too many.
                let most = config::max_reply();
                let wanted = (*limit).min(most.saturating_add(1));
                let ids = plan.page(*after, *offset, usize::try_from(wanted).ok()?, watch)?;
                Some(if ids.len() as u64 > most { Found::Refused(TOO_LARGE) } else { Found::Ids(ids) })
            }
        }
    }
}

impl Found {
    fn reply(self, replies: &Replies) -> Result<(), Refusal> {
        match self {
            Self::Count(count) => replies.reply_count(count),
            Self::Ids(ids) => reply_ids(replies, &ids),
            Self::Bits(bits) => {
                replies.reply_array(bits.len());
                bits.into_iter().for_each(|bit| replies.reply_integer(bit.into()));
            }
            Self::Refused(refusal) => return Err(refusal),
            Self::Explained(explanation) => explanation.reply(replies),
        }
        Ok(())
    }
}

impl Explanation {
    fn reply(&self, replies: &Replies) {
        replies.reply_map(5);
        replies.reply_bulk(b"order");
        replies.reply_bulk(self.order.as_bytes());
        for (name, number) in
            [("leaves_estimated", self.leaves_estimated), ("leaves_touched", self.leaves_touched)]
        {
            replies.reply_bulk(name.as_bytes());
            replies.reply_count(u128::from(number));
        }
        replies.reply_bulk(b"where");
        replies.reply_bulk(self.place.as_bytes());
        replies.reply_bulk(b"us");
        replies.reply_count(u128::from(self.us));
    }
}

fn reply_ids(replies: &Replies, ids: &[u64]) {
    replies.reply_array(ids.len());
    ids.iter().for_each(|id| replies.reply_id(*id));
}
