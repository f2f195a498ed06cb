//! The real bitmap sets (D6): archives of text files, each one set of
//! comma-separated integers. They are no part of the repository; whoever has the
//! archives names their folder.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// The archives, without `.tar.xz`.
pub const ARCHIVES: [&str; 4] = ["census1881", "census-income_srt", "wikileaks-noquotes", "uscensus2000"];

/// One set of a data set: the file's name and its values as they stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealSet {
    /// The file's name without folder.
    pub name: String,
    /// The values, in the order of the file.
    pub values: Vec<u64>,
}

/// Unpacks one archive of `folder` and reads all its sets, ordered by name.
///
/// # Errors
/// `tar` or `xz` is missing, the archive is not there, or a file holds something else.
pub fn load(folder: &Path, archive: &str) -> io::Result<Vec<RealSet>> {
    let unpacked = tempfile::tempdir()?;
    unpack(&folder.join(format!("{archive}.tar.xz")), unpacked.path())?;
    let mut sets = Vec::new();
    let mut folders = vec![unpacked.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => sets.push(read(&path)?),
            }
        }
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sets)
}

fn unpack(archive: &Path, into: &Path) -> io::Result<()> {
    let output = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(into).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "tar -xf {}: {} (is xz installed?)",
            archive.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

fn read(path: &Path) -> io::Result<RealSet> {
    let text = fs::read_to_string(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let values = words.map(|word| {
        word.parse()
            .map_err(|_| io::Error::other(format!("{name} holds {word:?}, which is no 64-bit integer")))
    });
    Ok(RealSet { values: values.collect::<io::Result<_>>()?, name })
}
