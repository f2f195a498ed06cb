//! Where the things under test are. All of it comes from the environment, so
//! that one binary runs against any server and either build of the library.
//!
//! | Variable | Meaning | Default |
//! |---|---|---|
//! | `ROARBITS_LIB` | the release library | none: a test that loads it fails |
//! | `ROARBITS_DEBUG_LIB` | the library built with assertions | none, as above |
//! | `ROARBITS_SERVER` | the server binary | `redis-server` on the PATH |
//! | `ROARBITS_CLI` | redis-cli | on the PATH, else beside the server |
//! | `ROARBITS_DATA` | the folder of real data sets | `../shared/data` beside the repository |

use std::env;
use std::path::{Path, PathBuf};

/// The release library.
///
/// # Panics
/// If `ROARBITS_LIB` is unset or names no file; the message says how to set it.
pub fn library() -> PathBuf {
    from_variable("ROARBITS_LIB", "cargo build --release", "target/release/libroarbits.so")
}

/// The library built with assertions and validation of every loaded value.
///
/// # Panics
/// If `ROARBITS_DEBUG_LIB` is unset or names no file; the message says how to set it.
pub fn debug_library() -> PathBuf {
    from_variable("ROARBITS_DEBUG_LIB", "cargo build", "target/debug/libroarbits.so")
}

fn from_variable(variable: &str, build: &str, usual: &str) -> PathBuf {
    let Some(value) = env::var_os(variable) else {
        panic!(
            "{variable} is not set: run `{build}`, then set it to the absolute path of {usual} (make test-server does both)"
        );
    };
    let path = PathBuf::from(value);
    assert!(path.is_absolute(), "{variable} must be an absolute path: {}", path.display());
    assert!(path.is_file(), "{variable} names no file: {} (run `{build}`)", path.display());
    path
}

/// The server binary under test. A bare name is looked up on the PATH; a
/// relative path is relative to the repository, wherever cargo runs tests.
///
/// # Panics
/// If it is neither given nor on the PATH.
pub fn server_binary() -> PathBuf {
    let given = env::var("ROARBITS_SERVER").unwrap_or_else(|_| "redis-server".to_string());
    if given.contains('/') {
        return repository().join(given);
    }
    on_path(&given)
        .unwrap_or_else(|| panic!("no {given} on the PATH: run `make setup` or set ROARBITS_SERVER"))
}

/// The redis-cli that forms clusters.
///
/// # Panics
/// If there is none.
pub fn cli_binary() -> PathBuf {
    if let Some(value) = env::var_os("ROARBITS_CLI") {
        return PathBuf::from(value);
    }
    let beside = server_binary().with_file_name("redis-cli");
    let found = on_path("redis-cli").or_else(|| beside.is_file().then_some(beside));
    found.unwrap_or_else(|| panic!("no redis-cli on the PATH: run `make setup` or set ROARBITS_CLI"))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}

/// The folder of real data sets, or None where this machine has none.
pub fn data() -> Option<PathBuf> {
    let folder = match env::var_os("ROARBITS_DATA") {
        Some(value) => PathBuf::from(value),
        None => repository().parent()?.join("shared/data"),
    };
    folder.is_dir().then_some(folder)
}
