//! The wheel of the Python package, with this program, in a clean virtual environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, io};

use crate::cli::harness::Folder;

/// Messages of pip without a network.
const OFFLINE: [&str; 3] =
    ["No matching distribution found", "Failed to establish a new connection", "Temporary failure in name resolution"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn skip(reason: &str) {
    // The test passes even if this write fails.
    let _ = writeln!(io::stderr().lock(), "skipped the wheel of the Python package: {reason}");
}

/// Returns the commands of the package's README.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(root().join("bindings/python/README.md")).expect("the README");
    let blocks = readme.split("```sh no-run\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().trim().to_owned()).collect()
}

/// Returns a copy of a file without debug information, which a wheel compresses faster; or the file, without `strip`.
fn stripped(file: PathBuf, folder: &Folder) -> PathBuf {
    let copy = folder.path(file.file_name().and_then(|name| name.to_str()).expect("a file name"));
    let status = Command::new("strip").arg("-o").arg(&copy).arg(&file).status();
    if status.is_ok_and(|status| status.success()) { copy } else { file }
}

fn messages(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_commands_of_the_readme_install_a_wheel_and_its_tests_pass() {
    if slow_tests::is_skipped("pip builds a wheel, and downloads packages") {
        return;
    }
    let has_python = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))";
    if !Command::new("python3").args(["-c", has_python]).output().is_ok_and(|output| output.status.success()) {
        return skip("python3 is not Python 3.9 or newer with venv; install it");
    }
    let folder = Folder::with(&[]);
    std::os::unix::fs::symlink(root().join("bindings"), folder.path("bindings")).expect("a link");
    let libraries = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned)).expect("a folder");
    let name = if cfg!(target_os = "macos") { "libschedc_c.dylib" } else { "libschedc_c.so" };
    let library = stripped(libraries.join(name), &folder);
    let program = stripped(PathBuf::from(env!("CARGO_BIN_EXE_schedc")), &folder);
    let commands = commands();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in &commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path(""))
            .env("SCHEDC_BUILT_LIBRARY", &library)
            .env("SCHEDC_BUILT_PROGRAM", &program)
            .env_remove("SCHEDC_LIBRARY")
            .env_remove("SCHEDC_PROGRAM")
            .env_remove("PYTHONPATH")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("a shell");
        let messages = messages(&output);
        if !output.status.success() && OFFLINE.iter().any(|text| messages.contains(text)) {
            return skip(
                "PyPI cannot be reached, so pip cannot install setuptools, pandas and the other packages of the tests",
            );
        }
        assert!(output.status.success(), "{command}: {messages}");
    }
    let version =
        Command::new(folder.path("venv/bin/schedc")).arg("--version").output().expect("the program of the wheel");
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("schedc {}\n", env!("CARGO_PKG_VERSION")));
}
