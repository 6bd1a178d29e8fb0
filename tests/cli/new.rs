//! `schedc new`. tests/scaffold builds and runs its output.

use std::fs;

use expect_test::expect;

use crate::cli::harness::Folder;

/// Root of this checkout.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_scheduler_begins_with_a_plugin_its_test_and_a_profile() {
    let folder = Folder::with(&[]);
    let run = folder.schedc(&["new", "my-scheduler"]);
    assert_eq!(run.stderr, format!("note: wrote my-scheduler, which depends on {HERE}\n"));
    expect![[r#"
        cd my-scheduler
        cargo test
        cargo run -- simulate cluster/
    "#]]
    .assert_eq(&run.ok());
    let text = |file: &str| fs::read_to_string(folder.path("my-scheduler").join(file)).expect(file);
    assert!(text("Cargo.toml").contains(&format!("schedc-core = {{ path = \"{HERE}/core\" }}\n")));
    assert!(text("src/main.rs").contains("use my_scheduler::scheduler::Profiles;"));
    assert!(text("profiles/my-scheduler.toml").contains("crates = [\"my-scheduler\"]"));
    assert_eq!(text("Cargo.lock"), fs::read_to_string("Cargo.lock").expect("versions that schedc is tested with"));
    assert!(folder.path("my-scheduler/README.md").is_file());
}

#[test]
fn a_scheduler_can_begin_with_another_example() {
    let folder = Folder::with(&[]);
    for (example, plugin) in
        [("filter", "MinimumGeneration"), ("score", "CheapNodes"), ("state", "TeamSpread"), ("permit", "Pairs")]
    {
        folder.schedc(&["new", "--with", example, &format!("my-{example}")]).ok();
        let text = |file: &str| fs::read_to_string(folder.path(&format!("my-{example}")).join(file)).expect(file);
        assert!(text("schedc.toml").contains(&format!("name = \"{plugin}\"")));
        assert!(text("Cargo.toml").contains("default = [\"tools\"]"), "`run` is not built without need");
        assert!(text("src/tests/mod.rs").contains(&format!("\"{plugin}\"")));
    }
}

#[test]
fn a_scheduler_can_depend_on_a_repository() {
    let folder = Folder::with(&[]);
    folder.schedc(&["new", "at/gpu2", "--git", "https://example.com/schedc", "--rev", "1a2b"]).ok();
    let manifest = fs::read_to_string(folder.path("at/gpu2/Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("name = \"gpu2\""));
    assert!(manifest.contains("schedc-core = { git = \"https://example.com/schedc\", rev = \"1a2b\" }\n"));
    assert!(!folder.path("at/gpu2/Cargo.lock").exists(), "of another version it is not known what it needs");
}

#[test]
fn existing_files_and_reserved_names_are_rejected() {
    let folder = Folder::with(&[("mine/notes.txt", "")]);
    let refused = |args: &[&str]| folder.schedc(&[&["new"], args].concat()).refused();
    expect![[r#"
        error: mine exists already: choose another name
    "#]]
    .assert_eq(&refused(&["mine"]));
    expect![[r#"
        error: `My_Scheduler` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first
    "#]]
    .assert_eq(&refused(&["My_Scheduler"]));
    expect![[r#"
        error: `schedc-core` is not a valid name: it is reserved
    "#]]
    .assert_eq(&refused(&["schedc-core"]));
    expect![[r#"
        error: --path=mine: not a checkout of schedc
    "#]]
    .assert_eq(&refused(&["other", "--path", "mine"]));
}
