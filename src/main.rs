//! The `schedc` command with the profiles of this package.

use std::process::ExitCode;

#[cfg(not(feature = "profiles"))]
compile_error!("this program needs the compiled profiles: add `profiles` to its --features");

/// Counts allocations for `schedc bench`.
#[cfg(feature = "bench")]
#[global_allocator]
static ALLOCATOR: schedc_allocator::CountingAllocator = schedc_allocator::CountingAllocator;

fn main() -> ExitCode {
    schedc::pipelines::main()
}
