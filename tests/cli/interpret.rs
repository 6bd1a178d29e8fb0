//! `--interpret`: profiles without a build.

use expect_test::expect;
use serde_json::Value;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

const PROFILES: [&str; 3] = ["binpack", "default", "edge"];

/// Returns a result of `simulate` without its real times.
fn timeless(mut result: Value) -> Value {
    for time in ["seconds", "readSeconds", "scheduleSeconds"] {
        result["summary"].as_object_mut().expect("a summary").remove(time);
    }
    result
}

#[test]
fn interpreted_profiles_place_pods_as_compiled_ones() {
    for profile in PROFILES {
        let simulate = ["simulate", EXAMPLE, "--profile", profile, "--log", "-o", "json"];
        let with_events = ["--events", "examples/events/maintenance.yaml"];
        let compiled = timeless(schedc(&[&simulate[..], &with_events].concat()).json());
        let interpreted = timeless(schedc(&[&simulate[..], &with_events, &["--interpret", profile]].concat()).json());
        assert_eq!(interpreted, compiled, "{profile}");
    }
}

#[test]
fn interpreted_profiles_explain_pods_as_compiled_ones() {
    for profile in PROFILES {
        let explain = ["explain", "shop/web-1", EXAMPLE, "--profile", profile, "--all-filters"];
        let compiled = schedc(&explain).ok();
        assert_eq!(schedc(&[&explain[..], &["--interpret", profile]].concat()).ok(), compiled, "{profile}");
    }
}

#[test]
fn an_invalid_profile_has_the_errors_of_check() {
    let wrong = "[plugins]\nfilter = [\"NodeNam\"]\n[args.NodeAffinity]\nadded-affinity = 1\n";
    let folder = Folder::with(&[("wrong.toml", wrong), ("nodes.yaml", "")]);
    let refused = folder.schedc(&["simulate", "nodes.yaml", "--interpret", "wrong.toml"]).refused();
    assert!(refused.contains("no plugin is called `NodeNam`"), "{refused}");
    assert_eq!(refused, folder.schedc(&["check", "wrong.toml"]).refused());
}

#[test]
fn plugins_of_other_crates_are_unknown() {
    let path = format!("{}/examples/out-of-tree", env!("CARGO_MANIFEST_DIR"));
    let profile =
        format!("crates = [{{ path = \"{path}\" }}]\n[plugins]\nfilter = {{ enabled = [\"Maintenance\"] }}\n");
    let folder = Folder::with(&[("own.toml", &profile), ("nodes.yaml", "")]);
    expect![[r#"
        error: own.toml: plugin Maintenance of crate out_of_tree is not compiled into this program, so the profile cannot be interpreted; compile it with a build script or `profile!` in a crate that depends on out_of_tree
    "#]]
    .assert_eq(&folder.schedc(&["simulate", "nodes.yaml", "--interpret", "own.toml"]).refused());
}
