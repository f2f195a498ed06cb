//! Results put over whatever a key holds, and how replicas come to the same value.

use std::ops::Range;

use roarbits_core::bitmap::Sample;
use roarbits_core::codec::native;
use roarbits_core::{BitRead, Bitmap};

use super::{announce, delete};
use crate::drops;
use crate::ffi::{block_bytes, Arg, Args, Context, Refusal};
use crate::types::{BitmapType, PIECE_BYTES};

/// How a stored result reaches replicas and the append-only file.
pub enum Propagation {
    /// By the command with the arguments at these positions: its sources are what they were read as.
    Arguments(Range<usize>),
    /// By value: a source has changed since it was read.
    Value,
}

const MOVED: Refusal = Refusal::new("TRYAGAIN roarbits: the slot of the key moves, retry");

/// The bytes of a bitmap that nothing else holds. O(leaves).
pub fn own_bytes(bitmap: &Bitmap) -> u64 {
    let stats = bitmap.stats_in_blocks(&block_bytes);
    stats.memory_bytes.saturating_sub(stats.shared_bytes)
}

/// About how many bytes a bitmap takes.
pub fn sampled_bytes(bitmap: &Bitmap) -> u64 {
    bitmap.memory_bytes(Sample::Some, &block_bytes)
}

/// Checks that this node may still write `key`, some time after the call came.
///
/// # Errors
/// Its slot has moved, or moves and the key is missing.
pub fn check_owned(context: &Context, key: Arg<'_>) -> Result<(), Refusal> {
    if context.owns(key) {
        return Ok(());
    }
    Err(MOVED)
}

/// Stores `result` over whatever `dest` holds, with a lifetime in seconds or none. An empty one, of
/// no length, deletes it.
///
/// # Errors
/// The key is not of this node any more; nothing is stored.
pub fn store(
    context: &mut Context,
    args: Args<'_>,
    dest: Arg<'_>,
    result: Bitmap,
    lifetime_s: Option<i64>,
    propagation: Propagation,
) -> Result<(), Refusal> {
    check_owned(context, dest)?;
    if result.length_bytes() == 0 {
        delete(context, dest);
        return Ok(());
    }
    if let Propagation::Value = propagation {
        replicate_value(context, dest, &result);
    }
    let mut opened = context.open_write(dest);
    let old = opened.replace::<BitmapType>(result);
    let expires_at_ms = lifetime_s.and_then(|seconds| opened.expire_in_ms(seconds.saturating_mul(1000)));
    drop(opened);
    if let Some(old) = old {
        drops::release(old);
    }
    if let Propagation::Arguments(positions) = propagation {
        let sent: Vec<Arg<'_>> = positions.filter_map(|position| args.get(position)).collect();
        context.replicate_own(&sent);
    }
    if let Some(at_ms) = expires_at_ms {
        context.replicate_expiry(dest, at_ms);
    }
    announce(context, dest);
    Ok(())
}

/// Propagates commands that make `bitmap` from nothing, in one transaction.
fn replicate_value(context: &mut Context, dest: Arg<'_>, bitmap: &Bitmap) {
    let mut mode = c"REPLACE";
    for piece in native::pieces(bitmap, PIECE_BYTES) {
        context.replicate_import(dest, &piece, mode);
        mode = c"OR";
    }
}
