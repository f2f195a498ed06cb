//! Measures RB.* beside the server's own bitmaps and Sets and, given its library,
//! a module with R.* and R64.* commands: the same work, in servers that it starts.
//! Writes `bench/results/server.json` and prints a table.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use roarbits_bench::live::works;
use roarbits_bench::live::{catalogue, Contest, Extent, Group, Side, Spec};
use roarbits_bench::{comparison, Environment, Results, Subject};

/// Measures RB.* beside its peers, by main-thread CPU time and used_memory.
#[derive(Parser)]
#[command(name = "bench/server")]
struct Options {
    /// A server to measure in; again for another one, whose results go to a file of its own.
    #[arg(long, value_name = "PATH", default_value = "redis-server")]
    server: Vec<PathBuf>,
    /// The module built for release.
    #[arg(long, value_name = "PATH", env = "ROARBITS_LIB", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/libroarbits.so"))]
    library: PathBuf,
    /// A module with R.* and R64.* commands (redis-roaring) to measure beside it.
    #[arg(long, value_name = "PATH")]
    peer: Option<PathBuf>,
    /// The folder of the real data sets (census1881.tar.xz and so on).
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Only rows whose name holds this text, for instance "D4-1/s: OR"; written only if --out says where.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// A hundredth of the ids and one round: shows that everything runs, says nothing of speed.
    #[arg(long)]
    quick: bool,
    /// Where results go; another server's name is added to the file's.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench/server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    if !options.library.is_file() {
        let path = options.library.display();
        return Err(io::Error::other(format!(
            "no library at {path}: run `make build`, or name it with --library"
        )));
    }
    if options.data.is_none() {
        eprintln!("no --data FOLDER: the real sets are left out");
    }
    if options.peer.is_none() {
        eprintln!("no --peer PATH: the columns of R.* and R64.* stay empty");
    }
    for (at, server) in options.server.iter().enumerate() {
        let results = measure(options, server)?;
        print!("{}", comparison::text_table(&results));
        if let Some(path) = destination(options, at, &results) {
            results.write(&path)?;
            eprintln!("written: {}", path.display());
        }
    }
    Ok(())
}

fn measure(options: &Options, server: &Path) -> io::Result<Results> {
    let extent = if options.quick { Extent::Quick } else { Extent::Full };
    let mut contest = Contest::new(sides(options, server)?, extent, wanted(options, extent)?);
    let versions = versions(&mut contest)?;
    eprintln!("measuring in {}", versions.join(", "));
    works::run(&mut contest, options.data.as_deref())?;
    let gaps = contest.gaps();
    if !gaps.is_empty() {
        return Err(io::Error::other(format!("no positive figure of: {}", gaps.join("; "))));
    }
    Ok(Results { environment: Environment::here(versions), rows: contest.into_rows() })
}

/// The rows to measure.
fn wanted(options: &Options, extent: Extent) -> io::Result<Vec<Spec>> {
    let pattern = options.only.as_deref().unwrap_or_default().to_lowercase();
    let mut specs = catalogue(extent);
    specs.retain(|spec| options.data.is_some() || spec.group != Group::Real);
    specs.retain(|spec| spec.title().to_lowercase().contains(&pattern));
    if specs.is_empty() {
        let names: Vec<String> = catalogue(extent).iter().map(Spec::title).collect();
        return Err(io::Error::other(format!(
            "--only {pattern} names no row; they are:\n{}",
            names.join("\n")
        )));
    }
    Ok(specs)
}

/// A server a subject.
fn sides(options: &Options, server: &Path) -> io::Result<Vec<Side>> {
    let mut sides = vec![
        Side::start(Subject::Roarbits, server, Some(&options.library))?,
        Side::start(Subject::Native, server, None)?,
        Side::start(Subject::Set, server, None)?,
    ];
    if let Some(peer) = &options.peer {
        sides.push(Side::start(Subject::R, server, Some(peer))?);
        sides.push(Side::start(Subject::R64, server, Some(peer))?);
    }
    Ok(sides)
}

/// The server and the modules that take part, as they name themselves.
fn versions(contest: &mut Contest) -> io::Result<Vec<String>> {
    let mut versions: Vec<String> = Vec::new();
    contest.each(|side| {
        let server = side.link.info("server")?;
        let modules = side.link.info("modules")?;
        for found in std::iter::once(server.product()).chain(modules.module()) {
            if !versions.contains(&found) {
                versions.push(found);
            }
        }
        Ok(())
    })?;
    Ok(versions)
}

/// Where the results of the `at`-th server go, if anywhere.
fn destination(options: &Options, at: usize, results: &Results) -> Option<PathBuf> {
    let partial = options.only.is_some() || options.quick;
    let path = options.out.clone().or_else(|| (!partial).then(|| Results::path("server")))?;
    if at == 0 {
        return Some(path);
    }
    let server = results.environment.versions.first()?.to_lowercase().replace(' ', "-");
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    Some(path.with_file_name(format!("{stem}-{server}.json")))
}
