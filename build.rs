//! Compiles the profiles in profiles/, or those that `SCHEDC_PROFILES` selects.

fn main() {
    // A scheduler that uses this package for its command line has its own profiles.
    #[cfg(feature = "profiles")]
    schedc_codegen::build("profiles");
}
