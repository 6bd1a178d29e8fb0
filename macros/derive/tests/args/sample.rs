//! Arguments with most attributes of `#[derive(Args)]`.

use schedc_core::args::{Args, Errors, List, Node, Part, Seq};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct FitArgs {
    /// Ignored resources.
    #[args(format = "qualified-name", unique = "")]
    pub(crate) ignored_resources: List<&'static str, 8>,
    #[args(format = "name-prefix")]
    pub(crate) ignored_resource_groups: List<&'static str, 2>,
    /// Scoring of nodes.
    pub(crate) scoring_strategy: Strategy,
    #[args(default = false)]
    pub(crate) strict: bool,
    pub(crate) limit: Option<i32>,
    #[args(range = 0.., increasing = "")]
    pub(crate) levels: List<i64, 4>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
#[args(check = Strategy::needs_bands)]
pub(crate) struct Strategy {
    pub(crate) r#type: StrategyType,
    #[args(default = [Resource { name: "cpu", weight: 1 }, Resource { name: "memory", weight: 1 }])]
    #[args(min = 1, unique = "name")]
    pub(crate) resources: List<Resource, 32>,
    #[args(increasing = "utilization")]
    pub(crate) bands: List<Band, 4>,
}

impl Strategy {
    const fn needs_bands(&self, node: &Node, errors: &mut Errors) {
        if matches!(self.r#type, StrategyType::RequestedToCapacityRatio) && self.bands.is_empty() {
            errors.report(node, &[Part::Name("bands"), Part::Text(" is missing; `type` \"Banded\" needs it")]);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) enum StrategyType {
    #[args(default)]
    LeastAllocated,
    MostAllocated,
    #[args(rename = "Banded")]
    RequestedToCapacityRatio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct Resource {
    #[args(required, format = "qualified-name")]
    pub(crate) name: &'static str,
    #[args(default = 1, range = 1..=100)]
    pub(crate) weight: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) struct Band {
    #[args(required, range = 0..=100)]
    pub(crate) utilization: i64,
    #[args(required, range = 0..=10)]
    pub(crate) score: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(crate) struct NodeSelectorArgs {
    /// Any of these
    /// must match.
    #[args(required, min = 1)]
    pub(crate) terms: Seq<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(crate) struct Term {
    pub(crate) match_expressions: Seq<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(crate) struct Requirement {
    /// The label's key, "quoted".
    #[args(required, format = "qualified-name")]
    pub(crate) key: &'static str,
    #[args(required)]
    pub(crate) operator: Operator,
    #[args(format = "label-value")]
    pub(crate) values: Seq<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub(crate) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}
