//! Policies.

use expect_test::{Expect, expect};

use super::{points_of, shown};
use crate::{Options, import_any};

const POINTS: [&str; 9] =
    ["pre-enqueue", "queue-sort", "pre-filter", "filter", "post-filter", "pre-score", "score", "reserve", "bind"];

fn imported(rest: &str) -> crate::Import {
    import_any("p.yaml", &format!("kind: Policy\napiVersion: v1\n{rest}"), &Options::default())
}

fn check(rest: &str, expect: Expect) {
    let import = imported(rest);
    let remarks = import.remarks.iter().map(|remark| format!("{}\n", remark.one_line(&import.files)));
    expect.assert_eq(&format!("{}{}", remarks.collect::<String>(), points_of(&import, &POINTS)));
}

#[test]
fn an_empty_policy_has_the_default_functions() {
    check(
        "",
        expect![[r#"
        p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        p.yaml:1:1: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
        pre-enqueue: SchedulingGates DefaultPreemption
        queue-sort: PrioritySort
        pre-filter: NodeResourcesFit NodePorts NodeAffinity VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity
        filter: NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity
        post-filter: DefaultPreemption
        pre-score: NodeResourcesBalancedAllocation PodTopologySpread InterPodAffinity NodeResourcesFit NodeAffinity TaintToleration
        score: NodeResourcesBalancedAllocation=1 PodTopologySpread=2 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 TaintToleration=1
        reserve: VolumeBinding
        bind: DefaultBinder
    "#]],
    );
}

#[test]
fn a_policy_with_empty_lists_has_mandatory_plugins_only() {
    check(
        "predicates: []\npriorities: []\n",
        expect![[r#"
        p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        pre-enqueue: SchedulingGates DefaultPreemption
        queue-sort: PrioritySort
        pre-filter: 
        filter: NodeUnschedulable TaintToleration
        post-filter: DefaultPreemption
        pre-score: 
        score: 
        reserve: 
        bind: DefaultBinder
    "#]],
    );
}

#[test]
fn predicates_have_a_fixed_order() {
    check(
        "\
predicates:
- name: MatchInterPodAffinity
- name: PodFitsPorts
- name: PodFitsResources
- name: CheckNodeMemoryPressure
- name: MaxEBSVolumeCount
- name: CheckVolumeBinding
priorities:
- {name: TaintTolerationPriority, weight: 3}
- {name: EqualPriority, weight: 1}
- {name: MostRequestedPriority, weight: 2}
- {name: ServiceSpreadingPriority, weight: 4}
hardPodAffinitySymmetricWeight: 10
alwaysCheckAllPredicates: true
",
        expect![[r#"
            p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            p.yaml:7:9: `CheckNodeMemoryPressure` is left out: a node in that condition has a taint, which TaintToleration checks
            p.yaml:8:9: `EBSLimits` is part of `NodeVolumeLimits` today, which runs in its place
            p.yaml:13:10: `NodeResourcesMostAllocated` is the scoring strategy MostAllocated of `NodeResourcesFit` today
            p.yaml:14:10: `SelectorSpread` is part of `PodTopologySpread` today, which runs in its place
            p.yaml:16:27: `alwaysCheckAllPredicates` is ignored: it changes the reasons for a node, not the decision
            pre-enqueue: SchedulingGates DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodePorts NodeResourcesFit NodeVolumeLimits VolumeBinding InterPodAffinity
            filter: NodeUnschedulable NodePorts NodeResourcesFit TaintToleration NodeVolumeLimits VolumeBinding InterPodAffinity
            post-filter: DefaultPreemption
            pre-score: NodeResourcesFit PodTopologySpread TaintToleration
            score: NodeResourcesFit=2 PodTopologySpread=4 TaintToleration=3
            reserve: VolumeBinding
            bind: DefaultBinder
            NodeResourcesFit: {"scoring-strategy":{"type":"MostAllocated"}}
            InterPodAffinity: {"hard-pod-affinity-weight":10}
        "#]],
    );
}

#[test]
fn functions_with_arguments_are_converted() {
    check(
        "\
predicates:
- name: HasDisk
  argument: {labelsPresence: {labels: [disk], presence: true}}
- name: NotRetiring
  argument: {labelsPresence: {labels: [retiring], presence: false}}
- name: SameRack
  argument: {serviceAffinity: {labels: [rack]}}
priorities:
- {name: PreferFast, weight: 2, argument: {labelPreference: {label: fast, presence: true}}}
- {name: AvoidSlow, weight: 2, argument: {labelPreference: {label: slow, presence: false}}}
- {name: Spread, weight: 1, argument: {serviceAntiAffinity: {label: zone}}}
- name: Ratio
  weight: 5
  argument:
    requestedToCapacityRatioArguments:
      shape: [{utilization: 0, score: 10}, {utilization: 100, score: 0}]
      resources: [{name: example.com/gpu, weight: 2}]
",
        expect![[r#"
            p.yaml:8:9: `ServiceAffinity` is left out: kube-scheduler 1.36 has no equivalent; use `podAffinity` over the label to keep the pods of a service together, or `topologySpreadConstraints` to spread them
            p.yaml:11:69: labels are preferred by `NodeAffinity` now, with its weight and together with the pods' preferences, so scores may differ
            p.yaml:13:10: `ServiceAffinity` is left out: kube-scheduler 1.36 has no equivalent; use `podAffinity` over the label to keep the pods of a service together, or `topologySpreadConstraints` to spread them
            p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            p.yaml:4:9: `NodeLabel` is `addedAffinity` of `NodeAffinity` today, which runs in its place
            p.yaml:11:10: `NodeLabel` is `addedAffinity` of `NodeAffinity` today, which runs in its place
            p.yaml:14:9: `RequestedToCapacityRatio` is the scoring strategy RequestedToCapacityRatio of `NodeResourcesFit` today
            pre-enqueue: SchedulingGates DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity
            filter: NodeUnschedulable TaintToleration NodeAffinity
            post-filter: DefaultPreemption
            pre-score: NodeAffinity NodeResourcesFit
            score: NodeAffinity=4 NodeResourcesFit=5
            reserve: 
            bind: DefaultBinder
            NodeResourcesFit: {"scoring-strategy":{"requested-to-capacity-ratio":{"shape":[{"score":10,"utilization":0},{"score":0,"utilization":100}]},"resources":[{"name":"example.com/gpu","weight":2}],"type":"RequestedToCapacityRatio"}}
            NodeAffinity: {"added-affinity":{"preferred":[{"preference":{"match-expressions":[{"key":"fast","operator":"Exists"}]},"weight":1},{"preference":{"match-expressions":[{"key":"slow","operator":"DoesNotExist"}]},"weight":1}],"required":[{"match-expressions":[{"key":"disk","operator":"Exists"},{"key":"retiring","operator":"DoesNotExist"}]}]}}
        "#]],
    );
}

#[test]
fn without_selector_spread_pods_of_services_are_not_spread() {
    check(
        "predicates: []\npriorities: [{name: EvenPodsSpreadPriority, weight: 1}]\n",
        expect![[r#"
        p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        pre-enqueue: SchedulingGates DefaultPreemption
        queue-sort: PrioritySort
        pre-filter: 
        filter: NodeUnschedulable TaintToleration
        post-filter: DefaultPreemption
        pre-score: PodTopologySpread
        score: PodTopologySpread=1
        reserve: 
        bind: DefaultBinder
        PodTopologySpread: {"defaulting-type":"List"}
    "#]],
    );
}

#[test]
fn errors_of_a_policy_are_reported() {
    check(
        "\
predicates: [{name: PodFitsResource}, {name: A, argument: {}}, {}]
priorities: [{name: LeastRequestedPriority}, {name: B, weight: 1}, {name: ImageLocalityPriority, weight: -1}]
hardPodAffinitySymmetricWeight: 200
oops: 1
",
        expect![[r#"
            p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
            error: no predicate is called `PodFitsResource`
             --> p.yaml:3:21
              |
            3 | predicates: [{name: PodFitsResource}, {name: A, argument: {}}, {}]
              |                     ^^^^^^^^^^^^^^^ unknown
              |
            help: did you mean `PodFitsResources`?
              |
            3 | predicates: [{name: PodFitsResources}, {name: A, argument: {}}, {}]
              |                                    +

            error: no predicate is called `A`
             --> p.yaml:3:46
              |
            3 | predicates: [{name: PodFitsResource}, {name: A, argument: {}}, {}]
              |                                              ^ unknown
              |
              = help: a predicate of another name needs an `argument` that defines it

            error: an `argument` has exactly one key
             --> p.yaml:3:59
              |
            3 | predicates: [{name: PodFitsResource}, {name: A, argument: {}}, {}]
              |                                                           ^ not one
              |
              = note: one of serviceAffinity, labelsPresence

            error: `predicates[2]` needs a `name`
             --> p.yaml:3:64
              |
            3 | predicates: [{name: PodFitsResource}, {name: A, argument: {}}, {}]
              |                                                                ^ `name` is missing

            error: priority `LeastRequestedPriority` needs a weight of at least 1
             --> p.yaml:4:21
              |
            4 | priorities: [{name: LeastRequestedPriority}, {name: B, weight: 1}, {name: ImageLocalityPriority, weight: -1}]
              |                     ^^^^^^^^^^^^^^^^^^^^^^ not positive

            error: no priority is called `B`
             --> p.yaml:4:53
              |
            4 | priorities: [{name: LeastRequestedPriority}, {name: B, weight: 1}, {name: ImageLocalityPriority, weight: -1}]
              |                                                     ^ unknown
              |
              = help: a priority of another name needs an `argument` that defines it

            error: priority `ImageLocalityPriority` needs a weight of at least 1
             --> p.yaml:4:106
              |
            4 | priorities: [{name: LeastRequestedPriority}, {name: B, weight: 1}, {name: ImageLocalityPriority, weight: -1}]
              |                                                                                                          ^^ not positive

            error: `hardPodAffinitySymmetricWeight` must be 1 to 100, not 200
             --> p.yaml:5:33
              |
            5 | hardPodAffinitySymmetricWeight: 200
              |                                 ^^^ out of range

            error: unknown field `oops`
             --> p.yaml:6:1
              |
            6 | oops: 1
              | ^^^^ not a field of `Policy`
              |
              = note: `Policy` has `apiVersion`, `kind`, `predicates`, `priorities`, `extenders`, `hardPodAffinitySymmetricWeight` and `alwaysCheckAllPredicates`

            error: 9 errors in p.yaml
        "#]],
    );
}

#[test]
fn extenders_of_a_policy_are_converted() {
    let text =
        "extenders: [{urlPrefix: 'http://x', filterVerb: filter, enableHttps: false, httpTimeout: 5000000000}]\n";
    expect![[r#"
        note: p.yaml:1:1: a Policy has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and NodeDeclaredFeatures, which came later, are not in the profile; `schedc diff` with kube-scheduler shows what is different today
        note: p.yaml:1:1: `NodePreferAvoidPods` is left out: kube-scheduler 1.36 has no equivalent; if pods should avoid a node, give it a taint with the effect PreferNoSchedule
        # Imported from p.yaml by schedc.

        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [plugins]
        multi-point = []
        pre-enqueue = ["SchedulingGates", "DefaultPreemption"]
        queue-sort = ["PrioritySort"]
        pre-filter = [
            "NodeResourcesFit",
            "NodePorts",
            "NodeAffinity",
            "VolumeRestrictions",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
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
        post-filter = ["DefaultPreemption"]
        pre-score = [
            "NodeResourcesBalancedAllocation",
            "PodTopologySpread",
            "InterPodAffinity",
            "NodeResourcesFit",
            "NodeAffinity",
            "TaintToleration",
        ]
        score = [
            { name = "NodeResourcesBalancedAllocation", weight = 1 },
            { name = "PodTopologySpread", weight = 2 },
            { name = "ImageLocality", weight = 1 },
            { name = "InterPodAffinity", weight = 1 },
            { name = "NodeResourcesFit", weight = 1 },
            { name = "NodeAffinity", weight = 1 },
            { name = "TaintToleration", weight = 1 },
        ]
        reserve = ["VolumeBinding"]
        pre-bind = ["VolumeBinding"]
        bind = ["DefaultBinder"]

        [[extender]]
        url-prefix = "http://x"
        filter-verb = "filter"
        http-timeout = "5s"
    "#]].assert_eq(&shown(&imported(text)));
}
