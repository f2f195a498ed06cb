//! Measures a question asked with RB.EXPR beside the chain of commands it replaces, by CPU time of
//! the main thread and of all threads, and how long PING takes while long questions are asked.
//! Writes `bench/results/questions.json` and prints a table.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use rand::RngCore;
use redis::{cmd, Cmd};
use roarbits_bench::comparison;
use roarbits_bench::live::dialect::string_of;
use roarbits_bench::live::launch::Server;
use roarbits_bench::live::link::Link;
use roarbits_bench::live::meter::Meter;
use roarbits_bench::{Environment, Goal, Results, Row, Subject};
use roarbits_datasets::{seeded, DataSet};

/// Measures RB.EXPR beside BITOP, BITCOUNT and DEL, and PING beside both.
#[derive(Parser)]
#[command(name = "bench/questions")]
struct Options {
    /// The server to measure in.
    #[arg(long, value_name = "PATH", default_value = "redis-server")]
    server: PathBuf,
    /// The module built for release.
    #[arg(long, value_name = "PATH", env = "ROARBITS_LIB", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/libroarbits.so"))]
    library: PathBuf,
    /// A hundredth of the ids and one round: shows that everything runs, says nothing of speed.
    #[arg(long)]
    quick: bool,
    /// Where results go, if not to bench/results/questions.json.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// How much is measured.
struct Extent {
    /// The part of all ids, as a divisor.
    divisor: usize,
    rounds: usize,
    pings: Duration,
}

impl Extent {
    fn of(options: &Options) -> Self {
        match options.quick {
            true => Self { divisor: 100, rounds: 1, pings: Duration::from_millis(200) },
            false => Self { divisor: 1, rounds: 5, pings: Duration::from_secs(20) },
        }
    }
}

/// One question, as an expression and as the chain it replaces.
struct Question {
    title: &'static str,
    set: DataSet,
    keys: usize,
    expression: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question { title: "D1 x 7", set: DataSet::D1, keys: 7, expression: SIX_AND_ONE },
    Question { title: "D3-1M x 7", set: DataSet::D3_1M, keys: 7, expression: SIX_AND_ONE },
    Question { title: "D4-1/s x 2", set: DataSet::D4_SLOW, keys: 2, expression: "$1 & $2" },
];

/// Active on one of six days, and on the seventh.
const SIX_AND_ONE: &str = "any($1, $2, $3, $4, $5, $6) & $7";

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench/questions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let extent = Extent::of(options);
    let mut rows = Vec::new();
    let mut versions = Vec::new();
    for question in &QUESTIONS {
        ask(options, &extent, question, &mut rows, &mut versions)?;
    }
    ping(options, &extent, &mut rows)?;
    let results = Results { environment: Environment::here(versions), rows };
    print!("{}", comparison::text_table(&results));
    let path = options.out.clone().or_else(|| (!options.quick).then(|| Results::path("questions")));
    if let Some(path) = path {
        results.write(&path)?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}

/// Names of so many keys.
fn names(prefix: &str, keys: usize) -> Vec<String> {
    (1..=keys).map(|key| format!("{prefix}{key}")).collect()
}

impl Question {
    /// The ids of each key.
    fn ids(&self, extent: &Extent, key: usize) -> Vec<u64> {
        self.set.resized(self.set.cardinality / extent.divisor).ids(key as u64)
    }

    /// Whether plain strings hold the ids at a bearable size: 512 MB a key for 32-bit hashes is not.
    fn fits_strings(&self) -> bool {
        self.set == DataSet::D1
    }

    fn asked(&self) -> Vec<Cmd> {
        let keys = names("k", self.keys);
        vec![cmd("RB.EXPR").arg(keys.len()).arg(&keys).arg(self.expression).to_owned()]
    }

    /// The chain that it replaces, of native commands or, with a prefix, of ours.
    fn chain(&self, prefix: &str, keys: &[String]) -> Vec<Cmd> {
        let named = |name: &str| cmd(&format!("{prefix}{name}"));
        let mut chain = Vec::new();
        if let [any @ .., last] = keys {
            let mut others = any.to_vec();
            if any.len() > 1 {
                chain.push(named("BITOP").arg("OR").arg("tmp1").arg(any).to_owned());
                others = vec!["tmp1".to_owned()];
            }
            chain.push(named("BITOP").arg("AND").arg("tmp2").arg(&others).arg(last).to_owned());
        }
        chain.push(named("BITCOUNT").arg("tmp2").to_owned());
        chain.push(cmd("DEL").arg("tmp1").arg("tmp2").to_owned());
        chain
    }
}

/// What one way to ask costs, in milliseconds of CPU time.
#[derive(Debug, Clone, Copy)]
struct Cost {
    main_ms: f64,
    all_ms: f64,
}

/// The least cost of several rounds of `commands`.
fn cost(server: &Server, commands: &[Cmd], rounds: usize) -> io::Result<Cost> {
    let (mut meter, mut link) = (Meter::new(server)?, server.link());
    let mut least = Cost { main_ms: f64::MAX, all_ms: f64::MAX };
    for _ in 0..rounds {
        let (main, all) = (meter.cpu_ns()?, meter.all_cpu_ns()?);
        commands.iter().try_for_each(|command| link.ask(command).map(drop))?;
        least.main_ms = least.main_ms.min((meter.cpu_ns()? - main) / 1e6);
        least.all_ms = least.all_ms.min((meter.all_cpu_ns()? - all) / 1e6);
    }
    Ok(least)
}

fn ask(
    options: &Options,
    extent: &Extent,
    question: &Question,
    rows: &mut Vec<Row>,
    versions: &mut Vec<String>,
) -> io::Result<()> {
    eprintln!("{}: {}", question.title, question.expression);
    let start = |args: &[&str]| Server::start(&options.server, Some(&options.library), args);
    // With its defaults, and with everything on the main thread.
    let (server, in_place) = (start(&[])?, start(&["inline-budget", "1000000000"])?);
    let keys = names("k", question.keys);
    for (at, key) in keys.iter().enumerate() {
        let ids = question.ids(extent, at);
        load(&mut server.link(), key, &ids)?;
        load(&mut in_place.link(), key, &ids)?;
        if question.fits_strings() {
            server.link().ask(cmd("SET").arg(format!("s{}", at + 1)).arg(string_of(&ids)))?;
        }
    }
    tell_versions(&mut server.link(), versions)?;
    let expression = cost(&server, &question.asked(), extent.rounds)?;
    let ours = cost(&in_place, &question.chain("RB.", &keys), extent.rounds)?;
    let mut push =
        |operation: &str, subject, value| rows.push(row(question.title, operation, subject, value));
    push(MAIN, Subject::Roarbits, expression.main_ms);
    push(ALL, Subject::Roarbits, expression.all_ms);
    if question.fits_strings() {
        let native = question.chain("", &names("s", question.keys));
        let native = cost(&server, &native, extent.rounds)?;
        push(MAIN, Subject::Native, native.main_ms);
        push(ALL, Subject::Native, native.all_ms);
    }
    push(CHAIN, Subject::Roarbits, ours.main_ms);
    Ok(())
}

const MAIN: &str = "counted, main thread";
const ALL: &str = "counted, all threads";
const CHAIN: &str = "counted by RB.BITOP, RB.BITCOUNT and DEL in place";

fn load(link: &mut Link, key: &str, ids: &[u64]) -> io::Result<()> {
    const BATCH: usize = 10_000;
    ids.chunks(BATCH).try_for_each(|batch| link.ask(cmd("RB.ADD").arg(key).arg(batch)).map(drop))
}

fn tell_versions(link: &mut Link, versions: &mut Vec<String>) -> io::Result<()> {
    let (server, modules) = (link.info("server")?, link.info("modules")?);
    for found in std::iter::once(server.product()).chain(modules.module()) {
        if !versions.contains(&found) {
            versions.push(found);
        }
    }
    Ok(())
}

fn row(set: &str, operation: &str, subject: Subject, value: f64) -> Row {
    Row {
        set: set.to_owned(),
        operation: operation.to_owned(),
        subject,
        at: None,
        value,
        median: None,
        unit: "ms".to_owned(),
        goal: None,
        note: String::new(),
    }
}

/// Keys that long questions go over, each of random bits: 100 million ids.
const LONG_KEYS: usize = 30;
const LONG_BYTES: usize = 25_000_000;
const LONG_TITLE: &str = "30 x 100M";
/// Clients that ask at once.
const ASKERS: usize = 50;
const PING_GOAL_MS: f64 = 2.0;
const INLINE_GOAL_MS: f64 = 5.0;

fn ping(options: &Options, extent: &Extent, rows: &mut Vec<Row>) -> io::Result<()> {
    eprintln!("{LONG_TITLE}: PING while questions are asked");
    let server = Server::start(&options.server, Some(&options.library), &["worker-threads", "1"])?;
    let (ours, strings) = (names("k", LONG_KEYS), names("s", LONG_KEYS));
    let mut link = server.link();
    for (at, (ours, string)) in ours.iter().zip(&strings).enumerate() {
        let mut bits = vec![0; LONG_BYTES / extent.divisor];
        seeded(at as u64).fill_bytes(&mut bits);
        link.ask(cmd("RB.IMPORT").arg(ours).arg(&bits).arg("FORMAT").arg("STRING"))?;
        link.ask(cmd("SET").arg(string).arg(&bits))?;
    }
    let question = vec![cmd("RB.EXPR").arg(LONG_KEYS).arg(&ours).arg("atleast(15, *)").to_owned()];
    let chain = vec![
        cmd("BITOP").arg("OR").arg("tmp").arg(&strings).to_owned(),
        cmd("BITCOUNT").arg("tmp").to_owned(),
    ];
    let one = "PING, 99.9th percentile beside one question";
    let many = "PING, 99.9th percentile beside 50 questions";
    let mut push = |operation: &str, subject, value, goal: Option<f64>| {
        rows.push(Row { goal: goal.map(Goal::at_most), ..row(LONG_TITLE, operation, subject, value) });
    };
    push("PING, 99.9th percentile alone", Subject::Roarbits, pings(&server, &[], 0, extent)?, None);
    push(one, Subject::Roarbits, pings(&server, &question, 1, extent)?, Some(PING_GOAL_MS));
    push(one, Subject::Native, pings(&server, &chain, 1, extent)?, None);
    push(many, Subject::Roarbits, pings(&server, &question, ASKERS, extent)?, Some(PING_GOAL_MS));
    push(many, Subject::Native, pings(&server, &chain, ASKERS, extent)?, None);
    let longest_us = link.info("roarbits")?.number("roarbits_longest_inline_us").unwrap_or_default();
    push("longest call in place", Subject::Roarbits, longest_us / 1e3, Some(INLINE_GOAL_MS));
    Ok(())
}

/// The 99.9th percentile of PING's round trips, in milliseconds, while `askers` clients ask on and on.
fn pings(server: &Server, asked: &[Cmd], askers: usize, extent: &Extent) -> io::Result<f64> {
    let (enough, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut trips = Vec::new();
    thread::scope(|scope| {
        for _ in 0..askers {
            let (mut link, enough, failed) = (server.link(), &enough, &failed);
            scope.spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    let answered = asked.iter().try_for_each(|command| link.ask(command).map(drop));
                    failed.fetch_or(answered.is_err(), Ordering::Relaxed);
                }
            });
        }
        let (mut link, end) = (server.link(), Instant::now() + extent.pings);
        while Instant::now() < end {
            let begin = Instant::now();
            failed.fetch_or(link.ask(&cmd("PING")).is_err(), Ordering::Relaxed);
            trips.push(begin.elapsed().as_secs_f64() * 1e3);
            thread::sleep(PAUSE);
        }
        enough.store(true, Ordering::Relaxed);
    });
    if failed.into_inner() {
        return Err(io::Error::other("a call failed while PING was timed"));
    }
    trips.sort_by(f64::total_cmp);
    Ok(trips[(trips.len() - 1) * 999 / 1000])
}

/// Between two PINGs.
const PAUSE: Duration = Duration::from_micros(300);
