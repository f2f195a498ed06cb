//! The set-like commands beyond what the comparisons with native commands reach:
//! scans under writes, members at random, limits, RESP3, lengths, and Lua.

mod replies;
mod scanning;
mod values;

use roarbits_tests::{tests, Client, TestList, Value};

use replies::{
    a_list_above_max_reply_is_refused_and_limit_and_scan_go_on, counts_and_maps_have_their_resp3_forms,
    ids_stay_exact_in_lua, members_at_random_are_different_and_uniform,
    options_of_range_are_checked_and_obeyed,
};
use scanning::{
    a_cursor_is_an_id_and_zero_starts_and_ends, a_scan_meets_every_id_that_stays_while_another_client_writes,
    a_scan_meets_every_id_that_stays_while_forms_change,
};
use values::{
    a_bitmap_lives_on_without_ids_and_keeps_its_length, a_read_of_a_missing_key_answers_and_creates_nothing,
    a_string_is_read_as_a_set_but_changed_only_by_bit_writes, other_types_are_refused_by_every_command,
};

pub fn tests() -> TestList {
    tests![
        a_list_above_max_reply_is_refused_and_limit_and_scan_go_on,
        counts_and_maps_have_their_resp3_forms,
        ids_stay_exact_in_lua,
        members_at_random_are_different_and_uniform,
        options_of_range_are_checked_and_obeyed,
        a_cursor_is_an_id_and_zero_starts_and_ends,
        a_scan_meets_every_id_that_stays_while_forms_change,
        a_scan_meets_every_id_that_stays_while_another_client_writes,
        a_bitmap_lives_on_without_ids_and_keeps_its_length,
        a_read_of_a_missing_key_answers_and_creates_nothing,
        a_string_is_read_as_a_set_but_changed_only_by_bit_writes,
        other_types_are_refused_by_every_command,
    ]
}

/// A bulk string.
fn bulk(text: impl ToString) -> Value {
    Value::BulkString(text.to_string().into_bytes())
}

/// One field of RB.INFO, an integer.
fn info(client: &mut Client, key: &str, field: &str) -> i64 {
    let Value::Array(fields) = client.ask(&["RB.INFO", key]) else { panic!("RB.INFO {key} is no list") };
    let at = fields.iter().position(|name| *name == bulk(field));
    match at.and_then(|at| fields.get(at + 1)) {
        Some(Value::Int(number)) => *number,
        other => panic!("RB.INFO {key} has {field} = {other:?}"),
    }
}
