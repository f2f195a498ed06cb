//! What the measurements share: the form of their results. Each bin measures
//! one thing and writes one file of `bench/results`; `bench-render` makes the
//! published tables and plots of these files.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod comparison;
pub mod environment;
pub mod live;
pub mod results;

pub use environment::Environment;
pub use results::{Goal, Results, Row, Subject, Verdict};
