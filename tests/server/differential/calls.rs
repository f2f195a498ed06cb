//! Random calls in two spellings, native and ours, and how their replies compare.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::Rng;
use roarbits_tests::{args, Args, Flavor, Outcome, Value};

use super::line;

/// Keys that calls write, read, combine, delete, rename and let expire.
pub const BITMAPS: &[&str] = &["a", "b", "c", "d", "e"];
/// Keys that stay plain strings on both sides: written by SETBIT and natively, read, never a dest.
pub const STRINGS: &[&str] = &["s", "t", "h"];

/// What a call is, for the tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    SetBit,
    GetBit,
    BitCount,
    BitPos,
    BitOp(&'static str),
    MSetBit,
    Import,
    Malformed,
    Shared,
}

/// How the native replies make the one that ours must be.
#[derive(Debug, Clone, Copy)]
enum Expected {
    /// There is one, and it is it.
    Same,
    /// All of them, in an array.
    Array,
    /// The last one.
    Last,
}

/// One call, natively and as ours.
pub struct Call {
    pub native: Vec<Args>,
    pub ours: Args,
    kind: Kind,
    expected: Expected,
}

impl Call {
    fn same(kind: Kind, native: Args) -> Call {
        let mut ours = native.clone();
        if let Some(name) = ours.first_mut() {
            name.splice(0..0, *b"RB.");
        }
        Call { native: vec![native], ours, kind, expected: Expected::Same }
    }

    /// The same words on both sides.
    fn shared(words: Args) -> Call {
        Call { native: vec![words.clone()], ours: words, kind: Kind::Shared, expected: Expected::Same }
    }

    /// True if it calls the module.
    pub fn is_ours(&self) -> bool {
        self.kind != Kind::Shared
    }

    /// The reply that ours must have.
    pub fn expected(&self, native: Vec<Outcome>) -> Outcome {
        match self.expected {
            Expected::Same | Expected::Last => {
                native.into_iter().next_back().unwrap_or_else(|| Err("no reply".to_string()))
            }
            Expected::Array => native.into_iter().collect::<Result<_, _>>().map(Value::Array),
        }
    }

    /// Our reply, but for our name in the text of a wrong number of arguments.
    pub fn comparable(&self, ours: Outcome) -> Outcome {
        ours.map_err(|text| text.replace("for 'rb.", "for '"))
    }

    /// True if both name a key of the tests.
    pub fn shares_key_with(&self, other: &Call) -> bool {
        let is_key = |arg: &Vec<u8>| BITMAPS.iter().chain(STRINGS).any(|key| key.as_bytes() == arg);
        self.ours.iter().any(|arg| is_key(arg) && other.ours.contains(arg))
    }

    /// Our spelling, with payloads cut.
    pub fn text(&self) -> String {
        let word = |arg: &Vec<u8>| match arg.len() {
            0 => "\"\"".to_string(),
            1..40 => arg.escape_ascii().to_string(),
            bytes => format!("<{bytes} bytes>"),
        };
        self.ours.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// The generator. It knows how long the values were when they were last compared.
pub struct Calls {
    flavor: Flavor,
    length_bytes: BTreeMap<&'static str, u64>,
    tally: BTreeMap<Kind, usize>,
}

impl Calls {
    pub fn new(flavor: Flavor) -> Calls {
        Calls { flavor, length_bytes: BTreeMap::new(), tally: BTreeMap::new() }
    }

    /// Notes how long a value is.
    pub fn set_length(&mut self, key: &'static str, bytes: u64) {
        self.length_bytes.insert(key, bytes);
    }

    /// How many calls of each kind there were.
    pub fn tally(&self) -> String {
        format!("{:?}", self.tally)
    }

    /// # Panics
    /// If a kind, or an operation that the server has, was never called.
    pub fn assert_all_kinds_came(&self) {
        let mut kinds = vec![
            Kind::SetBit,
            Kind::GetBit,
            Kind::BitCount,
            Kind::BitPos,
            Kind::MSetBit,
            Kind::Import,
            Kind::Shared,
        ];
        kinds.extend(self.operations().iter().map(|word| Kind::BitOp(word)));
        kinds.extend(self.is_the_model().then_some(Kind::Malformed));
        for kind in kinds {
            assert!(self.tally.contains_key(&kind), "no {kind:?} in {}", self.tally());
        }
    }

    /// The next call.
    pub fn next(&mut self, rng: &mut StdRng) -> Call {
        let call = match rng.random_range(0..100) {
            0..30 => self.setbit(rng),
            30..42 => self.getbit(rng),
            42..57 => self.bitcount(rng),
            57..72 => self.bitpos(rng),
            72..84 => self.bitop(rng),
            84..88 => self.msetbit(rng),
            88..92 => self.malformed(rng),
            92..95 => store(rng),
            95..97 => self.edit_string(rng),
            _ => keys_come_and_go(rng),
        };
        *self.tally.entry(call.kind).or_default() += 1;
        call
    }

    /// Redis 8.2, whose grammar and texts ours are.
    fn is_the_model(&self) -> bool {
        self.flavor.is_redis() && self.flavor.version >= (8, 2, 0)
    }

    fn operations(&self) -> &'static [&'static str] {
        const ALL: [&str; 8] = ["AND", "OR", "XOR", "NOT", "DIFF", "DIFF1", "ANDOR", "ONE"];
        if self.is_the_model() {
            &ALL
        } else {
            &ALL[..4]
        }
    }

    /// The BIT and BYTE of BITCOUNT and BITPOS came with Redis 7.0.
    fn unit(&self, rng: &mut StdRng) -> Option<&'static str> {
        let units = ["BIT", "BYTE", "bit", "Byte"];
        let given = !self.flavor.is_before_7() && rng.random_bool(0.6);
        given.then(|| units[rng.random_range(0..units.len())])
    }

    fn setbit(&self, rng: &mut StdRng) -> Call {
        let key = written_key(rng);
        let offset = self.near_offset(rng, key);
        let bit = u64::from(rng.random_bool(0.7));
        Call::same(Kind::SetBit, args!["SETBIT", key, offset, bit])
    }

    fn getbit(&self, rng: &mut StdRng) -> Call {
        let key = read_key(rng);
        Call::same(Kind::GetBit, args!["GETBIT", key, self.far_offset(rng, key)])
    }

    fn bitcount(&self, rng: &mut StdRng) -> Call {
        let key = read_key(rng);
        let mut call = args!["BITCOUNT", key];
        if rng.random_bool(0.85) {
            call.extend([self.index(rng, key), self.index(rng, key)]);
            call.extend(self.unit(rng).map(|word| word.into()));
        }
        Call::same(Kind::BitCount, call)
    }

    fn bitpos(&self, rng: &mut StdRng) -> Call {
        let key = read_key(rng);
        let mut call = args!["BITPOS", key, u64::from(rng.random_bool(0.5))];
        let given = rng.random_range(0..4);
        if given > 0 {
            call.push(self.index(rng, key));
        }
        if given > 1 {
            call.push(self.index(rng, key));
            call.extend(self.unit(rng).map(|word| word.into()));
        }
        Call::same(Kind::BitPos, call)
    }

    fn bitop(&self, rng: &mut StdRng) -> Call {
        let operations = self.operations();
        let word = operations[rng.random_range(0..operations.len())];
        let (least, most) = match word {
            "NOT" => (1, 1),
            "DIFF" | "DIFF1" | "ANDOR" => (2, 4),
            _ if rng.random_bool(0.05) => (5, 12),
            _ => (1, 4),
        };
        let dest = if rng.random_bool(0.01) { "list" } else { bitmap_key(rng) };
        let spelled = if rng.random_bool(0.5) { word.to_string() } else { word.to_lowercase() };
        let mut call = args!["BITOP", spelled, dest];
        for _ in 0..rng.random_range(least..=most) {
            call.push(source_key(rng).into());
        }
        Call::same(Kind::BitOp(word), call)
    }

    /// Natively one SETBIT for each bit.
    fn msetbit(&self, rng: &mut StdRng) -> Call {
        let mut call = Call {
            native: Vec::new(),
            ours: args!["RB.MSETBIT"],
            kind: Kind::MSetBit,
            expected: Expected::Array,
        };
        for _ in 0..rng.random_range(1..=6) {
            let key = if rng.random_bool(0.2) { "s" } else { bitmap_key(rng) };
            let triple = args![key, self.near_offset(rng, key), u64::from(rng.random_bool(0.6))];
            call.ours.extend(triple.iter().cloned());
            call.native.push(args!["SETBIT"].into_iter().chain(triple).collect());
        }
        call
    }

    /// A call of another kind with an argument spoiled, missing or too many.
    fn malformed(&self, rng: &mut StdRng) -> Call {
        let mut call = match rng.random_range(0..5) {
            0 => self.setbit(rng),
            1 => self.getbit(rng),
            2 => self.bitcount(rng),
            3 => self.bitpos(rng),
            _ => self.bitop(rng),
        };
        if !self.is_the_model() {
            return call;
        }
        let words = spoil(call.native.swap_remove(0), rng);
        call = Call::same(Kind::Malformed, words);
        call
    }

    /// An offset to write: one in ten at a container's edge or where the value ends.
    fn near_offset(&self, rng: &mut StdRng, key: &str) -> u64 {
        let edges = [1 << 16, self.length_bits(key)];
        self.offset(rng, &edges)
    }

    /// An offset to read: also where strings end, which would be costly to write.
    fn far_offset(&self, rng: &mut StdRng, key: &str) -> u64 {
        let edges = [1 << 16, 1 << 31, (1 << 32) - 1, self.length_bits(key)];
        self.offset(rng, &edges)
    }

    fn offset(&self, rng: &mut StdRng, edges: &[u64]) -> u64 {
        const LAST: u64 = (1 << 32) - 1;
        if rng.random_bool(0.1) {
            let edge = edges.choose(rng).copied().unwrap_or_default();
            return (edge + rng.random_range(0..18)).saturating_sub(9).min(LAST);
        }
        let span = [64, 4096, 70_000, 600_000].choose(rng).copied().unwrap_or(64);
        rng.random_range(0..span)
    }

    fn length_bits(&self, key: &str) -> u64 {
        self.length_bytes.get(key).copied().unwrap_or(0) * 8
    }

    /// A start or an end: small, near the value's length in bytes or bits from
    /// either side, or as far as numbers go.
    fn index(&self, rng: &mut StdRng, key: &str) -> Vec<u8> {
        const EXTREMES: [i64; 9] = [
            i64::MIN,
            i64::MIN + 1,
            -(1 << 32),
            1 << 31,
            (1 << 32) - 1,
            1 << 32,
            1 << 61,
            i64::MAX - 1,
            i64::MAX,
        ];
        let bits = self.length_bits(key) as i64;
        let index = match rng.random_range(0..10) {
            0..3 => rng.random_range(-12..12),
            3 => bits / 8 + rng.random_range(-3..=3),
            4 => bits + rng.random_range(-9..=9),
            5 => -bits / 8 + rng.random_range(-3..=3),
            6 => -bits + rng.random_range(-9..=9),
            7..9 => rng.random_range(-bits - 8..=bits + 8),
            _ => EXTREMES.choose(rng).copied().unwrap_or_default(),
        };
        index.to_string().into_bytes()
    }

    /// A plain string changed natively on both sides.
    fn edit_string(&self, rng: &mut StdRng) -> Call {
        const LONGEST_BYTES: u64 = 5_000;
        let key = if rng.random_bool(0.5) { "s" } else { "t" };
        let short = self.length_bits(key) < LONGEST_BYTES * 8;
        let part = payload(rng, 40);
        Call::shared(match rng.random_range(0..5) {
            0 if short => args!["APPEND", key, part],
            1 => args!["SETRANGE", key, rng.random_range(0..LONGEST_BYTES), part],
            // Kept as an integer, not as bytes.
            2 => args!["SET", key, rng.random_range(-10_000..10_000i64)],
            3 => args!["PFADD", "h", rng.random_range(0..5_000u64)],
            _ => args!["SET", key, payload(rng, 6_000)],
        })
    }
}

fn bitmap_key(rng: &mut StdRng) -> &'static str {
    BITMAPS[rng.random_range(0..BITMAPS.len())]
}

fn written_key(rng: &mut StdRng) -> &'static str {
    match rng.random_range(0..100) {
        0..85 => bitmap_key(rng),
        85..92 => "s",
        92..98 => "t",
        _ => "list",
    }
}

fn read_key(rng: &mut StdRng) -> &'static str {
    match rng.random_range(0..100) {
        0..75 => bitmap_key(rng),
        75..92 => STRINGS[rng.random_range(0..STRINGS.len())],
        92..97 => "none",
        _ => "list",
    }
}

/// A wrong type spoils the whole call, so it is rare.
fn source_key(rng: &mut StdRng) -> &'static str {
    match rng.random_range(0..100) {
        0..80 => bitmap_key(rng),
        80..93 => STRINGS[rng.random_range(0..STRINGS.len())],
        93..99 => "none",
        _ => "list",
    }
}

/// Replaces a value: by a plain string on both sides, or ours by a bitmap.
fn store(rng: &mut StdRng) -> Call {
    let key = bitmap_key(rng);
    let bytes = payload(rng, 70_000);
    let set = args!["SET", key, &bytes];
    if rng.random_bool(0.4) {
        return Call::shared(set);
    }
    Call {
        native: vec![set, args!["BITCOUNT", key]],
        ours: args!["RB.IMPORT", key, bytes, "FORMAT", "STRING"],
        kind: Kind::Import,
        expected: Expected::Last,
    }
}

fn keys_come_and_go(rng: &mut StdRng) -> Call {
    let (key, other) = (bitmap_key(rng), bitmap_key(rng));
    Call::shared(match rng.random_range(0..7) {
        0 => args!["DEL", key],
        1 => args!["RENAME", key, other],
        2 => args!["COPY", key, other, "REPLACE"],
        3 => args!["EXPIRE", key, "1000"],
        4 => args!["PERSIST", key],
        _ => args!["EXISTS", key],
    })
}

/// Bytes of every texture, seldom as many as `most`.
fn payload(rng: &mut StdRng, most: usize) -> Vec<u8> {
    let limit = [16, 16, 600, 600, 8_200, most].choose(rng).copied().unwrap_or(16).min(most);
    let length = rng.random_range(0..=limit);
    let mut bytes = vec![0; length];
    match rng.random_range(0..5) {
        0 => rng.fill(&mut bytes[..]),
        1 => bytes.fill(0xff),
        2 => {
            for at in (0..length).step_by(rng.random_range(1..300)) {
                bytes[at] = 1 << rng.random_range(0..8);
            }
        }
        3 => runs(rng, &mut bytes),
        _ => {}
    }
    bytes
}

fn runs(rng: &mut StdRng, bytes: &mut [u8]) {
    let mut at = 0;
    while at < bytes.len() {
        let end = (at + rng.random_range(1..3_000)).min(bytes.len());
        bytes[at..end].fill(0xff);
        bytes[end - 1] = 0xe0;
        at = end + rng.random_range(0..3_000);
    }
}

/// Spoils a well-formed call, in a way on which both names agree.
fn spoil(mut words: Args, rng: &mut StdRng) -> Args {
    const JUNK: [&str; 16] = [
        "", "-1", "abc", "1.5", "+5", " 5", "5 ", "0x10", "1e3", "2", "BIT", "BITS", "NOT", "\0", "-0", "1\0",
    ];
    let junk: Vec<u8> = JUNK.choose(rng).copied().unwrap_or_default().into();
    let is_bitop = words.first().is_some_and(|name| name == b"BITOP");
    match rng.random_range(0..4) {
        0 => words.truncate(rng.random_range(1..=words.len())),
        1 => words.push(junk),
        _ if is_bitop => words[1] = junk,
        _ if words.len() > 2 => {
            let at = rng.random_range(2..words.len());
            words[at] = junk;
        }
        _ => words = line(&["BITPOS", "a", "2"]),
    }
    words
}
