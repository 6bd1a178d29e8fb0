//! Arguments of plugins.

use expect_test::{Expect, expect};

use super::{HEAD, check_errors, check_remarks, shown};
use crate::import;

fn with_args(name: &str, args: &str) -> String {
    format!("profiles: [{{pluginConfig: [{{name: {name}, args: {args}}}]}}]\n")
}

/// Imports these arguments (in YAML's flow style), and compares the `[args]` of the profile.
fn check(name: &str, args: &str, expect: Expect) {
    let import = import("c.yaml", &format!("{HEAD}{}", with_args(name, args)));
    assert!(import.profiles.is_ok(), "{}", shown(&import));
    let toml = &import.profile(None).unwrap().1.toml;
    expect
        .assert_eq(toml.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).map_or("", |(_, args)| args));
}

fn check_warnings(name: &str, args: &str, expect: Expect) {
    check_remarks(&with_args(name, args), expect);
}

fn check_refused(name: &str, args: &str, expect: Expect) {
    check_errors(&with_args(name, args), expect);
}

#[test]
fn empty_arguments_stand_for_the_defaults() {
    for args in ["null", "{}", "{scoringStrategy: null}", "{ignoredResources: []}", "{kind: NodeResourcesFitArgs}"] {
        check("NodeResourcesFit", args, expect![""]);
    }
    check("NodeAffinity", "{addedAffinity: {}}", expect![""]);
    check("NodeAffinity", "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}", expect![""]);
    check("NodeResourcesBalancedAllocation", "{resources: []}", expect![""]);
}

#[test]
fn arguments_that_a_profile_requires_are_added() {
    check(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 0}, {name: memory}], \
          requestedToCapacityRatio: {shape: [{score: 10}, {utilization: 100}]}}}",
        expect![[r#"
            [args.NodeResourcesFit.scoring-strategy]
            type = "RequestedToCapacityRatio"
            resources = [{ name = "cpu" }, { name = "memory" }]
            requested-to-capacity-ratio = { shape = [{ score = 10, utilization = 0 }, { utilization = 100, score = 0 }] }
        "#]],
    );
}

#[test]
fn arguments_of_the_other_plugins_are_converted() {
    check(
        "InterPodAffinity",
        "{hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}",
        expect![[r#"
        [args.InterPodAffinity]
        hard-pod-affinity-weight = 0
        ignore-preferred-terms-of-existing-pods = true
    "#]],
    );
    check(
        "DefaultPreemption",
        "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}",
        expect![[r#"
        [args.DefaultPreemption]
        min-candidate-nodes-percentage = 0
        min-candidate-nodes-absolute = 1
    "#]],
    );
    check(
        "VolumeBinding",
        "{bindTimeoutSeconds: 0, apiVersion: kubescheduler.config.k8s.io/v1}",
        expect![[r#"
        [args.VolumeBinding]
        bind-timeout-seconds = 0
    "#]],
    );
    check(
        "DynamicResources",
        "{filterTimeout: 5s, bindingTimeout: 1m30s}",
        expect![[r#"
        [args.DynamicResources]
        filter-timeout = "5s"
        binding-timeout = "1m30s"
    "#]],
    );
    check(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 5, topologyKey: 'rack', whenUnsatisfiable: ScheduleAnyway}]}",
        expect![[r#"
            [args.PodTopologySpread]
            defaulting-type = "List"
            default-constraints = [{ max-skew = 5, topology-key = "rack", when-unsatisfiable = "ScheduleAnyway" }]
        "#]],
    );
    check(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: []}",
        expect![[r#"
        [args.PodTopologySpread]
        defaulting-type = "List"
    "#]],
    );
}

#[test]
fn arguments_without_effect_are_omitted() {
    let args = "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: \
        [{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}}, {weight: 3, preference: {}}]}}";
    check("NodeAffinity", args, expect![""]);
    check_warnings(
        "NodeAffinity",
        args,
        expect![[r#"
        c.yaml:3:122: this preference is left out, because it has no effect: its weight is 0
        c.yaml:3:197: this preference is left out, because it has no effect: it has no requirement"#]],
    );
    check_warnings(
        "NodeResourcesBalancedAllocation",
        "{resources: [{name: cpu, weight: 0}]}",
        expect!["c.yaml:3:107: weight 0 of resource `cpu` means 1, as in kube-scheduler"],
    );
    check_warnings("NodeName", "{a: 1}", expect!["c.yaml:3:35: `NodeName` takes no arguments: these have no effect"]);
    check_warnings(
        "NodeResourceFit",
        "{a: 1}",
        expect![[
            r#"c.yaml:3:35: the arguments of `NodeResourceFit` have no effect: the profile does not run it; did you mean `NodeResourcesFit`?"#
        ]],
    );
}

#[test]
fn integers_of_out_of_tree_plugins_have_64_bits() {
    check_errors(
        "profiles: [{plugins: {multiPoint: {enabled: [{name: Mine}]}}, pluginConfig: [{name: Mine, args: {a: 9223372036854775808}}]}]\n",
        expect!["c.yaml:3:101: an argument of Mine cannot be an integer of more than 64 bits"],
    );
}

#[test]
fn arguments_of_out_of_tree_plugins_are_converted() {
    let rest = "profiles: [{plugins: {score: {enabled: [{name: Trimaran, weight: 2}]}}, pluginConfig: [{name: Trimaran, \
        args: {apiVersion: x/v1, kind: TrimaranArgs, metricProvider: {type: Prometheus, address: 'http://x\"y'}, \
        ratio: 0.5, nothing: null, 'a b': [1, [true]]}}]}]\n";
    let import = import("c.yaml", &format!("{HEAD}{rest}"));
    expect![[r#"
        warning: c.yaml:3:48: `Trimaran` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
        warning: c.yaml:3:216: 0.5 is left out: arguments in profiles have no numbers with fractions
        # Imported from c.yaml by schedc.

        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0
        # Not plugins of kube-scheduler: Trimaran. Name the crates that have them:
        # crates = [".."]

        [plugins]
        score = { enabled = [{ name = "Trimaran", weight = 2 }] }

        [args.Trimaran]
        metric-provider = { type = "Prometheus", address = 'http://x"y' }
        "a b" = [1, [true]]
    "#]].assert_eq(&shown(&import));
}

#[test]
fn arguments_of_plugins_with_unknown_points_are_kept() {
    let rest =
        "profiles: [{plugins: {multiPoint: {enabled: [{name: Mine}]}}, pluginConfig: [{name: Mine, args: {a: 1}}]}]\n";
    let import = import("c.yaml", &format!("{HEAD}{rest}"));
    assert!(import.profile(None).unwrap().1.toml.ends_with("[args.Mine]\na = 1\n"), "{}", shown(&import));
}

#[test]
fn arguments_that_kube_scheduler_refuses_are_errors() {
    check_refused(
        "NodeResourcesFit",
        "{scoringStrategy: {resources: [{name: cpu}]}}",
        expect![[
            r#"c.yaml:3:60: `scoringStrategy` needs a `type`; use `MostAllocated`, `RequestedToCapacityRatio`, or `LeastAllocated` (the default if `scoringStrategy` is missing)"#
        ]],
    );
    check_refused(
        "NodeResourcesFit",
        "{scoringStrategy: {type: Best, resources: [{name: cpu, weight: 101}]}}",
        expect![[r#"
        c.yaml:3:84: `scoring-strategy.type` of NodeResourcesFit cannot be `Best`
        c.yaml:3:122: `scoring-strategy.resources[0].weight` of NodeResourcesFit must be in 1..=100, not 101"#]],
    );
    check_refused(
        "NodeResourcesFit",
        "{scoringStrategy: {type: RequestedToCapacityRatio}}",
        expect![
            "c.yaml:3:84: type `RequestedToCapacityRatio` needs `requestedToCapacityRatio`; give the points of the function as `requestedToCapacityRatio: {shape: [..]}`"
        ],
    );
    check_refused(
        "NodeResourcesFit",
        "{ignoredResources: ['a b'], ignoredResourceGroups: [x/y], scoringStrategy: {type: MostAllocated, \
          requestedToCapacityRatio: {shape: [{utilization: 50}, {utilization: 50, score: 11}]}}}",
        expect!["c.yaml:3:156: `requestedToCapacityRatio` is for type `RequestedToCapacityRatio` only"],
    );
    check_refused(
        "NodeResourcesBalancedAllocation",
        "{resources: [{name: cpu, weight: 2}, {name: cpu}]}",
        expect![[r#"
        c.yaml:3:107: the weight of `cpu` in NodeResourcesBalancedAllocation must be 1, not 2; remove the weight
        c.yaml:3:118: `resources` of NodeResourcesBalancedAllocation has `cpu` twice"#]],
    );
    check_refused(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}",
        expect!["c.yaml:3:120: `nodeSelectorTerms` needs a term: without one no node matches"],
    );
    check_refused(
        "NodeAffinity",
        "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
          [{matchExpressions: [{key: a, operator: in, values: [b]}, {key: b, operator: Gt, values: [x]}]}]}}}",
        expect![[r#"
            c.yaml:3:180: `added-affinity.required[0].match-expressions[0].operator` of NodeAffinity cannot be `in`; did you mean `In`?
            c.yaml:3:229: operator `Gt` needs exactly one value, an integer"#]],
    );
    check_refused(
        "DefaultPreemption",
        "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
        expect!["c.yaml:3:120: `minCandidateNodesPercentage` and `minCandidateNodesAbsolute` cannot both be 0"],
    );
    check_refused(
        "PodTopologySpread",
        "{defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}",
        expect!["c.yaml:3:61: `defaultConstraints` need `defaultingType: List`"],
    );
    check_refused(
        "PodTopologySpread",
        "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, \
          {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}",
        expect![[r#"
            c.yaml:3:168: two default constraints have the same `topologyKey` and `whenUnsatisfiable`
            c.yaml:3:231: a default constraint must not have a `labelSelector`"#]],
    );
    check_refused(
        "VolumeBinding",
        "{shape: [{utilization: 0, score: 0}]}",
        expect!["c.yaml:3:57: `shape` of VolumeBinding belongs to the alpha feature StorageCapacityScoring; remove it"],
    );
}

#[test]
fn arguments_are_read_strictly() {
    check_refused(
        "NodeResourcesFit",
        "{scoringStrateg: {}}",
        expect!["c.yaml:3:60: unknown field `scoringStrateg`; did you mean `scoringStrategy`?"],
    );
    check_refused(
        "NodeResourcesFit",
        "{scoringStrategy: MostAllocated}",
        expect![[
            r#"c.yaml:3:77: `profiles[0].pluginConfig[0].args.scoringStrategy` must be a map of fields, not a string"#
        ]],
    );
    check_refused(
        "InterPodAffinity",
        "{hardPodAffinityWeight: '5'}",
        expect![[
            r#"c.yaml:3:83: `profiles[0].pluginConfig[0].args.hardPodAffinityWeight` must be a whole number, not a string"#
        ]],
    );
    check_refused(
        "InterPodAffinity",
        "{hardPodAffinityWeight: 1, hardPodAffinityWeight: 5000000000}",
        expect![[r#"
        c.yaml:3:86: `hardPodAffinityWeight` is written twice; remove one of the two
        c.yaml:3:109: `profiles[0].pluginConfig[0].args.hardPodAffinityWeight` does not fit an integer of 32 bits"#]],
    );
    check_refused(
        "InterPodAffinity",
        "{kind: NodeAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1beta3}",
        expect![[r#"
        c.yaml:3:66: `kind` of the arguments of `InterPodAffinity` must be `InterPodAffinityArgs`; it can be left out
        c.yaml:3:96: `apiVersion` of the arguments of `InterPodAffinity` must be `kubescheduler.config.k8s.io/v1`; it can be left out"#]],
    );
    check_refused(
        "NodeAffinity",
        "[]",
        expect!["c.yaml:3:55: `profiles[0].pluginConfig[0].args` must be a map of fields, not a list"],
    );
    check_refused(
        "NodeName}, {name: NodeName",
        "{}",
        expect!["c.yaml:3:53: `NodeName` is configured twice in this profile"],
    );
}
