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

/// Returns the lines of a section of a manifest, without comments.
fn section<'a>(manifest: &'a str, header: &str) -> Vec<&'a str> {
    let lines = manifest.lines().skip_while(|line| *line != header).skip(1).take_while(|line| !line.starts_with('['));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn a_scheduler_is_built_with_the_settings_of_this_workspace() {
    let folder = Folder::with(&[]);
    folder.schedc(&["new", "my-scheduler"]).ok();
    let manifest = fs::read_to_string(folder.path("my-scheduler/Cargo.toml")).expect("a manifest");
    let workspace = fs::read_to_string("Cargo.toml").expect("a manifest");
    for header in ["[profile.release]", "[profile.dist]", "[profile.dist.package]"] {
        assert_eq!(section(&manifest, header), section(&workspace, header), "{header}");
    }
    let packages = section(&manifest, "[profile.release.package]");
    let (own, others) = packages.split_first().expect("packages");
    assert_eq!(*own, "\"my-scheduler\" = { opt-level = 3, codegen-units = 1 }");
    let all = section(&workspace, "[profile.release.package]");
    let missing: Vec<&str> = all.iter().filter(|line| !others.contains(line)).copied().collect();
    let unknown: Vec<&&str> = others.iter().filter(|line| !all.contains(line)).collect();
    assert!(unknown.is_empty(), "only in the template: {unknown:?}");
    // Of these packages, a new scheduler contains only `schedc`, whose code runs no profile there. The settings of the
    // others are left out, because Cargo warns about settings of absent packages.
    expect![[r#"
        schedc = { opt-level = 3, codegen-units = 1 }
        schedc-allocator = { opt-level = 3, codegen-units = 1 }
        schedc-api = { opt-level = 3 }
        schedc-benches = { opt-level = 3, codegen-units = 1 }
        schedc-recording = { opt-level = 3 }
        pyo3 = { opt-level = 3 }
        schedc-python = { opt-level = 3 }
        perf-event-data = { opt-level = 0 }
        perf-event2 = { opt-level = 0 }
        ureq = { opt-level = 0 }
        ureq-proto = { opt-level = 0 }
    "#]]
    .assert_eq(&missing.iter().map(|line| format!("{line}\n")).collect::<String>());
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
        assert!(
            text("Cargo.toml").contains("default = [\"dynamic-resources\", \"tools\"]"),
            "`run` is not built without need"
        );
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
    assert!(!folder.path("at/gpu2/Cargo.lock").exists(), "the dependencies of another version are unknown");
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
