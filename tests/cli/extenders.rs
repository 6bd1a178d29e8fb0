//! Profiles with extenders in commands that do not compile them.

use std::fs;

use expect_test::expect;
use memchr::memmem;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

const WITH_EXTENDERS: &str = "\
[[extender]]
url-prefix = \"http://labels:8888\"
filter-verb = \"filter\"
prioritize-verb = \"prioritize\"
unreserve-verb = \"unreserve\"
weight = 5
ignorable = true

[[extender]]
url-prefix = \"https://gpu-share\"
bind-verb = \"bind\"
enable-https = true
tls-config = { ca-data = \"-----BEGIN CERTIFICATE-----\\n-----END CERTIFICATE-----\\n\" }
managed-resources = [{ name = \"example.com/gpu\", ignored-by-scheduler = true }]

[args.NodeResourcesFit]
ignored-resources = [\"example.com/tape\"]
";

#[test]
fn extenders_are_checked() {
    let folder =
        Folder::with(&[("with.toml", WITH_EXTENDERS), ("wrong.toml", "[[extender]]\nurl-prefix = \"labels\"\n")]);
    assert_eq!(folder.schedc(&["check", "with.toml"]).ok(), "1 profile, no errors\n");
    let expanded = folder.schedc(&["expand", "with.toml"]).ok();
    assert!(expanded.contains("pub const EXTENDERS: [Extender; 2] = ["));
    expect![[r#"
        error: an extender without a verb is never called
         --> wrong.toml:1:1
          |
        1 | [[extender]]
          | ^^^^^^^^^^^^ does nothing
          |
          = help: give it `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb` or `unreserve-verb`, or remove it

        error: `url-prefix` cannot be `labels`
         --> wrong.toml:2:14
          |
        2 | url-prefix = "labels"
          |              ^^^^^^^^ must begin with `http://` or `https://`
          |
        help: did you mean `http://labels`?
          |
        2 | url-prefix = "http://labels"
          |               +++++++

        error: 2 errors in wrong.toml
    "#]].assert_eq(&folder.schedc(&["check", "wrong.toml"]).refused());
}

#[test]
fn extenders_are_exported() {
    let folder = Folder::with(&[("with.toml", WITH_EXTENDERS), ("without.toml", "scheduler-name = \"b\"\n")]);
    let run = folder.schedc(&["export", "with.toml"]);
    expect![[r#"
        warning: with.toml: `unreserve-verb` of http://labels:8888 is left out: kube-scheduler does not notify extenders of Unreserve
        warning: with.toml: kube-scheduler will not ignore example.com/tape: the ignored resources of extenders replace `ignoredResources`
    "#]].assert_eq(&run.stderr);
    let configuration = run.ok();
    let extenders = configuration.find("extenders:").unwrap_or_default();
    expect![[r#"
        extenders:
        - urlPrefix: https://gpu-share
          bindVerb: bind
          enableHTTPS: true
          tlsConfig:
            caData: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K
          httpTimeout: 5s
          managedResources:
          - name: example.com/gpu
            ignoredByScheduler: true
        - urlPrefix: http://labels:8888
          filterVerb: filter
          prioritizeVerb: prioritize
          weight: 5
          httpTimeout: 5s
          ignorable: true
    "#]]
    .assert_eq(&configuration[extenders..]);
    expect![[r#"
        warning: with.toml: `unreserve-verb` of http://labels:8888 is left out: kube-scheduler does not notify extenders of Unreserve
        warning: with.toml: kube-scheduler will not ignore example.com/tape: the ignored resources of extenders replace `ignoredResources`
        error: with.toml and without.toml have different extenders, but kube-scheduler calls the same ones for all profiles; export the profiles one by one
    "#]].assert_eq(&folder.schedc(&["export", "with.toml", "without.toml"]).refused());
}

#[test]
fn extenders_are_compared() {
    let other = WITH_EXTENDERS.replace("weight = 5", "weight = 7").replace("https://gpu-share", "https://gpu-slices");
    let folder = Folder::with(&[("a.toml", WITH_EXTENDERS), ("b.toml", &other)]);
    expect![[r#"
        a and b: 3 differences

        Extenders
          EXTENDER                   A    B    EFFECT ON PODS
          https://gpu-share          yes  -    without it, no extender binds pods in place of plugins
          http://labels:8888 weight  5    7    its scores count more with b
          https://gpu-slices         -    yes  without it, no extender binds pods in place of plugins
    "#]]
    .assert_eq(&folder.schedc(&["diff", "a.toml", "b.toml"]).stdout);
}

#[test]
fn a_program_without_extenders_has_none_of_their_code() {
    // Names of crates in symbols, and an environment variable. A test of examples/extender verifies that a program with
    // extenders contains all of them.
    let program = fs::read(env!("CARGO_BIN_EXE_schedc")).expect("the program");
    for trace in ["15schedc_extender", "4ureq", "SCHEDC_EXTENDER_URL_PREFIX"] {
        assert_eq!(memmem::find(&program, trace.as_bytes()), None, "{trace}");
    }
}

#[test]
fn extender_urls_without_extenders_are_errors() {
    let flag = "--extender-url-prefix=http://gpu-share";
    for command in [
        &["simulate", EXAMPLE, flag][..],
        &["explain", "shop/web-1", EXAMPLE, flag],
        &["evaluate", flag],
        &["run", flag],
    ] {
        let error = schedc(command).refused();
        assert_eq!(error, "error: --extender-url-prefix: no profile here has extenders (binpack, default, edge)\n");
    }
}
