use clap::{Args, Command, FromArgMatches};
use expect_test::{Expect, expect};
use schedc_core::profile::{Budget, PointInfo};

use super::*;

fn flags(line: &str) -> Flags {
    let matches = Flags::augment_args(Command::new("schedc"))
        .try_get_matches_from(std::iter::once("schedc").chain(line.split_whitespace()))
        .unwrap();
    Flags::from_arg_matches(&matches).unwrap()
}

const HEADER: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

fn read(line: &str, rest: &str) -> Result<Settings, ConfigError> {
    Settings::from_file(&flags(&format!("--config=s.yaml {line}")), Path::new("s.yaml"), &format!("{HEADER}{rest}"))
}

fn check_error(text: &str, expected: Expect) {
    let error = Settings::from_file(&flags(""), Path::new("s.yaml"), text).unwrap_err();
    expected.assert_eq(&format!("{error}\n"));
}

#[test]
fn kubeadm_flags_set_the_kubeconfig_and_keep_defaults() {
    let settings = Settings::new(&flags(
        "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf \
         --authorization-kubeconfig=/etc/kubernetes/scheduler.conf --bind-address=127.0.0.1 \
         --kubeconfig=/etc/kubernetes/scheduler.conf --leader-elect=true",
    ));
    assert_eq!(settings.kubeconfig.as_deref(), Some(Path::new("/etc/kubernetes/scheduler.conf")));
    assert_eq!((settings.leader_election, settings.rate_limit), (LeaderElectionConfiguration::default(), None));
    assert_eq!(settings.backoff_seconds, (None, None));
}

#[test]
fn all_fields_of_a_file_are_read() {
    let settings = read(
        "--master=https://a --pod-max-in-unschedulable-pods-duration=1m",
        "clientConnection: {kubeconfig: k, qps: 20, burst: 30, contentType: application/vnd.kubernetes.protobuf}\n\
         leaderElection: {leaderElect: false, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 5s, resourceLock: leases,\n  \
         resourceName: n, resourceNamespace: s}\n\
         podInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 60\npercentageOfNodesToScore: 50\nparallelism: 16\n\
         enableProfiling: false\ndelayCacheUntilActive: true\nprofiles: [{schedulerName: a}]\nextenders: []\n",
    );
    let seconds = Duration::from_secs;
    let expected = Settings {
        kubeconfig: Some("k".into()),
        master: Some("https://a".to_owned()),
        rate_limit: Some(RateLimiterConfig { qps: 20.0, burst: 30 }),
        leader_election: LeaderElectionConfiguration {
            leader_elect: false,
            lease_duration: seconds(30),
            renew_deadline: seconds(20),
            retry_period: seconds(5),
            name: "n".to_owned(),
            namespace: "s".to_owned(),
        },
        backoff_seconds: (Some(2), Some(60)),
        max_unschedulable_time: Some(seconds(60)),
        delay_cache: Some(true),
        warnings: Vec::new(),
    };
    assert_eq!(settings, Ok(expected));
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(read("", ""), Ok(Settings::new(&flags(""))));
    assert_eq!(read("", "clientConnection:\nleaderElection: {}\nprofiles:\n"), Ok(Settings::new(&flags(""))));
}

#[test]
fn later_documents_are_not_read() {
    let first = "podInitialBackoffSeconds: 2\n";
    for later in ["---\nkind: ConfigMap\napiVersion: v1\ndata: {a: b}\n", "---\nunknown: true\n"] {
        assert_eq!(read("", &format!("{first}{later}")), read("", first), "{later}");
    }
}

#[test]
fn flags_override_leader_election_only() {
    let line = "--leader-elect=false --leader-elect-retry-period=3s --kubeconfig=other --kube-api-qps=7";
    let settings = read(line, "leaderElection: {leaderElect: true, retryPeriod: 1s, resourceName: mine}").unwrap();
    let election = settings.leader_election;
    assert_eq!((election.leader_elect, election.retry_period), (false, Duration::from_secs(3)));
    assert_eq!(election.name, "mine");
    assert_eq!((settings.kubeconfig, settings.rate_limit), (None, None));
}

#[test]
fn files_of_other_kinds_are_errors() {
    check_error(
        "",
        expect![[r#"
        s.yaml: there is no KubeSchedulerConfiguration: the file is empty
    "#]],
    );
    check_error(
        "a: [",
        expect![[r#"
        s.yaml:1:4: unclosed bracket '['
    "#]],
    );
    check_error(
        "profiles: []",
        expect![[r#"
        s.yaml: this is not a KubeSchedulerConfiguration: it has neither `kind` nor `apiVersion`; add `kind: KubeSchedulerConfiguration` and `apiVersion: kubescheduler.config.k8s.io/v1`
    "#]],
    );
    check_error(
        "kind: KubeSchedulerConfiguration",
        expect![[r#"
        s.yaml: `apiVersion` is missing; add `apiVersion: kubescheduler.config.k8s.io/v1`
    "#]],
    );
    check_error(
        "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3",
        expect![[r#"
        s.yaml: this is a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1beta3, and only kubescheduler.config.k8s.io/v1 is read, as by kube-scheduler 1.36; kube-scheduler 1.25 to 1.28 can convert it with --config and --write-config-to
    "#]],
    );
    check_error(
        "kind: ConfigMap\napiVersion: v1",
        expect![[r#"
        s.yaml: this is a ConfigMap of v1, not a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1
    "#]],
    );
}

#[test]
fn all_problems_are_reported() {
    check_error(
        &format!("{HEADER}leaderElect: true"),
        expect![[r#"
        s.yaml:3:1: unknown field `leaderElect`, expected one of kind, apiVersion, parallelism, leaderElection, clientConnection, enableProfiling, enableContentionProfiling, delayCacheUntilActive, percentageOfNodesToScore, podInitialBackoffSeconds, podMaxBackoffSeconds, profiles, extenders
    "#]],
    );
    check_error(
        &format!("{HEADER}leaderElection:\n  leaderElect: perhaps"),
        expect![[r#"
        s.yaml:4:16: invalid boolean
    "#]],
    );
    check_error(
        &format!("{HEADER}parallelism: 1\nparallelism: 2"),
        expect![[r#"
        s.yaml:4:1: duplicate mapping key `parallelism` is not allowed here
    "#]],
    );
    check_error(
        &format!(
            "{HEADER}leaderElection: {{leaseDuration: 5s, retryPeriod: 15, resourceLock: endpoints}}\n\
             clientConnection: {{burst: -1}}\nparallelism: 0\npercentageOfNodesToScore: 101\n\
             podInitialBackoffSeconds: 20\n"
        ),
        expect![[r#"
            s.yaml: leaderElection.retryPeriod: `15` is not a duration such as `15s` or `1m30s`
            s.yaml: leaderElection.leaseDuration must be longer than leaderElection.renewDeadline
            s.yaml: leaderElection.resourceLock: `endpoints` is not supported: use `leases`, the only supported kind of lock
            s.yaml: clientConnection.burst must not be negative
            s.yaml: parallelism must be greater than 0
            s.yaml: percentageOfNodesToScore must be 0 to 100
            s.yaml: podMaxBackoffSeconds (default 10) must be at least podInitialBackoffSeconds (default 1)
        "#]],
    );
}

#[test]
fn the_lease_name_must_be_valid() {
    check_error(
        &format!("{HEADER}leaderElection: {{resourceName: a/b, resourceNamespace: A}}"),
        expect![[r#"
        s.yaml: leaderElection.resourceName: `a/b` is not a valid name; a lease has a name of at most 253 lower case letters, digits, `-` and `.`, such as `my-scheduler`
        s.yaml: leaderElection.resourceNamespace: `A` is not a valid name; a namespace has a name of at most 63 lower case letters, digits and `-`, such as `kube-system`
    "#]],
    );
    let election = |line| {
        read(line, "leaderElection: {resourceName: '', resourceNamespace: ''}").map(|settings| settings.leader_election)
    };
    assert_eq!(
        election(""),
        Ok(LeaderElectionConfiguration::default()),
        "in a file, an empty text is the default, as in kube-scheduler"
    );
    expect!["s.yaml: leaderElection.resourceName must not be empty; leave it out for the default"]
        .assert_eq(&election("--leader-elect-resource-name=").unwrap_err().to_string());
}

#[test]
fn ignored_fields_are_reported() {
    let settings = read(
        "",
        "clientConnection: {contentType: application/cbor, acceptContentTypes: application/json}\nenableProfiling: true\n\
         parallelism: 8\nextenders: [{urlPrefix: 'http://a'}]",
    );
    expect![[r#"
        s.yaml: clientConnection.contentType=application/cbor is ignored: requests are in JSON
        s.yaml: enableProfiling=true is ignored: this program has no Go runtime to profile; use perf or a similar tool
        s.yaml: parallelism=8 is ignored: one thread evaluates nodes
    "#]]
    .assert_eq(&(settings.unwrap().warnings.join("\n") + "\n"));
}

const PROFILE: ProfileInfo = ProfileInfo {
    name: "edge",
    source: "profiles/edge.toml",
    scheduler_name: "edge-scheduler",
    percentage_of_nodes_to_score: 100,
    pod_initial_backoff_seconds: 3,
    pod_max_backoff_seconds: 30,
    budget: Budget::NONE,
    points: &[
        PointInfo { point: "queue-sort", plugins: &[("PrioritySort", None)] },
        PointInfo { point: "score", plugins: &[("NodeResourcesFit", Some(1)), ("TaintToleration", Some(3))] },
    ],
    args: &[("NodeResourcesFit", r#"{"scoring-strategy":{"type":"MostAllocated"}}"#)],
    extenders: &[],
};

#[test]
fn backoff_comes_from_the_file_or_the_profiles() {
    let backoff = |rest: &str| read("", rest).unwrap().backoff(&[PROFILE]);
    assert_eq!(backoff(""), None);
    assert_eq!(backoff("podInitialBackoffSeconds: 5"), Some(Backoff::seconds(5, 30)));
    assert_eq!(backoff("podMaxBackoffSeconds: 1"), Some(Backoff::seconds(3, 3)));
}

#[test]
fn the_effective_configuration_can_be_read() {
    let settings = read("", "clientConnection: {qps: 5}\nleaderElection: {leaseDuration: 1m30s}").unwrap();
    let other = ProfileInfo { scheduler_name: "other", percentage_of_nodes_to_score: 0, ..PROFILE };
    let written = effective(&settings, &[PROFILE, other]);
    expect![[r#"
        apiVersion: kubescheduler.config.k8s.io/v1
        clientConnection:
          acceptContentTypes: application/json
          burst: 100
          contentType: application/json
          kubeconfig: ""
          qps: 5.0
        enableContentionProfiling: false
        enableProfiling: false
        kind: KubeSchedulerConfiguration
        leaderElection:
          leaderElect: true
          leaseDuration: 1m30s
          renewDeadline: 10s
          resourceLock: leases
          resourceName: kube-scheduler
          resourceNamespace: kube-system
          retryPeriod: 2s
        parallelism: 1
        percentageOfNodesToScore: 100
        podInitialBackoffSeconds: 3
        podMaxBackoffSeconds: 30
        profiles:
        - pluginConfig:
          - args:
              apiVersion: kubescheduler.config.k8s.io/v1
              kind: NodeResourcesFitArgs
              scoringStrategy:
                resources:
                - name: cpu
                  weight: 1
                - name: memory
                  weight: 1
                type: MostAllocated
            name: NodeResourcesFit
          plugins:
            multiPoint:
              disabled:
              - name: "*"
            queueSort:
              enabled:
              - name: PrioritySort
            score:
              enabled:
              - name: NodeResourcesFit
                weight: 1
              - name: TaintToleration
                weight: 3
          schedulerName: edge-scheduler
        - percentageOfNodesToScore: 0
          pluginConfig:
          - args:
              apiVersion: kubescheduler.config.k8s.io/v1
              kind: NodeResourcesFitArgs
              scoringStrategy:
                resources:
                - name: cpu
                  weight: 1
                - name: memory
                  weight: 1
                type: MostAllocated
            name: NodeResourcesFit
          plugins:
            multiPoint:
              disabled:
              - name: "*"
            queueSort:
              enabled:
              - name: PrioritySort
            score:
              enabled:
              - name: NodeResourcesFit
                weight: 1
              - name: TaintToleration
                weight: 3
          schedulerName: other
    "#]]
    .assert_eq(&serde_saphyr::to_string(&written).unwrap());
    let again = Settings::from_file(&flags(""), Path::new("s.yaml"), &written.to_string()).unwrap();
    let backoff_seconds = (Some(3), Some(30));
    assert_eq!(again, Settings { backoff_seconds, ..settings });
}
