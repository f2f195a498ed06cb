//! Where and when figures were measured.

use std::fs;
use std::process::Command;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a reader needs to judge figures, and to measure them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The program and its arguments, paths by their last part: where things lay says nothing.
    pub command_line: Vec<String>,
    /// The model of the processor, as the system names it.
    pub cpu_model: String,
    /// Cores that the system offers.
    pub cpus: usize,
    /// UTC, to the second: `2026-11-30T16:23:00Z`.
    pub date: String,
    /// The commit that was measured; empty outside a repository.
    pub revision: String,
    /// Servers and libraries that took part, with their versions: `redis-server 7.0.15`.
    pub versions: Vec<String>,
}

impl Environment {
    /// Looks around. `versions` is what the measurement itself found out.
    pub fn here(versions: Vec<String>) -> Self {
        Self {
            command_line: std::env::args().map(|argument| file_name(&argument).to_owned()).collect(),
            cpu_model: cpu_model(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            date: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            revision: revision(),
            versions,
        }
    }
}

fn file_name(argument: &str) -> &str {
    argument.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}

fn revision() -> String {
    let described = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty"])
        .output();
    match described {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => String::new(),
    }
}
