//! The only list of what may be skipped, where and why. A test cannot skip
//! itself: an entry here keeps it from running, prints it with its reason and
//! counts it. An entry that names no test fails the run.

use crate::{places, Flavor};

/// One permission to skip.
pub struct Skip {
    /// The test's full name: `acl::categories_are_given`.
    pub test: &'static str,
    /// Where it is skipped.
    pub on: fn(&Flavor) -> bool,
    /// Why, for the person who reads the run.
    pub reason: &'static str,
}

/// Every permission there is.
pub const SKIPS: &[Skip] = &[
    Skip {
        test: "cluster::slots_that_migrate_atomically_while_written_lose_nothing",
        on: |flavor| flavor.is_redis() || flavor.version < (9, 0, 0),
        reason: "CLUSTER MIGRATESLOTS came with Valkey 9.0",
    },
    Skip {
        test: "datasets::the_archives_hold_the_published_counts",
        on: |_| places::data().is_none(),
        reason: NO_DATA,
    },
    Skip {
        test: "datasets::real_sets_answer_as_sorted_vectors_do",
        on: |_| places::data().is_none(),
        reason: NO_DATA,
    },
    Skip {
        test: "defrag::bitmaps_are_defragmented_at_once_and_stay_equal",
        on: refuses_activedefrag,
        reason: NO_ACTIVEDEFRAG,
    },
    Skip {
        test: "defrag::bitmaps_are_defragmented_in_steps_and_stay_equal",
        on: refuses_activedefrag,
        reason: NO_ACTIVEDEFRAG,
    },
    Skip {
        test: "defrag::a_copied_bitmap_stays_equal_to_its_original",
        on: refuses_activedefrag,
        reason: NO_ACTIVEDEFRAG,
    },
    Skip {
        test: "footprint::memory_usage_is_what_the_server_counts_for_real_sets",
        on: |_| places::data().is_none(),
        reason: NO_DATA,
    },
    Skip {
        test: "introspection::command_docs_is_the_row",
        on: Flavor::is_before_7,
        reason: "COMMAND DOCS came with Redis 7.0",
    },
    Skip {
        test: "introspection::key_specs_are_the_rows",
        on: Flavor::is_before_7,
        reason: "key specs came with Redis 7.0",
    },
    Skip {
        test: "keys::a_user_needs_the_permissions_of_the_key_specs",
        on: Flavor::is_before_7,
        reason: "permissions to only read or only write a key came with Redis 7.0",
    },
    Skip { test: "load::a_hundred_million_ids_are_as_usable_as_a_hundred", on: is_light, reason: HEAVY },
    Skip { test: "load::a_save_beside_writes_copies_the_pages_they_change", on: is_light, reason: HEAVY },
];

const HEAVY: &str = "minutes of work, done by `make test-heavy` (ROARBITS_HEAVY)";

fn is_light(_: &Flavor) -> bool {
    std::env::var_os("ROARBITS_HEAVY").is_none()
}

const NO_DATA: &str = "this machine has no folder of real data sets (ROARBITS_DATA)";

const NO_ACTIVEDEFRAG: &str =
    "this build refuses `activedefrag yes`: its allocator cannot tell which blocks lie badly";

/// Of the servers tested only Redis 8 is built with the jemalloc that defragmentation needs.
fn refuses_activedefrag(flavor: &Flavor) -> bool {
    !(flavor.is_redis() && flavor.version >= (8, 0, 0))
}
