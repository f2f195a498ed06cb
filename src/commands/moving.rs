//! Whole bitmaps in and out.

use std::ops::RangeInclusive;

use roarbits_core::codec::{decode_auto, native, portable32, portable64, string, DecodeError, Format};
use roarbits_core::{BitRead, Bitmap, Combination};

use super::command;
use super::parse::{self, once, required, Options, SYNTAX};
use crate::ffi::{Arg, Args, Context, Refusal, Registration};
use crate::keyspace::{self, Stored};
use crate::types::validate_or_abort;

command!(Export, "RB.EXPORT", export);
command!(Import, "RB.IMPORT", import);

/// The handlers of the family.
pub fn registrations() -> [Registration; 2] {
    [Registration::of::<Export>(), Registration::of::<Import>()]
}

const EVERYTHING: RangeInclusive<u64> = 0..=u64::MAX;

fn format(arg: Arg<'_>) -> Option<Format> {
    let formats = [
        ("PORTABLE64", Format::Portable64),
        ("PORTABLE32", Format::Portable32),
        ("STRING", Format::String),
        ("NATIVE", Format::Native),
    ];
    formats.into_iter().find(|(word, _)| arg.is(word)).map(|(_, format)| format)
}

fn export(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let (format, range) = parse_export(args)?;
    let context = &*context;
    let payload = keyspace::read_ids(context, required(args, 1)?, |stored| {
        stored.bits().map(|_| export_stored(context, &stored, format, &range)).transpose()
    })??;
    match payload {
        Some(payload) => context.reply_bulk(&payload),
        None => context.reply_null(),
    }
    Ok(())
}

fn parse_export(args: Args<'_>) -> Result<(Format, RangeInclusive<u64>), Refusal> {
    let (mut chosen, mut range) = (None, None);
    let mut options = Options::from(args, 2);
    while let Some(option) = options.next() {
        if option.is("FORMAT") {
            once(&mut chosen, format(options.value()?).ok_or(SYNTAX)?)?;
        } else if option.is("RANGE") {
            let (start, end) = (options.value()?, options.value()?);
            once(&mut range, parse::id_range(start, end)?)?;
        } else {
            return Err(SYNTAX);
        }
    }
    Ok((chosen.unwrap_or(Format::Portable64), range.unwrap_or(EVERYTHING)))
}

fn export_stored(
    context: &Context,
    stored: &Stored<'_>,
    format: Format,
    range: &RangeInclusive<u64>,
) -> Result<Vec<u8>, Refusal> {
    match (stored, format) {
        (Stored::Missing, _) => Ok(Vec::new()),
        (Stored::Bitmap(bitmap), Format::Native) => export_native(context, bitmap, range),
        (Stored::String(bits), Format::Native) => {
            export_native(context, &string::decode(bits.bytes()), range)
        }
        (Stored::Bitmap(bitmap), _) => export_bits(context, *bitmap, format, range),
        (Stored::String(bits), _) => export_bits(context, bits, format, range),
    }
}

fn export_native(
    context: &Context,
    bitmap: &Bitmap,
    range: &RangeInclusive<u64>,
) -> Result<Vec<u8>, Refusal> {
    if range.is_empty() {
        // A payload cannot state a reversed range, so nothing goes as the empty bitmap of that length.
        let mut nothing = Bitmap::new();
        nothing.grow_length(bitmap.length_bytes());
        return Ok(native::encode(&nothing, EVERYTHING));
    }
    check_size(context, native::encoded_bytes(bitmap, range.clone()))?;
    Ok(native::encode(bitmap, range.clone()))
}

fn export_bits(
    context: &Context,
    bits: &dyn BitRead,
    format: Format,
    range: &RangeInclusive<u64>,
) -> Result<Vec<u8>, Refusal> {
    const BEYOND_32_BITS: Refusal = Refusal::new("ERR bitmap has ids beyond 32 bits");
    const NOT_AT_A_BYTE: Refusal = Refusal::new("ERR RANGE start must be a multiple of 8 with FORMAT STRING");
    match format {
        Format::String => {
            check_size(context, string::encoded_bytes(bits, range.clone()).ok_or(NOT_AT_A_BYTE)?)?;
            string::encode(bits, range.clone()).ok_or(NOT_AT_A_BYTE)
        }
        Format::Portable32 => {
            check_size(context, portable32::encoded_bytes(bits, range.clone()).ok_or(BEYOND_32_BITS)?)?;
            portable32::encode(bits, range.clone()).ok_or(BEYOND_32_BITS)
        }
        Format::Portable64 | Format::Native => {
            check_size(context, portable64::encoded_bytes(bits, range.clone()))?;
            Ok(portable64::encode(bits, range.clone()))
        }
    }
}

fn check_size(context: &Context, bytes: u64) -> Result<(), Refusal> {
    if keyspace::fits_in_bulk(context, bytes) {
        return Ok(());
    }
    Err(Refusal::new("ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE"))
}

/// What RB.IMPORT does with the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replace,
    Combine(Combination),
}

fn import(context: &mut Context, args: Args<'_>) -> Result<(), Refusal> {
    let (format, mode) = parse_import(args)?;
    let key = required(args, 1)?;
    let bitmap = decode(required(args, 2)?.bytes(), format)?;
    validate_or_abort(&bitmap);
    let cardinality = match mode {
        Mode::Replace => {
            let cardinality = bitmap.cardinality();
            keyspace::replace(context, key, bitmap);
            cardinality
        }
        Mode::Combine(how) => keyspace::combine(context, key, &bitmap, how)?,
    };
    context.reply_count(cardinality);
    Ok(())
}

/// The format, null for AUTO, and the mode.
fn parse_import(args: Args<'_>) -> Result<(Option<Format>, Mode), Refusal> {
    let modes = [
        ("REPLACE", Mode::Replace),
        ("OR", Mode::Combine(Combination::Or)),
        ("AND", Mode::Combine(Combination::And)),
        ("XOR", Mode::Combine(Combination::Xor)),
        ("DIFF", Mode::Combine(Combination::Diff)),
    ];
    let (mut chosen, mut mode) = (None, None);
    let mut options = Options::from(args, 3);
    while let Some(option) = options.next() {
        if option.is("FORMAT") {
            let name = options.value()?;
            let named = if name.is("AUTO") { None } else { Some(format(name).ok_or(SYNTAX)?) };
            once(&mut chosen, named)?;
        } else {
            let (_, named) = modes.into_iter().find(|(word, _)| option.is(word)).ok_or(SYNTAX)?;
            once(&mut mode, named)?;
        }
    }
    Ok((chosen.flatten(), mode.unwrap_or(Mode::Replace)))
}

fn decode(payload: &[u8], format: Option<Format>) -> Result<Bitmap, Refusal> {
    let decoded = match format {
        None => decode_auto(payload).map(|(_, bitmap)| bitmap),
        Some(Format::Native) => native::decode(payload),
        Some(Format::Portable64) => portable64::decode(payload),
        Some(Format::Portable32) => portable32::decode(payload),
        Some(Format::String) => Ok(string::decode(payload)),
    };
    decoded.map_err(|error: DecodeError| Refusal::made(format!("ERR invalid roaring payload: {error}")))
}
