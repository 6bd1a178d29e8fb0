//! Conversion of label selectors.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schedc_core::intern::Interner;
use schedc_core::model::{LabelSelector, RequirementText};

/// Parses a selector (`metav1.LabelSelectorAsSelector`): a missing selector is `None` and matches nothing, an empty one
/// matches everything.
///
/// # Errors
/// Returns Kubernetes' error text for an invalid selector.
pub(crate) fn label_selector(
    selector: Option<&meta::LabelSelector>,
    interner: &mut Interner,
) -> Result<Option<LabelSelector>, String> {
    let Some(selector) = selector else { return Ok(None) };
    let labels: Vec<_> =
        selector.match_labels.iter().flatten().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let expressions: Vec<_> = selector.match_expressions.iter().flatten().map(requirement_text).collect();
    LabelSelector::parse(&labels, &expressions, interner).map(Some)
}

fn requirement_text(requirement: &meta::LabelSelectorRequirement) -> RequirementText<'_> {
    let values = requirement.values.as_ref();
    RequirementText {
        key: &requirement.key,
        operator: &requirement.operator,
        values: values.map(|values| values.iter().map(String::as_str).collect()),
    }
}
