//! DUMP payloads forged on purpose: RESTORE checks only a checksum, so with a
//! right one any body reaches the module's loader.
//!
//! ```text
//! payload := body | RDB version (2 bytes, LE) | CRC64 of all before it (8 bytes, LE)
//! ```

const VERSION_BYTES: usize = 2;
const CRC_BYTES: usize = 8;

/// The part of a DUMP payload before version and checksum.
///
/// # Panics
/// If the payload is shorter than its footer.
pub fn body(payload: &[u8]) -> &[u8] {
    match payload.len().checked_sub(VERSION_BYTES + CRC_BYTES) {
        Some(length) => &payload[..length],
        None => panic!("a payload of {} bytes has no footer", payload.len()),
    }
}

/// A payload with another body, the RDB version of `original` and a right checksum.
///
/// # Panics
/// If `original` is shorter than its footer.
pub fn with_body(original: &[u8], new_body: &[u8]) -> Vec<u8> {
    let version_at = body(original).len();
    let mut payload = new_body.to_vec();
    payload.extend_from_slice(&original[version_at..version_at + VERSION_BYTES]);
    payload.extend_from_slice(&crc64(&payload).to_le_bytes());
    payload
}

/// CRC64 as servers compute it: Jones' polynomial, reflected, from 0.
pub fn crc64(bytes: &[u8]) -> u64 {
    const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;
    const TABLE: [u64; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u64;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    bytes.iter().fold(0, |crc, byte| TABLE[((crc ^ u64::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_polynomial_holds() {
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }

    #[test]
    fn a_resealed_payload_keeps_its_version_and_has_a_right_checksum() {
        let original = with_body(&[0; 12], b"first");
        let resealed = with_body(&original, b"second");
        assert_eq!(body(&resealed), b"second");
        let (rest, crc) = resealed.split_at(resealed.len() - CRC_BYTES);
        assert_eq!(crc64(rest).to_le_bytes(), crc);
    }
}
