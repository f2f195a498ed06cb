//! Words that nothing uses any more, on their way into new leaves: what is written
//! over an old result needs no memory that the system has to give first.

use std::collections::BTreeMap;

/// Boxes of words, by how many words they have.
#[derive(Debug, Default)]
pub(crate) struct Spare(BTreeMap<usize, Vec<Box<[u64]>>>);

impl Spare {
    pub(crate) fn put(&mut self, words: Box<[u64]>) {
        self.0.entry(words.len()).or_default().push(words);
    }

    /// A box of `len` words, used ones if there are: what they hold is not said.
    pub(crate) fn take(&mut self, len: usize) -> Box<[u64]> {
        let spare = self.0.get_mut(&len).and_then(Vec::pop);
        spare.unwrap_or_else(|| vec![0; len].into_boxed_slice())
    }

    /// The boxes that are left.
    pub(crate) fn into_words(self) -> Vec<Box<[u64]>> {
        self.0.into_values().flatten().collect()
    }
}
