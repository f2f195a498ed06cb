//! RB.COMPARE: how two sets of ids relate, by counts alone.

use roarbits_core::{BitRead, Combination, Watch};

use super::{required, Sources, Strings};
use crate::ffi::{Args, Context, Refusal, Replies};
use crate::offload::{self, Effect, Work, LEAF_US};

pub fn compare(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    // The arity leaves exactly two.
    let keys = [required(args, 1)?, required(args, 2)?];
    let sources = Sources::of(context, keys.into_iter(), Strings::COUNTED_IDS)?;
    offload::answer(context, args, Comparison { sources })
}

struct Comparison {
    sources: Sources,
}

/// The cardinalities that tell everything else.
struct Counts {
    a: u128,
    b: u128,
    intersection: u128,
}

impl Work for Comparison {
    type Answer = Counts;
    const EFFECT: Effect = Effect::Reads;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        self.sources.leaves().saturating_mul(LEAF_US)
    }

    fn run(&self, watch: &Watch) -> Option<Counts> {
        let bitmaps = self.sources.bitmaps();
        let [a, b] = &bitmaps[..] else { return None };
        let intersection = Combination::And.count_watched(&[a, b], watch)?;
        Some(Counts { a: a.cardinality(), b: b.cardinality(), intersection })
    }

    fn answer_bytes(&self, _: &Counts) -> u64 {
        0
    }

    fn finish(&mut self, context: &mut Context, _: Args<'_>, counts: Counts) -> Result<(), Refusal> {
        counts.reply(context);
        Ok(())
    }
}

impl Counts {
    fn union(&self) -> u128 {
        self.a + self.b - self.intersection
    }

    /// The first relation that holds.
    fn relation(&self) -> &'static str {
        match (self.intersection == self.a, self.intersection == self.b) {
            (true, true) => "equal",
            _ if self.intersection == 0 => "disjoint",
            (true, false) => "subset",
            (false, true) => "superset",
            (false, false) => "overlap",
        }
    }

    fn reply(&self, replies: &Replies) {
        let counts = [
            ("a", self.a),
            ("b", self.b),
            ("union", self.union()),
            ("inter", self.intersection),
            ("a_only", self.a - self.intersection),
            ("b_only", self.b - self.intersection),
        ];
        let inter = self.intersection as f64;
        // Each is undefined where its divisor is 0.
        let ratios = [
            ("jaccard", self.union() as f64),
            ("overlap", self.a.min(self.b) as f64),
            ("cosine", (self.a as f64 * self.b as f64).sqrt()),
        ];
        replies.reply_map(counts.len() + ratios.len() + 1);
        for (name, count) in counts {
            replies.reply_bulk(name.as_bytes());
            replies.reply_count(count);
        }
        for (name, divisor) in ratios {
            replies.reply_bulk(name.as_bytes());
            match divisor > 0.0 {
                true => replies.reply_double(inter / divisor),
                false => replies.reply_null(),
            }
        }
        replies.reply_bulk(b"relation");
        replies.reply_bulk(self.relation().as_bytes());
    }
}
