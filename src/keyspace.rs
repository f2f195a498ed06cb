//! Keys: the one place that opens them, checks their types, creates, replaces and
//! deletes them, and tells replicas, watchers and subscribers of a change.
//!
//! A change is one of ids or of length; creating a key is one. What changed
//! nothing is neither propagated nor notified. How the server may evict or expire
//! keys is its own affair: keys are opened as any native command opens them.

mod bit_writes;
mod sources;
mod stores;

use roarbits_core::bitmap::{Remains, StringBits};
use roarbits_core::{BitRead, Bitmap};

use crate::drops;
use crate::ffi::{Arg, CallReply, Context, Kind, Refusal, WriteKey};
use crate::types::BitmapType;

pub use bit_writes::{write_bit, write_bits, BitWrite, OldBit};
pub use sources::{Sources, Strings};
pub use stores::{check_owned, own_bytes, store, Propagation};

const WRONG_TYPE: Refusal = Refusal::new("WRONGTYPE Operation against a key holding the wrong kind of value");

const WRONG_TYPE_STRING: Refusal = Refusal::new(
    "WRONGTYPE Operation against a key holding the wrong kind of value, \
     a plain string bitmap can only be changed after RB.CONVERT",
);

const NOT_RUN: Refusal =
    Refusal::new("ERR the server refused to run the native command, it may be renamed or disabled");

/// Strings longer than this are raw-encoded on every server (embedded ones end at
/// 44 to 128 bytes) and can be read where they lie. Reading a shorter one so would
/// re-encode it, which OBJECT ENCODING shows; GET copies it instead, at most a page.
const EMBEDDED_MAX_BYTES: usize = 4096;

/// What a key that can be read as a bitmap holds.
pub enum Stored<'a> {
    /// Nothing: an empty bitmap of length 0 to every read.
    Missing,
    /// A bitmap.
    Bitmap(&'a Bitmap),
    /// A plain string bitmap, most significant bit first.
    String(StringBits<'a>),
}

impl Stored<'_> {
    /// Its bits; null if the key is missing.
    pub fn bits(&self) -> Option<&dyn BitRead> {
        match self {
            Self::Missing => None,
            Self::Bitmap(bitmap) => Some(*bitmap),
            Self::String(bits) => Some(bits),
        }
    }
}

/// Reads a key as the bit commands do: any plain string is a bitmap.
///
/// # Errors
/// The key holds another type.
pub fn read_bits<R>(
    context: &Context,
    key: Arg<'_>,
    read: impl FnOnce(Stored<'_>) -> R,
) -> Result<R, Refusal> {
    let opened = context.open_read(key);
    if let Some(bitmap) = opened.value::<BitmapType>() {
        return Ok(read(Stored::Bitmap(bitmap)));
    }
    match opened.kind() {
        Kind::Missing => Ok(read(Stored::Missing)),
        Kind::String if opened.string_length() > EMBEDDED_MAX_BYTES => {
            let bytes = opened.string_in_place().ok_or(NOT_RUN)?;
            Ok(read(Stored::String(StringBits::new(bytes))))
        }
        Kind::String => {
            let reply = context.call_read(c"GET", &[key]);
            // GET may be renamed; then it is read where it lies, and re-encoded.
            let copied = reply.as_ref().and_then(CallReply::bytes);
            let bytes = copied.or_else(|| opened.string_in_place()).ok_or(NOT_RUN)?;
            Ok(read(Stored::String(StringBits::new(bytes))))
        }
        Kind::Module | Kind::Other => Err(WRONG_TYPE),
    }
}

/// Reads a key as the set-like commands do: a string that is a HyperLogLog is none.
///
/// # Errors
/// The key holds another type, or a HyperLogLog.
pub fn read_ids<R>(
    context: &Context,
    key: Arg<'_>,
    read: impl FnOnce(Stored<'_>) -> R,
) -> Result<R, Refusal> {
    read_bits(context, key, |stored| match stored {
        Stored::String(bits) if bits.has_hll_header() => Err(WRONG_TYPE),
        stored => Ok(read(stored)),
    })?
}

/// Whether a modification changed which ids are set; a change of length is noticed anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// At least one id was set or cleared.
    Changed,
    /// None was.
    Same,
}

impl From<bool> for Ids {
    fn from(changed: bool) -> Self {
        if changed {
            Self::Changed
        } else {
            Self::Same
        }
    }
}

/// What became of a modification.
enum Modified<R> {
    /// It was done.
    Done(R, Change),
    /// The key holds a plain string and was left alone.
    OnString,
}

/// Whether anything is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Some,
    None,
}

/// Changes the bitmap at `key`, or an empty one that is stored if the change gives
/// it a length, and tells of the change.
///
/// # Errors
/// The key holds another type, a plain string included; `change` is not called then.
pub fn modify<R>(
    context: &mut Context,
    key: Arg<'_>,
    change: impl FnOnce(&mut Bitmap) -> (R, Ids),
) -> Result<R, Refusal> {
    let modified = change_in_place(&mut context.open_write(key), change)?;
    match modified {
        Modified::OnString => Err(WRONG_TYPE_STRING),
        Modified::Done(result, changed) => {
            if changed == Change::Some {
                context.replicate_verbatim();
                announce(context, key);
            }
            Ok(result)
        }
    }
}

/// As `modify`, for a change that may replace much of the bitmap at once: what falls
/// out of it is freed off the main thread.
///
/// # Errors
/// As `modify`.
pub fn modify_at_large<R>(
    context: &mut Context,
    key: Arg<'_>,
    change: impl FnOnce(&mut Bitmap) -> (R, Ids),
) -> Result<R, Refusal> {
    modify(context, key, |bitmap| {
        let before = bitmap.clone();
        let (result, ids) = change(bitmap);
        if ids == Ids::Changed {
            drops::release(before);
        }
        (result, ids)
    })
}

fn change_in_place<R>(
    opened: &mut WriteKey<'_>,
    change: impl FnOnce(&mut Bitmap) -> (R, Ids),
) -> Result<Modified<R>, Refusal> {
    if let Some(bitmap) = opened.value_mut::<BitmapType>() {
        let length_before = bitmap.length_bytes();
        let (result, ids) = change(bitmap);
        let same = ids == Ids::Same && bitmap.length_bytes() == length_before;
        return Ok(Modified::Done(result, if same { Change::None } else { Change::Some }));
    }
    match opened.kind() {
        Kind::Missing => {
            let mut bitmap = Bitmap::new();
            let (result, _) = change(&mut bitmap);
            if bitmap.length_bytes() == 0 {
                return Ok(Modified::Done(result, Change::None));
            }
            opened.replace::<BitmapType>(bitmap);
            Ok(Modified::Done(result, Change::Some))
        }
        Kind::String => Ok(Modified::OnString),
        Kind::Module | Kind::Other => Err(WRONG_TYPE),
    }
}

/// Puts `bitmap` in the place of the bitmap at `key`, whose expiry stays, or of a missing one, and
/// tells of the change if there is one; creating a key is one.
pub fn put(context: &mut Context, key: Arg<'_>, bitmap: Bitmap, ids: Ids) {
    let mut opened = context.open_write(key);
    let Some(old) = opened.value_mut::<BitmapType>() else {
        drop(opened);
        return replace(context, key, bitmap);
    };
    let changed = ids == Ids::Changed || bitmap.length_bytes() != old.length_bytes();
    let old = std::mem::replace(old, bitmap);
    drop(opened);
    drops::release(old);
    if changed {
        context.replicate_verbatim();
        announce(context, key);
    }
}

/// Stores a bitmap over whatever `key` holds; its expiry goes.
pub fn replace(context: &mut Context, key: Arg<'_>, bitmap: Bitmap) {
    let old = context.open_write(key).replace::<BitmapType>(bitmap);
    if let Some(old) = old {
        drops::release(old);
    }
    context.replicate_verbatim();
    announce(context, key);
}

/// Stores over whatever `key` holds what `build` makes in the place of the old bitmap,
/// or of an empty one; the key's expiry goes.
pub fn rebuild(context: &mut Context, key: Arg<'_>, build: impl FnOnce(&mut Bitmap) -> Remains) {
    let mut opened = context.open_write(key);
    let mut bitmap = opened.value_mut::<BitmapType>().map(std::mem::take).unwrap_or_default();
    let remains = build(&mut bitmap);
    opened.replace::<BitmapType>(bitmap);
    drop(opened);
    drops::release(remains);
    context.replicate_verbatim();
    announce(context, key);
}

/// Deletes `key`, whatever it holds.
pub fn delete(context: &mut Context, key: Arg<'_>) {
    let mut opened = context.open_write(key);
    if opened.kind() == Kind::Missing {
        return;
    }
    opened.delete();
    drop(opened);
    context.replicate(c"DEL", &[key]);
    context.signal_modified(key);
    context.notify_deleted(key);
}

/// Tells watchers, client-side caches and subscribers that the command changed `key`.
fn announce(context: &mut Context, key: Arg<'_>) {
    context.signal_modified(key);
    if let Some(event) = context.row().event {
        context.notify_module_event(event, key);
    }
}

/// Whether the server takes and gives a bulk string of `bytes`, by `proto-max-bulk-len`.
pub fn fits_in_bulk(context: &Context, bytes: u64) -> bool {
    // No server lets the limit be smaller, so that the usual call need not ask for it.
    const SMALLEST_LIMIT_BYTES: u64 = 1024 * 1024;
    bytes <= SMALLEST_LIMIT_BYTES || bytes <= bulk_limit_bytes(context)
}

/// The longest bulk string that the server takes and gives, in bytes.
pub fn bulk_limit_bytes(context: &Context) -> u64 {
    const DEFAULT_LIMIT_BYTES: u64 = 512 * 1024 * 1024;
    let limit = context.server_setting(c"proto-max-bulk-len");
    limit.and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_LIMIT_BYTES)
}

/// What MEMORY USAGE says of a key, in bytes; 0 if the server does not say.
pub fn memory_usage_bytes(context: &Context, key: Arg<'_>) -> u64 {
    let reply = context.call_read_about(c"MEMORY", c"USAGE", key);
    reply.and_then(|reply| reply.integer()).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}
