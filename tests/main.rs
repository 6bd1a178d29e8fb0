//! Integration tests of the `schedc` package: one program, which links its dependencies once.

// Generated code refers to the plugins of `scheduler` by crate name.
extern crate self as tests;

mod cli;
mod conformance;
mod declared_kinds;
mod invariants;
mod run;
mod scaffold;
mod scheduler;
mod simulation;
