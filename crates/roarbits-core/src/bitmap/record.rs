//! A leaf as bytes: its packed words as they are in memory, cut to the bits in use.
//! `docs/design/format.md` draws the bytes.
//!
//! ```text
//! ids    0x00 | fields << 2   base*  card*  (shift, width) a field   entries
//! runs   0x01                 base*  runs*  start width, length width  entries
//! bits   0x02                 base*  8,192 bytes
//! ```
//!
//! `*` is a LEB128 number, a width or shift one byte. Entries are the bit-packed
//! array of the leaf, little-endian, in whole bytes, the last one filled with zeros.

use super::bits::{self, CHUNK_WORDS};
use super::leaf::{Form, Leaf, EXAM_CHANGES};
use super::packing::{self, Field, Layout};
use super::search::Slope;
use super::shape::{chunk_start, CHUNK_LEAF_MAX_BYTES};
use super::words::Words;
use super::Run;
use crate::codec::{put_varint, varint_bytes, DecodeError, Reader};

const IDS: u8 = 0;
const RUNS: u8 = 1;
const BITS: u8 = 2;
const CHUNK_BYTES: usize = CHUNK_WORDS * 8;

impl Leaf {
    /// The exact bytes of `write_record`.
    pub(crate) fn record_bytes(&self) -> usize {
        let entries = (self.entries() * self.entry_width() as usize).div_ceil(8);
        let base = 1 + varint_bytes(self.base);
        match self.form() {
            Form::Ids => base + varint_bytes(self.entries() as u64) + 2 * self.fields().count() + entries,
            Form::Runs => base + varint_bytes(self.entries() as u64) + 2 + entries,
            Form::Bits => base + CHUNK_BYTES,
        }
    }

    /// Appends the leaf as bytes.
    pub(crate) fn write_record(&self, out: &mut Vec<u8>) {
        match self.form() {
            Form::Ids => {
                out.push(IDS | (self.fields().count() as u8) << 2);
                put_varint(out, self.base);
                put_varint(out, self.entries() as u64);
                self.fields().for_each(|field| out.extend([field.shift, field.width]));
            }
            Form::Runs => {
                out.push(RUNS);
                put_varint(out, self.base);
                put_varint(out, self.entries() as u64);
                out.extend([self.layout.width() as u8, self.length_width]);
            }
            Form::Bits => {
                out.push(BITS);
                put_varint(out, self.base);
            }
        }
        self.write_words(out);
    }

    fn write_words(&self, out: &mut Vec<u8>) {
        let bytes = match self.form() {
            Form::Bits => CHUNK_BYTES,
            Form::Ids | Form::Runs => (self.entries() * self.entry_width() as usize).div_ceil(8),
        };
        let end = out.len() + bytes;
        for word in &self.words[..self.used_words()] {
            out.extend(word.to_le_bytes());
        }
        out.truncate(end);
    }

    fn fields(&self) -> impl Iterator<Item = Field> {
        self.layout.fields().into_iter().filter(|field| field.width > 0)
    }

    /// Reads one leaf and checks all that `validate` would.
    ///
    /// # Errors
    /// The first thing wrong with it. Nothing is allocated that its bytes do not fill.
    pub(crate) fn read_record(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let head = reader.take_byte()?;
        let base = reader.take_varint()?;
        let leaf = match (head & 3, head >> 2) {
            (IDS, fields @ 0..=3) => read_ids(reader, base, usize::from(fields)),
            (RUNS, 0) => read_runs(reader, base),
            (BITS, 0) => read_bits(reader, base),
            _ => return Err(DecodeError::new("unknown form of a leaf", at)),
        }?;
        if leaf.is_too_large() {
            return Err(DecodeError::new("a leaf of several chunks is too large", at));
        }
        Ok(leaf)
    }
}

fn read_ids(reader: &mut Reader<'_>, base: u64, fields: usize) -> Result<Leaf, DecodeError> {
    let at = reader.at();
    let entries = reader.take_varint()?;
    let mut read = [Field::default(); 3];
    for field in &mut read[..fields] {
        let [shift, width] = reader.take_array()?;
        if width == 0 {
            return Err(DecodeError::new("an empty field", reader.at() - 1));
        }
        *field = Field { shift, width };
    }
    let layout = Layout::from_fields(read).ok_or(DecodeError::new("fields out of order", at))?;
    let words = read_entries(reader, entries, layout.width())?;
    let mut leaf = Leaf {
        base,
        words,
        card_less_one: entries - 1,
        runs: 0,
        length_width: 0,
        form: Form::Ids,
        layout,
        patience: EXAM_CHANGES,
        slope: Slope::default(),
    };
    leaf.runs = count_runs_of_ids(&leaf).ok_or(DecodeError::new("ids are not ascending", at))?;
    Ok(leaf.sloped())
}

/// The number of runs; `None` if the ids do not ascend or leave 64 bits.
fn count_runs_of_ids(leaf: &Leaf) -> Option<u16> {
    let (mut runs, mut last) = (0, None);
    for i in 0..leaf.entries() {
        let delta = leaf.layout.unpack(packing::get(&leaf.words, leaf.layout.width(), i));
        let id = leaf.base.checked_add(delta)?;
        match last {
            Some(last) if id <= last => return None,
            Some(last) => runs += u16::from(id != last + 1),
            None => runs = 1,
        }
        last = Some(id);
    }
    Some(runs)
}

fn read_runs(reader: &mut Reader<'_>, base: u64) -> Result<Leaf, DecodeError> {
    let at = reader.at();
    let entries = reader.take_varint()?;
    let [start_width, length_width] = reader.take_array()?;
    if start_width > 64 || length_width > 64 {
        return Err(DecodeError::new("a field of more than 64 bits", reader.at() - 2));
    }
    let words = read_entries(reader, entries, u32::from(start_width) + u32::from(length_width))?;
    let mut leaf = Leaf {
        base,
        words,
        card_less_one: 0,
        runs: entries as u16,
        length_width,
        form: Form::Runs,
        layout: Layout::contiguous(u32::from(start_width)),
        patience: EXAM_CHANGES,
        slope: Slope::default(),
    };
    let card = count_ids_of_runs(&leaf).ok_or(DecodeError::new("runs are not ascending and apart", at))?;
    leaf.card_less_one = (card - 1) as u64;
    Ok(leaf.sloped())
}

/// The number of ids; `None` if runs touch, do not ascend or leave 64 bits.
fn count_ids_of_runs(leaf: &Leaf) -> Option<u128> {
    let (length_width, start_width) = (u32::from(leaf.length_width), leaf.layout.width());
    let (mut card, mut free) = (0, Some(0));
    for i in 0..leaf.entries() {
        let at = i * leaf.entry_width() as usize;
        let length = packing::read(&leaf.words, at, length_width);
        let start = packing::read(&leaf.words, at + length_width as usize, start_width);
        let start = leaf.base.checked_add(start)?;
        let end = start.checked_add(length)?;
        if start < free? {
            return None;
        }
        card += Run { start, end }.cardinality();
        free = end.checked_add(2); // one absent id at least lies between two runs
    }
    Some(card)
}

fn read_bits(reader: &mut Reader<'_>, base: u64) -> Result<Leaf, DecodeError> {
    let at = reader.at();
    let words = words_of(reader.take(CHUNK_BYTES)?, CHUNK_WORDS);
    if base != chunk_start(base) {
        return Err(DecodeError::new("bits that do not start a chunk", at));
    }
    let card = bits::count(&words);
    if card == 0 {
        return Err(DecodeError::new("an empty leaf", at));
    }
    let runs = bits::count_runs(&words);
    Ok(Leaf::from_chunk(base, words, card, runs))
}

/// Reads a bit-packed array of at least one entry; its unused bits must be zero.
fn read_entries(reader: &mut Reader<'_>, entries: u64, width: u32) -> Result<Words, DecodeError> {
    let at = reader.at();
    let fits =
        if width == 0 { entries == 1 } else { (1..=CHUNK_LEAF_MAX_BYTES as u64 * 8).contains(&entries) };
    let bits = if fits { entries as usize * width as usize } else { usize::MAX };
    if bits > CHUNK_LEAF_MAX_BYTES * 8 {
        return Err(DecodeError::new("a leaf of a wrong size", at));
    }
    let bytes = reader.take(bits.div_ceil(8))?;
    let unused = 7 & bits.wrapping_neg();
    if bytes.last().is_some_and(|last| unused > 0 && last >> (8 - unused) != 0) {
        return Err(DecodeError::new("bits set beyond the last entry", reader.at() - 1));
    }
    Ok(words_of(bytes, packing::class_words(packing::words_for(entries as usize, width))).into())
}

/// `bytes` as little-endian words, zero up to `words`.
fn words_of(bytes: &[u8], words: usize) -> Box<[u64]> {
    let mut out = Vec::with_capacity(words);
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        out.push(u64::from_le_bytes(word));
    }
    out.resize(words, 0);
    out.into_boxed_slice()
}
