//! Every row against the rules that hold for all: a row that breaks one would
//! register, document or introspect its command wrongly.

use std::collections::HashSet;

use roarbits_spec::{commands, debug_commands, find, Access, Arg, ArgKind, Command, Flag, Group};

/// The native commands that examples may use.
const NATIVE: [&str; 8] = ["DEL", "EVAL", "EXISTS", "GET", "LPUSH", "SET", "SETBIT", "TTL"];
const TIPS: [&str; 2] = ["nondeterministic_output", "nondeterministic_output_order"];

fn all() -> impl Iterator<Item = &'static Command> {
    commands().chain(debug_commands())
}

/// Calls `check` with every argument of every row, nested ones included, and its siblings.
fn each_argument(check: impl Fn(&Command, &Arg)) {
    fn walk(command: &Command, args: &[Arg], check: &dyn Fn(&Command, &Arg)) {
        for arg in args {
            check(command, arg);
            walk(command, arg.kind.children(), check);
        }
    }
    all().for_each(|command| walk(command, command.args, &check));
}

/// The most arguments a call has, the name included; null if there is no limit.
fn max_arguments(command: &Command) -> Option<usize> {
    most(command.args).map(|most| most + 1)
}

fn most(args: &[Arg]) -> Option<usize> {
    args.iter().map(most_of).sum()
}

fn most_of(arg: &Arg) -> Option<usize> {
    if arg.multiple {
        return None;
    }
    let content = match arg.kind {
        ArgKind::PureToken => 0,
        ArgKind::OneOf(choices) => {
            choices.iter().map(most_of).try_fold(0, |most, each| each.map(|n| n.max(most)))?
        }
        ArgKind::Block(parts) => most(parts)?,
        _ => 1,
    };
    Some(content + usize::from(arg.token.is_some()))
}

#[test]
fn names_are_unique_and_upper_case() {
    let mut seen = HashSet::new();
    for command in all() {
        assert!(seen.insert(command.name), "{} twice", command.name);
        assert!(command.name.starts_with("RB."), "{}", command.name);
        assert_eq!(command.name, command.name.to_uppercase());
    }
    assert_eq!(commands().count(), 27);
}

#[test]
fn a_command_is_found_in_any_case_of_letters() {
    for command in all() {
        assert_eq!(find(&command.name.to_lowercase()).map(|found| found.name), Some(command.name));
    }
    assert!(find("SETBIT").is_none());
    assert!(find("RB.NOSUCH").is_none());
}

#[test]
fn development_commands_are_apart() {
    assert!(commands().all(|command| command.group != Group::Debug));
    assert!(debug_commands().all(|command| command.group == Group::Debug));
    assert!(debug_commands().count() > 0);
}

#[test]
fn a_row_is_complete() {
    for command in all() {
        let name = command.name;
        for text in [command.summary, command.complexity, command.since] {
            assert!(!text.trim().is_empty(), "{name}");
        }
        assert!(!command.reply.is_empty(), "{name} does not say what it replies");
        assert!(!command.args.is_empty(), "{name} takes nothing");
        assert_eq!(command.since.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3, "{name}");
        assert!(command.tips.iter().all(|tip| TIPS.contains(tip)), "{name}: an unknown tip");
    }
}

#[test]
fn a_summary_is_one_short_sentence_without_a_full_stop() {
    for Command { name, summary, .. } in all() {
        assert!(summary.len() <= 80, "{name}: {} characters", summary.len());
        assert!(!summary.ends_with('.'), "{name}");
        assert!(summary.starts_with(|first: char| first.is_ascii_uppercase()), "{name}");
    }
}

#[test]
fn a_command_reads_or_writes_and_never_both() {
    for command in all() {
        assert_ne!(command.has(Flag::Write), command.has(Flag::Readonly), "{}", command.name);
        assert!(command.is_write() || !command.has(Flag::DenyOom), "{} reads but is refused", command.name);
    }
}

#[test]
fn only_writes_that_free_are_allowed_over_maxmemory() {
    let freeing: Vec<_> = all()
        .filter(|command| command.is_write() && !command.has(Flag::DenyOom))
        .map(|row| row.name)
        .collect();
    assert_eq!(freeing, ["RB.REM", "RB.REMRANGE"]);
}

#[test]
fn a_write_has_the_event_of_its_name_and_a_read_has_none() {
    for command in all() {
        let expected = command.is_write().then(|| command.name.to_lowercase());
        assert_eq!(command.event_name(), expected.as_deref(), "{}", command.name);
    }
}

#[test]
fn a_fast_command_costs_a_search_for_each_argument_at_most() {
    for command in all().filter(|command| command.has(Flag::Fast)) {
        let cost = command.complexity;
        let fast = ["O(1)", "O(log n) ", "O(k log n) "].iter().any(|prefix| cost.starts_with(prefix));
        assert!(fast, "{}: {cost}", command.name);
    }
}

#[test]
fn acl_categories_follow_the_flags() {
    let categories = |name| find(name).map(Command::acl_categories);
    assert_eq!(categories("RB.SETBIT"), Some(["write", "fast", "bitmap", "roarbits"]));
    assert_eq!(categories("RB.RANGE"), Some(["read", "slow", "bitmap", "roarbits"]));
}

#[test]
fn the_arity_is_what_the_arguments_say() {
    for command in all() {
        let least = command.min_arguments();
        let fixed = max_arguments(command) == Some(least);
        let least = i32::try_from(least).expect("a handful");
        assert_eq!(command.arity, if fixed { least } else { -least }, "{}", command.name);
    }
}

#[test]
fn key_arguments_and_key_specs_name_each_other() {
    each_argument(|command, arg| {
        if let ArgKind::Key(spec) = arg.kind {
            assert!(spec < command.key_specs.len(), "{}: {}", command.name, arg.name);
        }
    });
    for command in all() {
        for spec in 0..command.key_specs.len() {
            assert!(names_spec(command.args, spec), "{}: no argument for key spec {spec}", command.name);
        }
    }
}

fn names_spec(args: &[Arg], spec: usize) -> bool {
    args.iter().any(|arg| match arg.kind {
        ArgKind::Key(index) => index == spec,
        _ => names_spec(arg.kind.children(), spec),
    })
}

#[test]
fn reads_declare_reads_and_writes_declare_writes() {
    for command in all() {
        let writes =
            command.key_specs.iter().any(|spec| !matches!(spec.access, Access::Read | Access::Inspect));
        assert_eq!(writes, command.is_write(), "{}", command.name);
    }
}

#[test]
fn arguments_are_named_apart_and_spelt_as_their_kind() {
    let lower = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    each_argument(|command, arg| {
        let place = format!("{}: {}", command.name, arg.name);
        assert!(lower(arg.name), "{place}");
        assert!(arg.token.is_none_or(|token| token == token.to_uppercase()), "{place}");
        assert!(
            arg.token.is_some() || !matches!(arg.kind, ArgKind::PureToken),
            "{place} is a word without a word"
        );
        let children = arg.kind.children();
        let names: HashSet<_> = children.iter().map(|child| child.name).collect();
        assert_eq!(names.len(), children.len(), "{place}: two children of one name");
    });
    for command in all() {
        let names: HashSet<_> = command.args.iter().map(|arg| arg.name).collect();
        assert_eq!(names.len(), command.args.len(), "{}", command.name);
    }
}

#[test]
fn examples_show_the_command_and_use_known_ones_only() {
    for command in all() {
        let verbs: Vec<_> =
            command.examples.iter().filter_map(|example| example.input.split(' ').next()).collect();
        assert!(
            command.examples.iter().any(|example| example.input.contains(command.name)),
            "{}",
            command.name
        );
        for verb in verbs {
            assert!(find(verb).is_some() || NATIVE.contains(&verb), "{}: {verb}", command.name);
        }
    }
}

#[test]
fn examples_print_as_redis_cli_does() {
    for command in all() {
        for example in command.examples {
            for line in example.output.lines() {
                let value = line.trim_start().rsplit_once("1) ").map_or(line, |(_, value)| value);
                assert!(!value.is_empty() && value == value.trim_end(), "{}: {line}", command.name);
            }
            // Lists of ten items and more are aligned to the right.
            let first = example.output.trim_start().chars().next().unwrap_or_default();
            assert!("(\"1O".contains(first), "{}: {}", command.name, example.output);
        }
    }
}

#[test]
fn an_error_has_a_prefix_and_says_when_in_a_phrase() {
    for command in all() {
        for (text, when) in command.errors {
            let prefix = text.split(' ').next().unwrap_or_default();
            assert!(["ERR", "WRONGTYPE", "RBBUSY", "TRYAGAIN"].contains(&prefix), "{}: {text}", command.name);
            assert!(!when.is_empty() && !when.ends_with('.'), "{}: {when}", command.name);
        }
    }
}
