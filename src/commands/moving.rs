//! Whole bitmaps in and out.

use std::ops::RangeInclusive;

use roarbits_core::codec::{decode_auto, native, portable32, portable64, string, DecodeError, Format};
use roarbits_core::{BitRead, Bitmap, Combination, Watch};

use super::command;
use super::parse::{self, once, required, Options, SYNTAX};
use crate::ffi::{Arg, Args, Context, HeldArg, Refusal, Registration, Replies};
use crate::keyspace::{self, Ids, Sources, Strings};
use crate::offload::{self, Effect, Work, LEAF_US};
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
    let key = std::iter::once(required(args, 1)?);
    let sources = Sources::of(context, key, Strings::COUNTED_IDS)?;
    if sources.are_missing() {
        context.reply_null();
        return Ok(());
    }
    let limit_bytes = keyspace::bulk_limit_bytes(context);
    offload::answer(context, args, Writing { sources, format, range, limit_bytes })
}

/// A bitmap to be written out.
struct Writing {
    sources: Sources,
    format: Format,
    range: RangeInclusive<u64>,
    /// The longest payload that the server gives.
    limit_bytes: u64,
}

/// Payloads longer than this are handed to the client's buffer by the worker.
const LONG_PAYLOAD_BYTES: usize = 64 * 1024;
/// Microseconds that encoding one leaf takes, in the formats that are not NATIVE.
const ENCODED_LEAF_US: u64 = 20;
/// Bytes decoded in a microsecond, at least.
const DECODED_BYTES_A_US: u64 = 100;

impl Work for Writing {
    type Answer = Result<Vec<u8>, Refusal>;
    const EFFECT: Effect = Effect::Reads;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        let leaf_us = if self.format == Format::Native { 1 } else { ENCODED_LEAF_US };
        self.sources.leaves().saturating_mul(leaf_us)
    }

    fn run(&self, _: &Watch) -> Option<Self::Answer> {
        let bitmap = self.sources.bitmaps().into_iter().next().unwrap_or_default();
        Some(self.encode(&bitmap))
    }

    fn answer_bytes(&self, answer: &Self::Answer) -> u64 {
        // Once here and once in the client's buffer.
        answer.as_ref().map_or(0, |payload| payload.len() as u64 * 2)
    }

    fn reply_early(&self, replies: &Replies, answer: Self::Answer) -> Option<Self::Answer> {
        match answer {
            Ok(payload) if payload.len() > LONG_PAYLOAD_BYTES => {
                replies.reply_bulk(&payload);
                None
            }
            answer => Some(answer),
        }
    }

    fn finish(&mut self, context: &mut Context, _: Args<'_>, answer: Self::Answer) -> Result<(), Refusal> {
        context.reply_bulk(&answer?);
        Ok(())
    }
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

impl Writing {
    fn encode(&self, bitmap: &Bitmap) -> Result<Vec<u8>, Refusal> {
        const BEYOND_32_BITS: Refusal = Refusal::new("ERR bitmap has ids beyond 32 bits");
        const NOT_AT_A_BYTE: Refusal =
            Refusal::new("ERR RANGE start must be a multiple of 8 with FORMAT STRING");
        let range = || self.range.clone();
        match self.format {
            Format::Native => self.encode_native(bitmap),
            Format::String => {
                self.check_size(string::encoded_bytes(bitmap, range()).ok_or(NOT_AT_A_BYTE)?)?;
                string::encode(bitmap, range()).ok_or(NOT_AT_A_BYTE)
            }
            Format::Portable32 => {
                self.check_size(portable32::encoded_bytes(bitmap, range()).ok_or(BEYOND_32_BITS)?)?;
                portable32::encode(bitmap, range()).ok_or(BEYOND_32_BITS)
            }
            Format::Portable64 => {
                self.check_size(portable64::encoded_bytes(bitmap, range()))?;
                Ok(portable64::encode(bitmap, range()))
            }
        }
    }

    fn encode_native(&self, bitmap: &Bitmap) -> Result<Vec<u8>, Refusal> {
        if self.range.is_empty() {
            // A payload cannot state a reversed range, so nothing goes as the empty bitmap of that length.
            let mut nothing = Bitmap::new();
            nothing.grow_length(bitmap.length_bytes());
            return Ok(native::encode(&nothing, EVERYTHING));
        }
        self.check_size(native::encoded_bytes(bitmap, self.range.clone()))?;
        Ok(native::encode(bitmap, self.range.clone()))
    }

    fn check_size(&self, bytes: u64) -> Result<(), Refusal> {
        if bytes <= self.limit_bytes {
            return Ok(());
        }
        Err(Refusal::new("ERR export would be larger than proto-max-bulk-len, use RANGE or FORMAT NATIVE"))
    }
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
    let sources = match mode {
        Mode::Replace => Sources::none(),
        Mode::Combine(_) => {
            let mut sources = Sources::of(context, std::iter::once(key), Strings::NONE)?;
            sources.bind_all();
            sources
        }
    };
    offload::answer(context, args, Reading { sources, payload: required(args, 2)?.hold(), format, mode })
}

/// A payload to be read in.
struct Reading {
    /// The key, where its ids are combined with those of the payload.
    sources: Sources,
    payload: HeldArg,
    format: Option<Format>,
    mode: Mode,
}

/// What the key is to hold.
struct Imported {
    bitmap: Bitmap,
    ids: Ids,
}

impl Work for Reading {
    type Answer = Result<Imported, Refusal>;
    const EFFECT: Effect = Effect::Writes;

    fn sources(&mut self) -> &mut Sources {
        &mut self.sources
    }

    fn estimate_us(&self) -> u64 {
        let decoding = self.payload.bytes().len() as u64 / DECODED_BYTES_A_US;
        self.sources.leaves().saturating_mul(LEAF_US).saturating_add(decoding)
    }

    fn run(&self, watch: &Watch) -> Option<Self::Answer> {
        let other = match decode(self.payload.bytes(), self.format) {
            Ok(other) => other,
            Err(refusal) => return Some(Err(refusal)),
        };
        validate_or_abort(&other);
        let Mode::Combine(how) = self.mode else {
            return Some(Ok(Imported { bitmap: other, ids: Ids::Changed }));
        };
        let old = self.sources.bitmaps().into_iter().next().unwrap_or_default();
        let bitmap = how.evaluate_watched(&[&old, &other], watch)?;
        let has_other_ids = match how {
            Combination::Or | Combination::And | Combination::Diff => {
                bitmap.cardinality() != old.cardinality()
            }
            _ => Combination::Xor.count_watched(&[&old, &bitmap], watch)? > 0,
        };
        Some(Ok(Imported { bitmap, ids: Ids::from(has_other_ids) }))
    }

    fn answer_bytes(&self, answer: &Self::Answer) -> u64 {
        answer.as_ref().map_or(0, |imported| keyspace::own_bytes(&imported.bitmap))
    }

    fn finish(&mut self, context: &mut Context, args: Args<'_>, answer: Self::Answer) -> Result<(), Refusal> {
        let Imported { bitmap, ids } = answer?;
        let key = required(args, 1)?;
        keyspace::check_owned(context, key)?;
        let cardinality = bitmap.cardinality();
        match self.mode {
            Mode::Replace => keyspace::replace(context, key, bitmap),
            Mode::Combine(_) => keyspace::put(context, key, bitmap, ids),
        }
        context.reply_count(cardinality);
        Ok(())
    }
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
