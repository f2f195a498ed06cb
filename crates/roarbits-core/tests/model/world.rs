//! A bitmap and its twin, driven by the same operations; after each of them every
//! invariant is validated and every read compared.

use rand::rngs::StdRng;
use rand::Rng;
use roarbits_core::codec::{native, portable64};
use roarbits_core::{BitRead, Bitmap, Builder, Run};

use super::census::{Cause, Census};
use super::twin::{Answers, Law, Twin, AND, DIFF, OR, XOR};

/// A binary operation.
#[derive(Debug, Clone, Copy)]
pub enum Binary {
    And,
    Or,
    Xor,
    Diff,
}

impl Binary {
    pub const ALL: [Self; 4] = [Self::And, Self::Or, Self::Xor, Self::Diff];

    fn law(self) -> Law {
        match self {
            Self::And => AND,
            Self::Or => OR,
            Self::Xor => XOR,
            Self::Diff => DIFF,
        }
    }

    fn apply(self, left: &Bitmap, right: &Bitmap) -> Bitmap {
        match self {
            Self::And => left.and(right),
            Self::Or => left.or(right),
            Self::Xor => left.xor(right),
            Self::Diff => left.diff(right),
        }
    }
}

/// One operation on both.
#[derive(Debug, Clone)]
pub enum Op {
    /// `insert`, id by id.
    Insert(Vec<u64>),
    /// `remove`, id by id.
    Remove(Vec<u64>),
    InsertMany(Vec<u64>),
    RemoveMany(Vec<u64>),
    InsertRange(u64, u64),
    RemoveRange(u64, u64),
    FlipRange(u64, u64),
    GrowLength(u64),
    Combine(Binary, Vec<Run>),
    Not,
    Slice(u64, u64),
    /// Encoded as one NATIVE payload and decoded.
    Load,
    /// Cut into NATIVE pieces of about so many bytes and assembled.
    LoadPieces(usize),
    Portable,
    /// A clone is kept, to be found unchanged, whatever is written meanwhile.
    Snapshot,
    /// Goes on with the clone and keeps what was gone on with.
    Swap,
}

impl Op {
    fn cause(&self) -> Cause {
        match self {
            Self::Insert(_) => Cause::Insertion,
            Self::Remove(_) => Cause::Removal,
            Self::Load | Self::LoadPieces(_) => Cause::Load,
            _ => Cause::Bulk,
        }
    }
}

/// A bitmap, its twin, and a clone of both.
pub struct World<T> {
    pub bitmap: Bitmap,
    twin: T,
    length_bytes: u64,
    kept: Option<(Bitmap, T, u64)>,
    pub rng: StdRng,
    pub census: Census,
}

/// The bitmap of these maximal runs.
pub fn built(runs: &[Run]) -> Bitmap {
    let mut builder = Builder::new();
    runs.iter().for_each(|run| builder.push_run(*run));
    builder.finish(0)
}

fn bytes_to_cover(id: Option<u64>) -> u64 {
    id.map_or(0, |id| id / 8 + 1)
}

impl<T: Twin> World<T> {
    pub fn new(rng: StdRng) -> Self {
        Self {
            bitmap: Bitmap::new(),
            twin: T::of(&[]),
            length_bytes: 0,
            kept: None,
            rng,
            census: Census::default(),
        }
    }

    /// The maximal runs of the twin.
    pub fn runs(&self) -> Vec<Run> {
        self.twin.runs()
    }

    /// Does `op` to both and compares them.
    pub fn apply(&mut self, op: &Op) {
        let before = self.bitmap.stats();
        self.apply_to_both(op);
        let after = self.bitmap.stats();
        self.census.record(op.cause(), &before, &after);
        let valid = self.bitmap.validate();
        assert_eq!(valid, Ok(()), "after {}", short(op));
        let answers = Answers::new(self.twin.runs());
        compare(&self.bitmap, self.length_bytes, &answers, &mut self.rng, &short(op));
    }

    fn cover(&mut self, id: Option<u64>) {
        self.length_bytes = self.length_bytes.max(bytes_to_cover(id));
    }

    fn cardinality(&self) -> u128 {
        self.twin.runs().iter().map(|run| run.cardinality()).sum()
    }

    fn apply_to_both(&mut self, op: &Op) {
        match op {
            Op::Insert(ids) => {
                for id in ids {
                    assert_eq!(self.bitmap.insert(*id), self.twin.insert(*id), "insert {id}");
                }
                self.cover(ids.iter().max().copied());
            }
            Op::Remove(ids) => {
                for id in ids {
                    assert_eq!(self.bitmap.remove(*id), self.twin.remove(*id), "remove {id}");
                }
            }
            Op::InsertMany(ids) => {
                let fresh = ids.iter().filter(|id| self.twin.insert(**id)).count();
                assert_eq!(self.bitmap.insert_many(ids), fresh as u64);
                self.cover(ids.iter().max().copied());
            }
            Op::RemoveMany(ids) => {
                let gone = ids.iter().filter(|id| self.twin.remove(**id)).count();
                assert_eq!(self.bitmap.remove_many(ids), gone as u64);
            }
            Op::InsertRange(start, end) => {
                let fresh = self.bitmap.insert_range(*start..=*end);
                assert_eq!(self.combine(OR, *start, *end), fresh, "{op:?}");
                self.cover(Some(*end).filter(|end| start <= end));
            }
            Op::RemoveRange(start, end) => {
                let gone = self.bitmap.remove_range(*start..=*end);
                assert_eq!(self.combine(DIFF, *start, *end), gone, "{op:?}");
            }
            Op::FlipRange(start, end) => {
                self.bitmap.flip_range(*start..=*end);
                self.combine(XOR, *start, *end);
                self.cover(self.bitmap.max());
            }
            Op::GrowLength(bytes) => {
                assert_eq!(self.bitmap.grow_length(*bytes), *bytes > self.length_bytes);
                self.length_bytes = self.length_bytes.max(*bytes);
            }
            Op::Combine(binary, runs) => {
                self.bitmap = binary.apply(&self.bitmap, &built(runs));
                self.twin.combine(binary.law(), runs);
                self.cover(runs.last().map(|run| run.end));
            }
            Op::Not => {
                self.bitmap = self.bitmap.not();
                if let Some(last) = self.length_bytes.checked_sub(1) {
                    self.combine(XOR, 0, last * 8 + 7);
                }
            }
            Op::Slice(start, end) => {
                self.bitmap = self.bitmap.slice(*start..=*end);
                self.combine(AND, *start, *end);
            }
            Op::Load => {
                let payload = native::encode(&self.bitmap, 0..=u64::MAX);
                self.bitmap = native::decode(&payload).expect("what was encoded decodes");
            }
            Op::LoadPieces(target_bytes) => self.load_pieces(*target_bytes),
            Op::Portable => {
                let payload = portable64::encode(&self.bitmap, 0..=u64::MAX);
                self.bitmap = portable64::decode(&payload).expect("what was encoded decodes");
                self.length_bytes = bytes_to_cover(self.bitmap.max());
            }
            Op::Snapshot => self.keep(),
            Op::Swap => self.swap(),
        }
    }

    /// Combines the twin with one range; the number of ids that came or went.
    fn combine(&mut self, law: Law, start: u64, end: u64) -> u128 {
        let before = self.cardinality();
        if start <= end {
            self.twin.combine(law, &[Run { start, end }]);
        } else if !law(true, false) {
            self.twin = T::of(&[]);
        }
        self.cardinality().abs_diff(before)
    }

    fn load_pieces(&mut self, target_bytes: usize) {
        let mut assembler = native::Assembler::new();
        let mut complete = false;
        for piece in native::pieces(&self.bitmap, target_bytes) {
            assert!(!complete, "a piece after the last");
            complete = assembler.push(&piece).expect("a piece that was cut is accepted");
        }
        assert!(complete, "the last piece says so");
        self.bitmap = assembler.finish();
    }

    fn keep(&mut self) {
        self.check_kept();
        self.kept = Some((self.bitmap.clone(), self.twin.clone(), self.length_bytes));
    }

    fn swap(&mut self) {
        self.check_kept();
        if let Some((bitmap, twin, length_bytes)) = &mut self.kept {
            std::mem::swap(bitmap, &mut self.bitmap);
            std::mem::swap(twin, &mut self.twin);
            std::mem::swap(length_bytes, &mut self.length_bytes);
        }
    }

    /// The clone is as it was, whatever was written since.
    pub fn check_kept(&mut self) {
        if let Some((bitmap, twin, length_bytes)) = &self.kept {
            assert_eq!(bitmap.validate(), Ok(()), "a snapshot");
            let answers = Answers::new(twin.runs());
            compare(bitmap, *length_bytes, &answers, &mut self.rng, "a snapshot");
        }
    }
}

/// Ids of an operation that a message shows at most.
const SHOWN: usize = 300;

fn short(op: &Op) -> String {
    format!("{op:?}").chars().take(SHOWN).collect()
}

/// Places at which the answers are likeliest to be wrong: beside the ends of a run, a chunk, the id space.
fn place(answers: &Answers, rng: &mut StdRng) -> u64 {
    let runs = answers.runs();
    let near = rng.random_range(0..3u64);
    let at = match rng.random_range(0..6) {
        0 => rng.random(),
        1 => [0, u64::MAX][rng.random_range(0..2)],
        _ if runs.is_empty() => rng.random::<u64>() >> rng.random_range(0..64),
        2 => runs[rng.random_range(0..runs.len())].start & !0xFFFF,
        3 => runs[rng.random_range(0..runs.len())].end,
        _ => runs[rng.random_range(0..runs.len())].start,
    };
    at.saturating_add(near).saturating_sub(1)
}

/// Places compared after each operation, and runs or ids from each of them.
const PLACES: usize = 3;
const FOLLOWED: usize = 40;

fn compare(bitmap: &Bitmap, length_bytes: u64, answers: &Answers, rng: &mut StdRng, when: &str) {
    assert_eq!(bitmap.length_bytes(), length_bytes, "length after {when}");
    assert_eq!(bitmap.cardinality(), answers.cardinality(), "cardinality after {when}");
    assert_eq!(bitmap.is_empty(), answers.runs().is_empty());
    assert_eq!(bitmap.min(), answers.next_present(0), "min after {when}");
    assert_eq!(bitmap.max(), answers.runs().last().map(|run| run.end), "max after {when}");
    let mut runs = answers.runs().iter().copied();
    for run in bitmap.runs_in(0..=u64::MAX) {
        assert_eq!(Some(run), runs.next(), "a run after {when}");
    }
    assert_eq!(runs.next(), None, "the last run after {when}");
    assert_eq!(bitmap.select(answers.cardinality()), None);
    for _ in 0..PLACES {
        compare_at(bitmap, answers, place(answers, rng), place(answers, rng), rng, when);
    }
}

fn compare_at(bitmap: &Bitmap, answers: &Answers, a: u64, b: u64, rng: &mut StdRng, when: &str) {
    assert_eq!(bitmap.contains(a), answers.contains(a), "contains {a} after {when}");
    assert_eq!(bitmap.rank(a), answers.rank(a), "rank {a} after {when}");
    assert_eq!(bitmap.next_present(a), answers.next_present(a), "next present {a} after {when}");
    assert_eq!(bitmap.next_absent(a), answers.next_absent(a), "next absent {a} after {when}");
    if answers.cardinality() > 0 {
        let n = rng.random_range(0..answers.cardinality());
        assert_eq!(bitmap.select(n), answers.select(n), "select {n} after {when}");
    }
    let counted = if a > b { 0 } else { answers.rank(b) - answers.rank(a) + u128::from(answers.contains(a)) };
    assert_eq!(bitmap.count_range(a..=b), counted, "count {a}..={b} after {when}");
    let (from, to) = (a.min(b), a.max(b));
    let runs = bitmap.runs_in(from..=to).take(FOLLOWED);
    assert!(runs.eq(answers.runs_in(from, to).take(FOLLOWED)), "runs in {from}..={to} after {when}");
    let ids = bitmap.ids_in(from..=to).take(FOLLOWED);
    let expected = answers.runs_in(from, to).flat_map(|run| run.start..=run.end);
    assert!(ids.eq(expected.take(FOLLOWED)), "ids in {from}..={to} after {when}");
}
