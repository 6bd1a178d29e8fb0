//! Arguments: the resources that count, and their weights.

use schedc_core::args::{Args, Errors, List, Node, Part, Seq};

use crate::resource_name::ResourceName;

/// Arguments of NodeResourcesFit.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct NodeResourcesFitArgs {
    /// extended resources that the filter ignores
    #[args(format = "qualified-name")]
    pub ignored_resources: Seq<&'static str>,
    /// prefixes of extended resources that the filter ignores
    #[args(format = "name-prefix")]
    pub ignored_resource_groups: Seq<&'static str>,
    /// how nodes are scored
    pub scoring_strategy: ScoringStrategy,
}

/// Scoring of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
#[args(check = check_ratio)]
pub struct ScoringStrategy {
    /// the strategy; default LeastAllocated
    pub r#type: ScoringStrategyType,
    /// the resources that count; default cpu and memory, weight 1 each
    #[args(min = 1, default = [
        ResourceSpec { name: ResourceName::Cpu, weight: 1 },
        ResourceSpec { name: ResourceName::Memory, weight: 1 },
    ])]
    pub resources: List<ResourceSpec, 32>,
    /// the function from utilization to score; only for type RequestedToCapacityRatio
    pub requested_to_capacity_ratio: Option<RequestedToCapacityRatio>,
}

/// Preference of nodes by utilization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum ScoringStrategyType {
    /// Prefers a low utilization.
    #[args(default)]
    LeastAllocated,
    /// Prefers a high utilization.
    MostAllocated,
    /// Scores by a function of the utilization.
    RequestedToCapacityRatio,
}

/// A resource and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct ResourceSpec {
    /// the resource
    #[args(required)]
    pub name: ResourceName,
    /// its weight among the resources; default 1
    #[args(default = 1, range = 1..=100)]
    pub weight: i64,
}

/// A function from utilization to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct RequestedToCapacityRatio {
    /// points of the function from utilization to score; linear between them
    #[args(required, min = 1, increasing = "utilization")]
    pub shape: List<UtilizationShapePoint, 101>,
}

/// A point of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct UtilizationShapePoint {
    /// percent of the resource in use
    #[args(required, range = 0..=100)]
    pub utilization: i64,
    /// the score at that point
    #[args(required, range = 0..=10)]
    pub score: i64,
}

const fn check_ratio(strategy: &ScoringStrategy, node: &Node, errors: &mut Errors) {
    const FIELD: &str = "requested-to-capacity-ratio";
    match (strategy.r#type, strategy.requested_to_capacity_ratio.is_some()) {
        (ScoringStrategyType::RequestedToCapacityRatio, false) => {
            let parts = [
                Part::Text("the type RequestedToCapacityRatio needs "),
                Part::Name(FIELD),
                Part::Text(" with a shape"),
            ];
            errors.report(node, &parts);
        }
        (ScoringStrategyType::LeastAllocated | ScoringStrategyType::MostAllocated, true) => {
            let location = match node.get(FIELD) {
                Some(given) => given,
                None => node,
            };
            errors.report(location, &[Part::Name(FIELD), Part::Text(" is for the type RequestedToCapacityRatio only")]);
        }
        _ => {}
    }
}
