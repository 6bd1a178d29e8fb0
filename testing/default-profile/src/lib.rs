//! Schedulers of `profiles/default.toml` and `profiles/edge.toml` for tests, compiled once and not in each test program.

use schedc_core::erased::AnyBundle;

schedc_macros::profile!("../../profiles/default.toml");

/// Both profiles.
pub mod with_edge {
    schedc_macros::profile!("../../profiles/default.toml", "../../profiles/edge.toml");
}

/// Compiled profiles with an erased type, the default profile and both. rustc compiles the generic code that they need here. Without
/// optimisation, programs that depend on this crate use it.
pub fn bundles() -> [AnyBundle; 2] {
    [AnyBundle::of::<Profiles>(), AnyBundle::of::<with_edge::Profiles>()]
}
