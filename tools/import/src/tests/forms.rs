//! Forms of configurations, and settings other than plugins.

use expect_test::expect;

use super::{HEAD, check, shown};
use crate::import;

#[test]
fn json_is_read() {
    let text = "{\n\t\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n\t\"kind\": \"KubeSchedulerConfiguration\",\n\
        \t\"profiles\": [{\"schedulerName\": \"j\\u0061\", \"percentageOfNodesToScore\": 100}]\n}\n";
    expect![[r##"
        # Imported from c.json by schedc.

        scheduler-name = "ja"
    "##]]
    .assert_eq(&shown(&import("c.json", text)));
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    check(
        "profiles:\n- schedulerName: a\n  plugins: &p\n    score: &s {disabled: [{name: ImageLocality}]}\n\
         - schedulerName: b\n  plugins:\n    <<: *p\n    filter: {disabled: [{name: NodePorts}]}\n",
        expect![[r##"
            # Imported from c.yaml by schedc.

            scheduler-name = "a"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [plugins]
            score = { disabled = ["ImageLocality"] }
            # Imported from c.yaml by schedc.

            scheduler-name = "b"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [plugins]
            filter = { disabled = ["NodePorts"] }
            score = { disabled = ["ImageLocality"] }
        "##]],
    );
}

#[test]
fn only_the_first_document_is_imported() {
    let text = format!("---\n{HEAD}---\n---\n{HEAD}profiles: [{{schedulerName: second}}]\n...\n");
    expect![[r#"
        warning: c.yaml:6:1: only the first document of a file counts, as in kube-scheduler
        # Imported from c.yaml by schedc.

        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0
    "#]]
    .assert_eq(&shown(&import("c.yaml", &text)));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_accepted() {
    let text = format!("\u{feff}{HEAD}profiles:\n- schedulerName: w\n  oops: 1\n").replace('\n', "\r\n");
    expect![[r#"
        error: unknown field `oops`
         --> c.yaml:5:3
          |
        5 |   oops: 1
          |   ^^^^ not a field of `profiles[0]`
          |
          = note: `profiles[0]` has `schedulerName`, `percentageOfNodesToScore`, `plugins` and `pluginConfig`

        error: 1 error in c.yaml
    "#]]
    .assert_eq(&shown(&import("c.yaml", &text)));
}

#[test]
fn settings_are_converted_or_reported() {
    check(
        "percentageOfNodesToScore: 50\npodInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 60\nparallelism: 8\n\
         leaderElection: {leaderElect: true}\nclientConnection: {qps: 50.5}\nenableProfiling: false\n\
         extenders: [{urlPrefix: 'http://x', filterVerb: filter, managedResources: [{name: example.com/x}]}]\n\
         profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 0}, \
         {schedulerName: c, percentageOfNodesToScore: 100}]\n",
        expect![[r#"
            note: c.yaml:6:1: `parallelism` is ignored: schedc evaluates nodes in one thread
            note: c.yaml:7:1: `leaderElection` is not part of a profile: it configures the process, not its decisions
            note: c.yaml:8:1: `clientConnection` is not part of a profile: it configures the connection to the API server
            note: c.yaml:9:1: `enableProfiling` is ignored: there are no such endpoints
            # Imported from c.yaml by schedc.

            scheduler-name = "a"
            percentage-of-nodes-to-score = 50
            pod-initial-backoff-seconds = 2
            pod-max-backoff-seconds = 60

            [[extender]]
            url-prefix = "http://x"
            filter-verb = "filter"
            managed-resources = [{ name = "example.com/x" }]
            # Imported from c.yaml by schedc.

            scheduler-name = "b"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0
            pod-initial-backoff-seconds = 2
            pod-max-backoff-seconds = 60

            [[extender]]
            url-prefix = "http://x"
            filter-verb = "filter"
            managed-resources = [{ name = "example.com/x" }]
            # Imported from c.yaml by schedc.

            scheduler-name = "c"
            pod-initial-backoff-seconds = 2
            pod-max-backoff-seconds = 60

            [[extender]]
            url-prefix = "http://x"
            filter-verb = "filter"
            managed-resources = [{ name = "example.com/x" }]
        "#]],
    );
}

#[test]
fn out_of_tree_plugins_are_kept_with_a_warning() {
    check(
        "\
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: \"/etc/kubernetes/scheduler.conf\"
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourceTopologyMatch
    queueSort:
      enabled:
      - name: Coscheduling
      disabled:
      - name: \"*\"
    score:
      disabled:
      - name: NodeResourcesFit
      - name: NodeResourcesBalancedAllocation
      enabled:
      - name: TargetLoadPacking
      - name: NodeResourcesFit
  pluginConfig:
  - name: NodeResourceTopologyMatch
    args:
      scoringStrategy:
        type: LeastAllocated
  - name: TargetLoadPacking
    args:
      defaultRequests:
        cpu: \"2000m\"
      defaultRequestsMultiplier: \"1\"
      targetUtilization: 70
      metricProvider:
        type: Prometheus
        address: http://prometheus-k8s.monitoring.svc.cluster.local:9090
",
        expect![[r#"
            warning: c.yaml:12:15: `NodeResourceTopologyMatch` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
            warning: c.yaml:15:15: `Coscheduling` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
            warning: c.yaml:23:15: `TargetLoadPacking` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
            note: c.yaml:3:1: `leaderElection` is not part of a profile: it configures the process, not its decisions
            note: c.yaml:5:1: `clientConnection` is not part of a profile: it configures the connection to the API server
            # Imported from c.yaml by schedc.

            scheduler-name = "default-scheduler"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0
            # Not plugins of kube-scheduler: NodeResourceTopologyMatch, Coscheduling, TargetLoadPacking. Name the crates that have them:
            # crates = [".."]

            [plugins]
            multi-point = { enabled = ["NodeResourceTopologyMatch"] }
            queue-sort = ["Coscheduling"]
            score = { enabled = [
                { name = "TargetLoadPacking", weight = 1 },
                { name = "NodeResourcesFit", weight = 1 },
            ], disabled = ["NodeResourcesFit", "NodeResourcesBalancedAllocation"] }

            [args.NodeResourceTopologyMatch]
            scoring-strategy = { type = "LeastAllocated" }

            [args.TargetLoadPacking]
            default-requests = { cpu = "2000m" }
            default-requests-multiplier = "1"
            target-utilization = 70
            metric-provider = { type = "Prometheus", address = "http://prometheus-k8s.monitoring.svc.cluster.local:9090" }
        "#]],
    );
}

#[test]
fn the_source_cannot_break_out_of_its_comment() {
    expect![[r#"
        # Imported from a b = 1 by schedc.

        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0
    "#]]
    .assert_eq(&shown(&import("a\nb = 1", HEAD)));
}

#[test]
fn deep_nesting_is_refused() {
    for (depth, accepted) in [(20, true), (60, false), (100_000, false)] {
        let args = format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth));
        let plugins = "{permit: {enabled: [{name: Mine}]}}";
        let config = format!("[{{name: Mine, args: {args}}}]");
        let text = format!("{HEAD}profiles: [{{plugins: {plugins}, pluginConfig: {config}}}]");
        assert_eq!(import("c.yaml", &text).profiles.is_ok(), accepted, "{depth}");
    }
}

#[test]
fn aliases_that_explode_are_refused() {
    let mut text = format!("{HEAD}x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n");
    for i in 1..12 {
        let before = format!("*x{}, ", i - 1).repeat(10);
        text.push_str(&format!("x{i}: &x{i} [{}]\n", before.trim_end_matches(", ")));
    }
    assert!(import("c.yaml", &text).profiles.is_err());
}

#[test]
fn the_example_of_the_documentation_is_current() {
    let page = include_str!("../../../../docs/import.md");
    let block = |kind: &str| {
        let (_, rest) = page.split_once(&format!("```{kind}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let import = import("scheduler.yaml", block("yaml"));
    assert_eq!(import.profile(None).unwrap().1.toml, block("toml"));
    let remarks = shown(&import).replace(block("toml"), "");
    assert!(page.contains(&format!("\n```\n{remarks}```\n")), "{remarks}");
}
