//! Integration tests of the scheduling framework: one program, so that its dependencies are linked once.

// Generated code refers to the plugins of `framework` by crate name.
extern crate self as tests;

mod cache;
mod framework;
mod queue;
