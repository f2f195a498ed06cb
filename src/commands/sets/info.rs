//! What a bitmap is made of, for people.

use std::ops::RangeInclusive;

use roarbits_core::bitmap::Stats;
use roarbits_core::codec::native;
use roarbits_core::{BitRead, Bitmap};

use crate::commands::parse::required;
use crate::ffi::{block_bytes, Args, Context, Refusal};
use crate::keyspace::{self, Stored};

const EVERYTHING: RangeInclusive<u64> = 0..=u64::MAX;

/// RB.INFO.
pub fn info(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let context = &*context;
    let key = required(args, 1)?;
    let bytes = keyspace::memory_usage_bytes(context, key);
    keyspace::read_ids(context, key, |stored| match &stored {
        Stored::Missing => context.reply_null(),
        Stored::Bitmap(bitmap) => reply_info(context, "rb-bitmap", bytes, bitmap),
        Stored::String(bits) => reply_info_of_string(context, bytes, bits),
    })
}

fn reply_info(context: &Context, kind: &str, bytes: u64, bitmap: &Bitmap) {
    let stats = bitmap.stats_in_blocks(&block_bytes);
    context.reply_map(12);
    reply_head(context, kind, bitmap);
    reply_fields(
        context,
        &[
            ("bytes", u128::from(bytes)),
            ("shared_bytes", u128::from(stats.shared_bytes)),
            ("rdb_bytes", u128::from(native::encoded_bytes(bitmap, EVERYTHING))),
        ],
    );
    reply_forms(context, &stats);
}

/// A string is one stretch of plain bits and shares nothing.
fn reply_info_of_string(context: &Context, bytes: u64, bits: &dyn BitRead) {
    context.reply_map(12);
    reply_head(context, "string", bits);
    reply_fields(
        context,
        &[("bytes", u128::from(bytes)), ("shared_bytes", 0), ("rdb_bytes", u128::from(bits.length_bytes()))],
    );
    reply_forms(context, &Stats::default());
}

fn reply_head(context: &Context, kind: &str, bits: &dyn BitRead) {
    context.reply_bulk(b"type");
    context.reply_bulk(kind.as_bytes());
    reply_fields(
        context,
        &[("cardinality", bits.cardinality()), ("length", u128::from(bits.length_bytes()))],
    );
}

/// Leaves and containers by form; there are at most 2^48 of either.
fn reply_forms(context: &Context, stats: &Stats) {
    let (leaves, containers) = (stats.leaves, stats.containers);
    reply_fields(
        context,
        &[
            ("ids_leaves", u128::from(leaves.ids)),
            ("run_leaves", u128::from(leaves.runs)),
            ("bits_leaves", u128::from(leaves.bits)),
            ("ids_containers", u128::from(containers.ids)),
            ("run_containers", u128::from(containers.runs)),
            ("bits_containers", u128::from(containers.bits)),
        ],
    );
}

fn reply_fields(context: &Context, fields: &[(&str, u128)]) {
    for (name, value) in fields {
        context.reply_bulk(name.as_bytes());
        context.reply_count(*value);
    }
}
