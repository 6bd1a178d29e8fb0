//! Configurations with known effective plugins.

use expect_test::expect_file;
use schedc_codegen::plan::{Plan, Point};
use schedc_codegen::{NoCrates, SourceText, compile};

use super::shown;
use crate::import;

const DEFAULT_FILTERS: &str = "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit \
     VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources \
     NodeDeclaredFeatures";
const DEFAULT_PRE_FILTERS: &str = "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits \
     VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures";
const DEFAULT_SCORES: &str = "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 \
     InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1";
const DEFAULT_POST_FILTERS: &str = "DynamicResources DefaultPreemption";

/// A configuration with its pre-filter, filter, post-filter and score plugins.
struct Case {
    name: &'static str,
    text: &'static str,
    pre_filter: &'static str,
    filter: &'static str,
    post_filter: &'static str,
    score: &'static str,
}

macro_rules! case {
    ($name:literal) => {
        Case {
            name: $name,
            text: include_str!(concat!("../../tests/profiles/", $name, ".yaml")),
            pre_filter: DEFAULT_PRE_FILTERS,
            filter: DEFAULT_FILTERS,
            post_filter: DEFAULT_POST_FILTERS,
            score: DEFAULT_SCORES,
        }
    };
}

fn cases() -> Vec<Case> {
    vec![
        case!("added-affinity"),
        case!("binpack"),
        Case {
            pre_filter: "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding \
                PodTopologySpread InterPodAffinity",
            filter: "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit \
                VolumeRestrictions NodeVolumeLimits VolumeBinding PodTopologySpread InterPodAffinity",
            post_filter: "DefaultPreemption",
            score: "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 \
                InterPodAffinity=2 NodeResourcesBalancedAllocation=1 ImageLocality=1",
            ..case!("classic")
        },
        case!("default"),
        Case {
            pre_filter: "NodeAffinity NodePorts NodeResourcesFit",
            filter: "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit",
            post_filter: "",
            score: "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1",
            ..case!("edge")
        },
        case!("hard-affinity"),
        case!("ignored-resources"),
        Case { post_filter: "DynamicResources", ..case!("no-preemption") },
        case!("ratio"),
        Case {
            filter: "InterPodAffinity PodTopologySpread NodeResourcesFit NodePorts VolumeZone VolumeBinding \
                NodeVolumeLimits VolumeRestrictions NodeAffinity TaintToleration NodeName NodeUnschedulable",
            score: "ImageLocality=9 InterPodAffinity=7 NodeResourcesBalancedAllocation=5 PodTopologySpread=3 \
                NodeAffinity=11 TaintToleration=1 NodeResourcesFit=13",
            ..case!("reweighted")
        },
        case!("late-claims"),
        case!("spread-list"),
    ]
}

fn at(plan: &Plan, point: Point) -> String {
    let plugins = plan.at(point).map(|(step, plugin)| match &step.weight {
        Some(weight) => format!("{}={}", plugin.entry.name, weight.value),
        None => plugin.entry.name.clone(),
    });
    plugins.collect::<Vec<_>>().join(" ")
}

#[test]
fn imported_profiles_have_the_known_plugins() {
    for case in cases() {
        let import = import(&format!("{}.yaml", case.name), case.text);
        assert_eq!(import.remarks, [], "{}", shown(&import));
        let toml = &import.profile(None).unwrap().1.toml;
        expect_file![format!("{}/tests/profiles/{}.toml", env!("CARGO_MANIFEST_DIR"), case.name)].assert_eq(toml);
        let source = SourceText { path: format!("{}.toml", case.name), text: toml.clone() };
        let compilation = compile(&[source], &mut NoCrates).unwrap();
        let plan = &compilation.plans[0];
        assert_eq!(at(plan, Point::PreFilter), case.pre_filter, "{}", case.name);
        assert_eq!(at(plan, Point::Filter), case.filter, "{}", case.name);
        assert_eq!(at(plan, Point::PostFilter), case.post_filter, "{}", case.name);
        assert_eq!(at(plan, Point::Score), case.score, "{}", case.name);
        assert_eq!(at(plan, Point::QueueSort), "PrioritySort");
        assert_eq!(at(plan, Point::Bind), "DefaultBinder");
        assert_eq!(plan.percentage_of_nodes_to_score.value, 0);
        let scheduler_name = if case.name == "default" { "default-scheduler" } else { case.name };
        assert_eq!(plan.scheduler_name.value, scheduler_name);
    }
}
