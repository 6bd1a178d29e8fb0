//! Lookup of profiles by name, from any folder.

use expect_test::expect;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

const PROFILES: [&str; 3] = ["binpack", "default", "edge"];

/// Creates a package without profiles.
fn other_package() -> Folder {
    Folder::with(&[("Cargo.toml", "[package]\nname = \"other\"\n[workspace]\n")])
}

#[test]
fn compiled_in_profiles_are_found_from_any_folder() {
    let folder = other_package();
    for profile in PROFILES {
        for command in ["check", "expand", "export", "manifest"] {
            let command = [command, profile];
            assert_eq!(folder.schedc(&command).ok(), schedc(&command).ok(), "{command:?}");
        }
        let example = format!("{}/{EXAMPLE}", env!("CARGO_MANIFEST_DIR"));
        let explain = ["explain", "shop/web-1", &example, "--profile", profile, "--interpret", profile];
        assert_eq!(folder.schedc(&explain).ok(), schedc(&explain).ok());
        let differences = folder.schedc(&["diff", profile, "kube-scheduler"]).stdout;
        assert_eq!(differences, schedc(&["diff", profile, "kube-scheduler"]).stdout);
    }
}

#[test]
fn a_file_takes_precedence_over_a_compiled_in_profile() {
    let own = "scheduler-name = \"own\"\n";
    let folder =
        Folder::with(&[("Cargo.toml", "[package]\nname = \"other\"\n[workspace]\n"), ("profiles/edge.toml", own)]);
    let exported = folder.schedc(&["export", "edge"]).ok();
    assert!(exported.contains("schedulerName: own\n"), "{exported}");
    assert_eq!(folder.schedc(&["check", "edge", "binpack"]).ok(), "2 profiles, no errors\n");
    let compared = folder.schedc(&["diff", "edge", "profiles/edge.toml"]);
    assert_eq!(compared.code, Some(0), "{}", compared.stdout);
}

#[test]
fn unknown_names_have_the_same_error() {
    let folder = other_package();
    let example = format!("{}/{EXAMPLE}", env!("CARGO_MANIFEST_DIR"));
    let refused = folder.schedc(&["check", "egde"]).refused();
    expect![[r#"
        error: no profile is called `egde`
         |
         = note: there is no profile in folder profiles
         = note: compiled in: `binpack`, `default` and `edge`
         = help: did you mean `edge`?

        error: 1 error
    "#]]
    .assert_eq(&refused);
    for command in [&["expand", "egde"][..], &["export", "egde"], &["manifest", "egde"], &["build", "egde", "-o", "x"]]
    {
        assert_eq!(folder.schedc(command).refused(), refused, "{command:?}");
    }
    assert_eq!(folder.schedc(&["simulate", &example, "--interpret", "egde"]).refused(), refused);
    assert_eq!(folder.schedc(&["diff", "egde", "edge"]).stderr, refused);
    expect![[r#"
        error: no folder `profiles` in the current folder or the package around it; name profiles, or change to their package
    "#]].assert_eq(&folder.schedc(&["check"]).refused());
}

#[test]
fn a_manifest_without_a_profile_is_that_of_all_compiled_in_profiles() {
    let folder = other_package();
    let all = folder.schedc(&["manifest"]);
    assert_eq!(all.stdout, schedc(&[&["manifest"], &PROFILES[..]].concat()).ok());
    let names: Vec<&str> = all.stdout.lines().filter(|line| line.starts_with("  name: ")).collect();
    assert!(names.iter().all(|name| name.starts_with("  name: schedc")), "{names:?}");
    let help = folder.schedc(&["manifest", "--help"]).ok();
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("[default: all compiled-in profiles]"), "{help}");
}
