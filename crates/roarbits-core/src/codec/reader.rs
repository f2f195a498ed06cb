//! A payload read from front to back, every length checked against what is left.

use super::DecodeError;

/// A payload and how far it has been read.
pub(crate) struct Reader<'a> {
    payload: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the first byte of `payload`.
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self { payload, at: 0 }
    }

    /// The offset of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The number of bytes not read yet.
    pub(crate) fn remaining(&self) -> usize {
        self.payload.len() - self.at
    }

    /// Takes `bytes` bytes.
    ///
    /// # Errors
    /// Fewer are left.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.at.checked_add(bytes);
        let taken = end.and_then(|end| self.payload.get(self.at..end));
        let taken = taken.ok_or(DecodeError::new("payload is cut short", self.payload.len()))?;
        self.at += bytes;
        Ok(taken)
    }

    /// Takes `N` bytes, to be read as an integer.
    ///
    /// # Errors
    /// Fewer are left.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Ends the payload.
    ///
    /// # Errors
    /// Bytes are left.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(DecodeError::new("bytes after the end of the bitmap", self.at)),
        }
    }

    /// Takes one byte.
    ///
    /// # Errors
    /// None is left.
    pub(crate) fn take_byte(&mut self) -> Result<u8, DecodeError> {
        self.take_array::<1>().map(|[byte]| byte)
    }

    /// Takes a LEB128 number: seven bits a byte, lowest first, in as few bytes as it needs.
    ///
    /// # Errors
    /// Fewer bytes are left, it needs more than 64 bits, or its last byte is needless.
    pub(crate) fn take_varint(&mut self) -> Result<u64, DecodeError> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::new("malformed number", start))
    }
}

/// Appends a LEB128 number.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The bytes of a LEB128 number, 1 to 10.
pub(crate) fn varint_bytes(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_long_forms_are_refused() {
        let edges = (0..64).flat_map(|shift| [1u64 << shift, (1u64 << shift) - 1]).chain([u64::MAX]);
        for value in edges {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            assert_eq!(bytes.len(), varint_bytes(value), "{value}");
            assert_eq!(Reader::new(&bytes).take_varint(), Ok(value));
        }
        for malformed in
            [&[0x80][..], &[0x80, 0], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert!(Reader::new(malformed).take_varint().is_err(), "{malformed:?}");
        }
    }
}
