//! The command line of schedc, with the profiles of this crate.

use std::process::ExitCode;

use @CRATE@::scheduler::Profiles;

fn main() -> ExitCode {
    schedc::main::<Profiles>()
}
