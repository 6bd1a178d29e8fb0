//! Schedulers of `profiles/default.toml` and `profiles/edge.toml` for tests, compiled once and not in each test
//! program.

use schedc_core::erased::AnyBundle;

schedc_macros::profile!("../../profiles/default.toml");

/// Both profiles.
pub mod with_edge {
    schedc_macros::profile!("../../profiles/default.toml", "../../profiles/edge.toml");
}

/// Returns two bundles with erased types: the default profile alone, and both profiles. With this function, rustc
/// compiles the generic code of these bundles in this crate. In builds without optimisation, programs that depend on
/// this crate use that code.
pub fn bundles() -> [AnyBundle; 2] {
    [AnyBundle::of::<Profiles>(), AnyBundle::of::<with_edge::Profiles>()]
}
