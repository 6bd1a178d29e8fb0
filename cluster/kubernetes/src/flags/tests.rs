use clap::{Args as _, Command};
use expect_test::{Expect, expect};

use super::*;

fn command() -> Command {
    Flags::augment_args(Command::new("run").no_binary_name(true))
}

fn parse(line: &str) -> Result<Flags, String> {
    let matches = command().try_get_matches_from(line.split_whitespace()).map_err(|error| error.to_string())?;
    Flags::from_arg_matches(&matches).map_err(|error| error.to_string())
}

fn check_error(line: &str, expected: Expect) {
    expected.assert_eq(&parse(line).unwrap_err());
}

#[test]
fn the_command_line_is_consistent() {
    command().debug_assert();
}

#[test]
fn no_flags_give_the_defaults() {
    assert_eq!(parse(""), Ok(Flags::default()));
}

/// The defaults of the table equal those of [`Flags`].
#[test]
fn explicit_defaults_of_kube_scheduler_give_the_defaults() {
    let given = FLAGS.iter().filter(|flag| {
        let is_from_a_file = flag.section == Section::Deprecated || flag.section == Section::LeaderElection;
        flag.support == FlagSupport::Supported && !is_from_a_file && !["", "[]"].contains(&flag.default)
    });
    let line: Vec<_> =
        given.map(|flag| format!("--{}={}", flag.name, flag.default.trim_matches(['"', '[', ']']))).collect();
    assert!(line.len() > 10);
    assert_eq!(parse(&line.join(" ")), Ok(Flags::default()));
}

#[test]
fn kubeadm_arguments_are_parsed() {
    let flags = parse(
        "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf \
         --authorization-kubeconfig=/etc/kubernetes/scheduler.conf --bind-address=127.0.0.1 \
         --kubeconfig=/etc/kubernetes/scheduler.conf --leader-elect=true",
    )
    .unwrap();
    let kubeconfig = Some(PathBuf::from("/etc/kubernetes/scheduler.conf"));
    let default = Flags::default();
    assert_eq!(
        flags,
        Flags {
            connection: Connection { kubeconfig: kubeconfig.clone(), ..default.connection.clone() },
            authentication: Authentication { kubeconfig: kubeconfig.clone(), ..default.authentication.clone() },
            authorization: Authorization { kubeconfig, ..default.authorization.clone() },
            serving: Serving { address: IpAddr::V4(Ipv4Addr::LOCALHOST), ..default.serving.clone() },
            leader_election: LeaderElection { leader_elect: Some(true), ..default.leader_election.clone() },
            ..default
        }
    );
}

#[test]
fn k3s_arguments_cause_no_warnings() {
    let flags = parse(
        "--authentication-kubeconfig=s.kubeconfig --authorization-kubeconfig=s.kubeconfig --bind-address=127.0.0.1 \
         --kubeconfig=s.kubeconfig --leader-elect=false --profiling=false --secure-port=10259 \
         --tls-cert-file=s.crt --tls-private-key-file=s.key",
    )
    .unwrap();
    assert_eq!(flags.warnings, [""; 0]);
    assert_eq!(flags.leader_election.leader_elect, Some(false));
    assert_eq!(flags.serving.certificate, Some(("s.crt".into(), "s.key".into())));
}

#[test]
fn a_flag_without_a_value_is_true_and_the_last_value_wins() {
    let leads = |line| parse(line).unwrap().leader_election.leader_elect;
    assert_eq!(leads("--leader-elect"), Some(true));
    assert_eq!(leads("--leader-elect --leader-elect=F"), Some(false));
    assert_eq!(parse("-v 2 -v4").unwrap().logging.verbosity, 4);
    assert_eq!(parse("--v=10").unwrap().logging.verbosity, 10);
    assert_eq!(parse("--disabled-metrics=a,b --disabled-metrics c").unwrap().disabled_metrics, ["a", "b", "c"]);
}

#[test]
fn lease_times_are_parsed_and_unchecked_without_election() {
    let election = parse("--leader-elect-lease-duration=1m --leader-elect-retry-period 500ms").unwrap().leader_election;
    assert_eq!(election.lease_duration, Some(Duration::from_secs(60)));
    assert_eq!(election.retry_period, Some(Duration::from_millis(500)));
    assert!(parse("--leader-elect=false --leader-elect-lease-duration=5s").is_ok(), "there is no lease");
}

#[test]
fn the_lease_name_must_be_valid() {
    check_error(
        "--leader-elect-resource-name= --leader-elect-resource-namespace=",
        expect![[r#"
        error: --leader-elect-resource-name must not be empty; leave it out for the default
        error: --leader-elect-resource-namespace must not be empty; leave it out for the default
    "#]],
    );
    check_error(
        "--leader-elect-resource-name=My_Lease --leader-elect-resource-namespace=kube.system",
        expect![[r#"
        error: --leader-elect-resource-name: `My_Lease` is not a valid name; a lease has a name of at most 253 lower case letters, digits, `-` and `.`, such as `my-scheduler`
        error: --leader-elect-resource-namespace: `kube.system` is not a valid name; a namespace has a name of at most 63 lower case letters, digits and `-`, such as `kube-system`
    "#]],
    );
    check_error(
        &format!("--leader-elect-resource-namespace={}", "n".repeat(10_000)),
        expect![[r#"
        error: --leader-elect-resource-namespace: `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn[… 9800 characters …]nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` is not a valid name; a namespace has a name of at most 63 lower case letters, digits and `-`, such as `kube-system`
    "#]],
    );
    let election =
        parse("--leader-elect-resource-name=my.lease --leader-elect-resource-namespace=a-1").unwrap().leader_election;
    assert_eq!((election.name.as_deref(), election.namespace.as_deref()), (Some("my.lease"), Some("a-1")));
    assert!(parse("--leader-elect=false --leader-elect-resource-name=").is_ok(), "there is no lease");
}

#[test]
fn ignored_flags_are_reported_unless_they_change_nothing() {
    let warnings = |line| parse(line).unwrap().warnings.join("\n");
    assert_eq!(warnings("--profiling=false --contention-profiling=false --kube-api-content-type=application/json"), "");
    assert_eq!(warnings("--leader-elect-resource-lock=leases --emulated-version=kube=1.36"), "");
    expect![[r#"
        --profiling=true is ignored: this program has no Go runtime to profile; use perf or a similar tool
        --feature-gates=A=true,B=false is ignored: the features that Kubernetes 1.36 enables by default are compiled in; see docs/differences.md
        --vmodule=x=4 is ignored: use -v: there are no levels for single files"#]]
    .assert_eq(&warnings("--profiling --feature-gates=A=true,B=false --vmodule x=4"));
    expect!["--kubeconfig is ignored with --config: `clientConnection` in that file replaces it"]
        .assert_eq(&warnings("--config=c.yaml --kubeconfig=k"));
    expect!["--tls-cipher-suites: unsupported: TLS_RSA_WITH_AES_128_CBC_SHA; the others are offered"]
        .assert_eq(&warnings("--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_CBC_SHA"));
    let suites = parse("--tls-cipher-suites=TLS_AES_128_GCM_SHA256,A").unwrap().serving.cipher_suites;
    assert_eq!(suites, ["TLS_AES_128_GCM_SHA256"]);
}

#[test]
fn help_texts_name_the_flags_that_a_configuration_file_replaces() {
    let is_replaced = |flag: &&Flag| flag.help.ends_with("; ignored with --config");
    let replaced: Vec<_> = FLAGS.iter().filter(is_replaced).map(|flag| flag.name).collect();
    assert_eq!(replaced, ["kube-api-burst", "kube-api-qps", "kubeconfig"]);
    let line = "--config=c.yaml --kube-api-burst=1 --kube-api-qps=1 --kubeconfig=k --pod-max-in-unschedulable-pods-duration=1m";
    let warnings = parse(line).unwrap().warnings;
    assert_eq!(warnings.len(), replaced.len(), "{warnings:?}");
    for name in replaced {
        let start = format!("--{name} is ignored with --config");
        assert!(warnings.iter().any(|warning| warning.starts_with(&start)), "{name}");
    }
}

#[test]
fn all_problems_of_flags_are_reported_together() {
    check_error(
        "--tls-sni-cert-key=a.crt,a.key --leader-elect-resource-lock=endpoints --emulated-version=1.34 --secure-port=70000 \
         --tls-cert-file=a --tls-min-version=VersionTLS10 --logging-format=xml --kube-api-burst=-1 \
         --leader-elect-lease-duration=5s --leader-elect-retry-period=10s --tls-cipher-suites=A",
        expect![[r#"
            error: --tls-sni-cert-key=a.crt,a.key is not supported: use one certificate for all names, with --tls-cert-file and --tls-private-key-file
            error: --leader-elect-resource-lock=endpoints is not supported: use leases, the only supported kind of lock
            error: --emulated-version=1.34 is not supported: the behaviour of Kubernetes 1.36 is compiled in
            error: --kube-api-burst=-1 is out of range
            error: --tls-cert-file and --tls-private-key-file must be set together
            error: --tls-min-version=VersionTLS10: the value must be VersionTLS12 or VersionTLS13
            error: --secure-port=70000 is out of range
            error: --logging-format=xml: the value must be `text` or `json`
            error: --leader-elect-lease-duration must be longer than --leader-elect-renew-deadline
            error: --leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period
            error: --tls-cipher-suites: unsupported: A; supported: TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
        "#]],
    );
}

#[test]
fn malformed_values_are_errors() {
    check_error(
        "--leader-elect-lease-duration=15",
        expect![[r#"
            error: invalid value '15' for '--leader-elect-lease-duration <DURATION>': is not a duration such as `15s` or `1m30s`

            For more information, try '--help'.
        "#]],
    );
    check_error(
        "--leader-elect=yes",
        expect![[r#"
            error: invalid value 'yes' for '--leader-elect[=<BOOL>]': is neither `true` nor `false`

            For more information, try '--help'.
        "#]],
    );
}
