//! Profiles of some plugins, with random order, weights and arguments, and profiles that omit plugins at
//! single extension points. They were generated once and checked in, because profiles are compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use expect_test::expect_file;
use schedc_codegen::catalog::Catalog;
use schedc_codegen::plan::Point;
use schedc_codegen::source::Files;
use schedc_core::random::Random;

/// The plugins to draw from, and whether each scores nodes.
const PLUGINS: [(&str, bool); 16] = [
    ("NodeUnschedulable", false),
    ("NodeName", false),
    ("TaintToleration", true),
    ("NodeAffinity", true),
    ("NodePorts", false),
    ("NodeResourcesFit", true),
    ("VolumeRestrictions", false),
    ("NodeVolumeLimits", false),
    ("VolumeBinding", true),
    ("VolumeZone", false),
    ("PodTopologySpread", true),
    ("InterPodAffinity", true),
    ("DynamicResources", true),
    ("NodeResourcesBalancedAllocation", true),
    ("ImageLocality", true),
    ("NodeDeclaredFeatures", false),
];

/// Number of profiles of some plugins.
const COUNT: u64 = 8;

/// Number of profiles that omit plugins at single extension points.
const WITH_GAPS: u64 = 4;
/// Number of omissions in each of these profiles.
const GAPS: usize = 6;
/// If the PreFilter of one of these plugins does not run, every attempt fails. Only the first profile may omit these
/// PreFilters.
const NEED_PRE_FILTER: [&str; 4] = ["InterPodAffinity", "PodTopologySpread", "VolumeBinding", "VolumeRestrictions"];

fn one_of<'t>(random: &mut Random, texts: &[&'t str]) -> &'t str {
    texts[random.below(texts.len())]
}

fn draw(number: u64) -> String {
    let mut random = Random::new(number);
    let mut plugins: Vec<(&str, bool)> = PLUGINS.to_vec();
    for at in (1..plugins.len()).rev() {
        plugins.swap(at, random.below(at + 1));
    }
    plugins.truncate(5 + random.below(8));
    let mut text = "# Drawn by tests/subsets; `UPDATE_EXPECT=1` draws it again.\n\n".to_owned();
    text += &format!("scheduler-name = \"subset-{number}\"\n\n[plugins]\nmulti-point = [\n    \"PrioritySort\",\n");
    for (plugin, scores) in &plugins {
        text += &match scores {
            true => format!("    {{ name = \"{plugin}\", weight = {} }},\n", 1 + random.below(20)),
            false => format!("    \"{plugin}\",\n"),
        };
    }
    if random.below(2) == 0 {
        text += "    \"DefaultPreemption\",\n";
    }
    text += "    \"DefaultBinder\",\n]\n";
    for (plugin, _) in plugins {
        let args = args(plugin, &mut random);
        if !args.is_empty() {
            text += &format!("\n[args.{plugin}]\n{args}");
        }
    }
    text
}

/// Returns arguments of a plugin, as in a profile.
fn args(plugin: &str, random: &mut Random) -> String {
    const GPU: &str = "{ name = \"example.com/gpu\", weight = 3 }";
    let more = |random: &mut Random| match random.below(3) {
        0 => format!(", {{ name = \"ephemeral-storage\" }}, {GPU}"),
        1 => format!(", {GPU}"),
        _ => String::new(),
    };
    match plugin {
        "NodeResourcesFit" => {
            let resources =
                format!("{{ name = \"memory\", weight = 2 }}, {{ name = \"cpu\", weight = 3 }}{}", more(random));
            let (kind, shape) = match random.below(3) {
                0 => ("LeastAllocated", ""),
                1 => ("MostAllocated", ""),
                _ => (
                    "RequestedToCapacityRatio",
                    "requested-to-capacity-ratio.shape = [{ utilization = 0, score = 9 }, { utilization = 40, score = 1 }, \
                     { utilization = 90, score = 10 }]\n",
                ),
            };
            let ignored = one_of(random, &["", "ignored-resources = [\"example.com/gpu\"]\n", "ignored-resource-groups = [\"example.com\"]\n"]);
            format!("{ignored}[args.NodeResourcesFit.scoring-strategy]\ntype = \"{kind}\"\nresources = [{resources}]\n{shape}")
        }
        "NodeResourcesBalancedAllocation" => {
            let more = more(random).replace(", weight = 3", "");
            format!("resources = [{{ name = \"memory\" }}, {{ name = \"cpu\" }}{more}]\n")
        }
        "NodeAffinity" => one_of(
            random,
            &[
                "",
                "[args.NodeAffinity.added-affinity]\nrequired = [{ match-expressions = [{ key = \"disk\", operator = \"Exists\" }] }]\n",
                "[args.NodeAffinity.added-affinity]\npreferred = [{ weight = 40, preference = { match-expressions = [{ key = \"size\", \
                 operator = \"Gt\", values = [\"4\"] }] } }]\n",
            ],
        )
        .to_owned(),
        "PodTopologySpread" => one_of(
            random,
            &[
                "",
                "defaulting-type = \"List\"\ndefault-constraints = [{ max-skew = 1, topology-key = \"topology.kubernetes.io/zone\", \
                 when-unsatisfiable = \"DoNotSchedule\", min-domains = 2, node-taints-policy = \"Honor\" }, { max-skew = 2, topology-key = \
                 \"kubernetes.io/hostname\", when-unsatisfiable = \"ScheduleAnyway\" }]\n",
            ],
        )
        .to_owned(),
        "InterPodAffinity" => one_of(
            random,
            &["", "hard-pod-affinity-weight = 0\n", "hard-pod-affinity-weight = 50\nignore-preferred-terms-of-existing-pods = true\n"],
        )
        .to_owned(),
        _ => String::new(),
    }
}

/// Returns a profile with the default plugins, some of which do not run at all points that they implement.
fn draw_with_gaps(number: u64) -> String {
    let mut random = Random::new(1000 + number);
    let catalog = Catalog::in_tree(&mut Files::default(), &mut Vec::new())
        .expect("plugins of the tree have catalogs that can be read");
    let default = catalog.plugins.iter().filter(|entry| catalog.default.iter().any(|name| name.value == entry.name));
    let mut places = Vec::new();
    for entry in default {
        let may_go = |point: &Point| match point {
            Point::QueueSort | Point::Bind => false,
            Point::PreFilter => number == 0 || !NEED_PRE_FILTER.contains(&entry.name.as_str()),
            _ => true,
        };
        places.extend(entry.points.iter().copied().filter(may_go).map(|point| (point.name(), entry.name.as_str())));
    }
    let mut gaps: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for _ in 0..GAPS {
        let (point, plugin) = places.swap_remove(random.below(places.len()));
        gaps.entry(point).or_default().insert(plugin);
    }
    let mut text = "# Drawn by tests/subsets; `UPDATE_EXPECT=1` draws it again.\n\n".to_owned();
    text += &format!("scheduler-name = \"gaps-{number}\"\n\n[plugins]\n");
    for (point, plugins) in gaps {
        text += &format!("{point} = {{ disabled = {:?} }}\n", Vec::from_iter(plugins));
    }
    text
}

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/incremental/profiles/{name}.toml"));
    expect_file![path].assert_eq(text);
}

#[test]
fn generated_profiles_are_current() {
    (0..COUNT).for_each(|number| check(&format!("subset-{number}"), &draw(number)));
    (0..WITH_GAPS).for_each(|number| check(&format!("gaps-{number}"), &draw_with_gaps(number)));
}

#[test]
fn every_plugin_is_in_two_subsets() {
    for (plugin, _) in PLUGINS {
        let with = (0..COUNT).filter(|number| draw(*number).contains(&format!("\"{plugin}\"")));
        assert!(with.count() >= 2, "{plugin}");
    }
}
