//! Loopback ports for servers that start at the same time in several processes.
//!
//! Ports are taken from 11000..21000: the cluster bus listens 10000 higher, and
//! both stay below the range from which systems take the ports of outgoing
//! connections. A port is probed before it is given out; the moment between
//! probe and bind is covered by the caller, who asks again when the server
//! finds it taken.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 11_000;
const COUNT: u32 = 10_000;
const BUS_OFFSET: u16 = 10_000;

/// A port that was free a moment ago, with its cluster bus port.
///
/// # Panics
/// If none of the range is free.
pub(crate) fn free() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes begin far apart, so that they rarely probe the same port.
    let base = std::process::id().wrapping_mul(7_919);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = (FIRST + base.wrapping_add(step) % COUNT) as u16;
        if is_free(port) && is_free(port + BUS_OFFSET) {
            return port;
        }
    }
    panic!("no free loopback port in {FIRST}..{}", FIRST + COUNT);
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}
