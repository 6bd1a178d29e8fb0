//! The schedc command line with the profiles of this crate.

use std::process::ExitCode;

use @CRATE@::scheduler::Profiles;

fn main() -> ExitCode {
    schedc::main::<Profiles>()
}
