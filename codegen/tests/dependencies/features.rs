//! Checks that the code of a package can refer to the crate with the client for extenders, and to plugins that features
//! enable.

use expect_test::{Expect, expect};

use super::Folder;

const PROFILE: &str = "[[extender]]\nurl-prefix = \"http://localhost\"\nfilter-verb = \"filter\"\n";

/// Compiles the profile in a build script of a package with this line in its manifest, and these features.
fn load(name: &str, definition: &str, features: &[&str]) -> Result<(), String> {
    load_profile(PROFILE, name, definition, features)
}

fn load_profile(profile: &str, name: &str, definition: &str, features: &[&str]) -> Result<(), String> {
    let manifest = format!("[package]\nname = \"app\"\n[workspace]\n{definition}\n");
    let mut folder = Folder::with(name, &[("app/Cargo.toml", &manifest)]);
    folder.cargo.features = Some(features.iter().map(|feature| (*feature).to_owned()).collect());
    folder.load(profile).map(drop).map_err(|errors| errors.one_lines().join("\n"))
}

fn check_refused(name: &str, definition: &str, features: &[&str], expect: Expect) {
    expect.assert_eq(&load(name, definition, features).unwrap_err());
}

#[test]
fn extenders_compile_with_a_dependency_on_their_client() {
    assert_eq!(load("extender", "[dependencies]\nschedc-extender = \"1\"", &[]), Ok(()));
}

#[test]
fn an_optional_dependency_needs_its_feature() {
    let optional = "[dependencies]\nschedc-extender = { version = \"1\", optional = true }\n";
    let explicit = format!("{optional}[features]\nweb-hooks = [\"dep:schedc-extender\"]\nall = [\"web-hooks\"]");
    assert_eq!(load("feature", &explicit, &["WEB_HOOKS"]), Ok(()));
    check_refused(
        "feature",
        &explicit,
        &["ALL", "OTHER"],
        expect![
            "profiles/p.toml:1:1: extenders require the crate schedc-extender, which is left out of this build of app; build with `--features web-hooks`"
        ],
    );
    assert_eq!(load("feature", optional, &["SCHEDC_EXTENDER"]), Ok(()));
    check_refused(
        "feature",
        optional,
        &[],
        expect![
            "profiles/p.toml:1:1: extenders require the crate schedc-extender, which is left out of this build of app; build with `--features schedc-extender`"
        ],
    );
}

#[test]
fn other_spellings_enable_an_optional_dependency() {
    let renamed = "[dependencies]\nx = { package = \"schedc-extender\", path = \"x\", optional = true }";
    assert_eq!(load("renamed_feature", renamed, &["X"]), Ok(()));
    let optional = "[dependencies]\nschedc-extender = { version = \"1\", optional = true }\n";
    let dependency_feature =
        format!("{optional}[features]\na = [\"dep:schedc-extender\"]\nb = [\"schedc-extender/tls\"]");
    assert_eq!(load("feature_of_it", &dependency_feature, &["B"]), Ok(()));
    let weak = format!("{optional}[features]\na = [\"dep:schedc-extender\"]\nb = [\"schedc-extender?/tls\"]");
    assert!(load("weak_feature", &weak, &["B"]).is_err());
}

#[test]
fn features_are_unknown_outside_of_build_scripts() {
    let manifest = "[package]\nname = \"app\"\n[workspace]\n\
        [dependencies]\nschedc-extender = { version = \"1\", optional = true }\n";
    let folder = Folder::with("features_unknown", &[("app/Cargo.toml", manifest)]);
    assert!(folder.load(PROFILE).is_ok());
}

#[test]
fn extenders_need_a_dependency_on_their_client() {
    check_refused(
        "no_extender",
        "[dependencies]\nschedc-core = \"1\"",
        &[],
        expect![
            "profiles/p.toml:1:1: extenders require the crate schedc-extender, which app does not depend on; add schedc-extender to [dependencies] in Cargo.toml"
        ],
    );
}

#[test]
fn an_optional_plugin_needs_its_feature() {
    let optional = "[features]\ndynamic-resources = [\"schedc-plugins/dynamic-resources\"]";
    let named = "[plugins]\nmulti-point = [\"PrioritySort\", \"DynamicResources\", \"DefaultBinder\"]\n";
    let without = "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]\n";
    let load = |profile, features: &[&str]| load_profile(profile, "optional_plugin", optional, features);
    assert_eq!(load(named, &["DYNAMIC_RESOURCES"]), Ok(()));
    assert_eq!(load(without, &[]), Ok(()));
    expect![
        "profiles/p.toml:2:32: `DynamicResources` is left out of this build of app; build with `--features dynamic-resources`, or leave the plugin out of the profile"
    ]
    .assert_eq(&load(named, &["OTHER"]).unwrap_err());
    // The default list contains DynamicResources.
    expect![
        "profiles/p.toml:1:1: `DynamicResources` is left out of this build of app; build with `--features dynamic-resources`, or leave the plugin out of the profile"
    ]
    .assert_eq(&load("", &[]).unwrap_err());
    assert_eq!(load_profile(named, "all_plugins", "[features]\nother = []", &[]), Ok(()), "a package with all plugins");
}
