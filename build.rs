//! Compiles the profiles in profiles/, or those that `SCHEDC_PROFILES` picks.

fn main() {
    // A scheduler that has this package for its command line brings profiles of its own.
    #[cfg(feature = "profiles")]
    schedc_codegen::build("profiles");
}
