//! The real bitmap sets (census, wikileaks). A machine without the folder skips the
//! tests that need it, by the table in `skips`.

pub use roarbits_datasets::real::RealSet;

use crate::places;

/// Unpacks one archive of the folder and reads all its sets, ordered by name.
///
/// # Panics
/// If the folder, `tar` or `xz` is missing, or a file holds something else.
pub fn load(archive: &str) -> Vec<RealSet> {
    let folder = places::data().unwrap_or_else(|| panic!("no folder of data sets: set ROARBITS_DATA"));
    roarbits_datasets::real::load(&folder, archive).unwrap_or_else(|error| panic!("{archive}: {error}"))
}
