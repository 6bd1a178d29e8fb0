//! `v1alpha2` and `v1alpha1`.

use expect_test::expect;

use super::{check, check_points, check_report, points_of, shown};
use crate::{Options, import_any};

#[test]
fn v1alpha2_has_unreserve_and_fields_for_preemption_and_volumes() {
    check(
        "v1alpha2",
        "\
disablePreemption: true
bindTimeoutSeconds: 100
podMaxBackoffSeconds: 20
leaderElection: {leaderElect: true, resourceLock: endpointsleases}
profiles:
- schedulerName: old
  plugins:
    reserve: {enabled: [{name: Mine}]}
    unreserve: {enabled: [{name: Mine}, {name: Mine2}]}
",
        expect![[r#"
            warning: c.yaml:10:32: `Mine` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
            warning: c.yaml:11:48: `Mine2` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
            note: c.yaml:1:1: a configuration of v1alpha2 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            note: c.yaml:6:1: `leaderElection` is not part of a profile: it configures the process, not its decisions
            note: c.yaml:8:3: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
            # Imported from c.yaml by schedc.

            scheduler-name = "old"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0
            pod-max-backoff-seconds = 20
            # Not plugins of kube-scheduler: Mine, Mine2. Name the crates that have them:
            # crates = [".."]

            [plugins]
            multi-point = []
            pre-enqueue = ["SchedulingGates"]
            queue-sort = ["PrioritySort"]
            pre-filter = [
                "NodeResourcesFit",
                "NodePorts",
                "VolumeRestrictions",
                "PodTopologySpread",
                "InterPodAffinity",
                "VolumeBinding",
                "VolumeZone",
                "NodeAffinity",
                "NodeVolumeLimits",
            ]
            filter = [
                "NodeUnschedulable",
                "NodeResourcesFit",
                "NodeName",
                "NodePorts",
                "NodeAffinity",
                "VolumeRestrictions",
                "TaintToleration",
                "NodeVolumeLimits",
                "VolumeBinding",
                "VolumeZone",
                "PodTopologySpread",
                "InterPodAffinity",
            ]
            pre-score = [
                "InterPodAffinity",
                "PodTopologySpread",
                "TaintToleration",
                "NodeResourcesBalancedAllocation",
                "NodeResourcesFit",
                "NodeAffinity",
            ]
            score = [
                { name = "NodeResourcesBalancedAllocation", weight = 1 },
                { name = "ImageLocality", weight = 1 },
                { name = "InterPodAffinity", weight = 1 },
                { name = "NodeResourcesFit", weight = 1 },
                { name = "NodeAffinity", weight = 1 },
                { name = "PodTopologySpread", weight = 2 },
                { name = "TaintToleration", weight = 1 },
            ]
            reserve = ["VolumeBinding", "Mine", "Mine2"]
            pre-bind = ["VolumeBinding"]
            bind = ["DefaultBinder"]

            [args.VolumeBinding]
            bind-timeout-seconds = 100
        "#]],
    );
}

#[test]
fn without_selector_spread_there_are_no_default_constraints() {
    let without = "profiles: [{plugins: {score: {disabled: [{name: DefaultPodTopologySpread}]}, \
                   preScore: {disabled: [{name: DefaultPodTopologySpread}]}}}]\n";
    check_points(
        "v1alpha2",
        without,
        &["score"],
        expect![[r#"
        score: NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1
        PodTopologySpread: {"defaulting-type":"List"}
    "#]],
    );
    check_points(
        "v1alpha2",
        "",
        &["score"],
        expect![[r#"
        score: NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1
    "#]],
    );
}

#[test]
fn v1alpha1_is_one_profile() {
    check_points(
        "v1alpha1",
        "\
schedulerName: autoscaled
algorithmSource: {provider: ClusterAutoscalerProvider}
hardPodAffinitySymmetricWeight: 10
bindTimeoutSeconds: 30
leaderElection: {lockObjectName: x}
plugins:
  postFilter: {disabled: [{name: InterPodAffinity}]}
  score: {disabled: [{name: InterPodAffinity}]}
",
        &["post-filter", "pre-score", "score"],
        expect![[r#"
            post-filter: DefaultPreemption
            pre-score: PodTopologySpread TaintToleration NodeResourcesBalancedAllocation NodeResourcesFit NodeAffinity
            score: NodeResourcesBalancedAllocation=1 ImageLocality=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1
            NodeResourcesFit: {"scoring-strategy":{"type":"MostAllocated"}}
            InterPodAffinity: {"hard-pod-affinity-weight":10}
            VolumeBinding: {"bind-timeout-seconds":30}
        "#]],
    );
    check_report(
        "v1alpha1",
        "algorithmSource: {provider: DefaultProvide}\n",
        expect![[r#"
        c.yaml:1:1: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
        c.yaml:3:29: no algorithm provider is called `DefaultProvide`; did you mean `DefaultProvider`?"#]],
    );
}

const WITH_POLICY: &str = "\
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: mine
algorithmSource:
  policy:
    configMap: {name: scheduler-policy}
hardPodAffinitySymmetricWeight: 3
plugins: {filter: {disabled: [{name: '*'}]}}
";

#[test]
fn v1alpha1_reads_a_policy_in_a_config_map() {
    let policy = "kind: ConfigMap\napiVersion: v1\ndata:\n  policy.cfg: |\n    {\"kind\": \"Policy\", \"apiVersion\": \"v1\",\n    \
                  \"predicates\": [{\"name\": \"MatchInterPodAffinity\"}], \"priorities\": [{\"name\": \"InterPodAffinityPriority\", \"weight\": 2}]}\n";
    let options = Options { policy: Some(("policy.yaml", policy)), ..Options::default() };
    expect![[r#"
        warning: c.yaml:8:1: plugins and their arguments have no effect if a policy is named, as in kube-scheduler
        note: c.yaml:1:1: a configuration of v1alpha1 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        # Imported from c.yaml by schedc.

        scheduler-name = "mine"
        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [plugins]
        multi-point = []
        pre-enqueue = ["SchedulingGates", "DefaultPreemption"]
        queue-sort = ["PrioritySort"]
        pre-filter = ["InterPodAffinity"]
        filter = ["NodeUnschedulable", "TaintToleration", "InterPodAffinity"]
        post-filter = ["DefaultPreemption"]
        pre-score = ["InterPodAffinity"]
        score = [{ name = "InterPodAffinity", weight = 2 }]
        bind = ["DefaultBinder"]

        [args.InterPodAffinity]
        hard-pod-affinity-weight = 3
    "#]].assert_eq(&shown(&import_any("c.yaml", WITH_POLICY, &options)));
    let wrong = policy.replace("\\\"Policy\\\"", "x").replace("MatchInterPodAffinity\"", "MatchInterPodAfinity\"");
    let options = Options { policy: Some(("policy.yaml", &wrong)), ..Options::default() };
    expect![[r#"
        error: no predicate is called `MatchInterPodAfinity`
         --> policy.yaml (policy.cfg):2:25
          |
        2 | "predicates": [{"name": "MatchInterPodAfinity"}], "priorities": [{"name": "InterPodAffinityPriority", "weight": 2}]}
          |                         ^^^^^^^^^^^^^^^^^^^^^^ unknown
          |
        help: did you mean `MatchInterPodAffinity`?
          |
        2 | "predicates": [{"name": "MatchInterPodAffinity"}], "priorities": [{"name": "InterPodAffinityPriority", "weight": 2}]}
          |                                         +

        error: 1 error in policy.yaml (policy.cfg)
    "#]].assert_eq(&points_of(&import_any("c.yaml", WITH_POLICY, &options), &[]));
}

#[test]
fn missing_and_unused_policies_are_errors() {
    expect![[r#"
        error: the plugins are those of a policy, which is in the ConfigMap kube-system/scheduler-policy
         --> c.yaml:5:3
          |
        5 |   policy:
          |   ^^^^^^ elsewhere
          |
          = help: give that file, or the ConfigMap as kubectl prints it, with --policy

        error: 1 error in c.yaml
    "#]]
    .assert_eq(&points_of(&import_any("c.yaml", WITH_POLICY, &Options::default()), &[]));
    let options = Options { policy: Some(("p.yaml", "kind: Policy\napiVersion: v1\n")), ..Options::default() };
    let without_policy =
        WITH_POLICY.replace("policy:\n    configMap: {name: scheduler-policy}", "provider: DefaultProvider");
    expect![[r#"
        error: the configuration names no policy: --policy has no effect
         --> p.yaml:1:1
          |
        1 | kind: Policy
          | ^ not named
          |
          = note: only `algorithmSource.policy` of v1alpha1 names one

        error: 1 error in p.yaml
    "#]]
    .assert_eq(&points_of(&import_any("c.yaml", &without_policy, &options), &[]));
}
