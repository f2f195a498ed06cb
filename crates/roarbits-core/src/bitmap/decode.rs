//! Reading and writing many packed ids at a time.

use std::ops::Range;

use super::leaf::{Form, Leaf};
use super::packing::{self, low_mask};

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
        let [low, middle, high] = self.layout.fields();
        let width = self.layout.width();
        let entries =
            Entries { words: &self.words, width, at: entries.start * width as usize, left: entries.len() };
        let base = self.base;
        if middle.width == 0 {
            let shift = low.shift & 63;
            return out.extend(entries.map(|entry| base + (entry << shift)));
        }
        let (low_width, middle_width) = (u32::from(low.width), u32::from(middle.width));
        let (low_mask, middle_mask) = (low_mask(low_width), low_mask(middle_width));
        let high_from = (low_width + middle_width) & 63;
        let has_high = high.width > 0;
        let high_mask = if has_high { u64::MAX } else { 0 };
        out.extend(entries.map(|entry| {
            let kept = (entry & low_mask) << low.shift
                | (entry >> low_width & middle_mask) << middle.shift
                | (entry >> high_from & high_mask) << (high.shift & 63);
            base + kept
        }));
    }
}

/// Fields of equal width, one after the other.
struct Entries<'a> {
    words: &'a [u64],
    width: u32,
    at: usize,
    left: usize,
}

impl Iterator for Entries<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let (word, offset) = (self.at / 64, (self.at % 64) as u32);
        self.at += self.width as usize;
        let low = self.words.get(word).copied().unwrap_or(0) >> offset;
        let high = self.words.get(word + 1).copied().unwrap_or(0) << 1 << (63 - offset);
        Some((low | high) & low_mask(self.width))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// Packs ids that fit `layout` into words of fields, from field 0 on.
pub(crate) fn pack_all(ids: &[u64], base: u64, layout: packing::Layout, words: &mut [u64]) {
    let width = layout.width();
    if width == 0 {
        return;
    }
    let (mut filled, mut word, mut k) = (0u32, 0u64, 0);
    for id in ids {
        let entry = layout.pack(id - base);
        word |= entry << filled;
        filled += width;
        if filled >= 64 {
            words[k] = word;
            k += 1;
            filled -= 64;
            word = if filled > 0 { entry >> (width - filled) } else { 0 };
        }
    }
    if filled > 0 {
        words[k] = word;
    }
}
