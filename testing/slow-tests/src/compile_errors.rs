//! Tests that compare compile errors.

use std::env;
use std::process::Command;

/// Environment variable of cargo with compiler flags, which takes precedence over the flags of trybuild.
const FLAGS_VARIABLE: &str = "CARGO_ENCODED_RUSTFLAGS";
/// Compiler flags of trybuild for test cases.
const FLAGS: &[&str] = &["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];

/// Returns whether the calling process has the compiler flags of trybuild's test cases in its environment. If not, runs
/// a test of this program in a process that has them.
///
/// By default, trybuild uses other flags for dependencies than for test cases, and cargo checks each dependency twice.
///
/// # Panics
///
/// Panics if the test fails in the other process.
pub fn runs_with_trybuild_flags(test: &str) -> bool {
    let flags = FLAGS.join("\u{1f}");
    if env::var(FLAGS_VARIABLE).is_ok_and(|found| found == flags) {
        return true;
    }
    let program = env::current_exe().expect("the path of this program");
    let mut command = Command::new(program);
    let status = command.args([test, "--exact", "--nocapture"]).env(FLAGS_VARIABLE, flags).status().expect("a process");
    assert!(status.success(), "{test} fails, see above");
    false
}
