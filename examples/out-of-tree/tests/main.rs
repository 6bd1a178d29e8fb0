//! Integration tests of the out-of-tree plugin: one program, which links its dependencies once.

// Generated code refers to the plugins of `every_point` by crate name.
extern crate self as tests;

mod compile_errors;
mod contracts;
mod every_point;
mod scheduling;
