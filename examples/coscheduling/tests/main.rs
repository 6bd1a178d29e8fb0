//! Integration tests of the coscheduling plugin: one program, so that its dependencies are linked once.

mod contracts;
mod scheduling;
mod simulated;
