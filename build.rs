//! Compiles the profiles in profiles/, or those that `SCHEDC_PROFILES` selects.

fn main() {
    // A scheduler that depends on this package for its command line compiles its own profiles and does not enable this feature.
    #[cfg(feature = "profiles")]
    schedc_codegen::build("profiles");
}
