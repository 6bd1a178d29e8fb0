//! The package for WebAssembly and the playground, in Node and Chromium.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use crate::c_program::{example, root, run};
use crate::corpora::corpora;

const TARGET: &str = "wasm32-unknown-unknown";

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs tests of Node, which write failures to standard output.
fn run_tests(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn program(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

fn skipped(reason: &str) {
    // The test passes even if this write fails.
    let _ = writeln!(io::stderr().lock(), "skipped the tests of the package for WebAssembly: {reason}");
}

#[test]
fn the_package_and_the_playground_pass_their_tests() {
    if slow_tests::is_skipped("it compiles the package for WebAssembly") {
        return;
    }
    let node = program("NODE", "node");
    let is_new_enough = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";
    if !succeeds(&node, &["-e", is_new_enough]) {
        return skipped(&format!("{node} is not Node 20 or newer; install it, or set NODE"));
    }
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    if !libraries.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists()) {
        return skipped(&format!("rustc has no target {TARGET}; run `rustup target add {TARGET}`"));
    }
    let package = root().join("bindings/wasm");
    run(Command::new(&node).arg("build.mjs").current_dir(&package));
    let corpora = corpora();
    run_tests(
        Command::new(&node)
            .args(["--test", "test/library.test.mjs"])
            .current_dir(&package)
            .env("SCHEDC_CORPUS", &corpora.compressed)
            .env("SCHEDC_EXPECTED", &corpora.expected),
    );
    let (code, output) = example("js");
    assert_eq!(run(Command::new(&node).args(["--input-type=module", "-e", &code]).current_dir(&package)), output);
    types_and_examples(&node, &package);
    let chromium = program("CHROMIUM", "chromium");
    if !succeeds(&chromium, &["--version"]) {
        return skipped(&format!("{chromium} does not run; install Chromium, or set CHROMIUM"));
    }
    let target = env::var("CARGO_TARGET_DIR").map_or_else(|_| root().join("target"), Into::into);
    run_tests(
        Command::new(&node)
            .args(["--test", "test/playground.test.mjs"])
            .current_dir(&package)
            .env("CHROMIUM", chromium)
            .env("SCHEDC_PLAYGROUND", target.join("playground/index.html")),
    );
}

/// The version of TypeScript that checks the types.
const TYPESCRIPT: &str = "typescript@5.9.3";

/// Installs the packed package like a user, and compiles the examples in TypeScript.
fn types_and_examples(node: &str, package: &Path) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typescript");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("package.json"), r#"{"private": true, "type": "module"}"#).unwrap();
    let npm = program("NPM", "npm");
    let pack = Command::new(&npm).args(["pack", "--silent"]).arg(package).current_dir(&folder).output();
    let Some(pack) = pack.ok().filter(|output| output.status.success()) else {
        return skipped(&format!("{npm} does not run; install npm, or set NPM"));
    };
    let archive = String::from_utf8(pack.stdout).unwrap();
    let install = ["install", "--silent", "--no-audit", "--no-fund", TYPESCRIPT];
    let install = Command::new(&npm).args(install).arg(format!("./{}", archive.trim())).current_dir(&folder).output();
    if !install.is_ok_and(|output| output.status.success()) {
        return skipped(&format!("{npm} cannot install {TYPESCRIPT}; the types are not checked"));
    }
    for file in ["tsconfig.json", "node.ts", "browser.ts"] {
        fs::copy(package.join("examples").join(file), folder.join(file)).unwrap();
    }
    run_tests(Command::new(node).arg("node_modules/typescript/bin/tsc").current_dir(&folder));
    let output = run(Command::new(node).arg("built/node.js").current_dir(&folder));
    let expected = "default: web runs on free, with fewer points for busy\n\
                    default: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are \
                    available: 2 Preemption is not helpful for scheduling.\n\
                    packed: web runs on busy, with more points for busy\n\
                    packed: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are \
                    available: 2 Preemption is not helpful for scheduling.\n\
                    unknown-profile\n";
    assert_eq!(output, expected);
}
