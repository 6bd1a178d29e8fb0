//! `schedc build`: errors before cargo starts, and calls of cargo, with a fake cargo.

use expect_test::expect;

use crate::cli::harness::{Folder, schedc};

#[test]
fn an_invalid_profile_is_reported_before_cargo_starts() {
    let folder = Folder::with(&[("wrong.toml", "[plugins]\nfilter = [\"NodeNam\"]\n")]);
    let wrong = folder.path("wrong.toml").display().to_string();
    let error = schedc(&["build", &wrong, "-o", "x"]).refused();
    assert!(error.starts_with("error: no plugin is called `NodeNam`\n"), "{error}");
    let error = schedc(&["build", "defalt", "-o", "x"]).refused();
    assert!(error.contains("did you mean `default`?"), "{error}");
}

#[test]
fn a_profile_with_out_of_tree_plugins_is_built_in_their_package() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/out-of-tree");
    let text =
        format!("crates = [{{ path = {example:?} }}]\n[plugins]\nmulti-point = {{ enabled = [\"Maintenance\"] }}\n");
    let folder = Folder::with(&[("mine.toml", &text)]);
    let path = folder.path("mine.toml").display().to_string();
    let error = schedc(&["build", &path, "-o", "x"]).refused();
    let message = "plugin Maintenance is in crate `out_of_tree`, and package schedc does not depend on it: build in a package \
                   that does\n";
    assert!(error.ends_with(message), "{error}");
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
        error: package plain is no scheduler: a scheduler has a program with schedc's command line, and a build script that compiles profiles; `schedc new` writes both
    "#]]
    .assert_eq(&folder.schedc(&["build", "small", "-o", "x"]).refused());
    expect![[r#"
        error: taken is a folder: append a file name for the program
    "#]]
    .assert_eq(&folder.schedc(&["build", "small", "-o", "taken"]).refused());
}

/// Creates a scheduler package, and a fake cargo that prints its arguments and creates a program that prints its own.
fn scheduler() -> Folder {
    let manifest = "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[workspace]\n\n[features]\nrun = []\ntools = []\n\n\
                    [dependencies]\nschedc = \"0.1\"\nschedc-plugins = \"0.1\"\n\n[build-dependencies]\nschedc-codegen = \"0.1\"\n";
    let cargo = r#"#!/bin/sh
[ "$1" = metadata ] && exec "$REAL" "$@"
echo "in ${PWD##*/}: $*, of ${SCHEDC_PROFILES##*/}, CARGO_NET_OFFLINE=$CARGO_NET_OFFLINE" >&2
mkdir -p target
printf '#!/bin/sh\necho "runs $*"\n' > target/mine
chmod +x target/mine
echo '{"reason":"compiler-artifact","executable":null}'
echo "{\"reason\":\"compiler-artifact\",\"executable\":\"$PWD/target/mine\"}"
exit ${STATUS-0}
"#;
    Folder::with(&[
        ("mine/Cargo.toml", manifest),
        ("mine/build.rs", "fn main() {}"),
        ("mine/src/main.rs", "fn main() {}"),
        ("mine/profiles/small.toml", "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]\n"),
        ("mine/cargo", cargo),
    ])
}

const WITH_FAKE_CARGO: &str =
    "unset CARGO_NET_OFFLINE; chmod +x mine/cargo; export REAL=${CARGO:-cargo} CARGO=$PWD/mine/cargo; cd mine/src";

#[test]
fn a_program_is_built_from_the_enclosing_package() {
    let build = "schedc build ../profiles/small.toml -o ../../small --target aarch64-unknown-linux-gnu --offline";
    let run = scheduler().shell(&format!("{WITH_FAKE_CARGO}; {build} && ../../small run --dry-run"));
    expect![[r#"
        in mine: build --message-format json-render-diagnostics --no-default-features --profile dist --bin mine --features run --target aarch64-unknown-linux-gnu --config build.rustflags=["-Cforce-unwind-tables=no","-Crelocation-model=static"] --offline, of small.toml, CARGO_NET_OFFLINE=true
        note: wrote ../../small, 0.0 MB, profiles: small
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.ok(), "runs run --dry-run\n");
}

#[test]
fn a_failed_build_keeps_the_old_program() {
    let build = "echo old > ../../small; STATUS=101 schedc build ../profiles/small.toml -o ../../small --release";
    let run = scheduler().shell(&format!("{WITH_FAKE_CARGO}; {build}; cat ../../small"));
    expect![[r#"
        in mine: build --message-format json-render-diagnostics --no-default-features --profile release --bin mine --features run, of small.toml, CARGO_NET_OFFLINE=
        error: cargo could not build the program; its messages are above
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.ok(), "old\n");
}

#[test]
fn an_offline_build_uses_no_network_from_the_start() {
    let manifest = "[package]\nname = \"mine\"\n[workspace]\n[dependencies]\nplugins = \"1\"\n";
    let cargo = "#!/bin/sh\necho \"$*\" >> asked\necho 'error: not downloaded' >&2\nexit 101\n";
    let folder = Folder::with(&[("Cargo.toml", manifest), ("mine.toml", "crates = [\"plugins\"]\n"), ("cargo", cargo)]);
    let build = "schedc build ./mine.toml -o x --offline";
    let refused = folder.shell(&format!("chmod +x cargo; CARGO=$PWD/cargo {build}")).refused();
    assert!(refused.contains("\n  = note: not downloaded\n"), "{refused}");
    expect![[r#"
        metadata --quiet --format-version 1 --filter-platform host-tuple --offline
    "#]]
    .assert_eq(&std::fs::read_to_string(folder.path("asked")).expect("what cargo was asked for"));
}
