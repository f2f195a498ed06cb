//! Changes of one leaf: an id set or cleared, and the change of form that may follow.
//!
//! A change of form is decided from sums that the leaf keeps, and tried only now
//! and then, so that an insert stays cheap and nothing flips back and forth:
//!
//! | from | to | when |
//! |---|---|---|
//! | ids | runs | at an exam, runs estimated < 3/4 of ids, and the exact cost < 80 % |
//! | runs | ids | runs cost > 120 % of ids, or all are of one id |
//! | ids, runs | bits | one chunk above 8,176 bytes |
//! | bits | ids, runs | at an exam, the exact cost < 6 KB |
//! | ids | ids of fewer bits | an end is removed, the rest span at most 80 % of the bits; or at an exam after a removal |
//! | runs | runs of fewer bits | at an exam after a removal |
//!
//! An exam looks at the whole leaf. It comes after as many changes, of either kind,
//! as a quarter of the leaf has entries, 32 at least, and in bits every 512: however
//! ids come and go at a threshold, exams stay a small part of the cost.

use super::bits;
use super::decode::gaps;
use super::leaf::{Form, Leaf, BITS_EXAM_CHANGES, EXAM_CHANGES, WHOLE};
use super::packing::{self, bit_length, Layout, Room};
use super::search::{below_whole, WHOLE_IN_PLACE};
use super::shape::{
    append, chunk_end, chunk_start, cut, first_boundary, last_boundary, middle_boundary, shape_of_both,
    RunList, Shape, CHUNK_LEAF_MAX_BYTES, LEAF_OVERHEAD_BYTES, SHARED_LEAF_MAX_BYTES,
};
use super::Run;

/// Bits become packed again below this, well under what made them bits.
const BITS_MIN_BYTES: usize = 6 * 1024;
/// Bits of length that the longest run of a leaf typically needs beyond the mean one.
const LONGEST_RUN_BITS: u32 = 2;
/// Ids appended before the slope follows the last of them.
const SLOPE_APPENDS: usize = 8;

/// What became of an id that was to be set in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InPlace {
    Done,
    /// It is a member.
    Present,
    /// The leaf has to take another shape first, or something on the way is shared.
    Impossible,
}

impl Leaf {
    /// Whether `id` is better kept in a leaf of its own than here: it is of
    /// another chunk than the one this leaf is, or has grown too large, for, or so
    /// far from all others that entries wide enough for it cost more than a leaf.
    pub(crate) fn is_closed_to(&self, id: u64) -> bool {
        if self.form == Form::Bits {
            return chunk_start(id) != self.base;
        }
        let is_too_large = self.payload_bytes() > SHARED_LEAF_MAX_BYTES;
        is_too_large && chunk_start(id) != chunk_start(self.min()) || self.is_far_from(id)
    }

    fn is_far_from(&self, id: u64) -> bool {
        let fits = id.checked_sub(self.base).is_some_and(|delta| self.layout.entry_of(delta).is_some());
        if fits || self.form != Form::Ids {
            return false;
        }
        let width = Layout::width_bound(self.layout.mask() | (id ^ self.base));
        let wider = self.entries() * width.saturating_sub(self.layout.width()) as usize;
        let is_outside = || id < chunk_start(self.min()) || id > chunk_end(self.max());
        wider > LEAF_OVERHEAD_BYTES as usize * 8 && is_outside()
    }

    /// Sets `id` where nothing but bits in place has to change, as mostly.
    #[inline]
    pub(crate) fn insert_in_place(&mut self, id: u64) -> InPlace {
        if self.form != Form::Ids || self.patience <= 1 {
            return InPlace::Impossible;
        }
        if self.layout == WHOLE && WHOLE_IN_PLACE {
            return self.insert_whole(id);
        }
        let Some(entry) = id.checked_sub(self.base).and_then(|delta| self.layout.entry_of(delta)) else {
            return InPlace::Impossible;
        };
        let words = packing::words_for(self.entries() + 1, self.layout.width());
        if words > self.words.len() || words * 8 > SHARED_LEAF_MAX_BYTES && !self.is_chunk_of(id) {
            return InPlace::Impossible;
        }
        let entries = self.ascending();
        let place = entries.below(entry);
        if place < entries.len && entries.at(place) == entry {
            return InPlace::Present;
        }
        self.insert_entry(entry, place, id);
        self.patience -= 1;
        InPlace::Done
    }

    /// As `insert_in_place`, of entries that are whole numbers: scattered ids of one chunk, mostly.
    #[inline]
    fn insert_whole(&mut self, id: u64) -> InPlace {
        let len = self.entries();
        let is_chunk = len < SHARED_LEAF_MAX_BYTES / 2 || self.is_chunk_of(id);
        let numbers: &mut [u16] = bytemuck::cast_slice_mut(&mut self.words);
        let (Ok(number), true) = (u16::try_from(id.wrapping_sub(self.base)), len < numbers.len() && is_chunk)
        else {
            return InPlace::Impossible;
        };
        let place = below_whole(&numbers[..len], number, self.slope);
        if place < len && numbers[place] == number {
            return InPlace::Present;
        }
        let joins_left = place > 0 && numbers[place - 1] + 1 == number;
        let joins_right = place < len && numbers[place] - 1 == number;
        numbers.copy_within(place..len, place + 1);
        numbers[place] = number;
        self.note_entry(place, [joins_left, joins_right]);
        self.patience -= 1;
        InPlace::Done
    }

    /// Whether all ids are of the chunk of `id`, and one more of it leaves the leaf packed.
    fn is_chunk_of(&self, id: u64) -> bool {
        let chunk = chunk_start(id);
        self.payload_bytes() < CHUNK_LEAF_MAX_BYTES - 8
            && chunk_start(self.min()) == chunk
            && chunk_start(self.max()) == chunk
    }

    /// Sets `id`, which must be absent and not `is_closed_to`, at its `place_of`. Where the leaf
    /// outgrows its place, it keeps the lowest chunks and gives the others as
    /// leaves, ascending.
    pub(crate) fn insert(&mut self, id: u64, place: usize) -> Vec<Leaf> {
        match self.form {
            Form::Ids => self.insert_into_ids(id, place),
            Form::Runs => self.insert_into_runs(id, place),
            Form::Bits => self.insert_into_bits(id),
        }
        self.split_if_large(id)
    }

    /// Clears `id`, which must be present, at its `position_of`; the leaf must have
    /// another id. Gives leaves as `insert` does.
    pub(crate) fn remove(&mut self, id: u64, position: usize) -> Vec<Leaf> {
        match self.form {
            Form::Ids => self.remove_from_ids(position),
            Form::Runs => self.remove_from_runs(id, position),
            Form::Bits => self.remove_from_bits(id),
        }
        self.split_if_large(id)
    }

    /// Sets ascending `ids`, of any chunks, in one pass. Gives leaves as `insert` does.
    pub(crate) fn merge(&mut self, ids: &[u64]) -> Vec<Leaf> {
        let mut merged: Vec<Run> = Vec::with_capacity(usize::from(self.runs) + ids.len());
        let mut ids = ids.iter().copied().peekable();
        for run in self.runs_iter() {
            while let Some(id) = ids.next_if(|id| *id < run.start) {
                append(&mut merged, [Run { start: id, end: id }]);
            }
            append(&mut merged, [run]);
            while ids.next_if(|id| *id <= run.end).is_some() {}
        }
        append(&mut merged, ids.map(|id| Run { start: id, end: id }));
        let mut leaves = leaves_of(merged).into_iter();
        if let Some(first) = leaves.next() {
            *self = first;
        }
        leaves.collect()
    }

    /// Cuts an overgrown leaf between chunks. An `id` just set at one end stands for
    /// ascending or descending arrival: then the part at the other end stays full.
    fn split_if_large(&mut self, id: u64) -> Vec<Leaf> {
        if !self.is_too_large() {
            return Vec::new();
        }
        if self.form == Form::Ids && !self.is_promising_as_runs() {
            return self.split_ids(id);
        }
        let mut left: Vec<Run> = self.runs_iter().collect();
        let at = self.boundary(&left, id);
        let right = cut(&mut left, at);
        let mut parts = leaves_of(left).into_iter().chain(leaves_of(right));
        if let Some(first) = parts.next() {
            *self = first;
        }
        parts.collect()
    }

    /// Where to cut, after `id` was set.
    fn boundary(&self, runs: &impl RunList, id: u64) -> u64 {
        match id {
            id if id == self.max() => last_boundary(runs),
            id if id == self.min() => first_boundary(runs),
            _ => middle_boundary(runs),
        }
    }

    /// As `split_if_large`, id by id.
    fn split_ids(&mut self, id: u64) -> Vec<Leaf> {
        let ids = self.ids();
        let (left, right) = ids.split_at(ids.starts_below(self.boundary(&ids, id)));
        let parts = [left, right].map(|ids| Self::of_ids(ids, Room::Above).into_parts());
        let mut parts = parts.into_iter().flatten();
        if let Some(first) = parts.next() {
            *self = first;
        }
        parts.collect()
    }

    /// The leaf, cut if it is too large.
    fn into_parts(self) -> Vec<Leaf> {
        if self.is_too_large() {
            leaves_of(self.runs_iter().collect())
        } else {
            vec![self]
        }
    }

    /// Whether a packed leaf of several chunks takes more than its share.
    pub(crate) fn is_too_large(&self) -> bool {
        self.form != Form::Bits && self.payload_bytes() > SHARED_LEAF_MAX_BYTES && !self.is_one_chunk()
    }

    fn insert_into_ids(&mut self, id: u64, i: usize) {
        let Some(entry) = id.checked_sub(self.base).and_then(|delta| self.layout.entry_of(delta)) else {
            return self.pack_ids_with(i, id);
        };
        self.reserve(packing::words_for(self.entries() + 1, self.layout.width()));
        self.insert_entry(entry, i, id);
        self.examine_ids();
    }

    /// Puts the entry of `id` at place `i`, for which there are words.
    #[inline]
    fn insert_entry(&mut self, entry: u64, i: usize, id: u64) {
        let entries = self.ascending();
        let (n, width) = (entries.len, entries.width);
        // Ids that touch have entries that do.
        let touches = |at: usize| entries.at(at).abs_diff(entry) == 1 && self.id_at(at).abs_diff(id) == 1;
        let joins_left = i > 0 && touches(i - 1);
        let joins_right = i < n && touches(i);
        packing::open_gap(&mut self.words, width, n, i);
        packing::set(&mut self.words, width, i, entry);
        self.note_entry(i, [joins_left, joins_right]);
    }

    /// Takes up that an entry was put at place `i`, and which of its neighbours its id touches.
    #[inline]
    fn note_entry(&mut self, i: usize, joins: [bool; 2]) {
        let last = self.entries();
        self.card_less_one += 1;
        self.runs = self.runs + 1 - u16::from(joins[0]) - u16::from(joins[1]);
        if i == last && last.is_multiple_of(SLOPE_APPENDS) {
            self.follow_last();
        }
    }

    /// As `insert_into_ids`, where the layout cannot hold `id`.
    fn pack_ids_with(&mut self, i: usize, id: u64) {
        let mut ids = self.ids();
        ids.insert(i, id);
        let (room, patience) = (if i == 0 { Room::Below } else { Room::Above }, self.patience);
        *self = Self::of_ids(&ids, room);
        self.patience = patience;
        self.examine_ids();
    }

    /// A leaf of ascending ids, of which there is one at least, in the form of ids.
    pub(super) fn of_ids(ids: &[u64], room: Room) -> Self {
        let (min, max) = (ids[0], ids[ids.len() - 1]);
        let varying = ids.iter().fold(0, |varying, id| varying | (id ^ min));
        let (base, layout) = Layout::choose(min, max, varying, room);
        let words = vec![0; Self::packed_words(ids.len(), layout)].into_boxed_slice();
        Self::packed(ids, base, layout, 1 + gaps(ids), words)
    }

    /// Counts a change; whether an exam is due.
    fn is_exam_due(&mut self) -> bool {
        self.patience = self.patience.saturating_sub(1);
        if self.patience > 0 {
            return false;
        }
        self.patience = match self.form {
            Form::Bits => BITS_EXAM_CHANGES,
            Form::Ids | Form::Runs => EXAM_CHANGES.max((self.entries() / 4) as u16),
        };
        true
    }

    /// Whether runs are likely to take less than ids do.
    fn is_promising_as_runs(&self) -> bool {
        let (card, runs) = (self.card_less_one + 1, u64::from(self.runs));
        let run_width = bit_length(self.max() - self.base) + bit_length(card / runs) + LONGEST_RUN_BITS;
        runs * u64::from(run_width) * 4 < card * u64::from(self.layout.width()) * 3
    }

    /// After an insert.
    fn examine_ids(&mut self) {
        if self.payload_bytes() > CHUNK_LEAF_MAX_BYTES && self.is_one_chunk() {
            return self.rebuild();
        }
        if self.is_exam_due() {
            self.try_runs();
        }
    }

    /// Takes the form of runs if that is well under the present one.
    fn try_runs(&mut self) {
        if !self.is_promising_as_runs() {
            return;
        }
        let shape = self.shape();
        let ids_bits = self.entries() as u128 * u128::from(self.layout.width());
        if shape.runs_bits() * 5 < ids_bits * 4 {
            *self = Self::encode_runs(&shape, self.runs_iter(), Room::Above);
        }
    }

    /// Sets `id`, above which run `after` is the first to start.
    fn insert_into_runs(&mut self, id: u64, after: usize) {
        let left =
            after.checked_sub(1).map(|i| self.run_at(i)).filter(|run| run.end.checked_add(1) == Some(id));
        let right = Some(after)
            .filter(|i| *i < self.entries())
            .map(|i| self.run_at(i))
            .filter(|run| id.checked_add(1) == Some(run.start));
        let (from, replaced, run) = match (left, right) {
            (Some(l), Some(r)) => (after - 1, 2, Run { start: l.start, end: r.end }),
            (Some(l), None) => (after - 1, 1, Run { start: l.start, end: id }),
            (None, Some(r)) => (after, 1, Run { start: id, end: r.end }),
            (None, None) => (after, 0, Run { start: id, end: id }),
        };
        self.card_less_one += 1;
        self.replace_runs(from, replaced, &[run]);
        if replaced > 1 {
            self.release();
        }
        self.examine_runs();
    }

    fn remove_from_runs(&mut self, id: u64, i: usize) {
        let run = self.run_at(i);
        let left = Run { start: run.start, end: id.wrapping_sub(1) };
        let right = Run { start: id.wrapping_add(1), end: run.end };
        let with: &[Run] = match (run.start == id, run.end == id) {
            (true, true) => &[],
            (true, false) => &[right],
            (false, true) => &[left],
            (false, false) => &[left, right],
        };
        self.card_less_one -= 1;
        self.replace_runs(i, 1, with);
        self.release();
        self.examine_runs();
        if self.form == Form::Runs && self.is_exam_due() {
            self.narrow_runs();
        }
    }

    /// Encodes the runs anew if they need fewer bits than they take.
    fn narrow_runs(&mut self) {
        let shape = self.shape();
        if shape.runs_bits() < self.entries() as u128 * u128::from(self.entry_width()) {
            *self = Self::encode_runs(&shape, self.runs_iter(), Room::Above);
        }
    }

    /// Puts `with` in the place of `count` entries from entry `from`.
    fn replace_runs(&mut self, from: usize, count: usize, with: &[Run]) {
        let (start_width, length_width) = (self.layout.width(), u32::from(self.length_width));
        let fits = with.iter().all(|run| {
            run.start.checked_sub(self.base).is_some_and(|start| bit_length(start) <= start_width)
                && bit_length(run.end - run.start) <= length_width
        });
        if !fits {
            return self.reencode_runs(from, count, with);
        }
        let width = self.entry_width();
        let mut n = self.entries();
        for _ in with.len()..count {
            packing::close_gap(&mut self.words, width, n, from);
            n -= 1;
        }
        for _ in count..with.len() {
            self.reserve(packing::words_for(n + 1, width));
            packing::open_gap(&mut self.words, width, n, from);
            n += 1;
        }
        for (k, run) in with.iter().enumerate() {
            self.set_run(from + k, *run);
        }
        self.runs = n as u16;
        if from + with.len() >= n {
            self.follow_last();
        }
    }

    /// As `replace_runs`, where the entries are too narrow for `with`.
    fn reencode_runs(&mut self, from: usize, count: usize, with: &[Run]) {
        let mut runs: Vec<Run> = self.runs_iter().collect();
        runs.splice(from..from + count, with.iter().copied());
        if let Some(shape) = Shape::of_all(runs.iter().copied()) {
            let room = if from == 0 { Room::Below } else { Room::Above };
            *self = Self::encode_runs(&shape, runs.into_iter(), room);
        }
    }

    fn examine_runs(&mut self) {
        if self.payload_bytes() > CHUNK_LEAF_MAX_BYTES && self.is_one_chunk() {
            return self.rebuild();
        }
        let runs_bits = u64::from(self.runs) * u64::from(self.entry_width());
        let id_width = u64::from(bit_length(self.max() - self.min()));
        let ids_bits = self.card_less_one.saturating_add(1).saturating_mul(id_width);
        let are_single = u64::from(self.runs) == self.card_less_one.saturating_add(1);
        if are_single || runs_bits * 5 > ids_bits.saturating_mul(6) {
            let shape = self.shape();
            *self = Self::encode_ids(&shape, self.runs_iter(), Room::Above);
        }
    }

    fn insert_into_bits(&mut self, id: u64) {
        let at = id as u16;
        let (left, right) = self.bit_neighbours(at);
        self.words[usize::from(at / 64)] |= 1 << (at % 64);
        self.card_less_one += 1;
        self.runs = self.runs + 1 - left - right;
        if self.is_exam_due() {
            self.examine_bits();
        }
    }

    fn remove_from_bits(&mut self, id: u64) {
        let at = id as u16;
        let (left, right) = self.bit_neighbours(at);
        self.words[usize::from(at / 64)] &= !(1 << (at % 64));
        self.card_less_one -= 1;
        self.runs = self.runs + left + right - 1;
        if self.is_exam_due() {
            self.examine_bits();
        }
    }

    fn bit_neighbours(&self, at: u16) -> (u16, u16) {
        let is_set = |at: Option<u16>| u16::from(at.is_some_and(|at| bits::contains(&self.words, at)));
        (is_set(at.checked_sub(1)), is_set(at.checked_add(1)))
    }

    /// Leaves bits for the cheaper packed form where that is well under the size that made them bits.
    fn examine_bits(&mut self) {
        let card = self.card_less_one as usize + 1;
        let promising = card * 8 < BITS_MIN_BYTES * 8 || usize::from(self.runs) * 17 < BITS_MIN_BYTES * 8;
        if promising && self.shape().packed_bytes() < BITS_MIN_BYTES as u128 {
            self.rebuild();
        }
    }

    fn remove_from_ids(&mut self, i: usize) {
        let n = self.entries();
        let id = self.id_at(i);
        let split_left = i > 0 && self.id_at(i - 1) + 1 == id;
        let split_right = i + 1 < n && self.id_at(i + 1) == id + 1;
        packing::close_gap(&mut self.words, self.layout.width(), n, i);
        self.card_less_one -= 1;
        self.runs = self.runs + u16::from(split_left) + u16::from(split_right) - 1;
        // Without an end the others may need far fewer bits.
        let is_end = i == 0 || i + 1 == n;
        if i + 1 == n {
            self.follow_last();
        }
        let is_narrower = is_end && bit_length(self.max() - self.min()) * 5 <= self.layout.width() * 4;
        if is_narrower || self.is_exam_due() {
            self.narrow_ids();
        }
        self.release();
    }

    /// Encodes the ids anew if they need fewer bits than they take, as runs perhaps.
    fn narrow_ids(&mut self) {
        let narrow = Self::of_ids(&self.ids(), Room::Above);
        if narrow.layout.width() < self.layout.width() {
            let patience = self.patience;
            *self = narrow;
            self.patience = patience;
        }
        self.try_runs();
    }

    /// Encodes the leaf anew in its cheapest form.
    fn rebuild(&mut self) {
        let shape = self.shape();
        *self = Self::from_runs(&shape, self.runs_iter());
    }

    /// Room for `words` words.
    fn reserve(&mut self, words: usize) {
        if words > self.words.len() {
            self.words.resize(packing::class_words(words));
        }
    }

    /// Gives words back once an eighth more than is used would fit the class below.
    fn release(&mut self) {
        let used = self.used_words();
        let target = packing::class_words(used + used / 8);
        if target < self.words.len() {
            self.words.resize(target);
        }
    }
}

/// The cheapest leaves of ascending runs, cut between chunks where one would be too large.
fn leaves_of(mut runs: Vec<Run>) -> Vec<Leaf> {
    let Some(shape) = Shape::of_all(runs.iter().copied()) else {
        return Vec::new();
    };
    if !shape.overflows() {
        return vec![Leaf::from_runs(&shape, runs.into_iter())];
    }
    let at = middle_boundary(&runs);
    let right = cut(&mut runs, at);
    let mut leaves = leaves_of(runs);
    leaves.extend(leaves_of(right));
    leaves
}

/// One leaf in the place of two small neighbours; `None` if they are better kept apart.
pub(crate) fn merged(left: &Leaf, right: &Leaf) -> Option<Leaf> {
    if left.payload_bytes() + right.payload_bytes() > SHARED_LEAF_MAX_BYTES / 2 {
        return None;
    }
    let mut runs: Vec<Run> = left.runs_iter().collect();
    let beside: Vec<Run> = right.runs_iter().collect();
    shape_of_both(&runs, &beside)?;
    append(&mut runs, beside);
    let shape = Shape::of_all(runs.iter().copied())?;
    Some(Leaf::from_runs(&shape, runs.into_iter()))
}
