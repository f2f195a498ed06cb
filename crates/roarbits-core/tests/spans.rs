//! What reads many members at once says the same as what reads one after the other:
//! spans and runs, ranks in bulk and one by one, a sample of leaves and all of them.

use std::ops::RangeInclusive;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use roarbits_core::bitmap::{class_bytes, Run, Sample, Span};
use roarbits_core::codec::{portable32, portable64, string};
use roarbits_core::{BitRead, Bitmap, Builder};

const SEED: u64 = 0x5eed_05fa;
const CHUNK: u64 = 1 << 16;

/// Chunks without a pattern beside sparse ones, runs over borders, and gaps.
fn mixed(rng: &mut StdRng, first: u64) -> Bitmap {
    let mut bitmap = Bitmap::new();
    for chunk in 0..rng.random_range(2..7) {
        let start = first + chunk * CHUNK;
        match rng.random_range(0..5) {
            0 => (),
            1 => {
                bitmap.insert_range(start + 9..=start + CHUNK + 70);
            }
            2 => {
                let ids: Vec<u64> = (0..50).map(|_| start + rng.random_range(0..CHUNK)).collect();
                bitmap.insert_many(&ids);
            }
            _ => {
                let share = [0.08, 0.5, 0.97][rng.random_range(0..3)];
                let ids: Vec<u64> = (start..start + CHUNK).filter(|_| rng.random_bool(share)).collect();
                bitmap.insert_many(&ids);
            }
        }
    }
    bitmap.validate().unwrap();
    bitmap
}

fn any_range(rng: &mut StdRng, first: u64) -> RangeInclusive<u64> {
    let mut border = || first + rng.random_range(0..8) * CHUNK + [0, 0, 1, 7, 4096][rng.random_range(0..5)];
    let (a, b) = (border(), border());
    a.min(b)..=a.max(b) - rng.random_range(0..=u64::from(a != b))
}

/// The bitmap to those who do not know of spans.
struct ByRuns<'a>(&'a Bitmap);

impl BitRead for ByRuns<'_> {
    fn length_bytes(&self) -> u64 {
        self.0.length_bytes()
    }
    fn cardinality(&self) -> u128 {
        self.0.cardinality()
    }
    fn contains(&self, id: u64) -> bool {
        self.0.contains(id)
    }
    fn count_range(&self, range: RangeInclusive<u64>) -> u128 {
        self.0.count_range(range)
    }
    fn select(&self, n: u128) -> Option<u64> {
        self.0.select(n)
    }
    fn next_present(&self, from: u64) -> Option<u64> {
        self.0.next_present(from)
    }
    fn next_absent(&self, from: u64) -> Option<u64> {
        self.0.next_absent(from)
    }
    fn max(&self) -> Option<u64> {
        self.0.max()
    }
    fn runs_in(&self, range: RangeInclusive<u64>) -> Box<dyn Iterator<Item = Run> + '_> {
        self.0.runs_in(range)
    }
}

fn ids_of(span: Span<'_>) -> Vec<u64> {
    match span {
        Span::Run(run) => (run.start..=run.end).collect(),
        Span::Chunk { base, words, .. } => {
            (0..CHUNK).filter(|i| words[(i / 64) as usize] >> (i % 64) & 1 == 1).map(|i| base + i).collect()
        }
    }
}

#[test]
fn spans_hold_the_members_of_the_range_in_order() {
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut chunks = 0;
    for _ in 0..60 {
        let first = rng.random_range(0..4) * (1 << 40);
        let bitmap = mixed(&mut rng, first);
        for _ in 0..10 {
            let range = any_range(&mut rng, first);
            let spans: Vec<Span<'_>> = bitmap.spans_in(range.clone()).collect();
            for span in &spans {
                if let Span::Chunk { base, words, runs } = span {
                    chunks += 1;
                    assert!(range.contains(base) && range.contains(&(base + CHUNK - 1)), "{range:?}");
                    assert_eq!(words.len(), 1024);
                    let within = bitmap.runs_in(*base..=base + CHUNK - 1).count();
                    assert_eq!(usize::from(*runs), within, "{base}");
                }
            }
            let ids: Vec<u64> = spans.into_iter().flat_map(ids_of).collect();
            assert!(ids == bitmap.ids_in(range.clone()).collect::<Vec<_>>(), "{range:?}");
        }
    }
    assert!(chunks > 100, "{chunks} chunks of plain bits");
}

#[test]
fn a_reversed_range_has_no_span() {
    let bitmap = mixed(&mut StdRng::seed_from_u64(SEED), 0);
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 70_000..=5;
    assert_eq!(bitmap.spans_in(reversed).count(), 0);
}

#[test]
fn every_format_is_the_same_by_spans_and_by_runs() {
    let mut rng = StdRng::seed_from_u64(SEED + 1);
    for round in 0..60 {
        // Across a border of buckets, and at the start.
        let first = [0, (1 << 32) - 3 * CHUNK][round % 2];
        let bitmap = mixed(&mut rng, first);
        let slow = ByRuns(&bitmap);
        for _ in 0..4 {
            let range = any_range(&mut rng, first);
            let is_same =
                portable64::encode(&bitmap, range.clone()) == portable64::encode(&slow, range.clone());
            assert!(is_same, "PORTABLE64 of {range:?}");
            let sizes =
                [&bitmap as &dyn BitRead, &slow].map(|bits| portable64::encoded_bytes(bits, range.clone()));
            assert_eq!(sizes[0], sizes[1]);
            let is_same =
                portable32::encode(&bitmap, range.clone()) == portable32::encode(&slow, range.clone());
            assert!(is_same, "PORTABLE32 of {range:?}");
            let bytes = range.start() / 8 * 8..=*range.end();
            let is_same = string::encode(&bitmap, bytes.clone()) == string::encode(&slow, bytes.clone());
            assert!(is_same, "STRING of {bytes:?}");
        }
    }
}

#[test]
fn many_ranks_are_answered_as_each_alone() {
    let mut rng = StdRng::seed_from_u64(SEED + 2);
    let mut full = Bitmap::new();
    full.insert_range(0..=u64::MAX);
    let mut bitmaps: Vec<Bitmap> = (0..30).map(|_| mixed(&mut rng, 1 << 33)).collect();
    let sparse: Vec<u64> = (0..200_000).map(|_| rng.random()).collect();
    bitmaps.extend([full, Bitmap::new(), sparse.into_iter().collect()]);
    for bitmap in &bitmaps {
        let cardinality = bitmap.cardinality();
        let mut ranks: Vec<u128> = (0..500).map(|_| rng.random_range(0..cardinality.max(1))).collect();
        ranks.extend([0, cardinality.saturating_sub(1), cardinality, u128::MAX, 0]);
        let alone: Vec<u64> = ranks.iter().filter_map(|rank| bitmap.select(*rank)).collect();
        assert_eq!(bitmap.select_all(&ranks), alone);
    }
}

#[test]
fn a_sample_of_leaves_tells_the_memory_of_all() {
    let mut rng = StdRng::seed_from_u64(SEED + 3);
    // Dense and sparse stretches in turn: leaves of very different sizes.
    let mut builder = Builder::new();
    for stretch in 0..8_000u64 {
        let start = stretch << 30;
        (0..20 + stretch % 700).for_each(|i| builder.push_id(start + i * 40_961));
        if stretch % 4 == 0 {
            let chunk = start + (1 << 29);
            (chunk..chunk + 2 * CHUNK).filter(|_| rng.random_bool(0.5)).for_each(|id| builder.push_id(id));
        }
    }
    let bitmap = builder.finish(0);
    let bytes = |bitmap: &Bitmap, sample| bitmap.memory_bytes(sample, &class_bytes);
    let (all, some) = (bytes(&bitmap, Sample::All), bytes(&bitmap, Sample::Some));
    let stats = bitmap.stats();
    assert_eq!(all, stats.memory_bytes);
    assert!(stats.leaves.ids + stats.leaves.bits > 8_192, "too few to be sampled: {stats:?}");
    assert_ne!(all, some, "a sample is not the whole");
    assert!(all.abs_diff(some) * 50 < all, "{all} bytes, {some} by a sample");
    let small: Bitmap = (0..1_000).map(|i| i * 1_000_003).collect();
    assert_eq!(bytes(&small, Sample::Some), small.stats().memory_bytes);
}
