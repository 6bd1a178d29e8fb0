//! The `schedc` command, for the profiles of this package.

use std::process::ExitCode;

use schedc::pipelines::Profiles;

#[cfg(not(feature = "profiles"))]
compile_error!("this program is made of profiles/: add `profiles` to its --features");

/// Counts, for `schedc bench`.
#[cfg(feature = "bench")]
#[global_allocator]
static ALLOCATOR: schedc_allocator::CountingAllocator = schedc_allocator::CountingAllocator;

fn main() -> ExitCode {
    schedc::main::<Profiles>()
}
