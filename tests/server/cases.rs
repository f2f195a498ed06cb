//! Small inputs on which real systems of this kind failed in public. Each test
//! says what must hold instead; the address above it tells the story.
//!
//! Where a native command exists its answer is asserted beside ours, in database
//! 0 of the same server while ours is in database 1, so that keys have one name.

mod bits;
mod kernels;
mod names;
mod spans;

use roarbits_tests::{args, tests, Client, TestList};

use bits::{
    a_bit_cleared_far_out_leaves_the_first_bit_clear, a_source_of_another_type_is_one_error_and_nothing_else,
    a_value_of_ones_has_its_first_clear_bit_past_its_end, bitop_not_flips_the_padding_of_the_last_byte,
    bitop_not_replaces_its_source_and_any_other_dest, bitpos_counts_from_the_start_of_the_value,
    bitpos_of_a_clear_bit_starts_at_the_given_byte, clearing_a_bit_of_a_missing_key_sets_none,
    large_offsets_round_trip_exactly, missing_sources_are_zeros_and_only_missing_ones_delete_dest,
};
use kernels::{
    a_cursor_skips_nothing_at_the_edge_of_32_bits, a_difference_keeps_what_only_the_first_has,
    a_range_is_not_lost_in_a_union_with_one_id, a_range_that_closes_the_gap_of_two_runs_makes_them_one,
    ids_of_every_magnitude_are_counted, one_id_in_each_of_all_containers_survives_a_round_trip,
    ranks_follow_the_order_of_ids_not_of_arrival, select_reaches_the_last_of_many_one_id_runs,
};
use names::keys_named_like_options_work_everywhere;
use spans::{
    flipping_four_billion_ids_of_a_missing_key_takes_no_time, the_full_range_costs_no_time_and_little_memory,
};

pub fn tests() -> TestList {
    tests![
        clearing_a_bit_of_a_missing_key_sets_none,
        bitpos_of_a_clear_bit_starts_at_the_given_byte,
        bitpos_counts_from_the_start_of_the_value,
        a_value_of_ones_has_its_first_clear_bit_past_its_end,
        a_bit_cleared_far_out_leaves_the_first_bit_clear,
        bitop_not_flips_the_padding_of_the_last_byte,
        bitop_not_replaces_its_source_and_any_other_dest,
        large_offsets_round_trip_exactly,
        a_source_of_another_type_is_one_error_and_nothing_else,
        missing_sources_are_zeros_and_only_missing_ones_delete_dest,
        a_difference_keeps_what_only_the_first_has,
        select_reaches_the_last_of_many_one_id_runs,
        a_range_that_closes_the_gap_of_two_runs_makes_them_one,
        one_id_in_each_of_all_containers_survives_a_round_trip,
        flipping_four_billion_ids_of_a_missing_key_takes_no_time,
        a_range_is_not_lost_in_a_union_with_one_id,
        ids_of_every_magnitude_are_counted,
        a_cursor_skips_nothing_at_the_edge_of_32_bits,
        the_full_range_costs_no_time_and_little_memory,
        ranks_follow_the_order_of_ids_not_of_arrival,
        keys_named_like_options_work_everywhere,
    ]
}

/// The words of a line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Adds ids by one call; how many were new.
fn add(client: &mut Client, key: &str, ids: impl IntoIterator<Item = u64>) -> i64 {
    let mut command = args!["RB.ADD", key];
    command.extend(ids.into_iter().map(|id| id.to_string().into_bytes()));
    if command.len() == 2 {
        return 0;
    }
    client.int(&command)
}
