//! Work off the main thread: what may happen while it is done, and what comes of it.
//!
//! No test here waits for a time to pass. One worker is kept at work with long questions
//! ([`Gate`]); the call under test waits behind them, known from CLIENT LIST, while the
//! test does what it wants to see the outcome of; then the questions are taken back by
//! closing their connections, and the call goes on.

mod ends;
mod gate;
mod limits;
mod told;
mod writes;

use roarbits_tests::{tests, TestList};

use ends::{
    a_client_that_goes_away_stores_nothing, a_new_primary_ends_stores,
    a_replaced_dataset_ends_what_is_in_flight, a_shutdown_does_not_wait_for_workers,
    a_store_during_a_pause_is_refused_or_waits_for_its_end,
};
use limits::{
    a_full_queue_is_busy, copies_larger_than_the_memory_are_refused_and_results_are_not,
    large_work_in_a_transaction_or_script_is_refused, limits_are_configs_of_the_server,
};
use told::{
    a_cached_answer_is_never_stale, info_counts_what_was_done_where,
    the_work_counts_in_statistics_and_the_slow_log, wait_waits_for_a_store,
};
use writes::{
    a_destination_changed_meanwhile_is_overwritten, a_destination_that_is_read_loses_no_acknowledged_bit,
    a_source_changed_meanwhile_was_as_it_was, imports_by_a_worker_reach_replicas_and_leave_nothing,
    stores_beside_writes_are_equal_on_a_replica_and_in_the_log,
};

pub fn tests() -> TestList {
    tests![
        a_replaced_dataset_ends_what_is_in_flight,
        a_client_that_goes_away_stores_nothing,
        a_store_during_a_pause_is_refused_or_waits_for_its_end,
        a_new_primary_ends_stores,
        a_shutdown_does_not_wait_for_workers,
        a_destination_changed_meanwhile_is_overwritten,
        a_source_changed_meanwhile_was_as_it_was,
        a_destination_that_is_read_loses_no_acknowledged_bit,
        stores_beside_writes_are_equal_on_a_replica_and_in_the_log,
        imports_by_a_worker_reach_replicas_and_leave_nothing,
        a_full_queue_is_busy,
        copies_larger_than_the_memory_are_refused_and_results_are_not,
        large_work_in_a_transaction_or_script_is_refused,
        limits_are_configs_of_the_server,
        a_cached_answer_is_never_stale,
        info_counts_what_was_done_where,
        the_work_counts_in_statistics_and_the_slow_log,
        wait_waits_for_a_store,
    ]
}
