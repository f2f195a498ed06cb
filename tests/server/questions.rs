//! Questions over many keys: their answers against exact sets, their grammar, and where
//! they may be asked.

mod asking;
mod grammar;
mod oracle;
mod sets;
mod storing;

use roarbits_tests::{tests, Client, TestList, Value};

use asking::{
    a_list_above_max_reply_is_refused, a_long_page_is_written_by_a_worker, a_user_needs_every_operand,
    explain_tells_how_it_was_done, maps_and_doubles_have_their_resp3_forms,
    operands_of_every_type_are_taken_or_refused, questions_are_answered_by_a_replica,
    questions_are_asked_in_transactions_and_scripts, questions_work_under_hash_tags_in_a_cluster,
};
use grammar::{
    a_count_of_keys_is_read_as_strictly_as_by_the_server, a_syntax_error_names_its_place,
    keys_named_as_options_are_keys, options_are_checked_and_obeyed,
};
use oracle::{expressions_in_place_agree_with_exact_sets, expressions_on_workers_agree_with_exact_sets};
use storing::{
    a_lifetime_is_the_same_on_a_replica_and_after_a_restart, a_result_replaces_what_was_there,
    an_empty_result_deletes_the_destination, the_destination_may_be_among_the_keys,
};

pub fn tests() -> TestList {
    tests![
        expressions_on_workers_agree_with_exact_sets,
        expressions_in_place_agree_with_exact_sets,
        a_syntax_error_names_its_place,
        options_are_checked_and_obeyed,
        a_count_of_keys_is_read_as_strictly_as_by_the_server,
        keys_named_as_options_are_keys,
        operands_of_every_type_are_taken_or_refused,
        questions_are_answered_by_a_replica,
        a_user_needs_every_operand,
        questions_are_asked_in_transactions_and_scripts,
        maps_and_doubles_have_their_resp3_forms,
        questions_work_under_hash_tags_in_a_cluster,
        explain_tells_how_it_was_done,
        a_list_above_max_reply_is_refused,
        a_long_page_is_written_by_a_worker,
        a_result_replaces_what_was_there,
        the_destination_may_be_among_the_keys,
        an_empty_result_deletes_the_destination,
        a_lifetime_is_the_same_on_a_replica_and_after_a_restart,
    ]
}

/// Four days: `mon` {1, 2, 3, 5}, `tue` {2, 3, 4}, `wed` {3, 4, 5, a Snowflake}, `churned` {3}.
fn days(client: &mut Client) {
    client.int(&["RB.ADD", "mon", "1", "2", "3", "5"]);
    client.int(&["RB.ADD", "tue", "2", "3", "4"]);
    client.int(&["RB.ADD", "wed", "3", "4", "5", "7301234567890123456"]);
    client.int(&["RB.ADD", "churned", "3"]);
}

/// A bulk string.
fn bulk(text: impl ToString) -> Value {
    Value::BulkString(text.to_string().into_bytes())
}

/// The words of a line, an expression in single quotes being one.
fn words(line: &str) -> Vec<Vec<u8>> {
    roarbits_tests::terminal::split(line).unwrap_or_else(|error| panic!("{error}"))
}
