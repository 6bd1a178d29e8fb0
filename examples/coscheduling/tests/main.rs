//! Integration tests of the coscheduling plugin: one program, which links its dependencies once.

mod contracts;
mod scheduling;
mod simulated;
