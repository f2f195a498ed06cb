//! Roarbits: compressed bitmaps over sparse 64-bit ids, as a module for Redis and Valkey.
//!
//! Here the module is put together and handed to the server. The rooms: `ffi` makes
//! the server's C API safe, `types` says what a key can hold, `keyspace` opens and
//! changes keys, `offload` works off the main thread, `commands` parses, asks and replies. The structures themselves are
//! the crate `roarbits-core`, the words of the commands `roarbits-spec`.

#![deny(unsafe_code)]
mod commands;
mod config;
mod drops;
#[allow(unsafe_code)]
mod ffi;
mod info;
mod keyspace;
mod offload;
mod random;
mod types;

use redis_module::{redis_module, Context, RedisString, Status};

use ffi::{Loading, ServerEvents};
use offload::End;
use types::BitmapType;

/// The module's version as the server shows it: two decimal digits each for major, minor and patch.
const VERSION: i32 = 10_000 * decimal(env!("CARGO_PKG_VERSION_MAJOR"))
    + 100 * decimal(env!("CARGO_PKG_VERSION_MINOR"))
    + decimal(env!("CARGO_PKG_VERSION_PATCH"));

const fn decimal(digits: &str) -> i32 {
    let (bytes, mut value, mut at) = (digits.as_bytes(), 0, 0);
    while at < bytes.len() {
        value = value * 10 + (bytes[at] - b'0') as i32;
        at += 1;
    }
    value
}

fn init(context: &Context, args: &[RedisString]) -> Status {
    let loading = Loading::new(context, args);
    match set_up(&loading) {
        Ok(()) => Status::Ok,
        Err(why) => {
            loading.log_warning(&format!("not loaded: {why}"));
            Status::Err
        }
    }
}

fn set_up(loading: &Loading) -> Result<(), String> {
    check_processor()?;
    loading.set_options();
    config::load(loading)?;
    loading.create_type::<BitmapType>()?;
    loading.register(&commands::rows(), &commands::registrations())?;
    loading.register_info(info::write);
    drops::start();
    offload::start();
    loading.on_events(ServerEvents {
        shutdown: || {
            offload::stop();
            drops::stop();
        },
        database_replaced: |database| match database {
            Some(database) => offload::cancel_database(database),
            None => offload::cancel_all(End::DatasetReplaced),
        },
        demoted: || offload::cancel_writes(End::Demoted),
        client_gone: offload::cancel_client,
    });
    Ok(())
}

/// Whether the processor has the instructions that `.cargo/config.toml` lets the compiler use.
fn check_processor() -> Result<(), String> {
    #[cfg(target_arch = "x86_64")]
    if !(is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("sse4.2")) {
        return Err("this build is for processors with x86-64-v2 (POPCNT, SSE4.2); \
                    build it without rustflags in .cargo/config.toml for an older one"
            .to_owned());
    }
    Ok(())
}

redis_module! {
    name: "roarbits",
    version: VERSION,
    allocator: (crate::ffi::ServerAllocator, crate::ffi::ServerAllocator),
    data_types: [],
    init: init,
}
