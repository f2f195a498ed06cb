//! The command table.
#![forbid(unsafe_code)]
