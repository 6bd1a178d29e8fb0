//! Commands with extenders: a real program, with an extender in its profile, calls a real extender over HTTP.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod backtest;
mod evaluation;
mod example;
mod flags;
mod process;
mod run;
#[path = "../../../../cluster/extender/tests/http/server.rs"]
#[allow(dead_code, reason = "the tests of schedc-extender use more of this module")]
mod webhook;

/// No process listens on this port.
const UNREACHABLE_URL: &str = "http://127.0.0.1:1";

#[test]
fn the_program_contains_the_extender_crates() {
    // A test of schedc's own program requires the absence of these symbols.
    let program = std::fs::read(env!("CARGO_BIN_EXE_gpu-sharing")).unwrap();
    for trace in ["15schedc_extender", "4ureq", "SCHEDC_EXTENDER_URL_PREFIX"] {
        assert!(memchr::memmem::find(&program, trace.as_bytes()).is_some(), "{trace}");
    }
}
