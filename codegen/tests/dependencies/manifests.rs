//! Dependencies in the manifest of the package.

use expect_test::expect;

use super::Folder;

#[test]
fn a_package_can_name_itself() {
    let folder = Folder::with("itself", &[("app/Cargo.toml", "[package]\nname = \"my-plugins\"\n[workspace]\n")]);
    let folder = folder.catalogs(&["app"]);
    folder.check("my-plugins", "schedc.toml");
    folder.check("my_plugins", "schedc.toml");
}

#[test]
fn dependencies_of_all_kinds_have_paths() {
    let manifest = r#"
        [package]
        name = "app"
        [workspace]
        [dependencies]
        a = { version = "1", path = "../a", features = ["x"] }
        b.path = "../b"
        [dev-dependencies]
        c = { path = "/ROOT/c" }
        [build_dependencies.d]
        path = "d"
        [target.'cfg(windows)'.dependencies]
        e-e = { path = "../x/../e" }
    "#;
    let folder = Folder::with("paths", &[]).catalogs(&["a", "b", "c", "app/d", "e"]);
    folder.write("app/Cargo.toml", &manifest.replace("/ROOT", &folder.root.to_string_lossy()));
    folder.check("a", "ROOT/a/schedc.toml");
    folder.check("b", "ROOT/b/schedc.toml");
    folder.check("c", "ROOT/c/schedc.toml");
    folder.check("d", "d/schedc.toml");
    folder.check("e_e", "ROOT/e/schedc.toml");
}

#[test]
fn a_renamed_dependency_is_found_by_its_package_name() {
    let manifest = "[package]\nname = \"app\"\n[workspace]\n[dependencies]\nb = { package = \"a\", path = \"../a\" }\n";
    let folder = Folder::with("renamed", &[("app/Cargo.toml", manifest)]).catalogs(&["a"]);
    folder.check("a", "ROOT/a/schedc.toml");
    expect![[r#"
        error: `b` is not a dependency of app
         --> profiles/p.toml:1:11
          |
        1 | crates = ["b"]
          |           ^^^ expected a package under `[dependencies]` in the Cargo.toml of app
          |
          = help: run `cargo add b`, or name its folder: `{ path = ".." }`

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("b").unwrap_err());
}

#[test]
fn suggestions_include_dependencies_of_all_kinds() {
    let manifest = r#"
        [package]
        name = "app"
        [workspace]
        [workspace.dependencies]
        inner = { package = "inherited-plugins", version = "1" }
        [dependencies]
        registry-plugins = "1"
        inner.workspace = true
        [target.x86_64-unknown-linux-gnu.dev-dependencies]
        git-plugins = { git = "https://example.com/plugins" }
    "#;
    let folder = Folder::with("meant", &[("app/Cargo.toml", manifest)]);
    for (wrong, right) in [
        ("registry-plugin", "registry-plugins"),
        ("inherited_plugin", "inherited-plugins"),
        ("gitplugins", "git-plugins"),
    ] {
        let error = folder.find(wrong).unwrap_err();
        assert!(error.contains(&format!("did you mean `{right}`?")), "{error}");
    }
}

#[test]
fn a_dependency_without_a_catalog_is_an_error() {
    let manifest = "[package]\nname = \"app\"\n[workspace]\n[dependencies]\na.path = \"../a\"\n";
    let folder = Folder::with("no_catalog", &[("app/Cargo.toml", manifest)]);
    expect![[r#"
        error: crate `a` has no schedc.toml
         --> profiles/p.toml:1:11
          |
        1 | crates = ["a"]
          |           ^^^ no catalog of plugins
          |
          = note: looked for ROOT/a/schedc.toml

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("a").unwrap_err());
}

#[test]
fn unreadable_manifests_are_errors() {
    let folder = Folder::with("no_manifest", &[]);
    expect![[r#"
        error: cannot look up crate `a` in a Cargo.toml
         --> profiles/p.toml:1:11
          |
        1 | crates = ["a"]
          |           ^^^ expected a dependency of the package that compiles this profile
          |
          = note: ROOT/app/Cargo.toml: No such file or directory (os error 2)
          = help: run this in a package, or name the folder of the crate: `{ path = ".." }`

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("a").unwrap_err());
    folder.write("app/Cargo.toml", "[package]\nname = \"app\"\n[dependencies\n");
    expect![[r#"
        error: cannot look up crate `a` in a Cargo.toml
         --> profiles/p.toml:1:11
          |
        1 | crates = ["a"]
          |           ^^^ expected a dependency of the package that compiles this profile
          |
          = note: ROOT/app/Cargo.toml:3: unclosed table, expected `]`
          = help: run this in a package, or name the folder of the crate: `{ path = ".." }`

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("a").unwrap_err());
    folder.write("app/Cargo.toml", "[workspace]\n");
    expect![[r#"
        error: cannot look up crate `a` in a Cargo.toml
         --> profiles/p.toml:1:11
          |
        1 | crates = ["a"]
          |           ^^^ expected a dependency of the package that compiles this profile
          |
          = note: ROOT/app/Cargo.toml: no `[package]` with a name
          = help: run this in a package, or name the folder of the crate: `{ path = ".." }`

        error: 1 error in profiles/p.toml
    "#]]
    .assert_eq(&folder.find("a").unwrap_err());
}
