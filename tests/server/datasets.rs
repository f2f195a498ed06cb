//! The real sets, loaded through a client.

use roarbits_tests::{datasets, tests, TestList};

pub fn tests() -> TestList {
    tests![the_archives_hold_the_published_counts]
}

fn the_archives_hold_the_published_counts() {
    let published = [
        ("census1881", 1_003_861),
        ("wikileaks-noquotes", 275_355),
        ("uscensus2000", 5_985),
        ("census-income_srt", 6_092_864),
    ];
    for (archive, count) in published {
        let sets = datasets::load(archive);
        assert_eq!(sets.len(), 200, "keys of {archive}");
        assert_eq!(sets.iter().map(|set| set.values.len()).sum::<usize>(), count, "values of {archive}");
    }
}
