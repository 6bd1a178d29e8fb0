//! Matching of labels, selectors and taints.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    Effect, LabelSelector, Node, NodeSelector, NodeSelectorTerm, Operator, PodSpec, Requirement, Taint, Toleration,
    TolerationOperator,
};

type Labels<'a> = &'a [(Symbol, Symbol)];

/// Returns the value of a label.
pub(crate) fn label(labels: Labels<'_>, key: Symbol) -> Option<Symbol> {
    labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
}

/// Returns the value of a label by the text of its key.
pub(crate) fn label_by_name(labels: Labels<'_>, key: &str, names: &Interner) -> Option<Symbol> {
    label(labels, names.get(key)?)
}

fn requirement_matches(labels: Labels<'_>, requirement: &Requirement, names: &Interner) -> bool {
    let value = label(labels, requirement.key);
    let number = || value.and_then(|value| names.resolve(value).parse::<i64>().ok());
    match requirement.operator {
        Operator::In => value.is_some_and(|value| requirement.values.contains(&value)),
        Operator::NotIn => !value.is_some_and(|value| requirement.values.contains(&value)),
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
        Operator::Gt(bound) => number().is_some_and(|number| number > bound),
        Operator::Lt(bound) => number().is_some_and(|number| number < bound),
    }
}

/// Returns whether labels match a selector.
pub(crate) fn selects(selector: &LabelSelector, labels: Labels<'_>, names: &Interner) -> bool {
    selector.requirements.iter().all(|requirement| requirement_matches(labels, requirement, names))
}

/// Returns whether labels match an optional selector. A missing selector matches nothing.
pub(crate) fn optional_selector_matches(
    selector: Option<&LabelSelector>,
    labels: Labels<'_>,
    names: &Interner,
) -> bool {
    selector.is_some_and(|selector| selects(selector, labels, names))
}

/// Returns whether a node matches a term.
pub(crate) fn term_matches(term: &NodeSelectorTerm, node: &Node, names: &Interner) -> bool {
    term.match_expressions.iter().all(|requirement| requirement_matches(&node.labels, requirement, names))
        && term.match_fields.iter().all(|field| (field.name == node.name) != field.negated)
}

/// Returns whether a node matches one of a selector's terms.
pub(crate) fn any_term_matches(selector: &NodeSelector, node: &Node, names: &Interner) -> bool {
    selector.terms.iter().any(|term| term_matches(term, node, names))
}

/// Returns whether a node matches a pod's `nodeSelector` and required node affinity.
pub(crate) fn matches_node_affinity(pod: &PodSpec, node: &Node, names: &Interner) -> bool {
    pod.node_selector.iter().all(|&(key, value)| label(&node.labels, key) == Some(value))
        && pod.required_node_affinity.get().is_none_or(|selector| any_term_matches(selector, node, names))
}

/// Returns whether a toleration matches a taint.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.is_none_or(|effect| effect == taint.effect);
    let key = toleration.key.is_none_or(|key| key == taint.key);
    let value = match toleration.operator {
        TolerationOperator::Exists => true,
        TolerationOperator::Equal => toleration.value == taint.value,
        TolerationOperator::Never => false,
    };
    effect && key && value
}

/// Returns whether a pod tolerates a taint.
pub(crate) fn is_tolerated(pod: &PodSpec, taint: &Taint) -> bool {
    pod.tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

/// Returns whether a taint has the effect NoSchedule or NoExecute.
pub(crate) fn repels_pods(taint: &Taint) -> bool {
    matches!(taint.effect, Effect::NoSchedule | Effect::NoExecute)
}

/// Returns whether a pod tolerates all NoSchedule and NoExecute taints of a node.
pub(crate) fn tolerates_node(pod: &PodSpec, node: &Node) -> bool {
    node.taints.iter().filter(|taint| repels_pods(taint)).all(|taint| is_tolerated(pod, taint))
}
