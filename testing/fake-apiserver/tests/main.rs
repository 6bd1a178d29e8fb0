//! Integration tests of the API server double: one program, so that its dependencies are linked once.

mod clients;
mod faults;
mod recording;
mod support;
mod watches;
