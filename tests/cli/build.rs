//! `schedc build`: what it refuses before cargo starts. tests/scaffold builds.

use expect_test::expect;

use crate::harness::{Folder, schedc};

#[test]
fn a_wrong_profile_is_told_before_cargo_starts() {
    let folder = Folder::with(&[("wrong.toml", "[plugins]\nfilter = [\"NodeNam\"]\n")]);
    let wrong = folder.path("wrong.toml").display().to_string();
    let told = schedc(&["build", &wrong, "-o", "x"]).refused();
    assert!(told.starts_with("error: no plugin is called `NodeNam`\n"), "{told}");
    let told = schedc(&["build", "defalt", "-o", "x"]).refused();
    assert!(told.contains("did you mean `default`?"), "{told}");
}

#[test]
fn a_profile_with_plugins_of_others_is_built_where_they_are_known() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/out-of-tree");
    let text =
        format!("crates = [{{ path = {example:?} }}]\n[plugins]\nmulti-point = {{ enabled = [\"Maintenance\"] }}\n");
    let folder = Folder::with(&[("mine.toml", &text)]);
    let path = folder.path("mine.toml").display().to_string();
    let told = schedc(&["build", &path, "-o", "x"]).refused();
    let message = "plugin Maintenance is in crate `out_of_tree`, on which package schedc does not depend: build in a package \
                   that does\n";
    assert!(told.ends_with(message), "{told}");
}

#[test]
fn only_a_scheduler_is_built() {
    let manifest = "[package]\nname = \"plain\"\nedition = \"2024\"\n\n[workspace]\n";
    let folder = Folder::with(&[
        ("Cargo.toml", manifest),
        ("src/main.rs", "fn main() {}"),
        ("profiles/small.toml", "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]\n"),
        ("taken/x", ""),
    ]);
    expect![[r#"
        error: package plain is no scheduler: that has a program with schedc's command line, and a build script that compiles profiles, as `schedc new` writes it
    "#]]
    .assert_eq(&folder.schedc(&["build", "small", "-o", "x"]).refused());
    expect![[r#"
        error: taken is a folder: say what the program is called
    "#]]
    .assert_eq(&folder.schedc(&["build", "small", "-o", "taken"]).refused());
}
