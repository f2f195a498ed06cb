//! Reading and writing many packed ids at a time.

use std::ops::Range;

use super::leaf::{Form, Leaf};
use super::packing::{low_mask, Field, Layout};

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
        let from = out.len();
        out.resize(from + entries.len(), 0);
        let out = &mut out[from..];
        let (width, base) = (self.layout.width(), self.base);
        let at = entries.start * width as usize;
        match self.layout.fields() {
            [only, Field { width: 0, .. }, _] => {
                unpack(&self.words, at, width, out, |entry| base + (entry << (only.shift & 63)));
            }
            [low, high, Field { width: 0, .. }] => {
                let (low_width, lowest) = (low.width, low_mask(u32::from(low.width)));
                unpack(&self.words, at, width, out, |entry| {
                    base + ((entry & lowest) << low.shift | (entry >> low_width) << high.shift)
                });
            }
            [low, middle, high] => {
                let (low_width, lowest) = (low.width, low_mask(u32::from(low.width)));
                let (high_from, middle_mask) = (low.width + middle.width, low_mask(u32::from(middle.width)));
                unpack(&self.words, at, width, out, |entry| {
                    let middle_bits = (entry >> low_width & middle_mask) << middle.shift;
                    base + ((entry & lowest) << low.shift | middle_bits | (entry >> high_from) << high.shift)
                });
            }
        }
    }
}

/// Reads fields of `width` bits from bit `at` on, one for each place of `out`.
#[inline(always)]
fn unpack(words: &[u64], mut at: usize, width: u32, out: &mut [u64], id_of: impl Fn(u64) -> u64) {
    let mask = low_mask(width);
    for out in out {
        let (word, offset) = (at / 64, (at % 64) as u32);
        at += width as usize;
        let low = words.get(word).map_or(0, |word| word >> offset);
        // Shifted twice, since all 64 bits may have to go.
        let high = words.get(word + 1).map_or(0, |word| word << 1 << (63 - offset));
        *out = id_of((low | high) & mask);
    }
}

/// Packs ids that fit `layout` into words of fields, from field 0 on.
pub(crate) fn pack_all(ids: &[u64], base: u64, layout: Layout, words: &mut [u64]) {
    let width = layout.width();
    match layout.fields() {
        _ if width == 0 => {}
        [only, Field { width: 0, .. }, _] => pack(ids, width, words, |id| (id - base) >> (only.shift & 63)),
        [low, high, Field { width: 0, .. }] => {
            let (low_width, lowest) = (low.width, low_mask(u32::from(low.width)));
            pack(ids, width, words, |id| {
                let delta = id - base;
                delta >> low.shift & lowest | delta >> high.shift << low_width
            });
        }
        _ => pack(ids, width, words, |id| layout.pack(id - base)),
    }
}

#[inline(always)]
fn pack(ids: &[u64], width: u32, words: &mut [u64], entry_of: impl Fn(u64) -> u64) {
    let (mut filled, mut word) = (0u32, 0u64);
    let mut words = words.iter_mut();
    for id in ids {
        let entry = entry_of(*id);
        word |= entry << filled;
        filled += width;
        if filled >= 64 {
            if let Some(full) = words.next() {
                *full = word;
            }
            filled -= 64;
            word = if filled > 0 { entry >> (width - filled) } else { 0 };
        }
    }
    if let Some(last) = words.next().filter(|_| filled > 0) {
        *last = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::packing::{class_words, words_for, Room};

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
