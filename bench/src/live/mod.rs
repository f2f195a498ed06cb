//! Measuring in live servers: `launch` starts them, `link` talks to them, `meter`
//! reads what they spend, `dialect` says one thing in every subject's commands,
//! `contest` has the sides do the same work in turn. `catalogue` lists the rows
//! and their goals, `works` measures them.

pub mod catalogue;
pub mod contest;
pub mod dialect;
pub mod launch;
pub mod link;
pub mod meter;
pub mod works;

pub use catalogue::{catalogue, Extent, Group, Spec};
pub use contest::{Contest, Side};
