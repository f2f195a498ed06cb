//! The pages for readers: one a command, and the index.

use std::fmt::Write;

use roarbits_spec::{Arg, ArgKind, Command, Group, Keys};

/// What holds for all commands, written by hand.
const RULES: &str = include_str!("rules.md");
const GROUPS: [Group; 4] = [Group::Bits, Group::Sets, Group::Questions, Group::Moving];
const PROMPT: &str = "127.0.0.1:6379>";

/// The file name of a command's page: `rb.setbit.md`.
pub fn file_name(command: &Command) -> String {
    format!("{}.md", command.name.to_lowercase())
}

/// The index: every command by family, then the rules of all.
pub fn index<'a>(commands: impl Iterator<Item = &'a Command>) -> String {
    let commands: Vec<_> = commands.collect();
    let mut out = String::from("# Commands\n");
    for group in GROUPS {
        line(
            &mut out,
            format_args!("\n## {}\n\n| Command | What it does | Complexity |\n|---|---|---|", group.title()),
        );
        for command in commands.iter().filter(|command| command.group == group) {
            line(&mut out, format_args!("{}", index_row(command)));
        }
    }
    out.push('\n');
    out.push_str(RULES);
    out
}

fn index_row(command: &Command) -> String {
    let Command { name, summary, complexity, .. } = command;
    format!("| [{name}]({}) | {summary} | {complexity} |", file_name(command))
}

/// The page of one command.
pub fn page(command: &Command) -> String {
    let mut out = format!("# {}\n\n{}.\n\n```\n{}\n```\n", command.name, command.summary, command.syntax());
    for note in command.notes {
        line(&mut out, format_args!("\n{note}"));
    }
    section(&mut out, "Reply", command.reply.iter().map(|case| (*case).to_owned()));
    section(&mut out, "Errors", command.errors.iter().map(|(text, when)| format!("`{text}`: {when}.")));
    examples(&mut out, command);
    section(&mut out, "Facts", facts(command).into_iter());
    section(&mut out, "History", command.history.iter().map(|(since, change)| format!("{since}: {change}.")));
    out.push_str("\nIds, ranges, types and errors that all commands share: [the rules](README.md#rules-of-every-command).\n");
    out
}

fn section(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    line(out, format_args!("\n## {title}\n"));
    for item in items {
        line(out, format_args!("- {item}"));
    }
}

fn examples(out: &mut String, command: &Command) {
    line(out, format_args!("\n## Examples\n\nOn an empty database, one after the other:\n\n```console"));
    for example in command.examples {
        line(out, format_args!("{PROMPT} {}\n{}", example.input, example.output));
    }
    line(out, format_args!("```"));
}

fn facts(command: &Command) -> Vec<String> {
    let mut facts = vec![
        format!("Since {}.", command.since),
        format!("Complexity: {}.", command.complexity),
        format!("Keys: {}.", keys(command)),
        format!(
            "Flags: {}.",
            command.flags.iter().map(|flag| code(flag.introspected())).collect::<Vec<_>>().join(", ")
        ),
        format!(
            "ACL categories: {}.",
            command.acl_categories().map(|name| code(&format!("@{name}"))).join(", ")
        ),
    ];
    if let Some(event) = command.event_name() {
        facts.push(format!("Keyspace event: {}, if something changed.", code(event)));
    }
    if !command.tips.is_empty() {
        facts.push(format!(
            "Tips: {}.",
            command.tips.iter().map(|tip| code(tip)).collect::<Vec<_>>().join(", ")
        ));
    }
    facts
}

/// Where the keys are and what is done to them, spec by spec.
fn keys(command: &Command) -> String {
    let specs = command.key_specs.iter().enumerate().map(|(index, spec)| {
        let names =
            key_names(command.args, index).iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
        format!("{names} ({})", spec.words().join(", "))
    });
    let place = match command.keys {
        Keys::Range { first, last, step } => format!("first {first}, last {last}, step {step}"),
        Keys::Parsed => "as the command reports".to_owned(),
    };
    format!("{}; {place}", specs.collect::<Vec<_>>().join(", "))
}

fn key_names(args: &[Arg], index: usize) -> Vec<&'static str> {
    args.iter()
        .flat_map(|arg| match arg.kind {
            ArgKind::Key(spec) if spec == index => vec![arg.name],
            _ => key_names(arg.kind.children(), index),
        })
        .collect()
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Appends a line; writing to a string cannot fail.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}
