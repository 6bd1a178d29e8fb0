//! Dependencies that are inherited from a workspace, and the search for the workspace.

use std::env;
use std::process::Command;

use super::Folder;

/// A package that inherits its dependency.
const MEMBER: &str = "[package]\nname = \"app\"\n[dependencies]\nplugins.workspace = true\n";

/// A workspace with the dependency that [`MEMBER`] inherits.
const WORKSPACE: &str = "[workspace.dependencies]\nplugins.path = \"plugins\"\n[workspace]\n";

/// Checks that the package in `app` belongs to the workspace in the folder `workspace`, according to schedc and to cargo.
/// Only this workspace contains the crate `plugins`.
fn check(name: &str, app: &'static str, files: &[(&str, &str)], workspace: &str) {
    let mut folder = Folder::with(name, files);
    folder.app = app;
    folder.write(&format!("{workspace}plugins/Cargo.toml"), "[package]\nname = \"plugins\"\n");
    folder.write(&format!("{workspace}plugins/src/lib.rs"), "");
    for (manifest, _) in files {
        folder.write(&manifest.replace("Cargo.toml", "src/lib.rs"), "");
    }
    let folder = folder.catalogs(&[&format!("{workspace}plugins")]);
    folder.check("plugins", &format!("ROOT/{workspace}plugins/schedc.toml"));

    let mut cargo = Command::new(env::var_os("CARGO").unwrap());
    cargo.args(["locate-project", "--workspace", "--message-format", "plain"]).current_dir(folder.root.join(app));
    let output = cargo.env("CARGO_HOME", folder.root.join("home")).output().unwrap();
    let manifest = format!("{}\n", folder.root.join(workspace).join("Cargo.toml").display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), manifest, "{output:?}");
}

#[test]
fn an_inherited_path_is_relative_to_the_workspace() {
    check("inherited", "member", &[("Cargo.toml", WORKSPACE), ("member/Cargo.toml", MEMBER)], "");
}

#[test]
fn a_package_that_is_a_workspace_inherits_from_itself() {
    let both = format!("{WORKSPACE}{MEMBER}");
    let folder = Folder::with("inherited_from_itself", &[("app/Cargo.toml", &both)]).catalogs(&["app/plugins"]);
    folder.check("plugins", "plugins/schedc.toml");
}

#[test]
fn an_inherited_dependency_may_be_renamed() {
    let workspace = "[workspace.dependencies]\nplugins = { package = \"a\", path = \"a\" }\n";
    let files = [("Cargo.toml", workspace), ("app/Cargo.toml", MEMBER)];
    Folder::with("inherited_and_renamed", &files).catalogs(&["a"]).check("a", "ROOT/a/schedc.toml");
}

#[test]
fn the_nearest_workspace_is_used() {
    let files = [
        ("Cargo.toml", WORKSPACE),
        ("inner/Cargo.toml", WORKSPACE),
        ("inner/between/Cargo.toml", "[package]\nname = \"between\"\n"),
        ("inner/between/member/Cargo.toml", MEMBER),
    ];
    check("nested", "inner/between/member", &files, "inner/");
}

#[test]
fn a_workspace_that_excludes_the_package_is_skipped() {
    let excluding = format!("{WORKSPACE}exclude = [\"members\"]\n");
    let files = [("Cargo.toml", WORKSPACE), ("inner/Cargo.toml", &excluding), ("inner/members/a/Cargo.toml", MEMBER)];
    check("excluded", "inner/members/a", &files, "");
}

#[test]
fn a_member_below_an_excluded_folder_is_in_the_workspace() {
    let including = format!("{WORKSPACE}exclude = [\"members\"]\nmembers = [\"members/a\"]\n");
    let files = [("Cargo.toml", WORKSPACE), ("inner/Cargo.toml", &including), ("inner/members/a/Cargo.toml", MEMBER)];
    check("included", "inner/members/a", &files, "inner/");
}

#[test]
fn a_package_can_point_to_its_workspace() {
    let member = MEMBER.replace("[dependencies]", "workspace = \"../there\"\n[dependencies]");
    let workspace = format!("{WORKSPACE}members = [\"../member\"]\n");
    let files = [("Cargo.toml", "[workspace]\n"), ("there/Cargo.toml", &workspace), ("member/Cargo.toml", &member)];
    check("pointer", "member", &files, "there/");
}

#[test]
fn a_package_above_can_point_to_the_workspace() {
    let above = "[package]\nname = \"above\"\nworkspace = \"../there\"\n";
    let workspace = format!("{WORKSPACE}members = [\"../above\", \"../above/member\"]\n");
    let files = [("there/Cargo.toml", &*workspace), ("above/Cargo.toml", above), ("above/member/Cargo.toml", MEMBER)];
    check("pointer_above", "above/member", &files, "there/");
}

#[test]
fn downloaded_packages_are_in_no_workspace_around_them() {
    let package = "[package]\nname = \"app\"\n[dependencies]\nplugins = { workspace = true, path = \"own\" }\n";
    for app in ["home/registry/src/index/app-1.0.0", "target/package/app-1.0.0"] {
        let mut folder = Folder::with("downloaded", &[("Cargo.toml", WORKSPACE)]).catalogs(&[&format!("{app}/own")]);
        folder.app = app;
        folder.write(&format!("{app}/Cargo.toml"), package);
        folder.check("plugins", "own/schedc.toml");
    }
}

#[test]
fn a_build_watches_the_files_that_determine_crates() {
    let folder = Folder::with("watched", &[("Cargo.toml", WORKSPACE), ("app/Cargo.toml", MEMBER), ("Cargo.lock", "")]);
    let folder = folder.catalogs(&["plugins"]);
    let watched = |profile| folder.load(profile).map(|compilation| compilation.watched).unwrap_or_default();
    let paths = |paths: &[&str]| paths.iter().map(|path| folder.root.join(path)).collect::<Vec<_>>();
    let all = ["app/profiles/p.toml", "plugins/schedc.toml", "app/Cargo.toml", "Cargo.toml", "Cargo.lock"];
    assert_eq!(watched("crates = [\"plugins\"]\n"), paths(&all));
    assert_eq!(watched(""), paths(&all[..1]));
}
