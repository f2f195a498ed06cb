//! What black-box tests stand on: real servers with the built library, clients
//! that hide nothing of a reply, and the runner that counts tests and skips.
//!
//! A test is a plain function. It starts what it needs (`Server::start()`),
//! talks to it (`server.client()`, `args!`) and asserts; everything started is
//! stopped when it goes out of scope, and a server that died or reported a
//! crash fails its test. Nothing here knows the module's crates: the words come
//! from `docs/commands.json`, the library from the environment (`places`).
//!
//! | Room | Keeps |
//! |---|---|
//! | `places` | where the library, the server, the client tool and the data are |
//! | `flavor` | which server this is |
//! | `port`, `server` | starting, restarting, killing and checking servers |
//! | `client`, `wire` | commands over the `redis` crate; a raw connection for pushes |
//! | `reply`, `terminal` | arguments and replies; typed lines and how redis-cli prints |
//! | `replication`, `cluster` | replicas that are caught up; six nodes |
//! | `inspect` | memory, digests, INFO fields, polling |
//! | `dump` | DUMP payloads forged with a right checksum |
//! | `spec`, `datasets` | rows of the command table; the real sets |
//! | `random` | seeds and counts of random tests |
//! | `skips`, `run` | who may skip what; the runner |

#![warn(missing_docs)]

pub mod client;
pub mod cluster;
pub mod datasets;
pub mod dump;
pub mod flavor;
pub mod inspect;
pub mod places;
mod port;
pub mod random;
pub mod replication;
pub mod reply;
pub mod run;
pub mod server;
pub mod skips;
pub mod spec;
pub mod terminal;
pub mod wire;

pub use client::{Client, Protocol};
pub use cluster::Cluster;
pub use flavor::{Flavor, Product};
pub use inspect::{eventually, PATIENCE};
pub use redis::{PushKind, Value};
pub use reply::{error_text, Args, IntoArg, Outcome};
pub use run::TestList;
pub use server::{Builder, Server};
pub use wire::Wire;
