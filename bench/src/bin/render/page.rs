//! The page: what was measured and how, the tables, the plots.

use std::fmt::Write;
use std::io;

use roarbits_bench::comparison::{comparisons, Comparison, Standing};
use roarbits_bench::live::catalogue::{AND_BY_OPERANDS, MEMORY, MEMORY_BY_IDS, OR_BY_OPERANDS};
use roarbits_bench::{Environment, Results};

use super::goals::lost;
use super::plot::Plot;
use super::tables::{sums, table, OF_CORE, OF_QUESTIONS, OF_SERVERS};
use super::{Measured, PLOTS};

const INTRODUCTION: &str = "\
<!-- Rendered by `make performance` from bench/results: do not edit. -->
# Performance

What Roarbits needs, beside the server's own bitmaps, its Sets, redis-roaring's `R.*` (32 bit) and `R64.*` (64 bit), and
in the core beside the roaring crate and CRoaring. Every figure here is one of `bench/results/*.json`, which two commands
write.

How to read it:

- **Memory** is the difference of `used_memory` that a key makes, exact. Ids arrive in random order, a thousand a command.
  redis-roaring's figure is the one after its OPTIMIZE command where that is smaller. Real sets are 200 keys each; what
  the server keeps of a key, whatever it holds, is taken off. Calendars (D7) are bytes a key, the key included.
- **Time** is CPU time of the server's main thread, the least of 5 to 25 rounds in which every side did the same work in turn.
  Everything runs on it here: with its default `inline-budget` Roarbits would have a worker do the longer rows.
  `in command` is the server's own time inside the command. Hashes were loaded in random order, Snowflake ids by time.
- Less is better everywhere. `-`: that side cannot do it (32-bit ids, no such command), or it was not measured.
- A goal of a time was set beside a figure of the server's own command or of its Set, on another machine. Where that
  figure is larger in this run, the goal grows by the same ratio: `here`.
- The data sets are named in `crates/roarbits-datasets`: D1 is 30 million ids below 1e8, D2 100k below 1e8, D3 uniform
  32-bit hashes, D4 Snowflake ids of eight machines at 1 or 1000 a second, D5 runs of a hundred, U63 63-bit hashes.
";

const QUESTIONS: &str = "\
A question is asked with RB.EXPR COUNT, and by the chain of BITOP, BITCOUNT and DEL that it replaces: active on one of six
days and on the seventh, or on both of two. With its defaults a worker answers, so that the main thread's part is what
other clients wait for; all threads' part is the price. PING is timed on a connection of its own, with one worker, while
`atleast(15, *)` over thirty bitmaps of 100 million ids is asked again and again, or while the native BITOP OR of thirty
such strings and BITCOUNT are.
";

const AGAIN: &str = "\
## Measuring again

```console
$ make build
$ bench/core                                  # writes bench/results/core.json
$ bench/server --peer redis-roaring.so \\
      --data FOLDER                           # writes bench/results/server.json; --help for more
$ bench/questions                             # writes bench/results/questions.json
$ make performance                            # renders this page
```

`--peer` takes any module with `R.*` and `R64.*` commands; without it those columns are empty. `--data` names the folder
of the real data sets (`census1881.tar.xz` and so on, from github.com/RoaringBitmap/real-roaring-datasets); without it
their rows are missing. `bench/server --only D4` measures some rows and prints them, `--server PATH` takes another server.
";

/// The text of the page.
///
/// # Errors
/// A row that misses its goal has no reason; the message names it.
pub fn page(measured: &Measured, plots: &[Plot]) -> io::Result<String> {
    let (server, core) = (comparisons(&measured.server), comparisons(&measured.core));
    let memory: Vec<&Comparison<'_>> = of_memory(&server).collect();
    let times: Vec<&Comparison<'_>> = of_time(&server).collect();
    let kernels: Vec<&Comparison<'_>> = core.iter().filter(|one| is_no_series(one)).collect();

    let mut text = String::from(INTRODUCTION);
    let _ = write!(text, "\n## Memory\n\n{}\n\n{}", sums(&memory), table(&memory, &OF_SERVERS));
    let _ = write!(text, "\n## Time\n\n{}\n\n{}", sums(&times), table(&times, &OF_SERVERS));
    text.push_str(&other_servers(&measured.other_servers));
    let questions = measured.questions.as_ref().map(comparisons).unwrap_or_default();
    let questions: Vec<&Comparison<'_>> = questions.iter().collect();
    if !questions.is_empty() {
        let (sums, table) = (sums(&questions), table(&questions, &OF_QUESTIONS));
        let _ = write!(text, "\n## Questions\n\n{QUESTIONS}\n{sums}\n\n{table}");
    }
    let _ = write!(text, "\n## The core by itself\n\n{}\n\n{}", sums(&kernels), table(&kernels, &OF_CORE));
    let all: Vec<Comparison<'_>> =
        memory.iter().chain(&times).chain(&questions).chain(&kernels).map(|one| (*one).clone()).collect();
    let _ = write!(text, "\n## Rows that we lose\n\n{}", lost(&all, &measured.reasons)?);
    text.push_str("\n## Plots\n");
    for plot in plots {
        let _ = write!(text, "\n### {}\n\n![{}]({PLOTS}/{})\n", plot.title, plot.title, plot.file);
    }
    let _ = write!(text, "\n{AGAIN}\n## Environment\n\n");
    text.push_str("| | bench/core | bench/server |\n|---|---|---|\n");
    environment(&mut text, &measured.core.environment, &measured.server.environment);
    Ok(text)
}

fn of_memory<'c, 'r>(all: &'c [Comparison<'r>]) -> impl Iterator<Item = &'c Comparison<'r>> {
    all.iter().filter(|one| one.ours.operation == MEMORY)
}

/// Rows with a goal, and those of a series that have one.
fn of_time<'c, 'r>(all: &'c [Comparison<'r>]) -> impl Iterator<Item = &'c Comparison<'r>> {
    let series = [MEMORY, MEMORY_BY_IDS, AND_BY_OPERANDS, OR_BY_OPERANDS];
    all.iter().filter(move |one| {
        !series.contains(&one.ours.operation.as_str())
            && (one.standing != Standing::Free || one.ours.at.is_none())
    })
}

/// A row of its own, or the place of a series that has a goal.
fn is_no_series(comparison: &Comparison<'_>) -> bool {
    comparison.ours.at.is_none() || comparison.standing != Standing::Free
}

/// The rows beside the server's own commands, where those are faster than in the first server.
fn other_servers(runs: &[Results]) -> String {
    let mut text = String::new();
    for run in runs {
        let comparisons = comparisons(run);
        let times: Vec<&Comparison<'_>> = of_time(&comparisons).collect();
        let title = run.environment.versions.first().cloned().unwrap_or_default();
        let _ = write!(text, "\n### In {title}\n\n{}\n\n{}", sums(&times), table(&times, &OF_SERVERS));
    }
    text
}

fn environment(text: &mut String, core: &Environment, server: &Environment) {
    let mut line = |what: &str, tell: &dyn Fn(&Environment) -> String| {
        let _ = writeln!(text, "| {what} | {} | {} |", tell(core), tell(server));
    };
    line("processor", &|of| format!("{}, {} cores", of.cpu_model, of.cpus));
    line("date", &|of| of.date.clone());
    line("commit", &|of| of.revision.clone());
    line("versions", &|of| of.versions.join(", "));
    line("command", &|of| format!("`{}`", of.command_line.join(" ")));
}
