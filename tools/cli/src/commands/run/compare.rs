//! Differences between the profiles of a configuration file and the compiled-in profiles.

use schedc_core::profile::ProfileInfo;
use schedc_import::{Difference, Imported, ProfileSummary, differences};
use serde_json::Value;

/// Returns the differences that affect users of the file, one line each.
pub(super) fn of_file(file: &[Imported], compiled: &[ProfileInfo]) -> Vec<String> {
    let mut lines = Vec::new();
    for written in file {
        let name = &written.scheduler_name;
        match compiled.iter().find(|profile| profile.scheduler_name == name) {
            None => lines.push(format!(
                "profile {name} is not compiled in, so its pods stay pending; `schedc import` converts this file to a profile \
                 to compile"
            )),
            Some(profile) => {
                lines.extend(of_profile(written, profile).iter().map(|line| format!("profile {name}: {line}")));
            }
        }
    }
    for profile in compiled {
        let name = profile.scheduler_name;
        if file.iter().all(|written| written.scheduler_name != name) {
            lines.push(format!(
                "profile {name} is compiled in, and its pods are scheduled, although the file does not contain it"
            ));
        }
    }
    lines
}

fn of_profile(written: &Imported, profile: &ProfileInfo) -> Vec<String> {
    let (file, binary) = (&written.summary, ProfileSummary::from(profile));
    let mut lines = Vec::new();
    let mut differences = differences(file, &binary).into_iter().peekable();
    while let Some(difference) = differences.next() {
        match difference {
            // If the file has 0 (adaptive) and the binary 100, more nodes than requested are evaluated, which is not
            // reported.
            Difference::Setting { name: "percentageOfNodesToScore", a, b } if (a, b) != (0, 100) => {
                lines.push(format!("percentageOfNodesToScore is {a} in the file and {b} in the binary"));
            }
            // The backoff of the file is used.
            Difference::Setting { .. } => {}
            Difference::Plugin { point, plugin, in_a, weight } => {
                let mut plugins = vec![with_weight(&plugin, weight)];
                while let Some(Difference::Plugin { plugin, weight, .. }) =
                    differences.next_if(|next| is_at(next, point, in_a))
                {
                    plugins.push(with_weight(&plugin, weight));
                }
                let (place, other) = if in_a { ("file", "binary") } else { ("binary", "file") };
                lines.push(format!("{point}: in the {place} and not in the {other}: {}", plugins.join(", ")));
            }
            Difference::Weight { plugin, a, b } => {
                lines.push(format!("score: {plugin} weighs {a} in the file and {b} in the binary"));
            }
            Difference::Order { point, b, .. } => {
                lines.push(format!("{point}: the order in the binary differs: {}", b.join(", ")));
            }
            Difference::Argument { plugin, path, a, b } => lines.push(setting(&path, &plugin, a, b)),
            Difference::Extender { url, a: Some(_), .. } => {
                lines.push(format!("extender {url} is in the file, but the binary does not call it: `schedc import` converts this file to a profile that does"));
            }
            Difference::Extender { url, .. } => {
                lines.push(format!("extender {url} is not in the file, but the binary calls it"));
            }
            Difference::ExtenderSetting { url, key, a, b } => {
                lines.push(setting(&key, &format!("extender {url}"), a, b));
            }
        }
    }
    lines
}

fn setting(key: &str, of: &str, a: Option<Value>, b: Option<Value>) -> String {
    let text = |value: Option<Value>| value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
    format!("{key} of {of} is {} in the file and {} in the binary", text(a), text(b))
}

/// Returns whether a difference is a plugin of this extension point that only the file has (`in_file`), or that only the
/// binary has.
fn is_at(difference: &Difference, at: &str, in_file: bool) -> bool {
    matches!(difference, Difference::Plugin { point, in_a, .. } if *point == at && *in_a == in_file)
}

fn with_weight(plugin: &str, weight: Option<i64>) -> String {
    match weight {
        Some(weight) => format!("{plugin} (weight {weight})"),
        None => plugin.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use schedc_core::profile::{Budget, PointInfo};

    use super::*;

    const COMPILED: ProfileInfo = ProfileInfo {
        name: "edge",
        source: "edge.toml",
        scheduler_name: "edge",
        percentage_of_nodes_to_score: 100,
        pod_initial_backoff_seconds: 1,
        pod_max_backoff_seconds: 10,
        budget: Budget::NONE,
        points: &[
            PointInfo { point: "queue-sort", plugins: &[("PrioritySort", None)] },
            PointInfo { point: "filter", plugins: &[("NodeName", None), ("NodeUnschedulable", None)] },
            PointInfo { point: "score", plugins: &[("NodeResourcesFit", Some(2))] },
            PointInfo { point: "bind", plugins: &[("DefaultBinder", None)] },
        ],
        args: &[("NodeResourcesFit", r#"{"scoring-strategy":{"type":"MostAllocated"}}"#)],
        extenders: &[],
    };

    fn check(profiles: &str, expected: Expect) {
        let header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n";
        let import = schedc_import::import("s.yaml", &format!("{header}{profiles}"));
        let lines = of_file(&import.profiles.expect("it can be imported"), &[COMPILED]);
        expected.assert_eq(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    const SAME: &str = "- schedulerName: edge
  plugins:
    multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}]}
    filter: {enabled: [{name: NodeName}, {name: NodeUnschedulable}]}
    score: {enabled: [{name: NodeResourcesFit, weight: 2}]}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
";

    #[test]
    fn equal_profiles_have_no_differences() {
        check(SAME, expect![[""]]);
    }

    #[test]
    fn differences_of_plugins_weights_order_and_arguments_are_listed() {
        check(
            &SAME
                .replace("{name: NodeName}, {name: NodeUnschedulable}", "{name: NodeUnschedulable}, {name: NodeName}")
                .replace("weight: 2}", "weight: 5}, {name: ImageLocality, weight: 1}")
                .replace("{name: cpu, weight: 1}", "{name: cpu, weight: 3}"),
            expect![[r#"
                profile edge: filter: the order in the binary differs: NodeName, NodeUnschedulable
                profile edge: score: in the file and not in the binary: ImageLocality (weight 1)
                profile edge: score: NodeResourcesFit weighs 5 in the file and 2 in the binary
                profile edge: scoringStrategy.resources of NodeResourcesFit is [{"name":"cpu","weight":3},{"name":"memory","weight":1}] in the file and [{"name":"cpu","weight":1},{"name":"memory","weight":1}] in the binary
            "#]],
        );
        let other =
            SAME.replace("edge\n", "edge\n  percentageOfNodesToScore: 50\n").replace("NodeUnschedulable", "NodePorts");
        check(
            &other,
            expect![[r#"
            profile edge: percentageOfNodesToScore is 50 in the file and 100 in the binary
            profile edge: filter: in the file and not in the binary: NodePorts
            profile edge: filter: in the binary and not in the file: NodeUnschedulable
        "#]],
        );
    }

    #[test]
    fn profiles_in_only_the_file_or_the_binary_are_listed() {
        check(
            "- schedulerName: other\n",
            expect![[r#"
            profile other is not compiled in, so its pods stay pending; `schedc import` converts this file to a profile to compile
            profile edge is compiled in, and its pods are scheduled, although the file does not contain it
        "#]],
        );
    }
}
