//! That the sets are what their names say, and the same for everyone.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use roarbits_datasets::{calendars, days_later, real, seeded, Arrival, DataSet, Shape};

const SEED: u64 = 7;

fn ascends(ids: &[u64]) -> bool {
    ids.windows(2).all(|pair| pair[0] < pair[1])
}

/// The mean of something, within a part of what it should be.
fn assert_near(value: f64, expected: f64, part: f64, what: &str) {
    assert!((value - expected).abs() <= expected * part, "{what}: {value} is not near {expected}");
}

#[test]
fn shapes_give_as_many_ascending_ids_as_asked_for() {
    for shape in Shape::ALL {
        for n in [1, 10, 20_000] {
            let ids = shape.ids(n, &mut seeded(SEED));
            assert!(ascends(&ids), "{shape:?}");
            match shape {
                Shape::Dense => assert!(n < 100 || ids.len().abs_diff(n) < n / 50, "{}", ids.len()),
                _ => assert_eq!(ids.len(), n, "{shape:?}"),
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_ids_and_another_seed_others() {
    for set in DataSet::ALL.map(|set| set.resized(5000)) {
        assert_eq!(set.ids(1), set.ids(1), "{}", set.name);
        assert_ne!(set.ids(1), set.ids(2), "{}", set.name);
    }
    // These are what published figures were measured on.
    let sums = [DataSet::D1.resized(1000), DataSet::D3_10K, DataSet::D4_FAST.resized(1000)]
        .map(|set| set.ids(1).iter().fold(0u64, |sum, id| sum.wrapping_add(*id)));
    assert_eq!(sums, [1_745_038, 21_445_753_631_292, 17_514_635_518_975_004_734]);
}

#[test]
fn named_sets_have_the_published_ranges() {
    let dense = DataSet::D1.resized(300_000).ids(SEED);
    assert!(*dense.last().unwrap() < 1_000_000);
    assert_near(dense.len() as f64, 300_000.0, 0.01, "D1");
    let sparse = DataSet::D2.ids(SEED);
    assert_near(*sparse.last().unwrap() as f64, 1e8, 0.001, "the last of D2");
    let hashes = DataSet::D3_10K.ids(SEED);
    assert_near(*hashes.last().unwrap() as f64, 2f64.powi(32), 0.01, "the last of D3");
    let wide = DataSet::U63.resized(10_000).ids(SEED);
    assert_near(*wide.last().unwrap() as f64, 2f64.powi(63), 0.01, "the last of U63");
}

#[test]
fn runs_have_a_hundred_ids_on_average_over_a_thousand_times_the_span() {
    let ids = DataSet::D5.ids(SEED);
    let runs = 1 + ids.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
    assert_near(runs as f64, 10_000.0, 0.05, "runs");
    assert_near(*ids.last().unwrap() as f64, 1e9, 0.05, "the last of D5");
}

#[test]
fn snowflakes_come_at_their_rate_from_their_machines() {
    for (set, gap_ms, machines) in
        [(DataSet::D4_SLOW, 1000.0, 8), (DataSet::D4_FAST, 1.0, 8), (DataSet::D4_SLOW_ONE, 1000.0, 1)]
    {
        let ids = set.resized(100_000).ids(SEED);
        let times = (ids.last().unwrap() - ids[0]) >> 22;
        assert_near(times as f64 / 100_000.0, gap_ms, 0.02, set.name);
        let seen: BTreeSet<u64> = ids.iter().map(|id| (id >> 12) & 0x3ff).collect();
        assert_eq!(seen.len(), machines, "{}", set.name);
        assert!(ids.iter().all(|id| id & 0xfff < 20), "{}: a long sequence", set.name);
    }
    let ids = DataSet::D4_FAST_RANDOM.resized(100_000).ids(SEED);
    let (ones, zeros) = ids.iter().fold((0, u64::MAX), |(or, and), id| (or | id, and & id));
    assert_eq!((ones & 0x3f_ffff, zeros & 0x3f_ffff), (0x3f_ffff, 0));
}

#[test]
fn days_later_nothing_is_the_same() {
    let ids = DataSet::D4_SLOW.resized(10_000).ids(SEED);
    let later = days_later(&ids, 1);
    assert!(later[0] > *ids.last().unwrap() && ascends(&later));
    assert_eq!(later[5] - ids[5], 86_400_000 << 22);
}

#[test]
fn an_order_loses_no_id() {
    let ids = DataSet::D3_10K.ids(SEED);
    for arrival in Arrival::ALL {
        let mut ordered = arrival.order(ids.clone(), &mut seeded(SEED));
        assert_eq!(ordered == ids, arrival == Arrival::Ascending, "{arrival:?}");
        let falls = ordered.windows(2).filter(|pair| pair[0] > pair[1]).count();
        match arrival {
            Arrival::Ascending => assert_eq!(falls, 0),
            Arrival::Descending => assert_eq!(falls, 9999),
            Arrival::Shuffled => assert!((4500..5500).contains(&falls), "{falls}"),
            Arrival::Clustered => assert!((1..10).contains(&falls), "{falls}"),
        }
        ordered.sort_unstable();
        assert_eq!(ordered, ids, "{arrival:?}");
    }
}

#[test]
fn calendars_have_as_many_days_as_asked_for() {
    for (present, days) in [(5, 31), (30, 365), (9, 5)] {
        let all = calendars(1000, present, days, &mut seeded(SEED));
        assert_eq!(all.len(), 1000);
        for days_set in &all {
            assert_eq!(days_set.len(), present.min(days));
            assert!(ascends(days_set) && days_set.iter().all(|day| *day < days as u64));
        }
    }
}

/// Packs `texts` as the archive `name`; tar tells by the content that nothing is compressed.
fn pack(folder: &Path, name: &str, texts: &[(&str, &str)]) {
    fs::create_dir(folder.join(name)).unwrap();
    texts.iter().for_each(|(file, text)| fs::write(folder.join(name).join(file), text).unwrap());
    let archive = folder.join(format!("{name}.tar.xz"));
    let status = Command::new("tar").arg("-cf").arg(archive).arg("-C").arg(folder).arg(name).status();
    assert!(status.unwrap().success());
}

#[test]
fn real_sets_come_from_the_folder_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    pack(folder.path(), "some", &[("b.txt", "3,1,18446744073709551615\n"), ("a.txt", "")]);
    pack(folder.path(), "bad", &[("a.txt", "3,x")]);
    let [empty, numbers] = &real::load(folder.path(), "some").unwrap()[..] else {
        panic!("not two sets");
    };
    assert_eq!((empty.name.as_str(), &empty.values[..]), ("a.txt", &[][..]));
    assert_eq!((numbers.name.as_str(), &numbers.values[..]), ("b.txt", &[3, 1, u64::MAX][..]));
    assert!(real::load(folder.path(), "bad").unwrap_err().to_string().contains("\"x\""));
    assert!(real::load(folder.path(), "none").unwrap_err().to_string().contains("none.tar.xz"));
}
