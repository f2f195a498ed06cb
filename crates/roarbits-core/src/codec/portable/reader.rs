//! Reads 32-bit Roaring bodies and trusts nothing in them.
//!
//! Roaring's own decoders leave much of this to the caller: descriptors out of
//! order, repeated values, runs that touch or overflow, offsets that lie. Here
//! each is an error at the byte where it shows. The ids go into a builder as they
//! are validated; whoever sees an error drops it.

use super::{
    BITMAP_BYTES, COOKIE, MAX_ARRAY_CARDINALITY, MAX_CONTAINERS, OFFSETS_FROM_CONTAINERS, RUN_COOKIE,
};
use crate::bitmap::{Builder, Run, CHUNK_WORDS};
use crate::codec::{DecodeError, Reader};

/// What the header says of one container.
struct Descriptor {
    /// The first id of the container.
    base: u64,
    cardinality: u32,
}

/// Reads one body; `high` is added to each of its ids. The number of its containers.
///
/// # Errors
/// The first thing wrong with it.
pub(in crate::codec) fn read_body(
    reader: &mut Reader<'_>,
    high: u64,
    out: &mut Builder,
) -> Result<usize, DecodeError> {
    let start = reader.at();
    let (containers, run_flags) = read_cookie(reader)?;
    let descriptors_at = reader.at();
    let descriptors = reader.take(4 * containers)?;
    let offsets_at = reader.at();
    let has_offsets = run_flags.is_none() || containers >= OFFSETS_FROM_CONTAINERS;
    let offsets = if has_offsets { reader.take(4 * containers)? } else { &[] };
    let mut offsets = offsets.chunks_exact(4).map(word);
    let mut last_key = None;
    for (i, descriptor) in descriptors.chunks_exact(4).map(word).enumerate() {
        let key = descriptor & 0xffff;
        if last_key.is_some_and(|last| key <= last) {
            return Err(DecodeError::new("container keys are not ascending", descriptors_at + 4 * i));
        }
        last_key = Some(key);
        if offsets.next().is_some_and(|offset| offset as usize != reader.at() - start) {
            return Err(DecodeError::new("wrong container offset", offsets_at + 4 * i));
        }
        let descriptor =
            Descriptor { base: high | u64::from(key) << 16, cardinality: (descriptor >> 16) + 1 };
        if run_flags.is_some_and(|flags| has_flag(flags, i)) {
            read_runs(reader, &descriptor, out)?;
        } else if descriptor.cardinality <= MAX_ARRAY_CARDINALITY {
            read_array(reader, &descriptor, out)?;
        } else {
            read_bitmap(reader, &descriptor, out)?;
        }
    }
    Ok(containers)
}

/// The number of containers, and the run flags of a body that has them.
fn read_cookie<'a>(reader: &mut Reader<'a>) -> Result<(usize, Option<&'a [u8]>), DecodeError> {
    let at = reader.at();
    let cookie = u32::from_le_bytes(reader.take_array()?);
    if cookie & 0xffff == RUN_COOKIE {
        let containers = (cookie >> 16) as usize + 1;
        let flags_at = reader.at();
        let flags = reader.take(containers.div_ceil(8))?;
        let padding = (containers..flags.len() * 8).any(|i| has_flag(flags, i));
        return match padding {
            false => Ok((containers, Some(flags))),
            true => Err(DecodeError::new("run flag beyond the last container", flags_at + flags.len() - 1)),
        };
    }
    if cookie != COOKIE {
        return Err(DecodeError::new("not a Roaring cookie", at));
    }
    let at = reader.at();
    let containers = u32::from_le_bytes(reader.take_array()?) as usize;
    match containers <= MAX_CONTAINERS {
        true => Ok((containers, None)),
        false => Err(DecodeError::new("more than 65536 containers", at)),
    }
}

fn read_array(
    reader: &mut Reader<'_>,
    descriptor: &Descriptor,
    out: &mut Builder,
) -> Result<(), DecodeError> {
    let at = reader.at();
    let values = reader.take(2 * descriptor.cardinality as usize)?;
    let mut last = None;
    for (i, value) in values.chunks_exact(2).map(half).enumerate() {
        if last.is_some_and(|last| value <= last) {
            return Err(DecodeError::new("array values are not ascending", at + 2 * i));
        }
        last = Some(value);
        out.push_id(descriptor.base | u64::from(value));
    }
    Ok(())
}

fn read_bitmap(
    reader: &mut Reader<'_>,
    descriptor: &Descriptor,
    out: &mut Builder,
) -> Result<(), DecodeError> {
    let at = reader.at();
    let bitmap = reader.take(BITMAP_BYTES)?;
    let mut words = [0; CHUNK_WORDS];
    for (to, from) in words.iter_mut().zip(bitmap.chunks_exact(8)) {
        *to = long(from);
    }
    if words.iter().map(|word| word.count_ones()).sum::<u32>() != descriptor.cardinality {
        return Err(DecodeError::new("bitmap does not have the stated cardinality", at));
    }
    out.push_chunk(descriptor.base, &words);
    Ok(())
}

fn read_runs(reader: &mut Reader<'_>, descriptor: &Descriptor, out: &mut Builder) -> Result<(), DecodeError> {
    let at = reader.at();
    let runs = u16::from_le_bytes(reader.take_array()?);
    if runs == 0 {
        return Err(DecodeError::new("run container without a run", at));
    }
    let runs_at = reader.at();
    let mut cardinality = 0;
    let mut last = None;
    for (i, run) in reader.take(4 * usize::from(runs))?.chunks_exact(4).map(word).enumerate() {
        let (first, more) = (run & 0xffff, run >> 16);
        if last.is_some_and(|last| first <= last + 1) {
            return Err(DecodeError::new("runs overlap, touch or are out of order", runs_at + 4 * i));
        }
        if first + more > u32::from(u16::MAX) {
            return Err(DecodeError::new("run goes past the end of its container", runs_at + 4 * i));
        }
        last = Some(first + more);
        cardinality += more + 1;
        let start = descriptor.base | u64::from(first);
        out.push_run(Run { start, end: start + u64::from(more) });
    }
    match cardinality == descriptor.cardinality {
        true => Ok(()),
        false => Err(DecodeError::new("runs do not have the stated cardinality", at)),
    }
}

fn has_flag(flags: &[u8], i: usize) -> bool {
    flags.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)
}

/// Two little-endian bytes; others of a shorter slice are 0.
fn half(bytes: &[u8]) -> u16 {
    bytes.try_into().map_or(0, u16::from_le_bytes)
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

fn long(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}
