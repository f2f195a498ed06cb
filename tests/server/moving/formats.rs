//! Every format there and back.

use roarbits_tests::{args, Server, Value};

use super::{ids, length, shapes, Shape, FORMATS};

pub fn every_format_carries_every_shape_there_and_back() {
    let server = Server::builder().debug_library().start();
    let mut client = server.client();
    for shape in shapes() {
        client.ok(&["FLUSHALL"]);
        shape.store(&mut client, "k");
        assert_eq!(
            (ids(&mut client, "k"), length(&mut client, "k")),
            (shape.ids.clone(), shape.length_bytes)
        );
        for format in FORMATS.into_iter().filter(|format| shape.fits(format)) {
            let payload = client.bytes(&["RB.EXPORT", "k", "FORMAT", format]);
            let imported = client.int(&args!["RB.IMPORT", "copy", &payload, "FORMAT", format]);
            assert_eq!(imported as usize, shape.ids.len(), "{} as {format}", shape.name);
            assert_eq!(ids(&mut client, "copy"), shape.ids, "{} as {format}", shape.name);
            let kept =
                if format.starts_with("PORTABLE") { shape.covering_bytes() } else { shape.length_bytes };
            assert_eq!(length(&mut client, "copy"), kept, "length of {} as {format}", shape.name);
            let again = client.bytes(&["RB.EXPORT", "copy", "FORMAT", format]);
            assert!(again == payload, "{} as {format} has another payload the second time", shape.name);
            client.ok(&["RB.DEBUG", "VALIDATE", "copy"]);
        }
    }
    let beyond = "ERR bitmap has ids beyond 32 bits";
    client.int(&["RB.ADD", "k", "4294967296"]);
    assert_eq!(client.error(&["RB.EXPORT", "k", "FORMAT", "PORTABLE32"]), beyond);
}

pub fn auto_finds_every_format_but_string() {
    let server = Server::start();
    let mut client = server.client();
    for shape in shapes() {
        client.ok(&["FLUSHALL"]);
        shape.store(&mut client, "k");
        for format in ["PORTABLE64", "PORTABLE32", "NATIVE"].into_iter().filter(|format| shape.fits(format)) {
            let payload = client.bytes(&["RB.EXPORT", "k", "FORMAT", format]);
            for auto in
                [args!["RB.IMPORT", "auto", &payload], args!["RB.IMPORT", "auto", &payload, "FORMAT", "auto"]]
            {
                assert_eq!(client.int(&auto) as usize, shape.ids.len(), "{} as {format}", shape.name);
            }
            client.int(&args!["RB.IMPORT", "named", &payload, "FORMAT", format]);
            assert_eq!(client.digest("auto"), client.digest("named"), "{} as {format}", shape.name);
        }
    }
    client.ok(&["FLUSHALL"]);
    for text in [&b""[..], b"A", b"\x80\x01", b"hello world", &[0; 4], &[0xff; 64], b"HYLL"] {
        let error = client.error(&args!["RB.IMPORT", "k", text]);
        assert!(error.starts_with("ERR invalid roaring payload: "), "{error}");
        assert_eq!(client.int(&["EXISTS", "k"]), 0, "{text:?}");
        let bits: u32 = text.iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(client.int(&args!["RB.IMPORT", "k", text, "FORMAT", "STRING"]), i64::from(bits));
        assert_eq!(length(&mut client, "k"), text.len() as u64);
        client.int(&["DEL", "k"]);
    }
}

pub fn a_plain_string_exports_what_its_bitmap_would() {
    let server = Server::start();
    let mut client = server.client();
    for shape in shapes().iter().filter(|shape| shape.fits("STRING")) {
        client.ok(&["FLUSHALL"]);
        shape.store(&mut client, "bitmap");
        let bytes = client.bytes(&["RB.EXPORT", "bitmap", "FORMAT", "STRING"]);
        assert_eq!(bytes.len() as u64, shape.length_bytes, "{}", shape.name);
        client.ok(&args!["SET", "string", &bytes]);
        for format in FORMATS {
            for range in [None, Some(("0", "+")), Some(("8", "80000")), Some(("65536", "131071"))] {
                let call = |key: &str| match range {
                    None => args!["RB.EXPORT", key, "FORMAT", format],
                    Some((start, end)) => args!["RB.EXPORT", key, "FORMAT", format, "RANGE", start, end],
                };
                let (string, bitmap) = (client.bytes(&call("string")), client.bytes(&call("bitmap")));
                let context = format!("{} as {format}, range {range:?}", shape.name);
                if format == "NATIVE" {
                    // The forms of its leaves tell how a bitmap grew, the digest does not.
                    client.int(&args!["RB.IMPORT", "from-string", string]);
                    client.int(&args!["RB.IMPORT", "from-bitmap", bitmap]);
                    assert_eq!(client.digest("from-string"), client.digest("from-bitmap"), "{context}");
                } else {
                    assert!(string == bitmap, "{context}");
                }
            }
        }
        assert_eq!(client.bytes(&["GET", "string"]), bytes);
    }
}

pub fn a_range_exports_exactly_its_ids() {
    let server = Server::start();
    let mut client = server.client();
    let starts = [0, 8, 65_536, 1 << 32, u64::MAX - 7];
    let ends = [7, 65_535, 131_079, 1_000_007, u64::MAX];
    for shape in shapes().into_iter().filter(|shape| shape.ids.len() < 50_000) {
        client.ok(&["FLUSHALL"]);
        shape.store(&mut client, "k");
        for start in starts {
            for end in ends {
                for format in FORMATS.into_iter().filter(|format| shape.fits(format)) {
                    let payload =
                        client.bytes(&args!["RB.EXPORT", "k", "FORMAT", format, "RANGE", start, end]);
                    let context = format!("{} as {format}, {start} to {end}", shape.name);
                    let inside = shape.ids.iter().copied().filter(|id| (start..=end).contains(id));
                    if format == "STRING" {
                        assert!(payload == string_of(&shape, start, end, inside), "{context}");
                        continue;
                    }
                    client.ask(&args!["RB.IMPORT", "part", payload, "FORMAT", format]);
                    assert!(ids(&mut client, "part") == inside.collect::<Vec<_>>(), "{context}");
                }
            }
        }
    }
    client.int(&["RB.ADD", "k", "1"]);
    let uneven = "ERR RANGE start must be a multiple of 8 with FORMAT STRING";
    for start in ["1", "7", "9", "+"] {
        assert_eq!(client.error(&["RB.EXPORT", "k", "FORMAT", "STRING", "RANGE", start, "+"]), uneven);
    }
    assert_eq!(client.cmd(&["RB.EXPORT", "missing", "RANGE", "0", "9"]), Ok(Value::Nil));
}

/// The bytes of a range, cut at the length.
fn string_of(shape: &Shape, start: u64, end: u64, inside: impl Iterator<Item = u64>) -> Vec<u8> {
    let last = shape.length_bytes.min(end / 8 + 1);
    let size = if start > end { 0 } else { last.saturating_sub(start / 8) };
    let mut bytes = vec![0u8; size as usize];
    for id in inside {
        bytes[((id - start) / 8) as usize] |= 0x80 >> (id % 8);
    }
    bytes
}
