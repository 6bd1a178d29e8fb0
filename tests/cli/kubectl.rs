//! The program as a kubectl plugin, and the manifest from which krew installs it.

use std::os::unix::fs::symlink;

use expect_test::expect;
use serde_json::Value;

use crate::cli::harness::{Folder, Run};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/krew-manifest");

/// Checksums in the format of a release.
const SUMS: &str = "\
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  schedc-1.2.3-aarch64-unknown-linux-musl.tar.gz
bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  schedc-1.2.3-x86_64-unknown-linux-musl.cdx.json
cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc  schedc-1.2.3-x86_64-unknown-linux-musl.tar.gz
";

/// Runs the script with a file of checksums.
fn krew_manifest(sums: &str) -> Run {
    let folder = Folder::with(&[("SHA256SUMS", sums)]);
    folder.shell(&format!("{SCRIPT} --url https://example.com/v1.2.3 --homepage https://example.com/schedc SHA256SUMS"))
}

#[test]
fn a_plugin_shows_the_command_that_users_type() {
    let folder = Folder::with(&[]);
    symlink(env!("CARGO_BIN_EXE_schedc"), folder.path("kubectl-schedc")).expect("a link");
    let usage = |command: &str| {
        let run = folder.shell(command);
        let text = run.stdout + &run.stderr;
        text.lines().find(|line| line.starts_with("Usage:")).map(str::to_owned).expect("a usage line")
    };
    expect!["Usage: kubectl schedc <COMMAND>"].assert_eq(&usage("./kubectl-schedc --help"));
    expect!["Usage: kubectl schedc expand <PROFILE>"].assert_eq(&usage("./kubectl-schedc expand"));
    expect!["Usage: schedc expand <PROFILE>"].assert_eq(&usage("schedc expand"));
    let page = folder.shell("./kubectl-schedc man").ok();
    assert!(page.contains(".TH KUBECTL-SCHEDC 1 ") && page.contains("\\fBkubectl schedc\\fR"), "{page}");
}

#[test]
fn a_krew_manifest_has_the_archives_of_a_release() {
    let text = krew_manifest(SUMS).ok();
    assert!(!text.contains('@'), "{text}");
    let manifest: Value = serde_saphyr::from_str(&text).expect("YAML");
    expect![[r#"
        [
          {
            "bin": "kubectl-schedc",
            "files": [
              {
                "from": "schedc-1.2.3-x86_64-unknown-linux-musl/schedc",
                "to": "kubectl-schedc"
              },
              {
                "from": "schedc-1.2.3-x86_64-unknown-linux-musl/LICENSE",
                "to": "LICENSE"
              }
            ],
            "selector": {
              "matchLabels": {
                "arch": "amd64",
                "os": "linux"
              }
            },
            "sha256": "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
            "uri": "https://example.com/v1.2.3/schedc-1.2.3-x86_64-unknown-linux-musl.tar.gz"
          },
          {
            "bin": "kubectl-schedc",
            "files": [
              {
                "from": "schedc-1.2.3-aarch64-unknown-linux-musl/schedc",
                "to": "kubectl-schedc"
              },
              {
                "from": "schedc-1.2.3-aarch64-unknown-linux-musl/LICENSE",
                "to": "LICENSE"
              }
            ],
            "selector": {
              "matchLabels": {
                "arch": "arm64",
                "os": "linux"
              }
            },
            "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "uri": "https://example.com/v1.2.3/schedc-1.2.3-aarch64-unknown-linux-musl.tar.gz"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", manifest["spec"]["platforms"]));
    assert_eq!(manifest["spec"]["version"], "v1.2.3");
}

#[test]
fn incomplete_releases_are_refused() {
    let only =
        |part: &str| SUMS.lines().filter(|line| line.contains(part)).fold(String::new(), |all, line| all + line + "\n");
    expect![[r#"
        error: SHA256SUMS has no archive for aarch64-unknown-linux-musl
        help: build it with .ci/release --target aarch64-unknown-linux-musl
    "#]]
    .assert_eq(&krew_manifest(&only("x86_64")).refused());
    let mixed = SUMS.replace("1.2.3-aarch64", "1.2.4-aarch64");
    expect![[r#"
        error: SHA256SUMS has archives of the versions 1.2.3 and 1.2.4
    "#]]
    .assert_eq(&krew_manifest(&mixed).refused());
}
