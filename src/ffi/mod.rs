//! The server's C API made safe: the only room with `unsafe`.
//!
//! Whatever is exported from here can be called from safe code without further
//! care. Two ideas carry that. A `Context` is lent to a handler mutably, keys
//! opened for reading borrow it shared and keys opened for writing borrow it
//! exclusively, so no value of a key can be read while something may replace it.
//! And every entry from the server is a one-line `extern "C"` body around a
//! generic safe function.
//!
//! Numbered preconditions that the `SAFETY` comments cite:
//!
//! 1. A context pointer is valid for the call from the server that handed it over,
//!    and is used on that thread only.
//! 2. A function of the API that every supported server has (Redis 6.2 and later)
//!    is set once `OnLoad` has begun, before anything else of this module runs.
//! 3. Arguments of a call (`argv`, `argc`) and the bytes in them stay in place
//!    until the call returns.
//! 4. A value pointer of a data type was made by `Box::into_raw` of that type's
//!    value in `data_type`, and the server gives it back to callbacks of that type only.

macro_rules! api {
    ($name:ident) => {
        match redis_module::raw::$name {
            Some(function) => function,
            None => $crate::ffi::absent(stringify!($name)),
        }
    };
}

mod allocator;
mod args;
mod blocked;
mod call;
mod config;
mod context;
mod data_type;
mod defrag;
mod events;
mod footprint;
mod info;
mod key;
mod load;
mod register;
mod reply;
mod serial;
mod trampoline;

pub use allocator::ServerAllocator;
pub use args::{Arg, Args, HeldArg, OwnKey};
pub use blocked::{BlockedClient, ClientToken, Finish};
pub use call::CallReply;
pub use config::NumericConfig;
pub use context::{memory_is_short, Context, Waiting};
pub use data_type::{DataType, TypeHandle};
pub use defrag::Defrag;
pub use events::{writes_are_paused, ServerEvents};
pub use footprint::block_bytes;
pub use info::InfoSection;
pub use key::{Kind, WriteKey};
pub use load::Loading;
pub use register::Registration;
pub use reply::{Refusal, Replies};
pub use serial::{AofWriter, Digest, LoadError, Loader, Saver};
pub use trampoline::{catch, panics_caught, Handler};

/// Ends the process: the server lacks a function that every supported one has.
fn absent(name: &str) -> ! {
    eprintln!("roarbits: this server has no {name}, which Redis 6.2 and later have");
    std::process::abort()
}
