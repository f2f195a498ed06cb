//! Bits written as SETBIT writes them: into a bitmap, or into a plain string by the
//! native command, so that code can change names first and keys later.

use std::collections::BTreeMap;

use roarbits_core::Bitmap;

use super::{announce, change_in_place, fits_in_bulk, Change, Ids, Modified, NOT_RUN, WRONG_TYPE};
use crate::ffi::{Arg, CallReply, Context, Kind, Refusal};
use crate::types::BitmapType;

/// One bit to write: the parsed call and the arguments it came in.
pub struct BitWrite<'a> {
    /// The key.
    pub key: Arg<'a>,
    /// The offset as it was sent.
    pub offset_arg: Arg<'a>,
    /// The bit as it was sent.
    pub bit_arg: Arg<'a>,
    /// The offset.
    pub offset: u64,
    /// The bit.
    pub bit: bool,
}

impl BitWrite<'_> {
    fn apply(&self, bitmap: &mut Bitmap) -> (bool, Ids) {
        if self.bit {
            let changed = bitmap.insert(self.offset);
            return (!changed, Ids::from(changed));
        }
        let changed = bitmap.remove(self.offset);
        bitmap.grow_length(self.offset / 8 + 1);
        (changed, Ids::from(changed))
    }
}

/// What a bit was before it was written.
pub enum OldBit {
    /// Of a bitmap.
    Known(bool),
    /// Of a plain string: the reply of the native command, an error perhaps.
    Native(CallReply),
}

/// Writes a bit as SETBIT does. On a plain string SETBIT itself runs, and propagates
/// and notifies as itself.
///
/// # Errors
/// The key holds another type.
pub fn write_bit(context: &mut Context, write: &BitWrite<'_>) -> Result<OldBit, Refusal> {
    let modified = change_in_place(&mut context.open_write(write.key), |bitmap| write.apply(bitmap))?;
    match modified {
        Modified::OnString => native_setbit(context, write),
        Modified::Done(old, changed) => {
            if changed == Change::Some {
                context.replicate_verbatim();
                announce(context, write.key);
            }
            Ok(OldBit::Known(old))
        }
    }
}

/// Writes bits of several keys, all or none. The old bits, in order.
///
/// # Errors
/// A key holds another type, or an offset is past what a plain string may have;
/// nothing is written then.
pub fn write_bits(context: &mut Context, writes: &[BitWrite<'_>]) -> Result<Vec<OldBit>, Refusal> {
    let kinds = writes.iter().map(|write| check_write(context, write)).collect::<Result<Vec<_>, _>>()?;
    let has_strings = kinds.contains(&Kind::String);
    let mut old: Vec<Option<OldBit>> = writes.iter().map(|_| None).collect();
    // Strings first: should the server not run SETBIT, it refuses before anything changed.
    for ((write, kind), old) in writes.iter().zip(&kinds).zip(&mut old) {
        if *kind == Kind::String {
            *old = Some(native_setbit(context, write)?);
        }
    }
    let mut changed_keys = BTreeMap::new();
    for (write, old) in writes.iter().zip(&mut old).filter(|(_, old)| old.is_none()) {
        let modified = change_in_place(&mut context.open_write(write.key), |bitmap| write.apply(bitmap))?;
        let Modified::Done(bit, changed) = modified else {
            continue;
        };
        if changed == Change::Some {
            changed_keys.insert(write.key.bytes(), write.key);
            if has_strings {
                // Strings propagate as SETBIT, so the call as a whole must not.
                context.replicate(c"RB.SETBIT", &[write.key, write.offset_arg, write.bit_arg]);
            }
        }
        *old = Some(OldBit::Known(bit));
    }
    if !changed_keys.is_empty() && !has_strings {
        context.replicate_verbatim();
    }
    for key in changed_keys.into_values() {
        announce(context, key);
    }
    Ok(old.into_iter().flatten().collect())
}

/// What the key of `write` holds, if the bit may be written there.
fn check_write(context: &Context, write: &BitWrite<'_>) -> Result<Kind, Refusal> {
    let opened = context.open_read(write.key);
    if opened.value::<BitmapType>().is_some() {
        return Ok(Kind::Module);
    }
    match opened.kind() {
        Kind::Missing => Ok(Kind::Missing),
        Kind::String => check_string_offset(context, write).map(|()| Kind::String),
        Kind::Module | Kind::Other => Err(WRONG_TYPE),
    }
}

/// The native limits of an offset: strictly written, and within a string of
/// `proto-max-bulk-len` unless the call must be obeyed.
fn check_string_offset(context: &Context, write: &BitWrite<'_>) -> Result<(), Refusal> {
    let digits = write.offset_arg.bytes();
    let strict = digits == b"0" || !digits.starts_with(b"0");
    let signed = i64::try_from(write.offset).is_ok();
    if strict && signed && (context.must_obey() || fits_in_bulk(context, write.offset / 8 + 1)) {
        return Ok(());
    }
    Err(Refusal::new("ERR bit offset is not an integer or out of range"))
}

fn native_setbit(context: &mut Context, write: &BitWrite<'_>) -> Result<OldBit, Refusal> {
    let args = [write.key, write.offset_arg, write.bit_arg];
    context.call_write(c"SETBIT", &args).map(OldBit::Native).ok_or(NOT_RUN)
}
