//! The real bitmap sets (census, wikileaks): archives of text files, each one
//! set of comma-separated integers. A machine without the folder skips the
//! tests that need it, by the table in `skips`.

use std::fs;
use std::process::Command;

use crate::places;

/// One set of a data set: the file's name and its values as they stand there.
pub struct RealSet {
    /// The file's name without folder.
    pub name: String,
    /// The values, in the order of the file.
    pub values: Vec<u64>,
}

/// Unpacks one archive (`census1881`, `wikileaks-noquotes`, `uscensus2000`,
/// `census-income_srt`) and reads all its sets, ordered by name.
///
/// # Panics
/// If the folder, `tar` or `xz` is missing, or a file holds something else.
pub fn load(archive: &str) -> Vec<RealSet> {
    let folder = places::data().unwrap_or_else(|| panic!("no folder of data sets: set ROARBITS_DATA"));
    let unpacked = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let status = Command::new("tar")
        .arg("-xJf")
        .arg(folder.join(format!("{archive}.tar.xz")))
        .arg("-C")
        .arg(unpacked.path())
        .status();
    assert!(
        matches!(&status, Ok(code) if code.success()),
        "tar xJf {archive}.tar.xz: {status:?} (is xz installed?)"
    );
    let mut sets = Vec::new();
    let mut folders = vec![unpacked.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            sets.push(RealSet { values: numbers(&name, &text), name });
        }
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    sets
}

fn numbers(name: &str, text: &str) -> Vec<u64> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().unwrap_or_else(|_| panic!("{name} holds {word:?}"))).collect()
}
