//! Evaluation of selectors.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    Effect, LabelSelector, Node, NodeSelector, Operator, PodAffinityTerm, Requirement, Toleration, TolerationOperator,
};

type Labels<'a> = &'a [(Symbol, Symbol)];

/// Returns the value of a label.
pub(super) fn value(labels: Labels<'_>, key: Symbol) -> Option<Symbol> {
    labels.iter().find_map(|&(name, value)| (name == key).then_some(value))
}

/// Returns whether labels meet a requirement. Numeric operators need `names`; pod selectors have no such operators.
fn requirement_matches(requirement: &Requirement, labels: Labels<'_>, names: Option<&Interner>) -> bool {
    let actual = value(labels, requirement.key);
    let is_listed = actual.is_some_and(|value| requirement.values.contains(&value));
    let number = || actual.and_then(|value| names?.resolve(value).parse::<i64>().ok());
    match requirement.operator {
        Operator::In => is_listed,
        Operator::NotIn => !is_listed,
        Operator::Exists => actual.is_some(),
        Operator::DoesNotExist => actual.is_none(),
        Operator::Gt(bound) => number().is_some_and(|number| number > bound),
        Operator::Lt(bound) => number().is_some_and(|number| number < bound),
    }
}

/// Returns whether labels match a selector.
pub(super) fn selects(selector: &LabelSelector, labels: Labels<'_>) -> bool {
    selector.requirements.iter().all(|requirement| requirement_matches(requirement, labels, None))
}

/// Returns whether a pod affinity term matches pods with these labels in this namespace.
pub(super) fn affinity_term_matches(
    term: &PodAffinityTerm,
    namespace: Symbol,
    labels: Labels<'_>,
    namespace_labels: Labels<'_>,
) -> bool {
    let Some(selector) = &term.selector else { return false };
    let by_name = term.namespaces.contains(&namespace);
    let by_labels = term.namespace_selector.as_ref().is_some_and(|selector| selects(selector, namespace_labels));
    (by_name || by_labels) && selects(selector, labels)
}

/// Returns whether one of the terms matches a node.
pub(super) fn selects_node(selector: &NodeSelector, node: Symbol, labels: Labels<'_>, names: &Interner) -> bool {
    selector.terms.iter().any(|term| {
        term.match_expressions.iter().all(|requirement| requirement_matches(requirement, labels, Some(names)))
            && term.match_fields.iter().all(|field| if field.negated { field.name != node } else { field.name == node })
    })
}

/// Returns whether a pod's node selector and required node affinity match a node.
pub(super) fn node_affinity_matches(
    selector: Labels<'_>,
    affinity: Option<&NodeSelector>,
    node: &Node,
    names: &Interner,
) -> bool {
    selector.iter().all(|&(key, wanted)| value(&node.labels, key) == Some(wanted))
        && affinity.is_none_or(|affinity| selects_node(affinity, node.name, &node.labels, names))
}

/// Returns whether one of the tolerations tolerates a taint.
pub(super) fn tolerates(tolerations: &[Toleration], key: Symbol, value: Symbol, effect: Effect) -> bool {
    tolerations.iter().any(|toleration| {
        toleration.effect.is_none_or(|tolerated| tolerated == effect)
            && toleration.key.is_none_or(|tolerated| tolerated == key)
            && match toleration.operator {
                TolerationOperator::Exists => true,
                TolerationOperator::Equal => toleration.value == value,
                TolerationOperator::Never => false,
            }
    })
}

/// Returns whether a node has no taint that repels pods with these tolerations.
pub(super) fn tolerates_taints(node: &Node, tolerations: &[Toleration]) -> bool {
    node.taints.iter().all(|taint| {
        !matches!(taint.effect, Effect::NoSchedule | Effect::NoExecute)
            || tolerates(tolerations, taint.key, taint.value, taint.effect)
    })
}
