//! The section `roarbits` of INFO. Written in crash reports too: it reads atomics only.

use std::sync::atomic::Ordering;

use crate::ffi::{panics_caught, InfoSection};
use crate::{drops, offload};

/// Writes the section.
pub fn write(section: &InfoSection) {
    section.text("version", env!("CARGO_PKG_VERSION"));
    section.text("build", if cfg!(debug_assertions) { "debug" } else { "release" });
    section.number("threads", offload::threads());
    section.number("queue", offload::queued());
    for (name, figure) in offload::figures::ALL {
        section.number(name, figure.load(Ordering::Relaxed));
    }
    section.number("drops_pending", drops::pending());
    section.number("drops_done", drops::done());
    section.number("panics_caught", panics_caught());
}
