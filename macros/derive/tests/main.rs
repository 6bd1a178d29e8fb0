//! Integration tests of the macros: one program, whose dependencies are linked once.

mod args;
mod plugin;

/// Compile errors as shown to users. Parts are rustc's text, so they are checked with one toolchain.
#[test]
fn compile_errors() {
    if slow_tests::is_skipped("rustc runs for each case") || !slow_tests::runs_with_trybuild_flags("compile_errors") {
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
