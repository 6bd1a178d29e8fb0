//! The `schedc` command.

mod cli;

use std::process::ExitCode;

/// Counts, for `schedc bench`.
#[cfg(feature = "bench")]
#[global_allocator]
static ALLOCATOR: schedc_allocator::Counting = schedc_allocator::Counting;

fn main() -> ExitCode {
    cli::main()
}
