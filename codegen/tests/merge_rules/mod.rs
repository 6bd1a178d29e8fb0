//! Plugins at extension points: the two merge rules, with kube-scheduler 1.36's precedence.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use expect_test::{Expect, expect};
use schedc_codegen::plan::Plan;
use schedc_codegen::{NoCrates, SourceText, compile};

fn plan(profile: &str) -> Plan {
    let source = SourceText { path: "profiles/p.toml".to_owned(), text: profile.to_owned() };
    let compilation = compile(&[source], &mut NoCrates).unwrap_or_else(|errors| panic!("{errors}"));
    compilation.plans.into_iter().next().unwrap()
}

/// Compares the plugins at the extension points. Points without plugins are omitted.
fn check(profile: &str, expect: Expect) {
    let plan = plan(profile);
    let mut text = String::new();
    for (point, steps) in plan.points.iter().filter(|(_, steps)| !steps.is_empty()) {
        let names: Vec<String> = steps
            .iter()
            .map(|step| {
                let name = &plan.plugin(step).entry.name;
                step.weight.as_ref().map_or_else(|| name.clone(), |weight| format!("{name}={}", weight.value))
            })
            .collect();
        text.push_str(&format!("{point}: {}\n", names.join(" ")));
    }
    expect.assert_eq(&text);
}

#[test]
fn an_empty_profile_is_the_default() {
    check(
        "",
        expect![[r#"
            pre-enqueue: SchedulingGates DynamicResources DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            post-filter: DynamicResources DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1
            reserve: VolumeBinding DynamicResources
            pre-bind: VolumeBinding DynamicResources
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn a_set_that_disables_all_contains_only_the_plugins_that_it_enables() {
    let table = r#"
        [plugins]
        multi-point = { disabled = ["*"], enabled = [
            "PrioritySort", "NodeUnschedulable", "NodeName", { name = "TaintToleration", weight = 3 },
            { name = "NodeAffinity", weight = 2 }, "NodePorts", { name = "NodeResourcesFit", weight = 1 }, "DefaultBinder",
        ] }
    "#;
    check(
        table,
        expect![[r#"
        queue-sort: PrioritySort
        pre-filter: NodeAffinity NodePorts NodeResourcesFit
        filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit
        pre-score: TaintToleration NodeAffinity NodeResourcesFit
        score: TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1
        bind: DefaultBinder
    "#]],
    );
}

#[test]
fn a_plain_list_is_the_same_as_disabling_all() {
    let points = |profile| plan(profile).points.iter().map(|(_, steps)| steps.len()).collect::<Vec<_>>();
    let list = "[plugins]\nmulti-point = [\"PrioritySort\", \"NodeName\", \"DefaultBinder\"]\n";
    let table = "[plugins]\nmulti-point = { enabled = [\"PrioritySort\", \"NodeName\", \"DefaultBinder\"], disabled = [\"*\"] }\n";
    assert_eq!(points(list), points(table));
}

#[test]
fn points_that_disable_all_run_only_the_plugins_that_they_enable() {
    check(
        r#"
        [plugins]
        filter = { disabled = ["*"], enabled = [
            "NodeResourcesFit", "NodePorts", "NodeAffinity", "TaintToleration", "NodeName", "NodeUnschedulable",
        ] }
        score = { disabled = ["*"], enabled = [
            { name = "ImageLocality", weight = 9 }, { name = "NodeResourcesBalancedAllocation", weight = 5 },
            { name = "NodeAffinity", weight = 11 }, { name = "TaintToleration", weight = 1 },
            { name = "NodeResourcesFit", weight = 13 },
        ] }
        "#,
        expect![[r#"
            pre-enqueue: SchedulingGates DynamicResources DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            filter: NodeResourcesFit NodePorts NodeAffinity TaintToleration NodeName NodeUnschedulable
            post-filter: DynamicResources DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: ImageLocality=9 NodeResourcesBalancedAllocation=5 NodeAffinity=11 TaintToleration=1 NodeResourcesFit=13
            reserve: VolumeBinding DynamicResources
            pre-bind: VolumeBinding DynamicResources
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn plugins_that_multi_point_disables_run_at_no_point() {
    let classic = r#"
        scheduler-name = "classic"
        [plugins]
        multi-point = { disabled = ["DynamicResources", "NodeDeclaredFeatures", "VolumeZone", "NodePorts"] }
    "#;
    check(
        classic,
        expect![[r#"
            pre-enqueue: SchedulingGates DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding PodTopologySpread InterPodAffinity
            filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding PodTopologySpread InterPodAffinity
            post-filter: DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 NodeResourcesBalancedAllocation=1 ImageLocality=1
            reserve: VolumeBinding
            pre-bind: VolumeBinding
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn a_plugin_named_again_keeps_its_place_and_takes_the_new_weight() {
    check(
        r#"
        [plugins]
        multi-point = { enabled = [{ name = "NodeAffinity", weight = 7 }] }
        "#,
        expect![[r#"
            pre-enqueue: SchedulingGates DynamicResources DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            post-filter: DynamicResources DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: TaintToleration=3 NodeAffinity=7 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1
            reserve: VolumeBinding DynamicResources
            pre-bind: VolumeBinding DynamicResources
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn a_plugin_disabled_and_enabled_goes_last() {
    check(
        r#"
        [plugins]
        multi-point = { enabled = ["NodeName"], disabled = ["NodeName"] }
        "#,
        expect![[r#"
            pre-enqueue: SchedulingGates DynamicResources DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            filter: NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures NodeName
            post-filter: DynamicResources DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1
            reserve: VolumeBinding DynamicResources
            pre-bind: VolumeBinding DynamicResources
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn overriding_plugins_come_first_at_a_point_and_additional_ones_last() {
    check(
        r#"
        [plugins]
        multi-point = ["PrioritySort", "NodeUnschedulable", "NodeName", "NodePorts", "DefaultBinder"]
        filter = { enabled = ["NodeAffinity", "NodePorts", "TaintToleration", "NodeName"] }
        "#,
        expect![[r#"
            queue-sort: PrioritySort
            pre-filter: NodePorts
            filter: NodePorts NodeName NodeUnschedulable NodeAffinity TaintToleration
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn a_plugin_disabled_and_enabled_at_a_point_goes_last_there() {
    check(
        r#"
        [plugins]
        multi-point = ["PrioritySort", "NodeUnschedulable", "NodeName", "NodePorts", "DefaultBinder"]
        filter = { enabled = ["NodeName", "NodePorts"], disabled = ["NodeName"] }
        "#,
        expect![[r#"
            queue-sort: PrioritySort
            pre-filter: NodePorts
            filter: NodePorts NodeUnschedulable NodeName
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn the_weight_at_score_beats_multi_point_which_beats_the_default() {
    check(
        r#"
        [plugins]
        multi-point = { enabled = [{ name = "NodeAffinity", weight = 7 }, { name = "ImageLocality", weight = 4 }] }
        score = { enabled = [{ name = "NodeAffinity", weight = 8 }, "ImageLocality", "TaintToleration"] }
        "#,
        expect![[r#"
            pre-enqueue: SchedulingGates DynamicResources DefaultPreemption
            queue-sort: PrioritySort
            pre-filter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures
            post-filter: DynamicResources DefaultPreemption
            pre-score: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation
            score: NodeAffinity=8 ImageLocality=4 TaintToleration=3 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1
            reserve: VolumeBinding DynamicResources
            pre-bind: VolumeBinding DynamicResources
            bind: DefaultBinder
        "#]],
    );
}

#[test]
fn plugins_disabled_everywhere_are_not_used() {
    let plan = plan(
        "[plugins]\nscore = [\"NodeResourcesFit\"]\npre-score = { disabled = [\"NodeResourcesBalancedAllocation\"] }\n",
    );
    let names: Vec<&str> = plan.plugins.iter().map(|plugin| plugin.entry.name.as_str()).collect();
    assert!(!names.contains(&"ImageLocality") && !names.contains(&"NodeResourcesBalancedAllocation"));
    assert_eq!(names[..2], ["SchedulingGates", "PrioritySort"], "plugins are in the order of multi-point");
}

#[test]
fn source_locations_are_kept() {
    let plan = plan("[plugins]\nscore = { enabled = [{ name = \"NodeAffinity\", weight = 8 }] }\n");
    let (step, plugin) = plan.at(schedc_codegen::plan::Point::Score).next().unwrap();
    assert!(step.named_at.is_some() && step.weight.as_ref().unwrap().span.is_some());
    assert_eq!(plugin.named_at, step.named_at);
    let (step, plugin) = plan.at(schedc_codegen::plan::Point::Filter).next().unwrap();
    assert!(step.named_at.is_none() && plugin.named_at.is_none(), "plugins of the default list have no location");
}
