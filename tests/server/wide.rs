//! The whole command table against what a span could cost and numbers could break:
//! a key that holds every id there is, and arguments that are no numbers at all.
//!
//! Times are the server's own, by INFO commandstats. List replies cost by the ids
//! they hold, so `max-reply` is 10,000 here.

mod full;
mod hostile;

use roarbits_tests::{tests, TestList};

use full::every_call_on_a_key_of_all_ids_is_quick_or_a_clear_error;
use hostile::hostile_numbers_are_errors_or_right_answers;

pub fn tests() -> TestList {
    tests![
        every_call_on_a_key_of_all_ids_is_quick_or_a_clear_error,
        hostile_numbers_are_errors_or_right_answers,
    ]
}
