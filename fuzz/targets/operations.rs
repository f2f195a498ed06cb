//! Any bytes as a sequence of operations on a bitmap and on a list of intervals,
//! which must agree after each.

#![no_main]

#[allow(dead_code)] // the model test needs more of it
#[path = "../../crates/roarbits-core/tests/twin/mod.rs"]
mod twin;

use libfuzzer_sys::fuzz_target;
use roarbits_core::codec::native;
use roarbits_core::{BitRead, Bitmap, Run};
use twin::{Answers, Intervals, Twin, AND, DIFF, OR, XOR};

/// Where ids gather, so that operations meet.
const PLACES: [u64; 8] =
    [0, 1 << 16, 9 << 16, 1 << 32, 0x0123_4567_89AB_0000, 1 << 63, u64::MAX - 0xFFFF, 1 << 40];
/// How far apart the ids of one burst are.
const STRIDES: [u64; 8] = [1, 2, 3, 17, 300, 1 << 12, 1 << 16, 1 << 22];

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn id(&mut self) -> Option<u64> {
        let place = PLACES[usize::from(self.byte()? % 8)];
        let offset = u64::from(self.byte()?) << 8 | u64::from(self.byte()?);
        Some(place.saturating_add(offset))
    }

    /// 1 to 2,048 ids from one place on, perhaps with one far before them and one of other
    /// low bits after them.
    fn burst(&mut self) -> Option<Vec<u64>> {
        let (from, shape, others) = (self.id()?, self.byte()?, self.byte()?);
        let stride = STRIDES[usize::from(shape % 8)];
        let n = 1u64 << (shape / 8 % 12);
        let far = stride * u64::from(others >> 2) * 64;
        let before = from.checked_sub(far).filter(|_| others & 1 != 0 && far > 0);
        let after = from.checked_add((n - 1) * stride + 0x8001).filter(|_| others & 2 != 0);
        let ids = (0..n).map_while(|i| from.checked_add(i * stride));
        Some(before.into_iter().chain(ids).chain(after).collect())
    }

    fn range(&mut self) -> Option<Run> {
        let (a, b) = (self.id()?, self.id()?);
        Some(Run { start: a.min(b), end: a.max(b) })
    }
}

/// One operation on both; null at the end of the input.
fn step(input: &mut Input<'_>, bitmap: &mut Bitmap, twin: &mut Intervals, kept: &mut Bitmap) -> Option<()> {
    match input.byte()? % 14 {
        0 | 1 => input.burst()?.into_iter().for_each(|id| assert_eq!(bitmap.insert(id), twin.insert(id))),
        2 => input.burst()?.into_iter().for_each(|id| assert_eq!(bitmap.remove(id), twin.remove(id))),
        3 => {
            let ids = input.burst()?;
            let fresh = ids.iter().filter(|id| twin.insert(**id)).count();
            assert_eq!(bitmap.insert_many(&ids), fresh as u64);
        }
        4 => {
            let ids = input.burst()?;
            let gone = ids.iter().filter(|id| twin.remove(**id)).count();
            assert_eq!(bitmap.remove_many(&ids), gone as u64);
        }
        5 => {
            let run = input.range()?;
            bitmap.insert_range(run.start..=run.end);
            twin.combine(OR, &[run]);
        }
        6 => {
            let run = input.range()?;
            bitmap.remove_range(run.start..=run.end);
            twin.combine(DIFF, &[run]);
        }
        7 => {
            let run = input.range()?;
            bitmap.flip_range(run.start..=run.end);
            twin.combine(XOR, &[run]);
        }
        8 => {
            let run = input.range()?;
            *bitmap = bitmap.slice(run.start..=run.end);
            twin.combine(AND, &[run]);
        }
        9 => *kept = bitmap.clone(),
        10 => *bitmap = native::decode(&native::encode(bitmap, 0..=u64::MAX)).expect("encoded"),
        operation => {
            let other: Vec<Run> = kept.runs_in(0..=u64::MAX).collect();
            let (combined, law) = match operation {
                11 => (bitmap.or(kept), OR),
                12 => (bitmap.xor(kept), XOR),
                _ => (bitmap.diff(kept), DIFF),
            };
            *bitmap = combined;
            twin.combine(law, &other);
        }
    }
    Some(())
}

fn compare(bitmap: &Bitmap, twin: &Intervals) {
    assert_eq!(bitmap.validate(), Ok(()));
    let answers = Answers::new(twin.runs());
    assert!(bitmap.runs_in(0..=u64::MAX).eq(answers.runs().iter().copied()));
    assert_eq!(bitmap.cardinality(), answers.cardinality());
    for place in PLACES {
        assert_eq!(bitmap.rank(place), answers.rank(place));
        assert_eq!(bitmap.next_absent(place), answers.next_absent(place));
        assert_eq!(bitmap.next_present(place), answers.next_present(place));
    }
    if let Some(last) = answers.cardinality().checked_sub(1) {
        assert_eq!(bitmap.select(last / 2), answers.select(last / 2));
    }
}

fuzz_target!(|data: &[u8]| {
    let (mut bitmap, mut twin, mut kept) = (Bitmap::new(), Intervals::of(&[]), Bitmap::new());
    let mut input = Input(data);
    while step(&mut input, &mut bitmap, &mut twin, &mut kept).is_some() {
        compare(&bitmap, &twin);
    }
    assert_eq!(kept.validate(), Ok(()));
});
