//! Differences between the plugins, settings and extenders of two profiles.

mod extenders;

use serde_json::Value;

use crate::arguments::arguments;
use crate::summary::ProfileSummary;

/// A difference between two profiles a and b.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A setting that belongs to no plugin, with different values.
    Setting {
        /// Its name in a KubeSchedulerConfiguration.
        name: &'static str,
        /// Its value in a.
        a: i64,
        /// Its value in b.
        b: i64,
    },
    /// A plugin runs at an extension point in only one of the profiles.
    Plugin {
        /// The extension point.
        point: &'static str,
        /// The plugin.
        plugin: String,
        /// Whether it runs in a.
        in_a: bool,
        /// Its weight at `score`; `None` at other points.
        weight: Option<i64>,
    },
    /// A plugin's scores have different weights.
    Weight {
        /// The plugin.
        plugin: String,
        /// Its weight in a.
        a: i64,
        /// Its weight in b.
        b: i64,
    },
    /// The plugins or extenders that both profiles have are in different orders.
    Order {
        /// The extension point; `extender` for extenders.
        point: &'static str,
        /// Their order in a.
        a: Vec<String>,
        /// Their order in b.
        b: Vec<String>,
    },
    /// An argument of a plugin that runs in both profiles, with different values. The argument's name and default are
    /// those of kube-scheduler.
    Argument {
        /// The plugin.
        plugin: String,
        /// The path of the argument: `scoringStrategy.type`.
        path: String,
        /// Its value in a.
        a: Option<Value>,
        /// Its value in b.
        b: Option<Value>,
    },
    /// An extender that only one of the profiles calls.
    Extender {
        /// Its URL.
        url: String,
        /// Its settings in a, with the keys of a profile.
        a: Option<Value>,
        /// Its settings in b.
        b: Option<Value>,
    },
    /// A setting of an extender that both profiles call, with different values.
    ExtenderSetting {
        /// The URL of the extender.
        url: String,
        /// The setting, by its key in a profile.
        key: String,
        /// Its value in a.
        a: Option<Value>,
        /// Its value in b.
        b: Option<Value>,
    },
}

/// Returns all differences: settings, then those of each extension point in the order of a scheduling
/// attempt, then arguments, then extenders.
pub fn differences(a: &ProfileSummary, b: &ProfileSummary) -> Vec<Difference> {
    let mut differences = Vec::new();
    let settings = [
        ("percentageOfNodesToScore", a.percentage_of_nodes_to_score, b.percentage_of_nodes_to_score),
        ("podInitialBackoffSeconds", seconds(a.backoff_seconds.0), seconds(b.backoff_seconds.0)),
        ("podMaxBackoffSeconds", seconds(a.backoff_seconds.1), seconds(b.backoff_seconds.1)),
    ];
    differences.extend(settings.into_iter().filter(|(_, a, b)| a != b).map(|(name, a, b)| Difference::Setting {
        name,
        a,
        b,
    }));
    for ((point, in_a), (_, in_b)) in a.points.iter().zip(&b.points) {
        compare_point(point, in_a, in_b, &mut differences);
    }
    let plugins_of_b = b.plugins();
    for plugin in a.plugins().into_iter().filter(|plugin| plugins_of_b.contains(plugin)) {
        let (a, b) = (arguments(plugin, a.args_of(plugin)), arguments(plugin, b.args_of(plugin)));
        compare_arguments(plugin, "", a.as_ref(), b.as_ref(), &mut differences);
    }
    extenders::differences(&a.extenders, &b.extenders, &mut differences);
    differences
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

type Plugins = [(String, Option<i64>)];

fn compare_point(point: &'static str, a: &Plugins, b: &Plugins, differences: &mut Vec<Difference>) {
    let weight =
        |plugins: &Plugins, name: &str| plugins.iter().find(|(other, _)| other == name).map(|(_, weight)| *weight);
    let missing_in = |others: &Plugins, these: &Plugins, in_a: bool| {
        let missing = these.iter().filter(|(name, _)| weight(others, name).is_none());
        let difference = |(plugin, weight): &(String, Option<i64>)| Difference::Plugin {
            point,
            plugin: plugin.clone(),
            in_a,
            weight: *weight,
        };
        missing.map(difference).collect::<Vec<_>>()
    };
    differences.extend(missing_in(b, a, true));
    differences.extend(missing_in(a, b, false));
    for (plugin, in_a) in a {
        if let (Some(in_a), Some(Some(in_b))) = (*in_a, weight(b, plugin))
            && in_a != in_b
        {
            differences.push(Difference::Weight { plugin: plugin.clone(), a: in_a, b: in_b });
        }
    }
    let common = |these: &Plugins, others: &Plugins| -> Vec<String> {
        these.iter().map(|(name, _)| name.clone()).filter(|name| weight(others, name).is_some()).collect()
    };
    let (a, b) = (common(a, b), common(b, a));
    if a != b {
        differences.push(Difference::Order { point, a, b });
    }
}

/// Descends to the values that differ in two maps. Lists are compared as a whole.
fn compare_arguments(
    plugin: &str,
    path: &str,
    a: Option<&Value>,
    b: Option<&Value>,
    differences: &mut Vec<Difference>,
) {
    if a == b {
        return;
    }
    if a.is_none_or(Value::is_object) && b.is_none_or(Value::is_object) {
        let none = serde_json::Map::new();
        let [a, b] = [a, b].map(|fields| fields.and_then(Value::as_object).unwrap_or(&none));
        let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        for key in keys {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare_arguments(plugin, &path, a.get(key), b.get(key), differences);
        }
    } else {
        let (plugin, path) = (plugin.to_owned(), path.to_owned());
        differences.push(Difference::Argument { plugin, path, a: a.cloned(), b: b.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::differences;
    use crate::import;

    fn check(a: &str, b: &str, expect: Expect) {
        let summary = |rest: &str| {
            let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
            import("c.yaml", &format!("{head}{rest}")).profile(None).unwrap().1.summary.clone()
        };
        let lines: Vec<String> =
            differences(&summary(a), &summary(b)).iter().map(|difference| format!("{difference:?}\n")).collect();
        expect.assert_eq(&lines.concat());
    }

    #[test]
    fn no_differences_if_only_the_form_differs() {
        check(
            "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: LeastAllocated, resources: [{name: cpu}, {name: memory}]}}}]}]",
            "podMaxBackoffSeconds: 10\nprofiles: [{plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 2}]}}}]",
            expect![[""]],
        );
    }

    #[test]
    fn settings_plugins_weights_orders_and_arguments_are_compared() {
        check(
            "",
            "\
percentageOfNodesToScore: 100
podInitialBackoffSeconds: 2
profiles:
- plugins:
    multiPoint: {disabled: [{name: DynamicResources}, {name: NodeDeclaredFeatures}]}
    filter: {enabled: [{name: NodePorts}]}
    score: {disabled: [{name: ImageLocality}, {name: NodeAffinity}], enabled: [{name: NodeAffinity, weight: 9}]}
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [a], scoringStrategy: {type: MostAllocated}}
",
            expect![[r#"
                Setting { name: "percentageOfNodesToScore", a: 0, b: 100 }
                Setting { name: "podInitialBackoffSeconds", a: 1, b: 2 }
                Plugin { point: "pre-enqueue", plugin: "DynamicResources", in_a: true, weight: None }
                Plugin { point: "pre-filter", plugin: "DynamicResources", in_a: true, weight: None }
                Plugin { point: "pre-filter", plugin: "NodeDeclaredFeatures", in_a: true, weight: None }
                Plugin { point: "filter", plugin: "DynamicResources", in_a: true, weight: None }
                Plugin { point: "filter", plugin: "NodeDeclaredFeatures", in_a: true, weight: None }
                Order { point: "filter", a: ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"], b: ["NodePorts", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"] }
                Plugin { point: "post-filter", plugin: "DynamicResources", in_a: true, weight: None }
                Plugin { point: "score", plugin: "DynamicResources", in_a: true, weight: Some(2) }
                Plugin { point: "score", plugin: "ImageLocality", in_a: true, weight: Some(1) }
                Weight { plugin: "NodeAffinity", a: 2, b: 9 }
                Order { point: "score", a: ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation"], b: ["TaintToleration", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "NodeAffinity"] }
                Plugin { point: "reserve", plugin: "DynamicResources", in_a: true, weight: None }
                Plugin { point: "pre-bind", plugin: "DynamicResources", in_a: true, weight: None }
                Argument { plugin: "NodeResourcesFit", path: "scoringStrategy.type", a: Some(String("LeastAllocated")), b: Some(String("MostAllocated")) }
                Argument { plugin: "NodeResourcesFit", path: "ignoredResources", a: None, b: Some(Array [String("a")]) }
            "#]],
        );
    }
}
