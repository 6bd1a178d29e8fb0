//! `v1beta3`, `v1beta2` and `v1beta1`.

use expect_test::expect;

use super::{check, check_points, check_report};

#[test]
fn v1beta3_lacks_later_default_plugins() {
    check(
        "v1beta3",
        "",
        expect![[r#"
        note: c.yaml:1:1: a configuration of v1beta3 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        # Imported from c.yaml by schedc.

        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [plugins]
        multi-point = { disabled = ["DynamicResources", "NodeDeclaredFeatures"] }
    "#]],
    );
    check(
        "v1beta3",
        "\
profiles:
- plugins:
    multiPoint: {enabled: [{name: CinderLimits}], disabled: [{name: EBSLimits}]}
    filter: {disabled: [{name: NodePort}]}
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1beta3
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: MostAllocated}
",
        expect![[r#"
            warning: c.yaml:6:32: disabling `NodePort` at `filter` has no effect: it is not enabled there; did you mean `NodePorts`?
            note: c.yaml:1:1: a configuration of v1beta3 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            note: c.yaml:5:35: `CinderLimits` is part of `NodeVolumeLimits` today, which runs in its place
            note: c.yaml:5:69: `EBSLimits` is part of `NodeVolumeLimits` today; disabling `EBSLimits` does not disable `NodeVolumeLimits`
            # Imported from c.yaml by schedc.

            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [plugins]
            multi-point = { disabled = ["DynamicResources", "NodeDeclaredFeatures"] }

            [args.NodeResourcesFit]
            scoring-strategy = { type = "MostAllocated" }
        "#]],
    );
}

#[test]
fn v1beta3_keeps_the_later_plugins_that_it_names() {
    check_points(
        "v1beta3",
        "profiles: [{plugins: {multiPoint: {enabled: [{name: DynamicResources}]}}}]\n",
        &["score"],
        expect![[r#"
            score: TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=1 NodeResourcesBalancedAllocation=1 ImageLocality=1
        "#]],
    );
    check_points(
        "v1beta3",
        "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, \
         {name: GCEPDLimits}, {name: EBSLimits}, {name: DefaultBinder}]}}}]\n",
        &["filter"],
        expect![[r#"
            filter: NodeVolumeLimits
        "#]],
    );
}

#[test]
fn v1beta2_has_its_own_defaults() {
    check(
        "v1beta2",
        "percentageOfNodesToScore: 30\nhealthzBindAddress: 0.0.0.0:10251\n",
        expect![[r#"
        note: c.yaml:1:1: a configuration of v1beta2 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        note: c.yaml:4:1: `healthzBindAddress` is not part of a profile: it configures an address without TLS
        # Imported from c.yaml by schedc.

        percentage-of-nodes-to-score = 30

        [plugins]
        multi-point = []
        pre-enqueue = ["SchedulingGates", "DefaultPreemption"]
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
            "NodeName",
            "TaintToleration",
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
        ]
        post-filter = ["DefaultPreemption"]
        pre-score = [
            "InterPodAffinity",
            "PodTopologySpread",
            "TaintToleration",
            "NodeAffinity",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
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
        reserve = ["VolumeBinding"]
        pre-bind = ["VolumeBinding"]
        bind = ["DefaultBinder"]
    "#]],
    );
}

#[test]
fn v1beta2_replaces_default_plugins_in_place() {
    check_points(
        "v1beta2",
        "\
profiles:
- plugins:
    filter: {disabled: [{name: NodeName}, {name: NodePort}], enabled: [{name: TaintToleration}, {name: NodeName}]}
    score: {enabled: [{name: PodTopologySpread}, {name: NodeAffinity, weight: 7}]}
",
        &["filter", "score"],
        expect![[r#"
            filter: NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity NodeName
            score: NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=7 PodTopologySpread=1 TaintToleration=1
        "#]],
    );
    check_report(
        "v1beta2",
        "\
profiles:
- plugins:
    filter: {disabled: [{name: NodePort}]}
    score: {enabled: [{name: PodTopologySpread}, {name: NodeAffinity, weight: 0}]}
  pluginConfig: [{name: VolumeBindings, args: {}}]
",
        expect![[r#"
            c.yaml:5:32: disabling `NodePort` at `filter` has no effect: it is not enabled there; did you mean `NodePorts`?
            c.yaml:6:30: `PodTopologySpread` gets weight 1 here, not its default 2, as in kube-scheduler; to keep it, write `weight: 2`
            c.yaml:6:79: weight 0 of `NodeAffinity` means 1, as in kube-scheduler; to leave it out, disable it at `score`
            c.yaml:7:25: the arguments of `VolumeBindings` have no effect: the profile does not run it; did you mean `VolumeBinding`?"#]],
    );
}

#[test]
fn v1beta1_scoring_plugins_become_strategies() {
    check(
        "v1beta1",
        "\
profiles:
- schedulerName: packed
  plugins:
    score:
      disabled: [{name: NodeResourcesLeastAllocated}]
      enabled: [{name: NodeResourcesMostAllocated, weight: 5}]
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args: {resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}]}
  - name: NodeResourcesFit
    args: {ignoredResourceGroups: [example.com]}
",
        expect![[r#"
            note: c.yaml:1:1: a configuration of v1beta1 has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            note: c.yaml:4:3: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
            note: c.yaml:8:24: `NodeResourcesMostAllocated` is the scoring strategy MostAllocated of `NodeResourcesFit` today
            # Imported from c.yaml by schedc.

            scheduler-name = "packed"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [plugins]
            multi-point = []
            pre-enqueue = ["SchedulingGates", "DefaultPreemption"]
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
                "NodeName",
                "TaintToleration",
                "NodeAffinity",
                "NodePorts",
                "NodeResourcesFit",
                "VolumeRestrictions",
                "NodeVolumeLimits",
                "VolumeBinding",
                "VolumeZone",
                "PodTopologySpread",
                "InterPodAffinity",
            ]
            post-filter = ["DefaultPreemption"]
            pre-score = [
                "InterPodAffinity",
                "PodTopologySpread",
                "TaintToleration",
                "NodeAffinity",
                "NodeResourcesBalancedAllocation",
                "NodeResourcesFit",
            ]
            score = [
                { name = "NodeResourcesBalancedAllocation", weight = 1 },
                { name = "ImageLocality", weight = 1 },
                { name = "InterPodAffinity", weight = 1 },
                { name = "NodeAffinity", weight = 1 },
                { name = "PodTopologySpread", weight = 2 },
                { name = "TaintToleration", weight = 1 },
                { name = "NodeResourcesFit", weight = 5 },
            ]
            reserve = ["VolumeBinding"]
            pre-bind = ["VolumeBinding"]
            bind = ["DefaultBinder"]

            [args.NodeResourcesFit]
            ignored-resource-groups = ["example.com"]

            [args.NodeResourcesFit.scoring-strategy]
            type = "MostAllocated"
            resources = [{ name = "cpu", weight = 3 }, { name = "memory", weight = 1 }]
        "#]],
    );
    check_points(
        "v1beta1",
        "\
profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesLeastAllocated}]
      enabled: [{name: RequestedToCapacityRatio, weight: 2}]
  pluginConfig:
  - name: RequestedToCapacityRatio
    args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}], resources: [{name: cpu, weight: 3}]}
",
        &["score"],
        expect![[r#"
            score: NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1 NodeResourcesFit=2
            NodeResourcesFit: {"scoring-strategy":{"requested-to-capacity-ratio":{"shape":[{"score":0,"utilization":0},{"score":10,"utilization":100}]},"resources":[{"name":"cpu","weight":3}],"type":"RequestedToCapacityRatio"}}
        "#]],
    );
    check_report(
        "v1beta1",
        "\
profiles:
- plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 5}]}}
  pluginConfig: [{name: NodeResourcesLeastAllocated, args: {resources: [{name: cpu, weight: 3}]}}]
",
        expect![[r#"
            c.yaml:4:38: `NodeResourcesMostAllocated` and `NodeResourcesLeastAllocated` both score, but `NodeResourcesFit` has one strategy: that of `NodeResourcesMostAllocated`, so decisions will differ; disable `NodeResourcesLeastAllocated` if it was not meant to score
            c.yaml:5:25: the arguments of `NodeResourcesLeastAllocated` have no effect: the profile does not run it
            c.yaml:4:3: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
            c.yaml:4:38: `NodeResourcesMostAllocated` is the scoring strategy MostAllocated of `NodeResourcesFit` today"#]],
    );
}

#[test]
fn v1beta1_refuses_default_plugins_enabled_again() {
    check_report(
        "v1beta1",
        "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: 3}]}}}]\n",
        expect![[r#"
            c.yaml:3:12: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
            c.yaml:3:48: `NodeAffinity` is already enabled at `score` by default; disable it there, too, to give it another position or weight"#]],
    );
}

#[test]
fn default_constraints_need_a_type_since_v1beta2() {
    let rest = "\
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}
";
    check_points(
        "v1beta1",
        rest,
        &[],
        expect![[r#"
        PodTopologySpread: {"default-constraints":[{"max-skew":1,"topology-key":"zone","when-unsatisfiable":"ScheduleAnyway"}],"defaulting-type":"List"}
    "#]],
    );
    check_report("v1beta2", rest, expect!["c.yaml:6:12: `defaultConstraints` need `defaultingType: List`"]);
}

#[test]
fn node_labels_become_an_added_affinity() {
    check_points(
        "v1beta1",
        "\
profiles:
- plugins:
    filter: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeLabel}]}
    score: {enabled: [{name: NodeLabel, weight: 4}]}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [disk, ready], absentLabels: [retiring], presentLabelsPreference: [fast]}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: a, operator: Exists}]
          - matchExpressions: [{key: b, operator: Exists}]
",
        &["filter", "score"],
        expect![[r#"
            filter: NodeUnschedulable NodeName TaintToleration NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity NodeAffinity
            score: NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2 TaintToleration=1
            NodeAffinity: {"added-affinity":{"preferred":[{"preference":{"match-expressions":[{"key":"fast","operator":"Exists"}]},"weight":1}],"required":[{"match-expressions":[{"key":"a","operator":"Exists"},{"key":"disk","operator":"Exists"},{"key":"ready","operator":"Exists"},{"key":"retiring","operator":"DoesNotExist"}]},{"match-expressions":[{"key":"b","operator":"Exists"},{"key":"disk","operator":"Exists"},{"key":"ready","operator":"Exists"},{"key":"retiring","operator":"DoesNotExist"}]}]}}
        "#]],
    );
}

#[test]
fn plugins_without_a_replacement_are_omitted() {
    check_report(
        "v1beta1",
        "\
profiles:
- plugins:
    preFilter: {enabled: [{name: ServiceAffinity}]}
    filter: {enabled: [{name: ServiceAffinity}, {name: CinderLimits}], disabled: [{name: EBSLimits}]}
    preScore: {enabled: [{name: SelectorSpread}]}
    score: {enabled: [{name: SelectorSpread}, {name: NodeResourceLimits}], disabled: [{name: NodePreferAvoidPods}]}
    postBind: {enabled: [{name: VolumeBinding}]}
  pluginConfig: [{name: ServiceAffinity, args: {affinityLabels: [rack]}}]
",
        expect![[r#"
            c.yaml:5:34: `ServiceAffinity` is left out: kube-scheduler 1.36 has no equivalent; use `podAffinity` over the label to keep the pods of a service together, or `topologySpreadConstraints` to spread them
            c.yaml:6:31: `ServiceAffinity` is left out: kube-scheduler 1.36 has no equivalent; use `podAffinity` over the label to keep the pods of a service together, or `topologySpreadConstraints` to spread them
            c.yaml:8:54: `NodeResourceLimits` is left out: kube-scheduler 1.36 has no equivalent; kube-scheduler no longer reads the limits of pods
            c.yaml:6:56: `CinderLimits` is part of `NodeVolumeLimits` today, which runs in its place
            c.yaml:7:33: `SelectorSpread` is part of `PodTopologySpread` today, which runs in its place
            c.yaml:8:30: `SelectorSpread` is part of `PodTopologySpread` today, which runs in its place
            c.yaml:9:33: `VolumeBinding` no longer runs at `postBind`"#]],
    );
}

#[test]
fn fields_of_other_versions_are_errors() {
    check_report("v1beta3", "healthzBindAddress: ''\n", expect!["c.yaml:3:1: unknown field `healthzBindAddress`"]);
    check_report(
        "v1beta1",
        "disablePreemption: true\nprofiles: [{plugins: {multiPoint: {}}}]\n",
        expect![[r#"
        c.yaml:4:12: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
        c.yaml:3:1: unknown field `disablePreemption`
        c.yaml:4:23: unknown field `multiPoint`"#]],
    );
}
