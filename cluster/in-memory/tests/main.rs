//! Integration tests of the in-memory cluster: one program, so its dependencies are linked once.

// Generated code refers to the plugins of `background` by crate name.
extern crate self as tests;

mod background;
mod simulator;
