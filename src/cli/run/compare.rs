//! How the profiles of a file differ from those that are compiled in.

use schedc_core::profile::ProfileInfo;
use schedc_import::Imported;
use schedc_kubernetes::config::arguments;
use serde_json::Value;

/// What a user should know who thinks that the file says what is done, a line for each difference.
pub(super) fn differences(file: &[Imported], compiled: &[ProfileInfo]) -> Vec<String> {
    let mut lines = Vec::new();
    for written in file {
        let name = &written.scheduler_name;
        match compiled.iter().find(|profile| profile.scheduler_name == name) {
            None => lines.push(format!(
                "profile {name} is not compiled in: nobody schedules its pods; `schedc import` makes a profile of this file \
                 that can be"
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
                "profile {name} is compiled in, and its pods are scheduled, though the file does not have it"
            ));
        }
    }
    lines
}

fn of_profile(written: &Imported, profile: &ProfileInfo) -> Vec<String> {
    let mut lines = Vec::new();
    let (asked, is) = (written.means.percentage_of_nodes_to_score, profile.percentage_of_nodes_to_score);
    // To look at all nodes is better than what was asked for.
    if asked != i64::from(is) && (asked, is) != (0, 100) {
        lines.push(format!("percentageOfNodesToScore is {asked} in the file and {is} in the binary"));
    }
    for (point, asked) in &written.means.points {
        of_point(point, asked, profile.plugins(point), &mut lines);
    }
    let mut plugins: Vec<&str> = Vec::new();
    for (name, _) in profile.points.iter().flat_map(|point| point.plugins) {
        if !plugins.contains(name) {
            plugins.push(name);
        }
    }
    for plugin in plugins {
        let asked = written.means.args.iter().find(|(name, _)| name == plugin).map(|(_, args)| args);
        let is = profile.args.iter().find(|(name, _)| *name == plugin);
        let is: Option<Value> = is.and_then(|(_, args)| serde_json::from_str(args).ok());
        let (asked, is) = (arguments(plugin, asked), arguments(plugin, is.as_ref()));
        if asked != is {
            let say = |args: Option<Value>| args.map_or_else(|| "nothing".to_owned(), |args| args.to_string());
            lines.push(format!(
                "the arguments of {plugin} are {} in the file and {} in the binary",
                say(asked),
                say(is)
            ));
        }
    }
    lines
}

fn of_point(point: &str, asked: &[(String, Option<i64>)], is: &[(&str, Option<i64>)], lines: &mut Vec<String>) {
    let weight = |weight: &Option<i64>| weight.map(|weight| format!(" (weight {weight})")).unwrap_or_default();
    let before = lines.len();
    let missing = asked.iter().filter(|(name, _)| is.iter().all(|(other, _)| other != name));
    let missing: Vec<_> = missing.map(|(name, asks)| format!("{name}{}", weight(asks))).collect();
    let extra = is.iter().filter(|(name, _)| asked.iter().all(|(other, _)| other != name));
    let extra: Vec<_> = extra.map(|(name, has)| format!("{name}{}", weight(has))).collect();
    for (names, place, other) in [(missing, "file", "binary"), (extra, "binary", "file")] {
        if !names.is_empty() {
            lines.push(format!("{point}: in the {place} and not in the {other}: {}", names.join(", ")));
        }
    }
    for (name, asks) in asked {
        if let Some((_, has)) = is.iter().find(|(other, has)| other == name && has != asks) {
            let (asks, has) = (asks.unwrap_or_default(), has.unwrap_or_default());
            lines.push(format!("{point}: {name} weighs {asks} in the file and {has} in the binary"));
        }
    }
    let same_order = asked.iter().map(|(name, _)| name.as_str()).eq(is.iter().map(|(name, _)| *name));
    if lines.len() == before && !same_order {
        let names: Vec<_> = is.iter().map(|(name, _)| *name).collect();
        lines.push(format!("{point}: the order in the binary is another one: {}", names.join(", ")));
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
    };

    fn check(profiles: &str, expected: Expect) {
        let header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n";
        let import = schedc_import::import("s.yaml", &format!("{header}{profiles}"));
        let lines = differences(&import.profiles.expect("it can be imported"), &[COMPILED]);
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
    fn none() {
        check(SAME, expect![[""]]);
    }

    #[test]
    fn plugins_weights_order_and_arguments() {
        check(
            &SAME
                .replace("{name: NodeName}, {name: NodeUnschedulable}", "{name: NodeUnschedulable}, {name: NodeName}")
                .replace("weight: 2}", "weight: 5}, {name: ImageLocality, weight: 1}")
                .replace("{name: cpu, weight: 1}", "{name: cpu, weight: 3}"),
            expect![[r#"
                profile edge: filter: the order in the binary is another one: NodeName, NodeUnschedulable
                profile edge: score: in the file and not in the binary: ImageLocality (weight 1)
                profile edge: score: NodeResourcesFit weighs 5 in the file and 2 in the binary
                profile edge: the arguments of NodeResourcesFit are {"scoringStrategy":{"resources":[{"name":"cpu","weight":3},{"name":"memory","weight":1}],"type":"MostAllocated"}} in the file and {"scoringStrategy":{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}],"type":"MostAllocated"}} in the binary
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
    fn profiles_of_one_alone() {
        check(
            "- schedulerName: other\n",
            expect![[r#"
            profile other is not compiled in: nobody schedules its pods; `schedc import` makes a profile of this file that can be
            profile edge is compiled in, and its pods are scheduled, though the file does not have it
        "#]],
        );
    }
}
