//! Integration tests of the fake API server: one program, so its dependencies are linked once.

mod clients;
mod faults;
mod recording;
mod support;
mod watches;
