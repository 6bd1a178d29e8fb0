//! The code that the build script generates from the profiles: a module for each profile, and the bundle
//! [`Profiles`] over all of them. `schedc expand` prints the code of a profile.

#![allow(clippy::collapsible_if, reason = "the guard of some plugins surrounds code that all plugins have")]
#![allow(clippy::unit_arg, reason = "some plugins have no cycle state")]

use std::ffi::OsString;
use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));

/// Runs the command line with the profiles of this package.
///
/// The library, not the program, calls [`main`](schedc_cli::main): cargo compiles a library while its dependencies are still
/// being compiled, but a program only after all of its dependencies.
#[must_use]
pub fn main() -> ExitCode {
    schedc_cli::main::<Profiles>()
}

/// Runs the command line with these arguments, in the process of another program. The first argument is the name of the program.
#[must_use]
pub fn main_with(arguments: Vec<OsString>) -> ExitCode {
    schedc_cli::main_with::<Profiles>(arguments)
}
