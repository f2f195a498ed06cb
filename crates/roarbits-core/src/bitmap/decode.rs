//! Reading and writing many packed ids at a time.

use std::ops::Range;

use super::leaf::{Form, Leaf};
use super::packing::{
    bits_from, byte_addressed_bits, class_words, is_byte_addressed, low_mask, words_for, Field, Layout,
};

impl Leaf {
    /// The entries of a leaf of ids that are in `start..=end`.
    pub(crate) fn ids_between(&self, start: u64, end: u64) -> Range<usize> {
        let from = if start <= self.base { 0 } else { self.ids_below(start) };
        let to = match end.checked_add(1) {
            Some(end) if end <= self.max() => self.ids_below(end),
            _ => self.entries(),
        };
        from..to.max(from)
    }

    /// Appends the ids of a range of entries of a leaf of ids.
    pub(crate) fn decode(&self, entries: Range<usize>, out: &mut Vec<u64>) {
        debug_assert_eq!(self.form, Form::Ids);
        let (entries, base) =
            (Entries { words: &self.words, width: self.layout.width(), entries }, self.base);
        match self.layout.fields() {
            [only, Field { width: 0, .. }, _] => {
                entries.unpack(out, |entry| base.wrapping_add(entry << (only.shift % 64)));
            }
            [low, high, Field { width: 0, .. }] => {
                let (low_width, lowest) = (low.width % 64, low_mask(u32::from(low.width)));
                let (low_shift, high_shift) = (low.shift % 64, high.shift % 64);
                entries.unpack(out, |entry| {
                    base.wrapping_add((entry & lowest) << low_shift | (entry >> low_width) << high_shift)
                });
            }
            [low, middle, high] => {
                let (low_width, lowest) = (low.width % 64, low_mask(u32::from(low.width)));
                let (high_from, middle_mask) =
                    ((low.width + middle.width) % 64, low_mask(u32::from(middle.width)));
                let shifts = [low, middle, high].map(|field| field.shift % 64);
                entries.unpack(out, |entry| {
                    let middle_bits = (entry >> low_width & middle_mask) << shifts[1];
                    let high_bits = (entry >> high_from) << shifts[2];
                    base.wrapping_add((entry & lowest) << shifts[0] | middle_bits | high_bits)
                });
            }
        }
    }
}

impl Leaf {
    /// The words that `packed` is to be given.
    pub(super) fn packed_words(ids: usize, layout: Layout) -> usize {
        class_words(words_for(ids, layout.width()))
    }

    /// A leaf of ascending ids, one at least, in `runs` runs, that fit `layout` above
    /// `base`, in `words` that may hold anything.
    pub(super) fn packed(ids: &[u64], base: u64, layout: Layout, runs: usize, mut words: Box<[u64]>) -> Self {
        pack_all(ids, base, layout, &mut words);
        Self::of_entries(base, layout, words.into(), ids.len() as u64, runs)
    }
}

/// Places where an id does not follow the one before it.
pub(super) fn gaps(ids: &[u64]) -> usize {
    ids.windows(2).map(|pair| usize::from(pair[1].wrapping_sub(pair[0]) != 1)).sum()
}

/// Ids decoded at a time.
const BLOCK: usize = 64;

/// A range of packed entries.
struct Entries<'a> {
    words: &'a [u64],
    width: u32,
    entries: Range<usize>,
}

impl Entries<'_> {
    /// Appends what `id_of` makes of each.
    #[inline(always)]
    fn unpack(self, out: &mut Vec<u64>, id_of: impl Fn(u64) -> u64) {
        let (words, width, mask) = (self.words, self.width as usize, low_mask(self.width));
        let (bytes, is_byte_addressed) = (bytemuck::cast_slice(words), is_byte_addressed(self.width));
        let (mut at, mut left) = (self.entries.start.wrapping_mul(width), self.entries.len());
        let mut block = [0; BLOCK];
        while left > 0 {
            let n = left.min(BLOCK);
            for id in &mut block[..n] {
                let entry = match is_byte_addressed {
                    true => byte_addressed_bits(words, bytes, at),
                    false => bits_from(words, at),
                };
                at = at.wrapping_add(width);
                *id = id_of(entry & mask);
            }
            out.extend_from_slice(&block[..n]);
            left = left.wrapping_sub(n);
        }
    }
}

/// Packs ids that fit `layout` into words of fields, from field 0 on; the rest becomes zero.
fn pack_all(ids: &[u64], base: u64, layout: Layout, words: &mut [u64]) {
    let width = layout.width();
    match layout.fields() {
        _ if width == 0 => words.fill(0),
        [only, Field { width: 0, .. }, _] => {
            pack(ids, width, words, |id| id.wrapping_sub(base) >> (only.shift % 64));
        }
        [low, high, Field { width: 0, .. }] => {
            let (low_width, lowest) = (low.width, low_mask(u32::from(low.width)));
            pack(ids, width, words, |id| {
                let delta = id.wrapping_sub(base);
                delta >> (low.shift % 64) & lowest | delta >> (high.shift % 64) << (low_width % 64)
            });
        }
        _ => pack(ids, width, words, |id| layout.pack(id.wrapping_sub(base))),
    }
}

#[inline(always)]
fn pack(ids: &[u64], width: u32, words: &mut [u64], entry_of: impl Fn(u64) -> u64) {
    let (mut filled, mut word) = (0u32, 0u64);
    let mut words = words.iter_mut();
    for id in ids {
        let entry = entry_of(*id);
        word |= entry << (filled % 64);
        let before = filled;
        filled = filled.wrapping_add(width);
        if filled >= 64 {
            if let Some(full) = words.next() {
                *full = word;
            }
            filled = filled.wrapping_sub(64);
            word = entry >> 1 >> ((before ^ 63) % 64);
        }
    }
    if filled > 0 {
        if let Some(last) = words.next() {
            *last = word;
        }
    }
    words.for_each(|unused| *unused = 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::packing::Room;

    #[test]
    fn packed_ids_decode_to_themselves_in_every_layout() {
        let apart = |shifts: &[u32]| -> Vec<u64> {
            (0..200u64)
                .map(|i| shifts.iter().enumerate().map(|(k, shift)| (i >> (k * 3) & 7) << shift).sum())
                .collect()
        };
        let sets = [
            vec![5],
            (0..500).collect(),
            (0..300).map(|i| i * 1_000_003).collect(),
            apart(&[3, 20]),
            apart(&[0, 12, 40]),
            apart(&[61]),
            (0..64).map(|bit| 1 << bit).collect(),
            vec![0, u64::MAX],
        ];
        for mut ids in sets {
            ids.sort_unstable();
            ids.dedup();
            let varying = ids.iter().fold(0, |varying, id| varying | (id ^ ids[0]));
            let (base, layout) = Layout::choose(ids[0], ids[ids.len() - 1], varying, Room::Above);
            let mut words = vec![0; class_words(words_for(ids.len(), layout.width()))].into_boxed_slice();
            pack_all(&ids, base, layout, &mut words);
            let mut leaf = Leaf::single(base);
            (leaf.words, leaf.layout, leaf.card_less_one) = (words.into(), layout, ids.len() as u64 - 1);
            assert_eq!((0..ids.len()).map(|i| leaf.id_at(i)).collect::<Vec<_>>(), ids);
            for from in [0, ids.len() / 3, ids.len()] {
                let mut decoded = vec![9];
                leaf.decode(from..ids.len(), &mut decoded);
                assert_eq!(decoded[1..], ids[from..]);
            }
        }
    }
}
