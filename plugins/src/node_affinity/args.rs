//! The node affinity that a profile adds to that of its pods.

use schedc_core::args::{Args, Errors, Node as Written, Part, Seq, Value};
use schedc_core::intern::Interner;
use schedc_core::model::{LabelsExt, Node, NodeSelector, PreferredTerm, RequirementText, TermText, label_integer};

/// Arguments of NodeAffinity.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct NodeAffinityArgs {
    /// node affinity that is added to every pod of this profile
    pub added_affinity: Option<AddedAffinity>,
}

/// Node affinity, as in a pod's spec.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct AddedAffinity {
    /// terms of which a node must match one (requiredDuringSchedulingIgnoredDuringExecution)
    #[args(min = 1)]
    pub required: Option<Seq<NodeTerm>>,
    /// terms that add to a node's score (preferredDuringSchedulingIgnoredDuringExecution)
    #[args(min = 1)]
    pub preferred: Option<Seq<PreferredNodeTerm>>,
}

/// A preferred term.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct PreferredNodeTerm {
    /// the weight, which is added to the score of a matching node
    #[args(required, range = 1..=100)]
    pub weight: i32,
    /// the requirements of the term
    #[args(required)]
    pub preference: NodeTerm,
}

/// Requirements; a node must satisfy all of them. An empty term matches no node.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct NodeTerm {
    /// requirements on the node's labels; all must hold
    pub match_expressions: Seq<NodeLabelRequirement>,
    /// requirements on the node's fields; all must hold
    pub match_fields: Seq<NodeFieldRequirement>,
}

/// A requirement on a label.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_values)]
pub struct NodeLabelRequirement {
    /// the label key
    #[args(required, format = "qualified-name")]
    pub key: &'static str,
    /// how the label's value is compared with `values`
    #[args(required)]
    pub operator: NodeLabelOperator,
    /// the values: one or more for In and NotIn, none for Exists and DoesNotExist, one integer for Gt and Lt
    #[args(format = "label-value")]
    pub values: Seq<&'static str>,
}

/// Comparison of a label's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum NodeLabelOperator {
    /// The label exists and has one of the values.
    In,
    /// The label does not exist or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The label is an integer greater than the value.
    Gt,
    /// The label is an integer less than the value.
    Lt,
}

/// A requirement on a field.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_field)]
pub struct NodeFieldRequirement {
    /// the node's field; only metadata.name
    #[args(required)]
    pub key: &'static str,
    /// how the field's value is compared with `values`
    #[args(required)]
    pub operator: NodeFieldOperator,
    /// the name of a node
    #[args(format = "non-empty")]
    pub values: Seq<&'static str>,
}

/// Comparison of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub enum NodeFieldOperator {
    /// The field equals the value.
    In,
    /// The field differs from the value.
    NotIn,
}

const fn check_values(requirement: &NodeLabelRequirement, node: &Written, errors: &mut Errors) {
    let count = requirement.values.len();
    let complaint = match requirement.operator {
        NodeLabelOperator::In | NodeLabelOperator::NotIn if count == 0 => "In and NotIn need at least one value",
        NodeLabelOperator::Exists | NodeLabelOperator::DoesNotExist if count > 0 => {
            "Exists and DoesNotExist take no values"
        }
        NodeLabelOperator::Gt | NodeLabelOperator::Lt if !is_one_integer(requirement.values.nodes()) => {
            "Gt and Lt need one value, an integer"
        }
        _ => return,
    };
    errors.report(node, &[Part::Text(complaint)]);
}

const fn check_field(requirement: &NodeFieldRequirement, node: &Written, errors: &mut Errors) {
    if !matches!(requirement.key.as_bytes(), b"metadata.name") {
        errors.report(node, &[Part::Text("nodes can be selected by the field metadata.name only")]);
    }
    if requirement.values.len() != 1 {
        errors.report(node, &[Part::Text("a field is compared with exactly one value")]);
    }
}

const fn is_one_integer(values: &[Written]) -> bool {
    match values {
        [Written { value: Value::Str(text), .. }] => i64::from_str_radix(text, 10).is_ok(),
        _ => false,
    }
}

impl NodeAffinityArgs {
    /// Checks the rules that decoding the arguments cannot check.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut interner = Interner::default();
        if let Some(required) = self.added_affinity.and_then(|affinity| affinity.required) {
            NodeSelector::parse(&texts(required), &mut interner)
                .map_err(|error| format!("added-affinity.required: {error}"))?;
        }
        match self.preferred(&mut interner).into_iter().find_map(|term| term.term.err()) {
            Some(error) => Err(format!("added-affinity.preferred: {error}")),
            None => Ok(()),
        }
    }

    pub(super) fn required(&self, interner: &mut Interner) -> Option<NodeSelector> {
        let required = self.added_affinity?.required?;
        // Errors were reported when the plugin was created. A partly invalid selector matches by its valid terms.
        Some(NodeSelector::parse_lenient(&texts(required), interner))
    }

    pub(super) fn preferred(&self, interner: &mut Interner) -> Vec<PreferredTerm> {
        let Some(preferred) = self.added_affinity.and_then(|affinity| affinity.preferred) else { return Vec::new() };
        let texts: Vec<_> = preferred.iter().map(|term| (term.weight, text(&term.preference))).collect();
        PreferredTerm::parse_all(&texts, interner).into()
    }

    /// Returns whether a node matches the required terms, for callers that cannot add strings to the interner.
    pub(super) fn matches(&self, node: &Node, interner: &Interner) -> bool {
        let required = self.added_affinity.and_then(|affinity| affinity.required);
        required.is_none_or(|terms| terms.iter().any(|term| term.matches(node, interner)))
    }
}

impl NodeTerm {
    fn matches(&self, node: &Node, interner: &Interner) -> bool {
        let name = interner.resolve(node.name);
        !(self.match_expressions.is_empty() && self.match_fields.is_empty())
            && self.match_expressions.iter().all(|requirement| requirement.matches(node, interner))
            && self.match_fields.iter().all(|requirement| match requirement.operator {
                NodeFieldOperator::In => requirement.values.iter().any(|value| value == name),
                NodeFieldOperator::NotIn => requirement.values.iter().all(|value| value != name),
            })
    }
}

impl NodeLabelRequirement {
    fn matches(&self, node: &Node, interner: &Interner) -> bool {
        let value = interner.get(self.key).and_then(|key| node.labels.value(key));
        let listed = || value.is_some_and(|value| self.values.iter().any(|v| v == interner.resolve(value)));
        let compare = |holds: fn(i64, i64) -> bool| {
            let bound = self.values.get(0).and_then(|bound| bound.parse().ok());
            let integer = value.and_then(|value| label_integer(interner, value));
            integer.zip(bound).is_some_and(|(integer, bound)| holds(integer, bound))
        };
        match self.operator {
            NodeLabelOperator::In => listed(),
            NodeLabelOperator::NotIn => !listed(),
            NodeLabelOperator::Exists => value.is_some(),
            NodeLabelOperator::DoesNotExist => value.is_none(),
            NodeLabelOperator::Gt => compare(|integer, bound| integer > bound),
            NodeLabelOperator::Lt => compare(|integer, bound| integer < bound),
        }
    }
}

fn texts(terms: Seq<NodeTerm>) -> Vec<TermText<'static>> {
    terms.iter().map(|term| text(&term)).collect()
}

fn text(term: &NodeTerm) -> TermText<'static> {
    let expressions = term.match_expressions.iter().map(|requirement| RequirementText {
        key: requirement.key,
        operator: match requirement.operator {
            NodeLabelOperator::In => "In",
            NodeLabelOperator::NotIn => "NotIn",
            NodeLabelOperator::Exists => "Exists",
            NodeLabelOperator::DoesNotExist => "DoesNotExist",
            NodeLabelOperator::Gt => "Gt",
            NodeLabelOperator::Lt => "Lt",
        },
        values: Some(requirement.values.iter().collect()),
    });
    let fields = term.match_fields.iter().map(|requirement| RequirementText {
        key: requirement.key,
        operator: match requirement.operator {
            NodeFieldOperator::In => "In",
            NodeFieldOperator::NotIn => "NotIn",
        },
        values: Some(requirement.values.iter().collect()),
    });
    TermText { match_expressions: expressions.collect(), match_fields: fields.collect() }
}
