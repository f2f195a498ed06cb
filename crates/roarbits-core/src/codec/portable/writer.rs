//! Writes 32-bit Roaring bodies straight from runs and plain bits.
//!
//! A body begins with what its containers hold, so the spans of a bucket are
//! walked twice: first to describe its containers (8 bytes each, at most 65,536),
//! then to write them. Each container takes its smallest form, as
//! Roaring's own run optimisation leaves it; on a tie it is not a run container.

use std::ops::RangeInclusive;

use super::{
    BITMAP_BYTES, COOKIE, MAX_ARRAY_CARDINALITY, MAX_CONTAINERS, OFFSETS_FROM_CONTAINERS, RUN_COOKIE,
};
use crate::bitmap::{next_run, BitRead, Run, Span};

/// The size of the body of a bucket that holds all its 2^32 ids.
pub(in crate::codec) const FULL_BODY_BYTES: u64 =
    header_bytes(MAX_CONTAINERS as u64, MAX_CONTAINERS as u64) + MAX_CONTAINERS as u64 * 6;

/// The spans of a bitmap, cut at the borders of buckets of 2^32 ids.
pub(in crate::codec) struct Buckets<'a> {
    spans: Box<dyn Iterator<Item = Span<'a>> + 'a>,
    rest: Option<Span<'a>>,
}

/// A part of one bucket.
#[derive(Clone, Copy)]
pub(in crate::codec) enum Part<'a> {
    /// Ids that follow one another.
    Stretch(Stretch),
    /// All ids of one container.
    Chunk(Chunk<'a>),
}

/// The ids of one container as plain bits, least significant first.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Chunk<'a> {
    key: u16,
    words: &'a [u64],
    runs: u16,
}

/// Ids of one bucket that follow one another: their lower 32 bits, inclusive.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Stretch {
    first: u32,
    last: u32,
}

/// What one container holds.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Container {
    key: u16,
    runs: u16,
    cardinality: u32,
}

/// How a container is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Array,
    Bitmap,
    Run,
}

/// Adds up the size of a body without listing its containers. Each run costs
/// O(1), however many containers it spans.
#[derive(Default)]
pub(in crate::codec) struct Sizer {
    open: Option<Container>,
    containers: u64,
    run_containers: u64,
    container_bytes: u64,
}

impl<'a> Buckets<'a> {
    /// Over the members in the closed `range`.
    pub(in crate::codec) fn new(bits: &'a dyn BitRead, range: RangeInclusive<u64>) -> Self {
        let mut spans = bits.spans_in(range);
        let rest = spans.next();
        Self { spans, rest }
    }

    /// The key (upper 32 bits) of the bucket that holds the next span.
    pub(in crate::codec) fn key(&self) -> Option<u32> {
        let start = match self.rest? {
            Span::Run(run) => run.start,
            Span::Chunk { base, .. } => base,
        };
        Some((start >> 32) as u32)
    }

    /// Takes the next part of bucket `key`; null where the bucket ends.
    pub(in crate::codec) fn next_in(&mut self, key: u32) -> Option<Part<'a>> {
        if self.key() != Some(key) {
            return None;
        }
        match self.rest? {
            Span::Chunk { base, words, runs } => {
                self.rest = self.spans.next();
                Some(Part::Chunk(Chunk { key: (base >> 16) as u16, words, runs }))
            }
            Span::Run(run) => {
                let border = run.start | u64::from(u32::MAX);
                self.rest = match run.end > border {
                    true => Some(Span::Run(Run { start: border + 1, end: run.end })),
                    false => self.spans.next(),
                };
                let last = run.end.min(border) as u32;
                Some(Part::Stretch(Stretch { first: run.start as u32, last }))
            }
        }
    }

    /// Takes the full buckets that come next, if any; their number.
    pub(in crate::codec) fn take_full(&mut self) -> u64 {
        let Some(Span::Run(run)) = self.rest else {
            return 0;
        };
        if run.start as u32 != 0 {
            return 0;
        }
        let ids = u128::from(run.end - run.start) + 1;
        let full = (ids >> 32) as u64;
        if full > 0 {
            let left = ids as u32;
            self.rest = match left {
                0 => self.spans.next(),
                _ => Some(Span::Run(Run { start: run.end - u64::from(left - 1), end: run.end })),
            };
        }
        full
    }
}

impl Stretch {
    /// Cuts at the borders of containers: the first, the full ones between, the last.
    fn cut(self) -> (Piece, u16, Option<Piece>) {
        let (first_key, last_key) = ((self.first >> 16) as u16, (self.last >> 16) as u16);
        if first_key == last_key {
            return (Piece { key: first_key, first: self.first as u16, last: self.last as u16 }, 0, None);
        }
        let head = Piece { key: first_key, first: self.first as u16, last: u16::MAX };
        let tail = Piece { key: last_key, first: 0, last: self.last as u16 };
        (head, last_key - first_key - 1, Some(tail))
    }

    /// Visits the parts of the stretch, one a container.
    fn for_each_piece(self, mut visit: impl FnMut(Piece)) {
        let (head, full, tail) = self.cut();
        visit(head);
        if let Some(tail) = tail {
            (1..=full).for_each(|i| visit(Piece { key: head.key + i, first: 0, last: u16::MAX }));
            visit(tail);
        }
    }
}

/// Ids of one container that follow one another: their lower 16 bits, inclusive.
#[derive(Clone, Copy)]
struct Piece {
    key: u16,
    first: u16,
    last: u16,
}

impl Piece {
    fn cardinality(self) -> u32 {
        u32::from(self.last - self.first) + 1
    }
}

impl Chunk<'_> {
    fn container(self) -> Container {
        let cardinality = self.words.iter().map(|word| word.count_ones()).sum();
        Container { key: self.key, runs: self.runs, cardinality }
    }

    /// Visits the runs of the chunk.
    fn for_each_piece(self, mut visit: impl FnMut(Piece)) {
        let mut from = Some(0);
        while let Some(run) = from.and_then(|from| next_run(self.words, 0, from)) {
            visit(Piece { key: self.key, first: run.start as u16, last: run.end as u16 });
            from = u16::try_from(run.end + 1).ok();
        }
    }
}

impl Container {
    fn of(piece: Piece) -> Self {
        Self { key: piece.key, runs: 1, cardinality: piece.cardinality() }
    }

    fn add(&mut self, piece: Piece) {
        self.runs += 1;
        self.cardinality += piece.cardinality();
    }

    fn form(self) -> Form {
        let plain = if self.cardinality <= MAX_ARRAY_CARDINALITY { Form::Array } else { Form::Bitmap };
        if self.bytes_as(Form::Run) < self.bytes_as(plain) {
            Form::Run
        } else {
            plain
        }
    }

    fn bytes_as(self, form: Form) -> u32 {
        match form {
            Form::Array => 2 * self.cardinality,
            Form::Bitmap => BITMAP_BYTES as u32,
            Form::Run => 2 + 4 * u32::from(self.runs),
        }
    }

    fn bytes(self) -> u32 {
        self.bytes_as(self.form())
    }
}

impl Sizer {
    /// Adds the next part of the bucket.
    pub(in crate::codec) fn add(&mut self, part: Part<'_>) {
        match part {
            Part::Stretch(stretch) => self.add_stretch(stretch),
            Part::Chunk(chunk) => {
                if let Some(done) = self.open.take() {
                    self.close(done, 1);
                }
                self.close(chunk.container(), 1);
            }
        }
    }

    fn add_stretch(&mut self, stretch: Stretch) {
        let (head, full, tail) = stretch.cut();
        self.add_piece(head);
        if let Some(tail) = tail {
            let between = Piece { key: 0, first: 0, last: u16::MAX };
            self.close(Container::of(between), u64::from(full));
            self.add_piece(tail);
        }
    }

    /// The size in bytes of the body of all parts added.
    pub(in crate::codec) fn finish(mut self) -> u64 {
        if let Some(open) = self.open.take() {
            self.close(open, 1);
        }
        header_bytes(self.containers, self.run_containers) + self.container_bytes
    }

    fn add_piece(&mut self, piece: Piece) {
        match &mut self.open {
            Some(open) if open.key == piece.key => open.add(piece),
            open => {
                if let Some(done) = open.replace(Container::of(piece)) {
                    self.close(done, 1);
                }
            }
        }
    }

    /// Counts `times` containers that hold the same.
    fn close(&mut self, container: Container, times: u64) {
        self.containers += times;
        if container.form() == Form::Run {
            self.run_containers += times;
        }
        self.container_bytes += times * u64::from(container.bytes());
    }
}

/// What comes before the containers themselves.
const fn header_bytes(containers: u64, run_containers: u64) -> u64 {
    let offsets = 4 * containers;
    if run_containers == 0 {
        return 8 + 4 * containers + offsets;
    }
    let flags = containers.div_ceil(8);
    let offsets = if containers < OFFSETS_FROM_CONTAINERS as u64 { 0 } else { offsets };
    4 + flags + 4 * containers + offsets
}

/// Writes bodies, one bucket after another; keeps the room for their descriptions.
#[derive(Default)]
pub(in crate::codec) struct BodyWriter {
    plan: Vec<Container>,
}

impl BodyWriter {
    /// Appends the body of bucket `key` to `out`. `ahead` and `behind` are both at
    /// the bucket, and both are left behind it.
    pub(in crate::codec) fn write(
        &mut self,
        key: u32,
        ahead: &mut Buckets<'_>,
        behind: &mut Buckets<'_>,
        out: &mut Vec<u8>,
    ) {
        self.plan(key, ahead);
        write_header(&self.plan, out);
        let mut coming = self.plan.iter();
        let mut open = OpenContainer { key: None, form: Form::Array, at: 0 };
        while let Some(part) = behind.next_in(key) {
            match part {
                Part::Stretch(stretch) => stretch.for_each_piece(|piece| {
                    if open.key != Some(piece.key) {
                        if let Some(container) = coming.next() {
                            open = OpenContainer::begin(container, out);
                        }
                    }
                    open.write(piece, out);
                }),
                Part::Chunk(chunk) => {
                    if let Some(container) = coming.next() {
                        open = OpenContainer::begin(container, out);
                        open.write_chunk(chunk, out);
                    }
                }
            }
        }
    }

    /// Describes the containers of bucket `key`.
    fn plan(&mut self, key: u32, ahead: &mut Buckets<'_>) {
        self.plan.clear();
        while let Some(part) = ahead.next_in(key) {
            match part {
                Part::Stretch(stretch) => stretch.for_each_piece(|piece| match self.plan.last_mut() {
                    Some(last) if last.key == piece.key => last.add(piece),
                    _ => self.plan.push(Container::of(piece)),
                }),
                Part::Chunk(chunk) => self.plan.push(chunk.container()),
            }
        }
    }
}

fn write_header(plan: &[Container], out: &mut Vec<u8>) {
    let run_containers = plan.iter().filter(|c| c.form() == Form::Run).count();
    if run_containers == 0 {
        put_u32(out, COOKIE);
        put_u32(out, plan.len() as u32);
    } else {
        put_u32(out, RUN_COOKIE | ((plan.len() - 1) as u32) << 16);
        for eight in plan.chunks(8) {
            let flags = eight.iter().enumerate().map(|(i, c)| u8::from(c.form() == Form::Run) << i);
            out.push(flags.sum());
        }
    }
    for container in plan {
        put_u16(out, container.key);
        put_u16(out, (container.cardinality - 1) as u16);
    }
    if run_containers == 0 || plan.len() >= OFFSETS_FROM_CONTAINERS {
        let mut offset = header_bytes(plan.len() as u64, run_containers as u64) as u32;
        for container in plan {
            put_u32(out, offset);
            offset += container.bytes();
        }
    }
}

/// The container that is being written, from byte `at` of the output.
struct OpenContainer {
    key: Option<u16>,
    form: Form,
    at: usize,
}

impl OpenContainer {
    fn begin(container: &Container, out: &mut Vec<u8>) -> Self {
        let (form, at) = (container.form(), out.len());
        match form {
            Form::Array => {}
            Form::Bitmap => out.resize(at + BITMAP_BYTES, 0),
            Form::Run => put_u16(out, container.runs),
        }
        Self { key: Some(container.key), form, at }
    }

    /// Writes all that the container holds.
    fn write_chunk(&self, chunk: Chunk<'_>, out: &mut Vec<u8>) {
        if self.form != Form::Bitmap {
            return chunk.for_each_piece(|piece| self.write(piece, out));
        }
        for (bytes, word) in out[self.at..].chunks_exact_mut(8).zip(chunk.words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn write(&self, piece: Piece, out: &mut Vec<u8>) {
        match self.form {
            Form::Array => (piece.first..=piece.last).for_each(|value| put_u16(out, value)),
            Form::Bitmap => set_bits(&mut out[self.at..], piece),
            Form::Run => {
                put_u16(out, piece.first);
                put_u16(out, piece.last - piece.first);
            }
        }
    }
}

/// Sets the bits of `piece`, the least significant bit of a byte first.
fn set_bits(bitmap: &mut [u8], piece: Piece) {
    let (first, last) = (usize::from(piece.first / 8), usize::from(piece.last / 8));
    let from_first = 0xff << (piece.first % 8);
    let to_last = 0xff >> (7 - piece.last % 8);
    if first == last {
        bitmap[first] |= from_first & to_last;
        return;
    }
    bitmap[first] |= from_first;
    bitmap[first + 1..last].fill(0xff);
    bitmap[last] |= to_last;
}

fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}
