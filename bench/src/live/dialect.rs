//! How each subject says the same thing: the command of an operation, or None
//! where it has none.

use redis::{cmd, Cmd};

use crate::Subject;

/// The last bit of a server's own bitmap, and the largest id of 32-bit bitmaps.
const LAST_OF_32: u64 = u32::MAX as u64;

/// A set operation of any number of operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// What all have.
    And,
    /// What any has.
    Or,
}

impl Combine {
    /// Its token.
    pub fn word(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
        }
    }
}

impl Subject {
    /// The largest id it can hold.
    pub fn largest_id(self) -> u64 {
        match self {
            Self::Native | Self::R => LAST_OF_32,
            _ => u64::MAX,
        }
    }

    /// Sets one bit.
    pub fn set_bit(self, key: &str, id: u64) -> Option<Cmd> {
        let name = self.set_bit_name()?;
        let mut command = cmd(name);
        command.arg(key).arg(id);
        if self != Self::Set {
            command.arg(1);
        }
        Some(command)
    }

    /// The command of `set_bit`.
    pub fn set_bit_name(self) -> Option<&'static str> {
        self.name("RB.SETBIT", "SETBIT", "SADD", "R.SETBIT", "R64.SETBIT")
    }

    /// Asks for one bit.
    pub fn get_bit(self, key: &str, id: u64) -> Option<Cmd> {
        Some(cmd(self.get_bit_name()?).arg(key).arg(id).to_owned())
    }

    /// The command of `get_bit`.
    pub fn get_bit_name(self) -> Option<&'static str> {
        self.name("RB.GETBIT", "GETBIT", "SISMEMBER", "R.GETBIT", "R64.GETBIT")
    }

    /// Adds ids; a bitmap of the server's own has no such command.
    pub fn add(self, key: &str, ids: &[u64]) -> Option<Cmd> {
        let name = self.name("RB.ADD", "", "SADD", "R.APPENDINTARRAY", "R64.APPENDINTARRAY")?;
        Some(cmd(name).arg(key).arg(ids).to_owned())
    }

    /// Asks for many bits at once.
    pub fn get_bits(self, key: &str, ids: &[u64]) -> Option<Cmd> {
        let name = self.name("RB.GETBITS", "", "SMISMEMBER", "R.GETBITS", "R64.GETBITS")?;
        Some(cmd(name).arg(key).arg(ids).to_owned())
    }

    /// Counts all ids.
    pub fn count(self, key: &str) -> Option<Cmd> {
        Some(cmd(self.count_name()?).arg(key).to_owned())
    }

    /// The command of `count`.
    pub fn count_name(self) -> Option<&'static str> {
        self.name("RB.BITCOUNT", "BITCOUNT", "SCARD", "R.BITCOUNT", "R64.BITCOUNT")
    }

    /// Stores the combination of keys.
    pub fn combine(self, operation: Combine, dest: &str, keys: &[String]) -> Option<Cmd> {
        let mut command = match (self, operation) {
            (Self::Set, Combine::And) => cmd("SINTERSTORE"),
            (Self::Set, Combine::Or) => cmd("SUNIONSTORE"),
            _ => cmd(self.name("RB.BITOP", "BITOP", "", "R.BITOP", "R64.BITOP")?)
                .arg(operation.word())
                .to_owned(),
        };
        Some(command.arg(dest).arg(keys).to_owned())
    }

    /// Replies the last `n` ids of a bitmap that holds `cardinality`, by rank.
    pub fn last(self, key: &str, n: usize, cardinality: usize) -> Option<Cmd> {
        let name = self.name("RB.RANGE", "", "", "R.RANGEINTARRAY", "R64.RANGEINTARRAY")?;
        let first = cardinality.saturating_sub(n);
        Some(cmd(name).arg(key).arg(first).arg(cardinality.saturating_sub(1)).to_owned())
    }

    /// Stores a dense bitmap by the fastest way in. `bits` is a string of the server's own kind.
    pub fn load_dense(self, key: &str, bits: &[u8]) -> Option<Cmd> {
        match self {
            Self::Roarbits => {
                Some(cmd("RB.IMPORT").arg(key).arg(bits).arg("FORMAT").arg("STRING").to_owned())
            }
            Self::Native => Some(cmd("SET").arg(key).arg(bits).to_owned()),
            Self::R | Self::R64 => {
                let name = if self == Self::R { "R.SETBITARRAY" } else { "R64.SETBITARRAY" };
                Some(cmd(name).arg(key).arg(digits_of(bits)).to_owned())
            }
            _ => None,
        }
    }

    /// Rewrites a bitmap in its smallest form, where that takes a command.
    pub fn optimize(self, key: &str) -> Option<Cmd> {
        let name = self.name("", "", "", "R.OPTIMIZE", "R64.OPTIMIZE")?;
        Some(cmd(name).arg(key).to_owned())
    }

    fn name(
        self,
        ours: &'static str,
        native: &'static str,
        set: &'static str,
        r: &'static str,
        r64: &'static str,
    ) -> Option<&'static str> {
        let name = match self {
            Self::Roarbits => ours,
            Self::Native => native,
            Self::Set => set,
            Self::R => r,
            Self::R64 => r64,
            Self::Roaring | Self::Croaring => "",
        };
        (!name.is_empty()).then_some(name)
    }
}

/// A `0` or `1` a bit, as the peer's bit arrays are.
fn digits_of(bits: &[u8]) -> Vec<u8> {
    bits.iter().flat_map(|byte| (0..8).map(move |at| b'0' + (byte >> (7 - at) & 1))).collect()
}

/// The string of the server's own kind that has these ids: most significant bit first.
pub fn string_of(ids: &[u64]) -> Vec<u8> {
    let length = ids.iter().max().map_or(0, |last| *last as usize / 8 + 1);
    let mut bytes = vec![0u8; length];
    for id in ids {
        if let Some(byte) = bytes.get_mut(*id as usize / 8) {
            *byte |= 0x80 >> (id % 8);
        }
    }
    bytes
}
