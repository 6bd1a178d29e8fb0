//! Settings of extenders in flags and the environment.

use expect_test::expect;

use crate::UNREACHABLE_URL;
use crate::process::{Extender, finish, gpu_sharing, program};

const SIMULATE: [&str; 4] = ["simulate", "cluster.yaml", "-o", "json"];

#[test]
fn a_flag_takes_precedence_over_the_environment() {
    let extender = Extender::start();
    let placed = |flags: &[&str], variable: &str| {
        let mut command = program(&[&SIMULATE, flags].concat());
        let run = finish(command.env("SCHEDC_EXTENDER_URL_PREFIX", variable), "");
        run.json()["placements"].as_array().unwrap().len()
    };
    let named = format!("http://127.0.0.1:8888={}", extender.url);
    assert_eq!(placed(&[], &extender.url), 2);
    assert_eq!(placed(&["--extender-url-prefix", &extender.url], UNREACHABLE_URL), 2);
    assert_eq!(placed(&["--extender-url-prefix", &named], UNREACHABLE_URL), 2, "by its `url-prefix`");
    assert_eq!(placed(&["--extender-url-prefix", UNREACHABLE_URL], &extender.url), 0);
}

#[test]
fn flags_for_unknown_extenders_and_invalid_values_are_rejected() {
    let refused = |flags: &[&str]| gpu_sharing(&[&SIMULATE, flags].concat()).refused();
    expect![[r#"
        error: plugin Extender cannot start: --extender-url-prefix or SCHEDC_EXTENDER_URL_PREFIX: no extender has the `url-prefix` http://typo; there is http://127.0.0.1:8888
    "#]].assert_eq(&refused(&["--extender-url-prefix", "http://typo=http://a"]));
    expect![[r#"
        error: plugin Extender cannot start: extender gpu-share:80: it is not a URL of http or https
    "#]]
    .assert_eq(&refused(&["--extender-url-prefix", "gpu-share:80"]));
    let https = ["--extender-url-prefix", "https://gpu-share"];
    expect![[r#"
        error: plugin Extender cannot start: extender https://gpu-share: absent.pem: the file cannot be read: No such file or directory (os error 2)
    "#]].assert_eq(&refused(&[&https[..], &["--extender-ca-file", "absent.pem"]].concat()));
    expect![[r#"
        error: plugin Extender cannot start: extender https://gpu-share: the client certificate: both a certificate and its key are required
    "#]].assert_eq(&refused(&[&https[..], &["--extender-cert-file", "gpu.toml"]].concat()));
    expect![[r#"
        error: plugin Extender cannot start: extender https://gpu-share: the client certificate: it contains no `BEGIN CERTIFICATE`
    "#]].assert_eq(&refused(
        &[&https[..], &["--extender-cert-file", "gpu.toml", "--extender-key-file", "gpu.toml"]].concat(),
    ));
}

#[test]
fn all_commands_with_extenders_accept_the_flags() {
    let wrong = ["--extender-url-prefix", "nowhere"];
    let [simulate, explain] = [vec!["simulate", "cluster.yaml"], vec!["explain", "draws", "cluster.yaml"]]
        .map(|command| gpu_sharing(&[&command[..], &wrong].concat()).refused());
    assert_eq!(simulate, explain);
    assert_eq!(simulate, gpu_sharing(&[&["evaluate"][..], &wrong].concat()).refused());
}
