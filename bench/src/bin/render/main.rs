//! Renders docs/performance.md and its plots from bench/results: every figure of
//! the page is one of those files'. The same results give the same bytes.

mod goals;
mod page;
mod plot;
mod series;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use roarbits_bench::Results;

/// Renders docs/performance.md and its plots from bench/results.
#[derive(Parser)]
#[command(name = "bench/render")]
struct Options {
    /// Only says whether the files are what would be rendered.
    #[arg(long)]
    check: bool,
    /// Where core.json and server.json are.
    #[arg(long, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results"))]
    results: PathBuf,
    /// Where performance.md and performance/ go.
    #[arg(long, value_name = "FOLDER", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"))]
    docs: PathBuf,
}

/// What was measured.
struct Measured {
    core: Results,
    server: Results,
    /// Questions beside chains, once they were measured.
    questions: Option<Results>,
    /// Runs in other servers, by file name.
    other_servers: Vec<Results>,
    /// Why goals are missed.
    reasons: goals::Reasons,
}

/// The page.
const PAGE: &str = "performance.md";
/// The folder of its plots.
const PLOTS: &str = "performance";

/// Rendered files by their path below docs.
type Files = BTreeMap<PathBuf, String>;

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = render(&options.results).and_then(|files| match options.check {
        true => check(&options.docs, &files),
        false => write(&options.docs, &files),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench/render: {error}");
            ExitCode::FAILURE
        }
    }
}

fn render(results: &Path) -> io::Result<Files> {
    let measured = Measured {
        core: read(&results.join("core.json"), "bench/core")?,
        server: read(&results.join("server.json"), "bench/server")?,
        questions: some(&results.join("questions.json"), "bench/questions")?,
        other_servers: other_servers(results)?,
        reasons: reasons(&results.join("reasons.json"))?,
    };
    let plots = series::plots(&measured);
    let mut files = Files::from([(PathBuf::from(PAGE), page::page(&measured, &plots)?)]);
    for plot in &plots {
        files.insert(Path::new(PLOTS).join(&plot.file), plot.svg()?);
    }
    Ok(files)
}

fn read(path: &Path, program: &str) -> io::Result<Results> {
    Results::read(path)
        .map_err(|error| io::Error::other(format!("{}: {error} ({program} writes it)", path.display())))
}

/// None where there is no file.
fn some(path: &Path, program: &str) -> io::Result<Option<Results>> {
    path.exists().then(|| read(path, program)).transpose()
}

/// None where there is no file: nothing may be missed then.
fn reasons(path: &Path) -> io::Result<goals::Reasons> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(goals::Reasons::new()),
        Err(error) => Err(error),
    }
}

fn other_servers(results: &Path) -> io::Result<Vec<Results>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(results)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("server-") && name.ends_with(".json") {
            paths.push(results.join(name));
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path, "bench/server")).collect()
}

/// Plots that are there and would not be rendered.
fn stale(docs: &Path, files: &Files) -> io::Result<Vec<PathBuf>> {
    let Ok(folder) = fs::read_dir(docs.join(PLOTS)) else { return Ok(Vec::new()) };
    let names = folder.map(|entry| Ok(Path::new(PLOTS).join(entry?.file_name())));
    let present = names.collect::<io::Result<Vec<PathBuf>>>()?;
    Ok(present.into_iter().filter(|path| !files.contains_key(path)).collect())
}

fn write(docs: &Path, files: &Files) -> io::Result<()> {
    fs::create_dir_all(docs.join(PLOTS))?;
    for path in stale(docs, files)? {
        fs::remove_file(docs.join(path))?;
    }
    files.iter().try_for_each(|(path, text)| fs::write(docs.join(path), text))?;
    println!("{} files rendered in {}", files.len(), docs.display());
    Ok(())
}

fn check(docs: &Path, files: &Files) -> io::Result<()> {
    let differs = |(path, text): &(&PathBuf, &String)| {
        fs::read_to_string(docs.join(path)).map_or(true, |present| present != **text)
    };
    let mut wrong: Vec<PathBuf> = files.iter().filter(differs).map(|(path, _)| path.clone()).collect();
    wrong.extend(stale(docs, files)?);
    if wrong.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = wrong.iter().map(|path| path.display().to_string()).collect();
    Err(io::Error::other(format!(
        "not as rendered from bench/results (make performance): {}",
        names.join(", ")
    )))
}
