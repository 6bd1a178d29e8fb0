//! The command line of schedc.

use std::ffi::OsString;
use std::io::{Write, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use pyo3::prelude::*;

/// Exit code of a Rust program that panicked.
const PANICKED: i32 = 101;

/// Runs a command, and returns its exit code. The first argument is the name of the program. Some commands end the process.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    let run = || {
        let result = catch_unwind(AssertUnwindSafe(|| schedc::pipelines::main_with(arguments)));
        // Python does not flush Rust's buffer. An error is ignored: the reader may have closed the pipe.
        let _ = stdout().flush();
        result.map_or(PANICKED, number)
    };
    py.detach(run)
}

/// Returns the number of an exit code. `ExitCode` has no accessor for it.
fn number(code: ExitCode) -> i32 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).map_or(PANICKED, i32::from)
}
