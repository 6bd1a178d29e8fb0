//! Arguments of plugins, from the tables `[args.PLUGIN]` of a profile.

use serde::Deserialize;

/// Arguments of all plugins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Args {
    pub(crate) node_resources_fit: Fit,
    pub(crate) node_resources_balanced_allocation: Balanced,
    pub(crate) node_affinity: AddedNodeAffinity,
    pub(crate) pod_topology_spread: Spread,
    pub(crate) inter_pod_affinity: PodAffinity,
}

/// The arguments in a profile's file.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    args: Args,
}

impl Args {
    /// Reads the arguments in a profile's file.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML, or an argument is invalid.
    pub fn read(profile: &str) -> Result<Args, toml::de::Error> {
        toml::from_str::<File>(profile).map(|file| file.args)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Fit {
    pub(crate) ignored_resources: Vec<String>,
    pub(crate) ignored_resource_groups: Vec<String>,
    pub(crate) scoring_strategy: Strategy,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Strategy {
    pub(crate) r#type: StrategyType,
    pub(crate) resources: Vec<Resource>,
    pub(crate) requested_to_capacity_ratio: Ratio,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum StrategyType {
    #[default]
    LeastAllocated,
    MostAllocated,
    RequestedToCapacityRatio,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Resource {
    pub(crate) name: String,
    #[serde(default = "one")]
    pub(crate) weight: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) shape: Vec<Point>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Point {
    pub(crate) utilization: i64,
    pub(crate) score: i64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Balanced {
    pub(crate) resources: Vec<Resource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct AddedNodeAffinity {
    pub(crate) added_affinity: NodeAffinity,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeAffinity {
    pub(crate) required: Option<Vec<Term>>,
    pub(crate) preferred: Vec<Preferred>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Preferred {
    pub(crate) weight: i64,
    pub(crate) preference: Term,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Term {
    pub(crate) match_expressions: Vec<Condition>,
    pub(crate) match_fields: Vec<Condition>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Condition {
    pub(crate) key: String,
    pub(crate) operator: String,
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Spread {
    pub(crate) defaulting_type: Defaulting,
    pub(crate) default_constraints: Vec<Constraint>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Defaulting {
    #[default]
    System,
    List,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Constraint {
    pub(crate) max_skew: i32,
    pub(crate) topology_key: String,
    pub(crate) when_unsatisfiable: String,
    #[serde(default = "one")]
    pub(crate) min_domains: i64,
    #[serde(default = "honor")]
    pub(crate) node_affinity_policy: String,
    #[serde(default = "ignore")]
    pub(crate) node_taints_policy: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct PodAffinity {
    pub(crate) hard_pod_affinity_weight: i64,
    pub(crate) ignore_preferred_terms_of_existing_pods: bool,
}

fn one() -> i64 {
    1
}
fn honor() -> String {
    "Honor".to_owned()
}
fn ignore() -> String {
    "Ignore".to_owned()
}
fn cpu_and_memory() -> Vec<Resource> {
    ["cpu", "memory"].map(|name| Resource { name: name.to_owned(), weight: 1 }).into()
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy {
            r#type: StrategyType::default(),
            resources: cpu_and_memory(),
            requested_to_capacity_ratio: Ratio::default(),
        }
    }
}

impl Default for Balanced {
    fn default() -> Self {
        Balanced { resources: cpu_and_memory() }
    }
}

impl Default for PodAffinity {
    fn default() -> Self {
        PodAffinity { hard_pod_affinity_weight: 1, ignore_preferred_terms_of_existing_pods: false }
    }
}
