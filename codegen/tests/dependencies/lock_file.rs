//! Dependencies without a path in the package's manifest: the lock file identifies them.

use super::{Folder, NO_CARGO};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package with a dependency from a registry.
const PACKAGE: &str = "[package]\nname = \"app\"\n[workspace]\n[dependencies]\nplugins = \"1\"\n";

/// Returns a lock file of [`PACKAGE`], which depends on `dependency`. `packages` are the other packages: name, version
/// and source.
fn lock(dependency: &str, packages: &[(&str, &str, Option<&str>)]) -> String {
    let app = format!("[[package]]\nname = \"app\"\nversion = \"0.0.0\"\ndependencies = [\"z\", \"{dependency}\"]\n");
    let packages = packages.iter().map(|(name, version, source)| {
        let source = source.map(|source| format!("source = \"{source}\"\n")).unwrap_or_default();
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}")
    });
    std::iter::once("version = 4\n".to_owned()).chain([app]).chain(packages).collect()
}

/// Creates the package with a lock file.
fn locked(name: &str, dependency: &str, packages: &[(&str, &str, Option<&str>)]) -> Folder {
    Folder::with(name, &[("app/Cargo.toml", PACKAGE), ("app/Cargo.lock", &lock(dependency, packages))])
}

/// Checks that only cargo can find the dependency.
fn check_needs_cargo(folder: &Folder) {
    let error = folder.find("plugins").unwrap_err();
    assert!(error.contains(NO_CARGO), "{error}");
}

#[test]
fn the_locked_version_is_found_where_cargo_unpacked_it() {
    let folder = locked("registry", "plugins", &[("plugins", "1.2.0", Some(REGISTRY))]);
    check_needs_cargo(&folder);
    let sources = ["home/registry/src/index-1/plugins-1.2.0", "home/registry/src/index-1/plugins-1.3.0"];
    let folder = folder.catalogs(&sources);
    folder.check("plugins", &format!("ROOT/{}/schedc.toml", sources[0]));
}

#[test]
fn equal_packages_of_two_registries_are_ambiguous() {
    let folder = locked("two_registries", "plugins", &[("plugins", "1.2.0", Some(REGISTRY))]);
    let sources = ["home/registry/src/index-1/plugins-1.2.0", "home/registry/src/index-2/plugins-1.2.0"];
    check_needs_cargo(&folder.catalogs(&sources));
}

#[test]
fn the_package_determines_which_of_two_locked_versions_is_used() {
    let packages = [("plugins", "1.2.0", Some(REGISTRY)), ("plugins", "2.0.0", Some(REGISTRY))];
    let folder = locked("two_versions", "plugins 2.0.0", &packages);
    let sources = ["home/registry/src/index-1/plugins-1.2.0", "home/registry/src/index-1/plugins-2.0.0"];
    let folder = folder.catalogs(&sources);
    folder.check("plugins", &format!("ROOT/{}/schedc.toml", sources[1]));

    let both = lock("plugins 1.2.0\", \"plugins 2.0.0", &packages);
    folder.write("app/Cargo.lock", &both);
    check_needs_cargo(&folder);
}

#[test]
fn a_lock_file_may_name_sources() {
    let sparse = "sparse+https://example.com/index/";
    let packages =
        [("plugins", "1.2.0", Some(sparse)), ("plugins", "1.2.0", Some("git+https://example.com/plugins#1a"))];
    let source = "home/registry/src/index-1/plugins-1.2.0";
    let folder = locked("named_source", &format!("plugins 1.2.0 ({sparse})"), &packages).catalogs(&[source]);
    folder.check("plugins", &format!("ROOT/{source}/schedc.toml"));
}

#[test]
fn a_dependency_on_a_repository_is_not_taken_from_a_registry() {
    let folder = locked("git", "plugins", &[("plugins", "1.2.0", Some("git+https://example.com/plugins#1a"))]);
    check_needs_cargo(&folder.catalogs(&["home/registry/src/index-1/plugins-1.2.0"]));
}

#[test]
fn the_lock_file_is_that_of_the_workspace() {
    let folder = locked("workspace_lock", "plugins", &[("plugins", "1.0.0", Some(REGISTRY))]);
    folder.write("app/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nplugins = \"2\"\n");
    folder.write("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n");
    folder.write("Cargo.lock", &lock("plugins", &[("plugins", "2.0.0", Some(REGISTRY))]));
    let sources = ["home/registry/src/index-1/plugins-1.0.0", "home/registry/src/index-1/plugins-2.0.0"];
    folder.catalogs(&sources).check("plugins", &format!("ROOT/{}/schedc.toml", sources[1]));
}

#[test]
fn a_patch_with_a_path_is_used_if_it_is_locked() {
    let patch = "[patch.crates-io]\nmine = { package = \"plugins\", path = \"../mine\" }\n";
    let folder = locked("patched", "plugins", &[("plugins", "1.2.0", None)]);
    folder.write("app/Cargo.toml", &format!("{PACKAGE}{patch}"));
    let source = "home/registry/src/index-1/plugins-1.2.0";
    let folder = folder.catalogs(&[source, "mine"]);
    folder.check("plugins", "ROOT/mine/schedc.toml");

    let unused = lock("plugins", &[("plugins", "1.2.0", Some(REGISTRY))])
        + "[[patch.unused]]\nname = \"plugins\"\nversion = \"0.9.0\"\n";
    folder.write("app/Cargo.lock", &unused);
    folder.check("plugins", &format!("ROOT/{source}/schedc.toml"));
}

#[test]
fn a_patch_of_the_workspace_replaces_a_repository() {
    let folder = locked("patched_git", "plugins", &[]);
    folder.write("app/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\nplugins.git = \"https://a.b/c\"\n");
    folder.write("Cargo.toml", "[workspace]\n[patch.\"https://a.b/c\"]\nplugins.path = \"mine\"\n");
    folder.write("Cargo.lock", &lock("plugins", &[("plugins", "1.2.0", None)]));
    folder.catalogs(&["mine"]).check("plugins", "ROOT/mine/schedc.toml");
}

#[test]
fn patches_of_two_sources_are_ambiguous() {
    let patches = "[patch.crates-io]\na = { package = \"plugins\", path = \"../a\" }\n\
        [patch.\"https://example.com\"]\nb = { package = \"plugins\", path = \"../b\" }\n";
    let folder = locked("two_patches", "plugins", &[("plugins", "1.2.0", None)]);
    folder.write("app/Cargo.toml", &format!("{PACKAGE}{patches}"));
    check_needs_cargo(&folder.catalogs(&["a", "b"]));
}

#[test]
fn packages_that_are_not_downloaded_do_not_matter() {
    let folder = locked("not_downloaded", "plugins", &[("plugins", "1.2.0", None), ("z", "1.0.0", Some(REGISTRY))]);
    folder.write("app/Cargo.toml", &PACKAGE.replace("\"1\"", "{ path = \"../plugins\" }\nz = \"1\""));
    folder.catalogs(&["plugins"]).check("plugins", "ROOT/plugins/schedc.toml");
}

#[test]
fn a_lock_file_that_cannot_be_read_is_left_to_cargo() {
    let folder = locked("conflict", "plugins", &[("plugins", "1.2.0", Some(REGISTRY))]);
    folder.write("app/Cargo.lock", "<<<<<<< HEAD\n");
    check_needs_cargo(&folder.catalogs(&["home/registry/src/index-1/plugins-1.2.0"]));
}
