//! The runner: tests are listed by their modules, run in parallel, printed and
//! counted as cargo test does it (its closing line included), with skips
//! decided by the table in `skips` and listed with their reasons.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::skips::{Skip, SKIPS};
use crate::{places, Flavor};

/// The tests of one module: name and function, made by `tests!`.
pub type TestList = Vec<(&'static str, fn())>;

/// Lists test functions under their own names:
/// `pub fn tests() -> TestList { tests![a_sentence_that_holds, another] }`.
/// A function left out of the list is dead code, which the lints refuse.
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => { vec![$((stringify!($name), $name as fn())),*] };
}

thread_local! {
    /// What a failing test on this thread has to say; None outside a test.
    static STORY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the tests of all modules by the command line of cargo test, and says
/// per server how many ran and which were skipped.
pub fn main(modules: Vec<(&'static str, TestList)>) -> ExitCode {
    let arguments = Arguments::from_args();
    let names = full_names(&modules);
    if let Err(problem) = check_table(&names) {
        eprintln!("{problem}");
        return ExitCode::FAILURE;
    }
    let functions = modules.into_iter().flat_map(|(_, list)| list).map(|(_, function)| function);
    if arguments.list {
        let trials =
            names.into_iter().zip(functions).map(|(name, function)| Trial::test(name, move || run(function)));
        return libtest_mimic::run(&arguments, trials.collect()).exit_code();
    }
    let flavor = Flavor::current();
    let trials: Vec<Trial> =
        names.iter().zip(functions).map(|(name, function)| trial(name, function, &flavor)).collect();
    let skipped: Vec<&Skip> = trials
        .iter()
        .filter(|trial| !arguments.is_filtered_out(trial))
        .filter_map(|trial| skip_of(trial.name(), &flavor))
        .collect();
    println!("\nserver under test: {flavor} ({})", places::server_binary().display());
    for skip in &skipped {
        println!("skipped on {flavor}: {}: {}", skip.test, skip.reason);
    }
    tell_panics_to_their_tests();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let run_count = conclusion.num_passed + conclusion.num_failed;
    println!(
        "{flavor}: {run_count} run, {} failed, {} skipped",
        conclusion.num_failed, conclusion.num_ignored
    );
    conclusion.exit_code()
}

/// Adds to what a failing test on this thread has to say; on other threads
/// prints it.
pub(crate) fn explain(text: &str) {
    STORY.with_borrow_mut(|story| match story {
        Some(story) => {
            story.push('\n');
            story.push_str(text);
        }
        None => eprintln!("{text}"),
    });
}

fn full_names(modules: &[(&'static str, TestList)]) -> Vec<String> {
    let in_module = |(module, list): &(&'static str, TestList)| {
        list.iter().map(|(name, _)| format!("{module}::{name}")).collect::<Vec<_>>()
    };
    modules.iter().flat_map(in_module).collect()
}

fn check_table(names: &[String]) -> Result<(), String> {
    match SKIPS.iter().find(|skip| !names.iter().any(|name| name == skip.test)) {
        Some(skip) => Err(format!("the table of skips names `{}`, which is no test", skip.test)),
        None => Ok(()),
    }
}

fn skip_of(name: &str, flavor: &Flavor) -> Option<&'static Skip> {
    SKIPS.iter().find(|skip| skip.test == name && (skip.on)(flavor))
}

fn trial(name: &str, function: fn(), flavor: &Flavor) -> Trial {
    let reason = skip_of(name, flavor).map(|skip| skip.reason);
    Trial::ignorable_test(name, move || match reason {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => run(function).map(|()| Completion::Completed),
    })
}

fn run(function: fn()) -> Result<(), Failed> {
    STORY.set(Some(String::new()));
    let outcome = panic::catch_unwind(AssertUnwindSafe(function));
    let story = STORY.take().unwrap_or_default();
    outcome.map_err(|_| Failed::from(story))
}

/// A panic on a test's own thread becomes part of its story, printed once and
/// in one piece at the end; panics of other threads are printed as usual.
fn tell_panics_to_their_tests() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if STORY.with_borrow(Option::is_some) {
            explain(&panic_text(info));
        } else {
            usual(info);
        }
    }));
}

fn panic_text(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let message =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(|location| format!(" at {}:{}", location.file(), location.line()));
    format!("{}{}", message.unwrap_or("panicked"), place.unwrap_or_default())
}
