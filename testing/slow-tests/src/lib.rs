//! Switch for slow tests: they run if the environment variable `SCHEDC_SLOW_TESTS` is set, as in the gate.
//!
//! A test is slow if it takes tens of seconds of CPU time without optimisation. These are tests that call cargo or
//! rustc, and tests with long random histories.

mod compile_errors;

use std::io::Write;
use std::{env, io, thread};

pub use compile_errors::runs_with_trybuild_flags;

/// Environment variable that enables slow tests.
const VARIABLE: &str = "SCHEDC_SLOW_TESTS";

/// Returns whether slow tests run.
pub fn is_enabled() -> bool {
    env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns whether the calling test should return without a result. If so, prints the reason to standard error, even if
/// the test's output is captured.
pub fn is_skipped(reason: &str) -> bool {
    if is_enabled() {
        return false;
    }
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    // The test passes even if this write fails.
    let _ = writeln!(io::stderr().lock(), "skipped {test}: {reason}; run it with {VARIABLE}=1");
    true
}
