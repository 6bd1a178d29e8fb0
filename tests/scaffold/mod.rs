//! Output of `schedc new`: it builds, passes its tests, and simulates, as its README describes. The program in
//! docs/embedding.md: it builds with the manifest of the page, and prints what the page shows.
//!
//! The builds use no network. They use the dependency versions and the target folder of this checkout, so compiled
//! packages are shared.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use schedc_book::page::Page;

const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs a successful command, and returns its output.
fn run(folder: &Path, program: &str, args: &[&str]) -> String {
    let target = Path::new(TEMPORARY).parent().expect("a target folder");
    let mut command = Command::new(program);
    // Variables of cargo for this test do not apply to the new build.
    let own = env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_"));
    for (name, _) in own {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // With the settings of this workspace, dependencies with the same features are not compiled again.
    let settings = [("BUILD_OVERRIDE_CODEGEN_UNITS", "4"), ("CODEGEN_UNITS", "4"), ("DEBUG", "false"), ("LTO", "off")];
    for (setting, value) in settings {
        command.env(format!("CARGO_PROFILE_DEV_{setting}"), value);
    }
    let output = command.env_remove("CARGO_MANIFEST_DIR").env_remove("SCHEDC_PROFILES").output().expect(program);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {args:?}\n{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    stdout
}

/// Creates a new scheduler with an example.
fn scaffold(example: &[&str]) -> PathBuf {
    scaffold_as(&example.last().map_or("my-scheduler".to_owned(), |example| format!("my-{example}")), example)
}

/// Creates a new scheduler with a name.
fn scaffold_as(name: &str, example: &[&str]) -> PathBuf {
    let folder = Path::new(TEMPORARY).join("scaffold").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the old folder can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder");
    run(&folder, env!("CARGO_BIN_EXE_schedc"), &[&["new", name], example].concat());
    folder.join(name)
}

/// Runs `cargo test` and `cargo run -- simulate`, and compares the output with the README.
fn check(example: &[&str], tests: &[&str]) {
    if slow_tests::is_skipped("cargo builds a scheduler") {
        return;
    }
    let scheduler = scaffold(example);
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let tested = run(&scheduler, &cargo, &["test"]);
    for test in tests.iter().chain(&["hints_wake_every_pod_that_fits"]) {
        let passed = tested.lines().any(|line| line.ends_with(&format!("{test} ... ok")));
        assert!(passed, "{test}: {tested}");
    }
    assert_eq!(tested.matches("running ").count(), 1, "one test program: {tested}");

    let placed = run(&scheduler, &cargo, &["run", "--", "simulate", "cluster/"]);
    let readme = fs::read_to_string(scheduler.join("README.md")).expect("a README");
    let (_, shown) = readme.split_once("prints:\n\n```\n").expect("the output");
    let (shown, _) = shown.split_once("  ...\n").expect("its end");
    assert!(placed.starts_with(shown), "{placed}");
    assert_eq!(run(&scheduler, &cargo, &["run", "--", "check"]), "1 profile, no errors\n");
    let tree = run(&scheduler, &cargo, &["tree", "--edges", "normal", "--prefix", "none"]);
    assert!(!tree.contains("rustls") && !tree.contains("schedc-kubernetes"), "TLS is linked without need: {tree}");
}

#[test]
fn a_new_scheduler_passes_its_tests_and_places_pods() {
    check(&[], &["a_node_is_kept_for_its_namespace"]);
}

#[test]
fn a_new_filter_has_arguments_known_to_check() {
    check(&["--with", "filter"], &["a_pod_needs_hardware_of_its_generation"]);
    if slow_tests::is_skipped("cargo builds a scheduler") {
        return;
    }
    let scheduler = Path::new(TEMPORARY).join("scaffold/my-filter/my-filter");
    let profile = scheduler.join("profiles/my-filter.toml");
    let text = fs::read_to_string(&profile).expect("a profile");
    fs::write(&profile, text.replace("pods-without-label = 2", "pods-without-label = 2000")).expect("writable");
    let checked = Command::new(env!("CARGO_BIN_EXE_schedc")).arg("check").current_dir(&scheduler).output();
    let error = String::from_utf8(checked.expect("schedc runs").stderr).expect("text");
    assert!(error.contains("`pods-without-label` of MinimumGeneration must be in 0..=1000, not 2000"), "{error}");
}

#[test]
fn a_new_score_follows_prices() {
    check(&["--with", "score"], &["cheap_nodes_are_filled_first", "a_changed_price_takes_effect_immediately"]);
}

#[test]
fn a_new_index_follows_nodes_that_change_while_pods_run_on_them() {
    check(&["--with", "state"], &["pods_move_to_another_rack_with_their_node"]);
}

#[test]
fn a_new_permit_plugin_releases_capacity() {
    check(&["--with", "permit"], &["a_pod_waits_for_its_partner", "a_pod_without_partner_releases_its_node"]);
}

#[test]
fn the_embedding_page_has_a_complete_program() {
    if slow_tests::is_skipped("cargo builds a program") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let blocks = Page::read(root, "docs/embedding.md").expect("a page").blocks();
    let block = |info: &str| &blocks.iter().find(|block| block.info == info).expect(info).text;
    let folder = Path::new(TEMPORARY).join("embedding");
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let manifest = block("toml").replace("../schedc/", &format!("{}/", root.display()));
    // The folder is inside the folder of this workspace, but not a member of the workspace.
    write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
    write("src/main.rs", block("rust"));
    for (from, to) in [("Cargo.lock", "Cargo.lock"), ("profiles/edge.toml", "profiles/edge.toml")] {
        write(to, &fs::read_to_string(root.join(from)).expect("a file"));
    }
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    assert_eq!(run(&folder, &cargo, &["run", "--quiet"]), *block("text"));
}

/// Returns those of the crates for devices whose code is in a program.
fn device_crates(program: &Path) -> Vec<&'static str> {
    let bytes = fs::read(program).expect("a program");
    // In the symbol of a function, the name of the crate follows the length of that name. A name without its length may
    // come from an object file whose functions were removed.
    let is_part_of_a_symbol =
        |name: &&str| memchr::memmem::find(&bytes, format!("{}{name}", name.len()).as_bytes()).is_some();
    ["schedc_cel", "schedc_device_allocator"].into_iter().filter(is_part_of_a_symbol).collect()
}

#[test]
fn a_program_without_dynamic_resources_contains_no_code_for_devices() {
    if slow_tests::is_skipped("cargo builds a scheduler") {
        return;
    }
    let scheduler = scaffold_as("my-lean", &[]);
    let edge = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/edge.toml");
    fs::copy(edge, scheduler.join("profiles/my-lean.toml")).expect("a profile");
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // With the feature `dynamic-resources`, the plugin is compiled, and the linker must remove its code.
    run(&scheduler, &cargo, &["build", "--no-default-features", "--features", "run,dynamic-resources"]);
    let programs = Path::new(env!("CARGO_BIN_EXE_schedc")).parent().expect("a folder");
    assert_eq!(device_crates(&programs.join("my-lean")), <[&str; 0]>::default());
    let all = device_crates(Path::new(env!("CARGO_BIN_EXE_schedc")));
    assert_eq!(all, ["schedc_cel", "schedc_device_allocator"], "the symbols are found where they exist");
}
