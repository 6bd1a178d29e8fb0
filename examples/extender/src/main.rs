//! A scheduler with the extender in extender.py: schedc's command line, with the profile in gpu.toml.

use std::process::ExitCode;

mod scheduler {
    schedc::profile!("gpu.toml");
}

fn main() -> ExitCode {
    schedc::main::<scheduler::Profiles>()
}
