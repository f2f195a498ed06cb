//! Expressions: their syntax, their answers against a naive evaluator, and what they cost.

#[path = "../counting/mod.rs"]
mod counting;

mod answers;
mod effort;
mod syntax;
mod world;
