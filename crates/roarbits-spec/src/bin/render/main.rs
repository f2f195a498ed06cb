//! Renders the command table: `render [--check] DIR` writes `DIR/commands/*.md`
//! and `DIR/commands.json`, or with `--check` compares them and names what is stale.

mod json;
mod page;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: render [--check] DIR";

/// Rendered files: where below the folder, and what they hold.
type Files = BTreeMap<PathBuf, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--check", dir] => check(Path::new(dir)),
        [dir] if !dir.starts_with('-') => write(Path::new(dir)),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn render() -> Result<Files, String> {
    let mut files: Files = roarbits_spec::commands()
        .map(|command| (Path::new("commands").join(page::file_name(command)), page::page(command)))
        .collect();
    files.insert(PathBuf::from("commands/README.md"), page::index(roarbits_spec::commands()));
    let json = json::document(roarbits_spec::commands()).map_err(|error| error.to_string())?;
    files.insert(PathBuf::from("commands.json"), json);
    Ok(files)
}

fn write(dir: &Path) -> Result<(), String> {
    let files = render()?;
    let pages = dir.join("commands");
    std::fs::create_dir_all(&pages).map_err(|error| at(&pages, &error))?;
    for stray in strays(dir, &files)? {
        std::fs::remove_file(&stray).map_err(|error| at(&stray, &error))?;
    }
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(|error| at(&path, &error))?;
    }
    Ok(())
}

fn check(dir: &Path) -> Result<(), String> {
    let files = render()?;
    let mut stale = strays(dir, &files)?;
    for (name, text) in files {
        let path = dir.join(name);
        if !is_current(&path, &text)? {
            stale.push(path);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = stale.iter().map(|path| path.display().to_string()).collect();
    Err(format!("stale, run `make docs`: {}", names.join(", ")))
}

fn is_current(path: &Path, text: &str) -> Result<bool, String> {
    match std::fs::read(path) {
        Ok(found) => Ok(found == text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(at(path, &error)),
    }
}

/// Pages of commands that no longer exist.
fn strays(dir: &Path, files: &Files) -> Result<Vec<PathBuf>, String> {
    let pages = dir.join("commands");
    let entries = match std::fs::read_dir(&pages) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| at(&pages, &error))?,
    };
    let mut strays = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| at(&pages, &error))?.file_name();
        let path = pages.join(&name);
        let is_page = name.to_str().is_some_and(|name| name.starts_with("rb.") && name.ends_with(".md"));
        if is_page && !files.contains_key(&Path::new("commands").join(&name)) {
            strays.push(path);
        }
    }
    Ok(strays)
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
