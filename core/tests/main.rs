//! Integration tests of the scheduling framework: one program, whose dependencies are linked once.

// Generated code refers to the plugins of `framework` by crate name.
extern crate self as tests;

mod cache;
mod framework;
mod layers;
mod queue;
