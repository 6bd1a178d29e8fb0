//! Exporting and importing again yields an equivalent profile.

use std::fs;
use std::path::Path;

use expect_test::expect;
use proptest::prelude::*;
use schedc_codegen::plan::Point;
use schedc_codegen::{Compilation, Diagnostics, NoCrates, SourceText, compile};

use super::{HEAD, shown};
use crate::export::Configuration;
use crate::{Import, ProfileSummary, arguments, import, kube_scheduler};

/// Returns the pipelines of profiles by scheduler name.
fn summaries(compilation: &Compilation) -> Vec<(String, ProfileSummary)> {
    let profiles = compilation.plans.iter().map(|plan| (plan.scheduler_name.value.clone(), ProfileSummary::from(plan)));
    profiles.collect()
}

/// Adds the default arguments, which an export contains.
fn with_all_arguments(profiles: &[(String, ProfileSummary)]) -> Vec<(String, ProfileSummary)> {
    let mut profiles = profiles.to_vec();
    for (_, summary) in &mut profiles {
        let written = |name: &str| Some((name.to_owned(), arguments(name, summary.args_of(name))?));
        summary.args = summary.plugins().into_iter().filter_map(written).collect();
        summary.args.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    profiles
}

fn compiled(profiles: &[String]) -> Result<Compilation, Diagnostics> {
    let source = |(index, text): (usize, &String)| SourceText { path: format!("p{index}.toml"), text: text.clone() };
    let sources: Vec<SourceText> = profiles.iter().enumerate().map(source).collect();
    compile(&sources, &mut NoCrates)
}

fn imported(import: &Import) -> Vec<String> {
    let profiles = import.profiles.as_ref().unwrap_or_else(|errors| panic!("{errors}"));
    profiles.iter().map(|profile| profile.toml.clone()).collect()
}

/// Exports profiles and imports the result: there are no remarks, and the pipelines are equal.
#[track_caller]
fn check(profiles: &[String]) -> String {
    let first = summaries(&compiled(profiles).unwrap_or_else(|errors| panic!("{errors}")));
    let yaml = serde_saphyr::to_string(&Configuration::new(&first)).unwrap();
    let again = import("exported.yaml", &yaml);
    let remarks: Vec<_> = again.remarks.iter().map(|remark| remark.one_line(&again.files)).collect();
    assert_eq!(remarks, Vec::<String>::new(), "{yaml}");
    let second = summaries(&compiled(&imported(&again)).unwrap());
    assert_eq!(with_all_arguments(&second), with_all_arguments(&first), "{yaml}");
    assert_eq!(serde_saphyr::to_string(&Configuration::new(&second)).unwrap(), yaml);
    yaml
}

/// Imports a configuration of kube-scheduler, and checks the round trip.
fn check_configuration(text: &str) {
    check(&imported(&import("c.yaml", text)));
}

#[test]
fn conformance_configurations_survive_a_round_trip() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let configurations: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    assert_eq!(configurations.len(), 12);
    for path in configurations {
        check_configuration(&fs::read_to_string(path).unwrap());
    }
}

#[test]
fn shipped_profiles_survive_a_round_trip() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        check(&[fs::read_to_string(&path).unwrap()]);
    }
}

#[test]
fn extenders_survive_a_round_trip() {
    check_configuration(&format!("{HEAD}{}", super::extenders::ALL));
    let data = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmFiYwotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";
    let tls = format!("{{certData: {data}, keyData: {data}, caData: {data}, serverName: x}}");
    check_configuration(&format!(
        "{HEAD}extenders: [{{urlPrefix: 'https://a/', filterVerb: f, prioritizeVerb: p, weight: 9223372036854775, \
         httpTimeout: 1h0.5s, enableHTTPS: true, tlsConfig: {tls}}}]\n"
    ));
}

#[test]
fn unusual_plugin_sets_survive_a_round_trip() {
    for rest in [
        // All plugins are disabled, and some are enabled again at other points and in another order.
        "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: DefaultBinder}, {name: PrioritySort}]}, \
         filter: {enabled: [{name: TaintToleration}, {name: NodeName}]}, score: {enabled: [{name: ImageLocality, weight: 77}]}}}]",
        // Plugins that are named at a point are also in `multiPoint`: the named ones come first.
        "profiles: [{plugins: {filter: {enabled: [{name: InterPodAffinity}, {name: NodePorts}]}, \
         score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}, {name: TaintToleration, weight: 100}]}}}]",
        // Plugins are disabled twice, without effect, and with weights.
        "profiles: [{plugins: {preFilter: {disabled: [{name: NodeName}, {name: NodePorts}, {name: NodePorts, weight: 3}]}, \
         multiPoint: {disabled: [{name: DefaultPreemption}, {name: Missing}], enabled: [{name: NodeAffinity, weight: 0}]}}}]",
        // A point with a different order.
        "profiles: [{plugins: {preScore: {disabled: [{name: '*'}], enabled: [{name: InterPodAffinity}, {name: NodeAffinity}, \
         {name: TaintToleration}, {name: PodTopologySpread}, {name: NodeResourcesFit}, {name: VolumeBinding}]}}}]",
        "percentageOfNodesToScore: 7\npodInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 300\n\
         profiles: [{schedulerName: a}, {schedulerName: b.c, percentageOfNodesToScore: 0}, {schedulerName: d, percentageOfNodesToScore: 100, \
         plugins: {score: {disabled: [{name: '*'}]}, preScore: {disabled: [{name: '*'}]}}}]",
    ] {
        check_configuration(&format!("{HEAD}{rest}\n"));
    }
}

#[test]
fn all_arguments_survive_a_round_trip() {
    check_configuration(&format!(
        "{HEAD}\
profiles:
- pluginConfig:
  - {{name: DefaultPreemption, args: {{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 7}}}}
  - {{name: DynamicResources, args: {{filterTimeout: 1m30s, bindingTimeout: 90s}}}}
  - {{name: InterPodAffinity, args: {{hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}}}}
  - {{name: NodeResourcesBalancedAllocation, args: {{resources: [{{name: example.com/my-gpu}}, {{name: cpu, weight: 1}}]}}}}
  - {{name: VolumeBinding, args: {{bindTimeoutSeconds: 0}}}}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - {{matchExpressions: [{{key: a/b-c, operator: In, values: [x, 'true', '1', 'n', '0x1f', '1e3', 'null', '1_000', '']}}], matchFields: [{{key: metadata.name, operator: NotIn, values: ['no']}}]}}
          - {{matchExpressions: [{{key: z, operator: Gt, values: ['5']}}]}}
        preferredDuringSchedulingIgnoredDuringExecution:
        - {{weight: 5, preference: {{matchExpressions: [{{key: q, operator: DoesNotExist}}]}}}}
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/a]
      ignoredResourceGroups: [example.org]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{{name: cpu, weight: 2}}, {{name: example.com/my-gpu}}]
        requestedToCapacityRatio: {{shape: [{{utilization: 0, score: 10}}, {{utilization: 40}}, {{utilization: 100, score: 1}}]}}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}}]
"
    ));
}

#[test]
fn an_export_contains_all_settings() {
    let profile = "\
scheduler-name = \"small\"
pod-max-backoff-seconds = 60

[plugins]
multi-point = [\"PrioritySort\", { name = \"TaintToleration\", weight = 3 }, \"DefaultBinder\"]
score = [{ name = \"InterPodAffinity\", weight = 2 }]

[args.InterPodAffinity]
hard-pod-affinity-weight = 5
";
    expect![[r#"
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        podInitialBackoffSeconds: 1
        podMaxBackoffSeconds: 60
        profiles:
        - schedulerName: small
          percentageOfNodesToScore: 100
          plugins:
            multiPoint:
              disabled:
              - name: "*"
            queueSort:
              enabled:
              - name: PrioritySort
            filter:
              enabled:
              - name: TaintToleration
            preScore:
              enabled:
              - name: TaintToleration
            score:
              enabled:
              - name: InterPodAffinity
                weight: 2
            bind:
              enabled:
              - name: DefaultBinder
          pluginConfig:
          - name: InterPodAffinity
            args:
              apiVersion: kubescheduler.config.k8s.io/v1
              hardPodAffinityWeight: 5
              ignorePreferredTermsOfExistingPods: false
              kind: InterPodAffinityArgs
    "#]]
    .assert_eq(&check(&[profile.to_owned()]));
}

#[test]
fn unknown_plugins_survive_a_round_trip() {
    let text = format!(
        "{HEAD}profiles: [{{plugins: {{permit: {{enabled: [{{name: Mine}}]}}}}, \
         pluginConfig: [{{name: Mine, args: {{aLimit: 3, resources: {{example.com/my-gpu: 2}}}}}}]}}]\n"
    );
    let first = import("c.yaml", &text);
    let profiles = first.profiles.as_ref().unwrap();
    let yaml =
        serde_saphyr::to_string(&Configuration::new(&[("mine".to_owned(), profiles[0].summary.clone())])).unwrap();
    let second = import("c.yaml", &yaml);
    assert!(shown(&second).contains("a-limit = 3\nresources = { \"example.com/my-gpu\" = 2 }\n"), "{}", shown(&second));
}

/// Returns a plugin list of a profile: random in-tree plugins of the point, in any order, with any weights.
fn list(point: Point) -> impl Strategy<Value = String> {
    let names: Vec<&str> = kube_scheduler::DEFAULT_PLUGINS
        .iter()
        .filter(|plugin| plugin.points.contains(&point))
        .map(|plugin| plugin.name)
        .collect();
    let weights = prop::collection::vec(1..=100_i64, names.len());
    let some = prop::sample::subsequence(names.clone(), 0..=names.len()).prop_shuffle();
    (some, weights).prop_map(move |(names, weights)| {
        let entry = |(name, weight): (&str, i64)| match point {
            Point::Score => format!("{{ name = \"{name}\", weight = {weight} }}"),
            _ => format!("\"{name}\""),
        };
        format!("{} = [{}]\n", point.name(), names.into_iter().zip(weights).map(entry).collect::<Vec<_>>().join(", "))
    })
}

fn profile() -> impl Strategy<Value = String> {
    let lists: Vec<_> =
        [Point::PreEnqueue, Point::PreFilter, Point::Filter, Point::PostFilter, Point::PreScore, Point::Score]
            .into_iter()
            .map(|point| prop::option::of(list(point)))
            .collect();
    (lists, 0..=100_u8, 1..5_u64, 5..100_u64).prop_map(|(lists, percentage, initial, max)| {
        let lists: String = lists.into_iter().flatten().collect();
        format!(
            "percentage-of-nodes-to-score = {percentage}\npod-initial-backoff-seconds = {initial}\n\
             pod-max-backoff-seconds = {max}\n[plugins]\n{lists}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_valid_profile_survives_a_round_trip(profile in profile()) {
        // A profile is invalid if a plugin requires another plugin, or itself at another point, and the profile lacks
        // it.
        if compiled(std::slice::from_ref(&profile)).is_ok() {
            check(&[profile]);
        }
    }
}
