//! The Go package, with the static library.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use crate::c_program::{libraries, root, run};
use crate::corpora::corpora;

/// Returns a command of Go in the folder of the package. `None` without Go.
fn go(test: &str) -> Option<Command> {
    let program = env::var_os("GO").unwrap_or_else(|| "go".into());
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(&program);
    command
        .current_dir(root().join("bindings/go"))
        .env("GOTOOLCHAIN", "local")
        .env("CGO_ENABLED", "1")
        .env("CGO_LDFLAGS", format!("-L{}", libraries().display()))
        .env("GOCACHE", temporary.join("go-cache"))
        .env("GOPATH", temporary.join("go"))
        .env("GOFLAGS", "-count=1");
    let missing = match Command::new(&program).arg("version").output() {
        Ok(output) => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            if is_recent(&version) {
                return Some(command);
            }
            format!("{} is {version}", program.display())
        }
        Err(error) => format!("{} does not run: {error}", program.display()),
    };
    // The test passes even if this write fails.
    let _ = writeln!(io::stderr().lock(), "skipped {test}: {missing}; install Go {OLDEST_VERSION}, or set GO");
    None
}

/// The oldest version of Go that compiles the package.
const OLDEST_VERSION: &str = "1.23";

/// Returns whether the output of `go version` names a version that compiles the package.
fn is_recent(output: &str) -> bool {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let Some((_, version)) = output.split_once("go version go") else { return false };
    let mut parts = version.split(['.', ' ']);
    let (Some(major), Some(minor)) = (number(parts.next()), number(parts.next())) else { return false };
    (major, minor) >= (1, 23)
}

#[test]
fn an_old_version_of_go_is_recognised() {
    assert!(is_recent("go version go1.27.3 linux/amd64") && is_recent("go version go1.23 linux/amd64"));
    assert!(!is_recent("go version go1.19.8 linux/amd64") && !is_recent("go version devel"));
}

#[test]
fn the_tests_of_the_go_package_pass_with_the_bytes_of_evaluate() {
    if slow_tests::is_skipped("it compiles a Go program") {
        return;
    }
    let name = "the tests of the Go package";
    let (Some(mut vet), Some(mut go)) = (go(name), go(name)) else { return };
    run(vet.args(["vet", "./..."]).env_remove("GOFLAGS"));
    let corpora = corpora();
    let variables = [("SCHEDC_CORPUS", &corpora.compressed), ("SCHEDC_EXPECTED", &corpora.expected)];
    let output = run(go.args(["test", "-v", "./..."]).envs(variables));
    assert!(output.contains("--- PASS: TestScenariosHaveTheBytesOfEvaluate"), "{output}");
}

#[test]
fn the_go_example_prints_what_the_documentation_shows() {
    if slow_tests::is_skipped("it compiles a Go program") {
        return;
    }
    let Some(mut go) = go("the Go example") else { return };
    // `go run` does not accept -count.
    let output = run(go.args(["run", "./examples/estimate"]).env_remove("GOFLAGS"));
    let page = fs::read_to_string(root().join("docs/libraries.md")).unwrap();
    assert!(page.contains(&format!("```text\n{output}```")), "{output}");
}
