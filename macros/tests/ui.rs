//! Compile errors, as a user sees them. They are rustc's wording in part, so they are held for one toolchain.

#[test]
fn compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
