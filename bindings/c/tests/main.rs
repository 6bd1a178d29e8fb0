//! Tests of the C library: a program in C, the header, and arbitrary bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod arbitrary_bytes;
mod c_program;
mod corpora;
mod custom_plugin;
mod go;
mod header;
mod wasm;
