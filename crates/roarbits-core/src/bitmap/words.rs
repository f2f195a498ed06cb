//! The words of a leaf. One word is held in place of the box that more are in, at
//! no cost to the leaf's size, so that a bitmap of a few ids needs an allocation less.

use std::ops::{Deref, DerefMut};

/// Words of a leaf, as a slice.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    /// None, or two and more.
    Boxed(Box<[u64]>),
    /// One.
    One(u64),
}

impl Words {
    /// Words that are allocated.
    pub(crate) fn allocated(&self) -> usize {
        match self {
            Self::Boxed(words) => words.len(),
            Self::One(_) => 0,
        }
    }

    /// Takes or gives words at the end; those taken are zero.
    pub(crate) fn resize(&mut self, len: usize) {
        let mut words = match std::mem::take(self) {
            Self::Boxed(words) => words.into_vec(),
            Self::One(word) => {
                let mut words = Vec::with_capacity(len);
                words.push(word);
                words
            }
        };
        words.reserve_exact(len.saturating_sub(words.len()));
        words.resize(len, 0);
        *self = words.into();
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::Boxed(Box::default())
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Self::Boxed(words) => words,
            Self::One(word) => std::slice::from_ref(word),
        }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Boxed(words) => words,
            Self::One(word) => std::slice::from_mut(word),
        }
    }
}

impl From<Box<[u64]>> for Words {
    fn from(words: Box<[u64]>) -> Self {
        match words[..] {
            [word] => Self::One(word),
            _ => Self::Boxed(words),
        }
    }
}

impl From<Vec<u64>> for Words {
    fn from(words: Vec<u64>) -> Self {
        match words[..] {
            [word] => Self::One(word),
            _ => Self::Boxed(words.into_boxed_slice()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_held_in_place_and_costs_no_room() {
        assert_eq!(size_of::<Words>(), size_of::<Box<[u64]>>());
        let mut words = Words::default();
        for (len, allocated) in [(1, 0), (2, 2), (4, 4), (1, 0), (0, 0), (6, 6)] {
            let kept = words.first().copied().filter(|_| len > 0);
            words.resize(len);
            assert_eq!((words.len(), words.allocated()), (len, allocated));
            assert_eq!(words.first().copied(), kept.or((len > 0).then_some(0)));
            if let Some(word) = words.first_mut() {
                *word = 7;
            }
        }
    }
}
