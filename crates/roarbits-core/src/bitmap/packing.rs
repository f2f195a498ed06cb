//! Arrays of equal-width bit fields in 64-bit words, and the layout that says
//! which bits of an id such a field keeps.
//!
//! Entry `i` of width `w` occupies bits `i*w .. (i+1)*w`, counted from the low
//! bit of word 0. Bits past the last entry are zero.
//!
//! ```text
//! id - base    0000 0tttttttttt 000 mm 0000 s      t, m, s: bits that vary in this leaf
//! layout              field 2     field 1  field 0 (shift, width), from low to high
//! entry                        ttttttttttmms       order is kept, so packed entries compare as ids do
//! ```

use std::cell::Cell;

use super::words::Words;

/// The mask of the `width` lowest bits, 0 to 64, without a branch.
pub(crate) const fn low_mask(width: u32) -> u64 {
    (((width < 64) as u64) << (width % 64)).wrapping_sub(1)
}

/// The number of bits that `x` needs: 0 for 0, 64 for 2^63 and above.
pub(crate) const fn bit_length(x: u64) -> u32 {
    64 - x.leading_zeros()
}

/// The words that `entries` fields of `width` bits occupy.
pub(crate) fn words_for(entries: usize, width: u32) -> usize {
    (entries * width as usize).div_ceil(64)
}

/// The mask of the `width` lowest bits, 1 to 64, without a branch.
pub(crate) const fn entry_mask(width: u32) -> u64 {
    u64::MAX >> (width.wrapping_neg() & 63)
}

/// The `width` bits, at most 64, from bit `at`. That they straddle two words is no
/// branch, which would be guessed wrong as often as right.
#[inline]
pub(crate) fn read(words: &[u64], at: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    bits_from(words, at) & entry_mask(width)
}

/// The 64 bits from bit `at`; those beyond the words are zero.
#[inline]
pub(crate) fn bits_from(words: &[u64], at: usize) -> u64 {
    let (word, offset) = (at / 64, (at % 64) as u32);
    let low = words.get(word).map_or(0, |word| word >> offset);
    // Shifted twice, since all 64 bits may have to go.
    let high = words.get(word.wrapping_add(1)).map_or(0, |word| word << 1 << (offset ^ 63));
    low | high
}

/// Fields of at most this many bits are within eight bytes, at whatever bit of the first they begin.
pub(crate) const BYTE_ADDRESSED_MAX_BITS: u32 = 57;

/// As `bits_from`, of which `BYTE_ADDRESSED_MAX_BITS` at least are right: one load from the byte where
/// they begin takes a third of what putting two words together does. `bytes` are those of the words.
#[inline]
pub(crate) fn byte_addressed_bits(words: &[u64], bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at / 8..).and_then(|rest| rest.first_chunk()) {
        Some(first) => u64::from_le_bytes(*first) >> (at % 8),
        None => bits_from(words, at),
    }
}

/// Whether fields of `width` bits can be read with `byte_addressed_bits`.
#[inline]
pub(crate) fn is_byte_addressed(width: u32) -> bool {
    width <= BYTE_ADDRESSED_MAX_BITS && cfg!(target_endian = "little")
}

/// Overwrites the `width` bits, at most 64, from bit `at`.
#[inline]
pub(crate) fn write(words: &mut [u64], at: usize, width: u32, value: u64) {
    if width == 0 {
        return;
    }
    let (word, offset) = (at / 64, (at % 64) as u32);
    let mask = low_mask(width);
    words[word] = (words[word] & !(mask << offset)) | (value << offset);
    if offset + width > 64 {
        let spill = 64 - offset;
        words[word + 1] = (words[word + 1] & !(mask >> spill)) | (value >> spill);
    }
}

/// Field `i`, of at most 64 bits.
#[inline]
pub(crate) fn get(words: &[u64], width: u32, i: usize) -> u64 {
    read(words, i * width as usize, width)
}

/// Overwrites field `i`, of at most 64 bits.
#[inline]
pub(crate) fn set(words: &mut [u64], width: u32, i: usize, value: u64) {
    write(words, i * width as usize, width, value);
}

/// The words as bytes, in which fields of whole bytes lie one after the other.
fn bytes_of_fields(words: &mut [u64], width: u32) -> Option<&mut [u8]> {
    (width.is_multiple_of(8) && cfg!(target_endian = "little")).then(|| bytemuck::cast_slice_mut(words))
}

/// Moves fields `i..entries`, of at most 128 bits, up by one; field `i` is then to be set.
pub(crate) fn open_gap(words: &mut [u64], width: u32, entries: usize, i: usize) {
    if width == 0 || i == entries {
        return;
    }
    if let Some(bytes) = bytes_of_fields(words, width) {
        let field = (width / 8) as usize;
        return bytes.copy_within(i * field..entries * field, (i + 1) * field);
    }
    let from_bit = i * width as usize;
    let first = from_bit / 64;
    let last = ((entries + 1) * width as usize - 1) / 64;
    let (whole, part) = ((width / 64) as usize, width % 64);
    let kept = low_mask((from_bit % 64) as u32);
    let head = words[first];
    words[first] = head & !kept;
    if whole > 0 {
        words.copy_within(first..=last - whole, first + whole);
        words[first..first + whole].fill(0);
    }
    if part > 0 {
        shift_up(&mut words[first + whole..=last], part, 64 - part);
    }
    words[first] = (words[first] & !kept) | (head & kept);
}

/// Moves fields `i+1..entries`, of at most 128 bits, down by one, over field `i`; zeroes the freed tail.
pub(crate) fn close_gap(words: &mut [u64], width: u32, entries: usize, i: usize) {
    if width == 0 {
        return;
    }
    if let Some(bytes) = bytes_of_fields(words, width) {
        let (field, end) = ((width / 8) as usize, entries * (width / 8) as usize);
        bytes.copy_within((i + 1) * field..end, i * field);
        return bytes[end - field..end].fill(0);
    }
    let from_bit = i * width as usize;
    let first = from_bit / 64;
    let last = (entries * width as usize - 1) / 64;
    let (whole, part) = ((width / 64) as usize, width % 64);
    let kept = low_mask((from_bit % 64) as u32);
    let head = words[first] & kept;
    if whole > 0 {
        let from = (first + whole).min(last + 1);
        words.copy_within(from..=last, first);
        words[(last + 1).saturating_sub(whole).max(first)..=last].fill(0);
    }
    if part > 0 {
        shift_down(&mut words[first..=last], part, 64 - part);
    }
    words[first] = (words[first] & !kept) | head;
}

/// Shifts a row of words up by `up` bits, 1 to 63, each taking in the top of the one
/// below; `down` is the rest of 64. No word waits for another, so that several are
/// done at once; were `down` known to the compiler, it would go word by word.
#[inline(never)]
fn shift_up(words: &mut [u64], up: u32, down: u32) {
    let words = Cell::from_mut(words).as_slice_of_cells();
    for pair in words.windows(2).rev() {
        pair[1].set((pair[1].get() << (up % 64)) | (pair[0].get() >> (down % 64)));
    }
    if let Some(lowest) = words.first() {
        lowest.set(lowest.get() << (up % 64));
    }
}

/// Shifts a row of words down by `down` bits, 1 to 63, each taking in the bottom of the
/// one above; `up` is the rest of 64.
#[inline(never)]
fn shift_down(words: &mut [u64], down: u32, up: u32) {
    let words = Cell::from_mut(words).as_slice_of_cells();
    for pair in words.windows(2) {
        pair[0].set((pair[0].get() >> (down % 64)) | (pair[1].get() << (up % 64)));
    }
    if let Some(highest) = words.last() {
        highest.set(highest.get() >> (down % 64));
    }
}

/// Writes fields one after the other into words of an allocator's size class.
#[derive(Debug)]
pub(crate) struct Packer {
    words: Vec<u64>,
    /// The bits of the word that is being filled.
    word: u64,
    filled: u32,
}

impl Packer {
    /// Room for `entries` fields of `width` bits.
    pub(crate) fn new(entries: usize, width: u32) -> Self {
        Self { words: Vec::with_capacity(class_words(words_for(entries, width))), word: 0, filled: 0 }
    }

    /// Appends a field of `width` bits, at most 64, which `value` must fit.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        self.word |= value << self.filled;
        let filled = self.filled + width;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.words.push(self.word);
        self.word = value >> 1 >> (63 - self.filled);
        self.filled = filled - 64;
    }

    /// The words, zero beyond what was appended.
    pub(crate) fn finish(mut self) -> Words {
        if self.filled > 0 {
            self.words.push(self.word);
        }
        self.words.resize(class_words(self.words.len()), 0);
        self.words.into()
    }
}

/// The first `i` in `0..n` for which `before` is false; `before` must be monotone.
pub(crate) fn partition(n: usize, mut before: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The capacity in words that an allocator gives away with `words`: jemalloc's
/// size classes (quantum 16 bytes, four classes a doubling), so that growing
/// within a class costs nothing.
pub(crate) fn class_words(words: usize) -> usize {
    if words <= 2 {
        return words;
    }
    let step = (1usize << ((words - 1).ilog2().saturating_sub(2))).max(2);
    words.div_ceil(step) * step
}

/// Bits of an id that tell it from others of its chunk.
const CHUNK_ID_BITS: u32 = 16;

/// One stretch of kept bits: `width` bits from bit `shift` of `id - base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Field {
    pub(crate) shift: u8,
    pub(crate) width: u8,
}

impl Field {
    fn mask(self) -> u64 {
        low_mask(u32::from(self.width))
    }

    fn spread_mask(self) -> u64 {
        self.mask().checked_shl(u32::from(self.shift)).unwrap_or(0)
    }
}

/// Which bits of `id - base` an entry keeps: up to three fields, low to high; unused ones are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    fields: [Field; 3],
}

impl Layout {
    /// The layout of plain numbers of `width` bits.
    pub(crate) const fn contiguous(width: u32) -> Self {
        const NONE: Field = Field { shift: 0, width: 0 };
        Self { fields: [Field { shift: 0, width: width as u8 }, NONE, NONE] }
    }

    /// A layout from stored fields; `None` unless they are ascending, disjoint and within 64 bits.
    pub(crate) fn from_fields(fields: [Field; 3]) -> Option<Self> {
        let mut end = 0u32;
        let mut ended = false;
        for f in fields {
            ended |= f.width == 0;
            if ended {
                if f != Field::default() {
                    return None;
                }
                continue;
            }
            if u32::from(f.shift) < end || u32::from(f.shift) + u32::from(f.width) > 64 {
                return None;
            }
            end = u32::from(f.shift) + u32::from(f.width);
        }
        Some(Self { fields })
    }

    /// The fields, low to high; unused ones are empty.
    pub(crate) fn fields(&self) -> [Field; 3] {
        self.fields
    }

    /// Bits an entry takes, 0 to 64.
    pub(crate) fn width(&self) -> u32 {
        let [a, b, c] = self.fields;
        u32::from(a.width) + u32::from(b.width) + u32::from(c.width)
    }

    /// The bits of `id - base` that are kept.
    pub(crate) fn mask(&self) -> u64 {
        self.fields.iter().fold(0, |m, f| m | f.spread_mask())
    }

    /// The entry of `delta`; `None` if it has a bit that is not kept.
    #[inline]
    pub(crate) fn entry_of(&self, delta: u64) -> Option<u64> {
        let [only, second, _] = self.fields;
        if second.width == 0 {
            let (shift, entry) = (only.shift & 63, delta >> (only.shift & 63));
            return (entry <= only.mask() && entry << shift == delta).then_some(entry);
        }
        let entry = self.pack(delta);
        (self.unpack(entry) == delta).then_some(entry)
    }

    /// The entry of `delta`, which must have no bit outside `mask`.
    #[inline]
    pub(crate) fn pack(&self, delta: u64) -> u64 {
        let [a, b, c] = self.fields;
        let low = (delta >> (a.shift & 63)) & a.mask();
        if b.width == 0 {
            return low;
        }
        let middle = ((delta >> (b.shift & 63)) & b.mask()).wrapping_shl(u32::from(a.width));
        let high =
            ((delta >> (c.shift & 63)) & c.mask()).wrapping_shl(u32::from(a.width) + u32::from(b.width));
        low | middle | high
    }

    /// The `id - base` of an entry.
    #[inline]
    pub(crate) fn unpack(&self, entry: u64) -> u64 {
        let [a, b, c] = self.fields;
        let low = (entry & a.mask()) << (a.shift & 63);
        if b.width == 0 {
            return low;
        }
        let middle = (entry.wrapping_shr(u32::from(a.width)) & b.mask()) << (b.shift & 63);
        let high = (entry.wrapping_shr(u32::from(a.width) + u32::from(b.width)) & c.mask()) << (c.shift & 63);
        low | middle | high
    }

    /// The fields that cover the bits set in `varying`, leaving out its two widest inner gaps.
    fn covering(varying: u64) -> Self {
        if varying == 0 {
            return Self::default();
        }
        let (low, end) = (varying.trailing_zeros(), bit_length(varying));
        let mut gaps = [(0u32, 0u32); 2]; // (start, width), widest first
        let mut at = low;
        while at < end {
            at += (varying >> at).trailing_ones();
            if at >= end {
                break;
            }
            let gap = (at, (varying >> at).trailing_zeros());
            if gap.1 > gaps[0].1 {
                gaps = [gap, gaps[0]];
            } else if gap.1 > gaps[1].1 {
                gaps[1] = gap;
            }
            at += gap.1;
        }
        let mut fields = [Field::default(); 3];
        let mut from = low;
        gaps.sort_unstable();
        let ends = gaps.into_iter().filter(|gap| gap.1 > 0).chain([(end, 0)]);
        for (field, (start, width)) in fields.iter_mut().zip(ends) {
            *field = Field { shift: from as u8, width: (start - from) as u8 };
            from = start + width;
        }
        Self { fields }
    }

    /// Bits an entry needs at most for ids that differ in the bits `varying`.
    pub(crate) fn width_bound(varying: u64) -> u32 {
        Self::covering(varying).width()
    }

    /// The shift of the highest field for ids that differ in the bits `varying`, and the bits
    /// of the lower ones: all that the width for ids from `min` to `max` needs beside them.
    pub(crate) fn top_and_lower(varying: u64) -> (u32, u32) {
        let layout = Self::covering(varying);
        let top = layout.fields.iter().rev().find(|field| field.width > 0).copied().unwrap_or_default();
        (u32::from(top.shift), layout.width() - u32::from(top.width))
    }

    /// The base and layout for ids from `min` to `max` that differ from `min` in
    /// the bits `varying`. The top field counts from `min`, the lower ones keep
    /// bits as they are, which keeps the order without a borrow between fields.
    pub(crate) fn choose(min: u64, max: u64, varying: u64, room: Room) -> (u64, Self) {
        let mut layout = Self::covering(varying);
        let Some(top) = layout.fields.iter_mut().rev().find(|f| f.width > 0) else {
            return (min, layout);
        };
        let shift = u32::from(top.shift);
        let span = (max >> shift) - (min >> shift);
        top.width = bit_length(span) as u8;
        let spare = match room {
            // Whatever else of a chunk comes then fits, on either side.
            _ if (min ^ max) >> CHUNK_ID_BITS == 0 && shift + bit_length(span) == CHUNK_ID_BITS => {
                (min & low_mask(CHUNK_ID_BITS)) >> shift
            }
            Room::Above => 0,
            Room::Below => (low_mask(bit_length(span)) - span).min(min >> shift),
        };
        let lower = layout.mask() & low_mask(shift);
        ((min & !lower) - (spare << shift), layout)
    }
}

/// On which side of the ids a new encoding leaves the unused values of its width:
/// below when ids arrive in descending order, so that not each of them re-encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Above,
    Below,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of up to 128 bits, read in two halves.
    fn entries(words: &[u64], width: u32, n: usize) -> Vec<(u64, u64)> {
        let low = width.min(64);
        let at = |i: usize| i * width as usize;
        (0..n).map(|i| (read(words, at(i), low), read(words, at(i) + low as usize, width - low))).collect()
    }

    fn put(words: &mut [u64], width: u32, i: usize, value: (u64, u64)) {
        let low = width.min(64);
        let at = i * width as usize;
        write(words, at, low, value.0);
        write(words, at + low as usize, width - low, value.1);
    }

    #[test]
    fn gaps_open_and_close_at_every_width_and_place() {
        for width in 0..=128u32 {
            for n in [1usize, 2, 5, 13] {
                let value = |i: usize| {
                    let mixed = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(i as u64 + 1);
                    let low = width.min(64);
                    (mixed & low_mask(low), mixed.rotate_left(17) & low_mask(width - low))
                };
                for at in 0..=n {
                    let mut words = vec![0; words_for(n + 1, width)];
                    let mut twin: Vec<(u64, u64)> = (0..n).map(value).collect();
                    for (i, v) in twin.iter().enumerate() {
                        put(&mut words, width, i, *v);
                    }
                    open_gap(&mut words, width, n, at);
                    put(&mut words, width, at, value(99));
                    twin.insert(at, value(99));
                    assert_eq!(entries(&words, width, n + 1), twin, "open width {width} n {n} at {at}");
                    close_gap(&mut words, width, n + 1, at);
                    twin.remove(at);
                    assert_eq!(entries(&words, width, n), twin, "close width {width} n {n} at {at}");
                    let used = n * width as usize;
                    let tail = words.iter().enumerate().all(|(k, w)| {
                        let from = used.saturating_sub(k * 64).min(64) as u32;
                        w & !low_mask(from) == 0
                    });
                    assert!(tail, "the tail is zero, width {width} n {n} at {at}");
                }
            }
        }
    }

    #[test]
    fn layouts_keep_every_id_and_their_order() {
        let sets: [&[u64]; 9] = [
            &[0x3_0007, 0x3_9000],
            &[0x3_0010, 0x3_9000, 0x3_FFF0],
            &[0, u64::MAX],
            &[7],
            &[1 << 40, 1 << 40 | 1, 1 << 63],
            &[0x7fff, 0x8000, 0x8001],
            &[0x1000_0000_F000, 0x1000_0040_F001, 0x1000_0080_E000],
            &[5, 5 + (1 << 22), 5 + (9 << 22), 5 + (9 << 22) + (3 << 12)],
            &[u64::MAX - 1, u64::MAX],
        ];
        for ids in sets {
            for room in [Room::Above, Room::Below] {
                let (min, max) = (ids[0], ids[ids.len() - 1]);
                let varying = ids.iter().fold(0, |v, id| v | (id ^ min));
                let (base, layout) = Layout::choose(min, max, varying, room);
                let packed: Vec<u64> = ids
                    .iter()
                    .map(|id| {
                        assert_eq!((id - base) & !layout.mask(), 0, "{ids:?}");
                        layout.pack(id - base)
                    })
                    .collect();
                assert!(packed.windows(2).all(|p| p[0] < p[1]), "{ids:?}");
                let is_chunk = (min ^ max) >> 16 == 0 && max - min >= 1 << 15;
                assert!(
                    !is_chunk || base & 0xFFFF & layout.mask() == 0,
                    "a chunk begins at its start: {ids:?}"
                );
                let back: Vec<u64> = packed.iter().map(|p| base + layout.unpack(*p)).collect();
                assert_eq!(back, ids);
                assert_eq!(Layout::from_fields(layout.fields()), Some(layout));
            }
        }
    }

    #[test]
    fn capacities_follow_the_allocators_classes() {
        let expected =
            [(0, 0), (1, 1), (2, 2), (3, 4), (5, 6), (9, 10), (17, 20), (33, 40), (129, 160), (255, 256)];
        for (words, class) in expected {
            assert_eq!(class_words(words), class, "{words}");
        }
    }
}
