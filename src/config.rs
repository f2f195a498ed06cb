//! What an operator sets: one static a config, and the load arguments.

use crate::ffi::{Loading, NumericConfig};

/// No reply can be larger whatever is asked for: its ids would not fit a server's memory.
const MAX_REPLY_LIMIT: i64 = 1 << 31;

/// The most ids that a list reply holds.
static MAX_REPLY: NumericConfig = NumericConfig::new("max-reply", 1..=MAX_REPLY_LIMIT, 1_000_000);

const ALL: &[&NumericConfig] = &[&MAX_REPLY];

/// The most ids that a list reply holds.
pub fn max_reply() -> u64 {
    MAX_REPLY.get().unsigned_abs()
}

/// Takes the load arguments as defaults, then lets the server's own configuration win.
///
/// # Errors
/// An argument that is unknown, incomplete or out of range, in words.
pub fn load(loading: &Loading) -> Result<(), String> {
    for pair in loading.args().chunks(2) {
        let [name, rest @ ..] = pair else { continue };
        let config = ALL
            .iter()
            .find(|config| name.eq_ignore_ascii_case(config.name.as_bytes()))
            .ok_or_else(|| format!("unknown load argument '{}'", String::from_utf8_lossy(name)))?;
        let value = rest.first().ok_or_else(|| format!("load argument {} has no value", config.name))?;
        config.set_default(value)?;
    }
    loading.register_configs(ALL)
}
