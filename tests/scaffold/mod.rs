//! What `schedc new` writes, as its README says: it builds, passes its tests, and simulates.
//!
//! It is built without a network, with the versions of this checkout, in this checkout's target folder, so that what is compiled
//! there serves it, too.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs a command that goes well, and returns what it prints.
fn run(folder: &Path, program: &str, args: &[&str]) -> String {
    let target = Path::new(TEMPORARY).parent().expect("a target folder");
    let mut command = Command::new(program);
    // What cargo tells this test is not about what it builds now.
    let own = env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_"));
    for (name, _) in own {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // As the dependencies of this workspace have none, either, those with the same features are not compiled again.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    let output = command.env_remove("CARGO_MANIFEST_DIR").env_remove("SCHEDC_PROFILES").output().expect(program);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {args:?}\n{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

/// A new scheduler.
fn scaffold() -> PathBuf {
    let folder = Path::new(TEMPORARY).join("scaffold");
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old one goes");
    }
    fs::create_dir_all(&folder).expect("a folder");
    run(&folder, env!("CARGO_BIN_EXE_schedc"), &["new", "my-scheduler"]);
    folder.join("my-scheduler")
}

#[test]
fn a_new_scheduler_passes_its_tests_and_places_pods() {
    if slow_tests::is_skipped("cargo builds a scheduler") {
        return;
    }
    let scheduler = scaffold();
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let tested = run(&scheduler, &cargo, &["test"]);
    for test in ["a_node_is_kept_for_its_namespace", "hints_miss_nothing"] {
        assert!(tested.contains(&format!("test {test} ... ok")), "{tested}");
    }

    let placed = run(&scheduler, &cargo, &["run", "--", "simulate", "cluster/"]);
    let readme = fs::read_to_string(scheduler.join("README.md")).expect("a README");
    let (_, shown) = readme.split_once("prints:\n\n```\n").expect("what is printed");
    let (shown, _) = shown.split_once("  ...\n").expect("the end of that");
    assert!(placed.starts_with(shown), "{placed}");
    assert!(placed.contains("1 node(s) were kept for another namespace"), "{placed}");
    assert_eq!(run(&scheduler, &cargo, &["run", "--", "check"]), "1 profile, no errors\n");
}
