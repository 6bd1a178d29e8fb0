//! Dependencies that only cargo can find.

use std::env;
use std::fs;
use std::path::Path;

use expect_test::expect;

use super::Folder;

/// A package with a dependency that only cargo can find.
const PACKAGE: &str = "[package]\nname = \"app\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nplugins = \"1\"\n";

/// Vendored sources instead of crates.io.
const VENDORED: [(&str, &str); 5] = [
    ("app/src/lib.rs", ""),
    ("app/.cargo/config.toml", "[source]\ncrates-io.replace-with = \"vendored\"\nvendored.directory = \"vendor\"\n"),
    ("app/vendor/plugins/.cargo-checksum.json", "{\"files\":{}}"),
    ("app/vendor/plugins/Cargo.toml", "[package]\nname = \"plugins\"\nversion = \"1.2.0\"\n"),
    ("app/vendor/plugins/src/lib.rs", ""),
];

/// The lock file, without the checksums that `VENDORED` lacks.
const LOCK: &str = r#"version = 4

[[package]]
name = "app"
version = "0.0.0"
dependencies = [
 "plugins",
]

[[package]]
name = "plugins"
version = "1.2.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"#;

/// Creates the package with vendored sources. Its environment has the real cargo, with a home folder without downloads.
fn vendored(name: &str, manifest: &str) -> Folder {
    let mut folder = Folder::with(name, &VENDORED).catalogs(&["app/vendor/plugins"]);
    folder.cargo.program = env::var_os("CARGO").unwrap().into();
    folder.write("app/Cargo.toml", manifest);
    folder.write("app/Cargo.lock", LOCK);
    folder
}

#[test]
fn vendored_dependencies_are_found() {
    vendored("vendored", PACKAGE).check("plugins", "vendor/plugins/schedc.toml");
    let optional = PACKAGE.replace("\"1\"", "{ version = \"1\", optional = true }");
    vendored("vendored_optional", &optional).check("plugins", "vendor/plugins/schedc.toml");
}

#[test]
fn a_dependency_on_other_platforms_is_named_as_such() {
    let manifest = PACKAGE.replace("[dependencies]", "[target.'cfg(target_os = \"none\")'.dependencies]");
    let mut folder = vendored("other_platform", &manifest);
    expect![[r#"
        error: `plugins` is a dependency of app on other platforms only
         --> profiles/p.toml:1:11
          |
        1 | crates = ["plugins"]
          |           ^^^^^^^^^ not part of this build
          |
          = help: move it to `[dependencies]` in the Cargo.toml of app

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("plugins").unwrap_err());
    folder.cargo.target = Some("thumbv7em-none-eabihf".to_owned());
    folder.check("plugins", "vendor/plugins/schedc.toml");
}

#[test]
fn a_build_does_not_change_the_lock_file() {
    let mut folder = vendored("locked", PACKAGE);
    let lock = folder.root.join("app/Cargo.lock");
    let text = |lock: &Path| fs::read_to_string(lock).ok();
    let stale = LOCK.replace("dependencies = [\n \"plugins\",\n]\n", "");
    folder.write("app/Cargo.lock", &stale);
    assert!(folder.find("plugins").is_err());
    assert_eq!(text(&lock), Some(stale));
    fs::remove_file(&lock).unwrap();
    assert!(folder.find("plugins").is_err());
    assert_eq!(text(&lock), None);

    folder.cargo.is_building = false;
    folder.check("plugins", "vendor/plugins/schedc.toml");
    assert_eq!(text(&lock).as_deref().map(|lock| lock.contains("name = \"plugins\"")), Some(true));
}

/// Creates the package. Its environment has `fake-cargo.sh` instead of cargo.
fn with_fake_cargo(name: &str) -> Folder {
    let mut folder = Folder::with(name, &[("app/Cargo.toml", PACKAGE)]).catalogs(&["git/plugins"]);
    folder.cargo.program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dependencies/fake-cargo.sh");
    folder
}

#[test]
fn cargo_downloads_missing_packages_if_it_must() {
    let folder = with_fake_cargo("downloads");
    let metadata = r#"{
        "packages": [
            { "id": "0", "name": "plugins", "manifest_path": "ROOT/other/Cargo.toml" },
            { "id": "1", "name": "app", "manifest_path": "ROOT/app/Cargo.toml" },
            { "id": "2", "name": "plugins", "manifest_path": "ROOT/git/plugins/Cargo.toml" }
        ],
        "resolve": {
            "root": "1",
            "nodes": [{ "id": "0", "dependencies": [] }, { "id": "1", "dependencies": ["2"] }]
        }
    }"#;
    folder.write("app/metadata.json", &metadata.replace("ROOT", &folder.root.to_string_lossy()));
    folder.check("plugins", "ROOT/git/plugins/schedc.toml");
    expect![[r#"
        metadata --quiet --format-version 1 --filter-platform host-tuple --locked --offline
        metadata --quiet --format-version 1 --filter-platform host-tuple --locked
    "#]]
    .assert_eq(&fs::read_to_string(folder.root.join("app/arguments")).unwrap());
}

#[test]
fn both_attempts_are_shown_if_cargo_fails() {
    let mut folder = with_fake_cargo("no_network");
    expect![[r#"
        error: cannot find the folder of crate `plugins`
         --> profiles/p.toml:1:11
          |
        1 | crates = ["plugins"]
          |           ^^^^^^^^^ `cargo metadata` failed
          |
          = note: without the network: failed to download `a v1.0.0`: --offline was specified
          = note: with the network: no route to host
          = help: run `cargo fetch` in the folder of the package; builds need no network then

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("plugins").unwrap_err());
    folder.cargo.is_offline = true;
    expect![[r#"
        error: cannot find the folder of crate `plugins`
         --> profiles/p.toml:1:11
          |
        1 | crates = ["plugins"]
          |           ^^^^^^^^^ `cargo metadata` failed
          |
          = note: failed to download `a v1.0.0`: --offline was specified
          = help: run `cargo fetch` in the folder of the package; builds need no network then

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("plugins").unwrap_err());
    folder.cargo.program = "/nowhere/cargo".into();
    expect![[r#"
        error: cannot find the folder of crate `plugins`
         --> profiles/p.toml:1:11
          |
        1 | crates = ["plugins"]
          |           ^^^^^^^^^ `cargo metadata` failed
          |
          = note: /nowhere/cargo: No such file or directory (os error 2)
          = help: run `cargo fetch` in the folder of the package; builds need no network then

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("plugins").unwrap_err());
}
