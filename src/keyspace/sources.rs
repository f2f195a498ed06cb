//! The keys that a question or a replacing write reads, as they were when it began.
//!
//! A bitmap is kept as a snapshot, which costs nothing; a plain string is copied, or refused
//! above `string-copy-max`. Later a source can be compared with what its key holds then.

use roarbits_core::bitmap::StringBits;
use roarbits_core::codec::string;
use roarbits_core::{BitRead, Bitmap};

use super::stores::sampled_bytes;
use super::{read_bits, Stored, WRONG_TYPE, WRONG_TYPE_STRING};
use crate::config;
use crate::ffi::{Arg, Context, OwnKey, Refusal};

/// Bytes of a chunk as plain bits.
const CHUNK_BYTES: u64 = 8192;
/// Longer strings are taken as changed rather than compared.
const COMPARED_BYTES: usize = 64 * 1024;

/// What a key held.
#[derive(Debug, Clone)]
enum Held {
    Missing,
    Bitmap(Bitmap),
    String(Vec<u8>),
    /// The bits of a string too large to be copied.
    Decoded(Bitmap),
}

/// Whether a change of a source after the snapshot matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// The snapshot is good as it is.
    Loose,
    /// The answer must be of what the key holds when it is given.
    Binding,
}

/// Which strings a source may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strings {
    taken: Taken,
    beyond_limit: BeyondLimit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// Any.
    All,
    /// Any but HyperLogLogs.
    Bitmaps,
    /// None.
    None,
}

/// What becomes of strings that are larger than may be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BeyondLimit {
    Refused,
    /// They are decoded in place: counting forms do so, as natively.
    Decoded,
}

impl Strings {
    /// As the bit commands take strings.
    pub const BITS: Self = Self { taken: Taken::All, beyond_limit: BeyondLimit::Refused };
    /// As the set-like commands do.
    pub const IDS: Self = Self { taken: Taken::Bitmaps, beyond_limit: BeyondLimit::Refused };
    /// No string at all: the key is changed, too.
    pub const NONE: Self = Self { taken: Taken::None, beyond_limit: BeyondLimit::Refused };
    /// As the bit commands, to be counted.
    pub const COUNTED_BITS: Self = Self { beyond_limit: BeyondLimit::Decoded, ..Self::BITS };
    /// As the set-like commands, to be counted.
    pub const COUNTED_IDS: Self = Self { beyond_limit: BeyondLimit::Decoded, ..Self::IDS };
}

/// One key.
#[derive(Debug, Clone)]
struct Source {
    name: Vec<u8>,
    held: Held,
    tie: Tie,
}

/// Keys in the order of a call; one may be there twice.
#[derive(Debug, Clone)]
pub struct Sources {
    all: Vec<Source>,
    strings: Strings,
}

impl Sources {
    /// Takes snapshots of `keys`.
    ///
    /// # Errors
    /// A key holds another type, or strings are larger than may be copied.
    pub fn of<'a>(
        context: &Context,
        keys: impl Iterator<Item = Arg<'a>>,
        strings: Strings,
    ) -> Result<Self, Refusal> {
        let mut copied = 0;
        let all = keys
            .map(|key| {
                let held = held(context, key, strings, &mut copied)?;
                Ok(Source { name: key.bytes().to_vec(), held, tie: Tie::Loose })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { all, strings })
    }

    /// No keys.
    pub fn none() -> Self {
        Self { all: Vec::new(), strings: Strings::NONE }
    }

    /// Has answers be of what every key holds when they are given.
    pub fn bind_all(&mut self) {
        self.all.iter_mut().for_each(|source| source.tie = Tie::Binding);
    }

    /// As `bind_all`, of the key `name` alone.
    pub fn bind(&mut self, name: &[u8]) {
        self.all.iter_mut().filter(|source| source.name == name).for_each(|source| source.tie = Tie::Binding);
    }

    /// Whether any is bound.
    pub fn has_binding(&self) -> bool {
        self.all.iter().any(|source| source.tie == Tie::Binding)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no key of them is there.
    pub fn are_missing(&self) -> bool {
        self.all.iter().all(|source| matches!(source.held, Held::Missing))
    }

    /// About how many bytes they refer to. O(nodes of the trees).
    pub fn bytes(&self) -> u64 {
        let bytes = |source: &Source| match &source.held {
            Held::Missing => 0,
            Held::Bitmap(bitmap) | Held::Decoded(bitmap) => sampled_bytes(bitmap),
            Held::String(bytes) => bytes.len() as u64,
        };
        self.all.iter().map(bytes).sum()
    }

    /// Bytes copied of strings.
    pub fn copied_bytes(&self) -> u64 {
        self.all.iter().map(Source::copied_bytes).sum()
    }

    /// Roughly how many allocations dropping them frees, if nothing else holds their bitmaps.
    pub fn free_effort(&self) -> u64 {
        let effort = |source: &Source| match &source.held {
            Held::Bitmap(bitmap) | Held::Decoded(bitmap) => bitmap.free_effort(),
            Held::Missing | Held::String(_) => 1,
        };
        self.all.iter().map(effort).sum()
    }

    /// The bitmaps, in order; strings are decoded, which costs by their length.
    pub fn bitmaps(&self) -> Vec<Bitmap> {
        self.all.iter().map(Source::bitmap).collect()
    }

    /// About how many leaves they have, strings counted as bits. O(sources).
    pub fn leaves(&self) -> u64 {
        self.all.iter().map(Source::leaves).sum()
    }

    /// Whether every source is what its key holds now.
    pub fn are_current(&self, context: &Context) -> bool {
        self.all.iter().all(|source| source.is_current(context))
    }

    /// As `are_current`, of the binding ones alone.
    pub fn binding_are_current(&self, context: &Context) -> bool {
        let mut binding = self.all.iter().filter(|source| source.tie == Tie::Binding);
        binding.all(|source| source.is_current(context))
    }

    /// Takes the snapshots anew.
    ///
    /// # Errors
    /// As `of`; nothing is changed then.
    pub fn refresh(&mut self, context: &Context) -> Result<(), Refusal> {
        let mut copied = 0;
        let now = self
            .all
            .iter()
            .map(|source| {
                let key = OwnKey::new(context, &source.name);
                held(context, key.arg(), self.strings, &mut copied)
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.all.iter_mut().zip(now).for_each(|(source, held)| source.held = held);
        Ok(())
    }
}

impl Source {
    fn copied_bytes(&self) -> u64 {
        match &self.held {
            Held::String(bytes) => bytes.len() as u64,
            Held::Missing | Held::Bitmap(_) | Held::Decoded(_) => 0,
        }
    }

    fn leaves(&self) -> u64 {
        match &self.held {
            Held::Missing => 0,
            Held::Bitmap(bitmap) | Held::Decoded(bitmap) => bitmap.leaves_estimated(),
            Held::String(bytes) => bytes.len() as u64 / CHUNK_BYTES + 1,
        }
    }

    fn bitmap(&self) -> Bitmap {
        match &self.held {
            Held::Missing => Bitmap::new(),
            Held::Bitmap(bitmap) | Held::Decoded(bitmap) => bitmap.clone(),
            Held::String(bytes) => string::decode(bytes),
        }
    }

    fn is_current(&self, context: &Context) -> bool {
        let key = OwnKey::new(context, &self.name);
        let same = read_bits(context, key.arg(), |stored| match (&self.held, stored) {
            (Held::Missing, Stored::Missing) => true,
            (Held::Bitmap(then), Stored::Bitmap(now)) => then.is_same(now),
            (Held::String(then), Stored::String(now)) => then.len() <= COMPARED_BYTES && then == now.bytes(),
            _ => false,
        });
        same.unwrap_or(false)
    }
}

fn held(context: &Context, key: Arg<'_>, strings: Strings, copied: &mut u64) -> Result<Held, Refusal> {
    read_bits(context, key, |stored| match stored {
        Stored::Missing => Ok(Held::Missing),
        Stored::Bitmap(bitmap) => Ok(Held::Bitmap(bitmap.clone())),
        Stored::String(_) if strings.taken == Taken::None => Err(WRONG_TYPE_STRING),
        Stored::String(bits) if strings.taken == Taken::Bitmaps && bits.has_hll_header() => Err(WRONG_TYPE),
        Stored::String(bits) => copy(&bits, strings.beyond_limit, copied),
    })?
}

fn copy(bits: &StringBits<'_>, beyond_limit: BeyondLimit, copied: &mut u64) -> Result<Held, Refusal> {
    let limit = config::string_copy_max();
    let total = copied.saturating_add(bits.length_bytes());
    if total > limit {
        return match beyond_limit {
            BeyondLimit::Decoded => Ok(Held::Decoded(string::decode(bits.bytes()))),
            BeyondLimit::Refused => Err(Refusal::made(format!(
                "ERR plain strings of more than {limit} bytes in all (string-copy-max), \
                 turn them into bitmaps with RB.CONVERT"
            ))),
        };
    }
    *copied = total;
    Ok(Held::String(bits.bytes().to_vec()))
}
