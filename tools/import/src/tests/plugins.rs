//! Plugin sets: kube-scheduler's effective plugins, in the form of a profile.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use schedc_codegen::plan::Point;

use super::{HEAD, check_errors, check_remarks, shown};
use crate::{import, kube_scheduler};

/// Imports these plugin sets (in YAML's flow style), and compares the `[plugins]` of the profile.
fn check(plugins: &str, expect: Expect) {
    let import = import("c.yaml", &format!("{HEAD}profiles: [{{plugins: {plugins}}}]\n"));
    assert!(import.profiles.is_ok(), "{}", shown(&import));
    let toml = &import.profile(None).unwrap().1.toml;
    expect.assert_eq(toml.split_once("[plugins]\n").map_or("", |(_, plugins)| plugins));
}

fn check_warnings(plugins: &str, expect: Expect) {
    check_remarks(&format!("profiles: [{{plugins: {plugins}}}]\n"), expect);
}

fn check_refused(plugins: &str, expect: Expect) {
    check_errors(&format!("profiles: [{{plugins: {plugins}}}]\n"), expect);
}

#[test]
fn defaults_are_not_written() {
    check("{}", expect![""]);
    check("{filter: {}, score: {enabled: [], disabled: null}, multiPoint: null}", expect![""]);
}

#[test]
fn weights_are_written_out() {
    check(
        "{multiPoint: {enabled: [{name: NodeAffinity}, {name: NodePorts}]}}",
        expect![[r#"
        multi-point = { enabled = [{ name = "NodeAffinity", weight = 1 }, "NodePorts"] }
    "#]],
    );
    check(
        "{score: {enabled: [{name: NodeAffinity}, {name: ImageLocality, weight: 4}]}}",
        expect![[r#"
        score = { enabled = [{ name = "NodeAffinity", weight = 1 }, { name = "ImageLocality", weight = 4 }] }
    "#]],
    );
    check(
        "{score: {enabled: [{name: NodeAffinity, weight: 0}], disabled: [{name: NodeAffinity}]}}",
        expect![[r#"
        score = { enabled = [{ name = "NodeAffinity", weight = 1 }], disabled = ["NodeAffinity"] }
    "#]],
    );
}

#[test]
fn enabling_wins_over_disabling() {
    check(
        "{multiPoint: {enabled: [{name: NodeName}], disabled: [{name: NodeName}]}}",
        expect![[r#"
        multi-point = { enabled = ["NodeName"], disabled = ["NodeName"] }
    "#]],
    );
    check(
        "{filter: {enabled: [{name: NodeName}], disabled: [{name: NodeName}, {name: NodePorts}]}}",
        expect![[r#"
        filter = { enabled = ["NodeName"], disabled = ["NodeName", "NodePorts"] }
    "#]],
    );
    check(
        "{filter: {enabled: [{name: NodeName}], disabled: [{name: NodePorts}, {name: '*'}]}}",
        expect![[r#"
        filter = ["NodeName"]
    "#]],
    );
}

#[test]
fn the_order_at_a_point_is_kept() {
    check(
        "{filter: {enabled: [{name: NodePorts}, {name: NodeName}]}, permit: {disabled: [{name: '*'}]}}",
        expect![[r#"
        filter = { enabled = ["NodePorts", "NodeName"] }
        permit = []
    "#]],
    );
}

#[test]
fn disabled_plugins_without_effect_are_omitted() {
    check(
        "{multiPoint: {disabled: [{name: NodePort}, {name: Coscheduling}, {name: NodeName}, {name: NodeName}]}, \
          filter: {disabled: [{name: NodeName}, {name: ImageLocality}]}}",
        expect![[r#"
            multi-point = { disabled = ["NodeName"] }
        "#]],
    );
    check_warnings(
        "{multiPoint: {disabled: [{name: NodePort}, {name: Coscheduling}, {name: NodeName}, {name: NodeName}]}, \
          filter: {disabled: [{name: NodeName}, {name: ImageLocality, weight: 3}]}}",
        expect![[r#"
            c.yaml:3:54: disabling `NodePort` at `multiPoint` has no effect: it is not enabled there; did you mean `NodePorts`?
            c.yaml:3:72: disabling `Coscheduling` at `multiPoint` has no effect: it is not enabled there
            c.yaml:3:112: `NodeName` is disabled twice at `multiPoint`
            c.yaml:3:152: disabling `NodeName` at `filter` has no effect: it is not enabled there
            c.yaml:3:170: disabling `ImageLocality` at `filter` has no effect: it is not enabled there
            c.yaml:3:193: the weight of `ImageLocality` has no effect in `disabled`"#]],
    );
}

#[test]
fn weights_with_an_unexpected_effect_are_reported() {
    check_warnings(
        "{multiPoint: {enabled: [{name: TaintToleration}, {name: NodeAffinity, weight: 0}, {name: NodePorts, weight: 2}]}, \
          filter: {enabled: [{name: NodePorts, weight: 3}, {name: NodeAffinity, weight: 3}]}, \
          score: {enabled: [{name: PodTopologySpread}]}}",
        expect![[r#"
            c.yaml:3:53: `TaintToleration` gets weight 1 here, not its default 3, as in kube-scheduler; to keep it, write `weight: 3`
            c.yaml:3:100: weight 0 of `NodeAffinity` means 1, as in kube-scheduler; to leave it out, disable it at `score`
            c.yaml:3:130: the weight of `NodePorts` has no effect: it does not score
            c.yaml:3:181: the weight of `NodePorts` at `filter` has no effect
            c.yaml:3:214: the weight of `NodeAffinity` at `filter` has no effect; weights count at `score` and `multiPoint`
            c.yaml:3:245: `PodTopologySpread` gets weight 1 here, not the 2 of `multiPoint`, as in kube-scheduler; to keep it, write `weight: 2`"#]],
    );
    check_warnings(
        "{multiPoint: {enabled: [{name: TaintToleration}], disabled: [{name: '*'}, {name: x}]}, \
        queueSort: {enabled: [{name: PrioritySort}]}, bind: {enabled: [{name: DefaultBinder}]}}",
        expect!["c.yaml:3:103: disabling `x` at `multiPoint` has no effect: it is not enabled there"],
    );
    check_refused(
        "{score: {enabled: [{name: NodeAffinity, weight: -1}]}}",
        expect!["c.yaml:3:70: the weight of `NodeAffinity` must be at least 1, not -1"],
    );
    check_refused(
        "{score: {enabled: [{name: NodeAffinity, weight: 3000000000}]}}",
        expect!["c.yaml:3:70: `profiles[0].plugins.score.enabled[0].weight` does not fit an integer of 32 bits"],
    );
}

#[test]
fn plugins_that_kube_scheduler_refuses_are_errors() {
    check_refused(
        "{multiPoint: {enabled: [{name: NodeResourceFit}, {name: '*'}, {name: EBSLimits}, {name: NodeName}, {name: NodeName}]}, \
          filter: {enabled: [{name: ImageLocality}, {name: NodePorts}, {name: NodePorts}]}}",
        expect![[r#"
            c.yaml:3:53: no plugin is called `NodeResourceFit`; did you mean `NodeResourcesFit`?
            c.yaml:3:78: `*` cannot be enabled at `multiPoint`
            c.yaml:3:91: kube-scheduler 1.36 no longer has the plugin `EBSLimits`; its function is part of `NodeVolumeLimits`
            c.yaml:3:128: `NodeName` is enabled twice at `multiPoint`; remove one of the two
            c.yaml:3:167: `ImageLocality` cannot be enabled at `filter`: it never runs there
            c.yaml:3:209: `NodePorts` is enabled twice at `filter`; remove one of the two"#]],
    );
}

#[test]
fn queue_sort_and_bind_plugins_are_required() {
    check_refused(
        "{multiPoint: {disabled: [{name: '*'}]}}",
        expect![[r#"
        c.yaml:3:23: this profile has no queue-sort plugin; enable one, for example `PrioritySort`
        c.yaml:3:23: this profile has no bind plugin; enable one, for example `DefaultBinder`"#]],
    );
    check_refused(
        "{queueSort: {disabled: [{name: PrioritySort}]}, bind: {disabled: [{name: '*'}]}}",
        expect![[r#"
        c.yaml:3:23: this profile has no queue-sort plugin; enable one, for example `PrioritySort`
        c.yaml:3:70: this profile has no bind plugin; enable one, for example `DefaultBinder`"#]],
    );
}

#[test]
fn long_sets_are_broken_at_their_lists() {
    check(
        "{filter: {enabled: [{name: VolumeBinding}, {name: PodTopologySpread}, {name: NodeDeclaredFeatures}], \
          disabled: [{name: InterPodAffinity}]}}",
        expect![[r#"
            filter = { enabled = [
                "VolumeBinding",
                "PodTopologySpread",
                "NodeDeclaredFeatures",
            ], disabled = ["InterPodAffinity"] }
        "#]],
    );
}

#[test]
fn out_of_tree_plugins_are_kept_with_a_warning() {
    let plugins = "{multiPoint: {enabled: [{name: Coscheduling}, {name: Trimaran, weight: 5}]}, \
        queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}, \
        score: {enabled: [{name: NodeMetrics}]}, filter: {disabled: [{name: Coscheduling}]}}";
    check(
        plugins,
        expect![[r#"
        multi-point = { enabled = ["Coscheduling", { name = "Trimaran", weight = 5 }] }
        queue-sort = ["Coscheduling"]
        filter = { disabled = ["Coscheduling"] }
        score = { enabled = [{ name = "NodeMetrics", weight = 1 }] }
    "#]],
    );
    check_warnings(
        plugins,
        expect![[r#"
        c.yaml:3:53: `Coscheduling` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
        c.yaml:3:75: `Trimaran` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile
        c.yaml:3:195: `NodeMetrics` is not a plugin of kube-scheduler; name its crate in the profile: `crates = [".."]`; until then the profile does not compile"#]],
    );
}

#[test]
fn plugins_and_points_of_alpha_features_are_omitted() {
    let plugins =
        "{multiPoint: {enabled: [{name: GangScheduling}]}, placementScore: {enabled: [{name: NodeResourcesFit}]}}";
    check(plugins, expect![""]);
    check_warnings(
        plugins,
        expect![[r#"
        c.yaml:3:53: `GangScheduling` is left out: it belongs to an alpha feature of Kubernetes, which schedc does not have
        c.yaml:3:72: `placementScore` is left out: it belongs to an alpha feature of Kubernetes, which schedc does not have"#]],
    );
}

fn any_set() -> impl Strategy<Value = String> {
    let names: Vec<&str> = kube_scheduler::DEFAULT_PLUGINS.iter().map(|plugin| plugin.name).collect();
    let enabled = proptest::sample::subsequence(names.clone(), 0..6).prop_shuffle();
    let weights = proptest::collection::vec(0..4_u8, 6);
    let disabled = proptest::sample::subsequence(names, 0..4);
    (enabled, weights, disabled, proptest::bool::weighted(0.2)).prop_map(|(enabled, weights, mut disabled, all)| {
        if all {
            disabled.push("'*'");
        }
        let enabled: Vec<String> =
            enabled.iter().zip(weights).map(|(name, weight)| format!("{{name: {name}, weight: {weight}}}")).collect();
        let disabled: Vec<String> = disabled.iter().map(|name| format!("{{name: {name}}}")).collect();
        format!("{{enabled: [{}], disabled: [{}]}}", enabled.join(", "), disabled.join(", "))
    })
}

/// Returns a set without the plugins that cannot be enabled at a point.
fn without_misplaced_plugins(set: &str, point: Point) -> String {
    let fits = |entry: &&str| {
        let name = entry.trim_start_matches("{name: ").split(',').next().unwrap_or_default();
        kube_scheduler::find(name).is_some_and(|plugin| plugin.points.contains(&point))
    };
    let (enabled, disabled) = set.trim_start_matches("{enabled: [").split_once("], disabled").unwrap();
    let enabled = enabled.replace("}, ", "}\n");
    let enabled: Vec<&str> = enabled.lines().filter(fits).collect();
    format!("{{enabled: [{}], disabled{disabled}", enabled.join(", "))
}

proptest! {
    /// An imported profile is compiled and compared with kube-scheduler's pipeline. Nothing may be reported as a bug,
    /// and only sets that disable `*` may become explicit lists.
    #[test]
    fn profiles_merge_as_kube_scheduler_does(multi_point in any_set(), sets in proptest::collection::vec(any_set(), 6)) {
        let points = [Point::PreFilter, Point::Filter, Point::PostFilter, Point::PreScore, Point::Score, Point::Reserve];
        let sets = points.iter().zip(&sets).map(|(point, set)| format!("{}: {}", kube_scheduler::key(*point), without_misplaced_plugins(set, *point)));
        let plugins = format!("{{multiPoint: {multi_point}, {}}}", sets.collect::<Vec<_>>().join(", "));
        let import = import("c.yaml", &format!("{HEAD}profiles: [{{plugins: {plugins}}}]\n"));
        match &import.profiles {
            Ok(profiles) => {
                let plain = plugins.matches("'*'").count();
                let is_list = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains(" = [") && !line.contains("= {");
                let lists = profiles[0].toml.lines().filter(is_list).count();
                prop_assert!(lists <= plain, "{}", profiles[0].toml);
            }
            Err(errors) => {
                let lines = errors.one_lines();
                prop_assert!(lines.iter().all(|line| line.contains("this profile has no")), "{lines:?}");
            }
        }
    }
}

#[test]
fn weights_of_0_that_kube_scheduler_writes_are_ignored() {
    check_remarks(
        "profiles: [{plugins: {multiPoint: {disabled: [{name: '*', weight: 0}]}, queueSort: {enabled: [{name: PrioritySort, \
         weight: 0}]}, bind: {enabled: [{name: DefaultBinder, weight: 0}]}}}]",
        expect![""],
    );
}
