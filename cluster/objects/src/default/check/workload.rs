//! Validation of the selectors of workloads and disruption budgets.

use std::collections::BTreeMap;

use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::super::ProblemReporter;
use super::{labels, selectors};

/// Checks the selector of a ReplicaSet, StatefulSet or Deployment, which must not select everything.
pub(super) fn selector(selector: Option<&LabelSelector>, reporter: &mut ProblemReporter<'_>) {
    let is_empty = selector.is_none_or(|selector| {
        selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
            && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
    });
    if is_empty {
        reporter.report("spec.selector", "is missing; set it to the labels of the pods");
    }
    selectors::label_selector("spec.selector", selector, reporter);
}

/// Checks the selector of a ReplicationController, or of a Service, for which it is optional. It is a map of labels.
pub(super) fn plain_selector(
    selector: Option<&BTreeMap<String, String>>,
    is_required: bool,
    reporter: &mut ProblemReporter<'_>,
) {
    if is_required && selector.is_none_or(BTreeMap::is_empty) {
        reporter.report("spec.selector", "is missing; set it to the labels of the pods");
    }
    labels("spec.selector", selector, reporter);
}

pub(super) fn budget(budget: &PodDisruptionBudget, reporter: &mut ProblemReporter<'_>) {
    let Some(spec) = &budget.spec else { return };
    if spec.min_available.is_some() && spec.max_unavailable.is_some() {
        reporter.report("spec", "may have minAvailable or maxUnavailable, not both");
    }
    for (field, number) in [("minAvailable", &spec.min_available), ("maxUnavailable", &spec.max_unavailable)] {
        let Some(number) = number else { continue };
        let (is_right, text) = match number {
            IntOrString::Int(number) => (*number >= 0, number.to_string()),
            IntOrString::String(text) => (is_percentage(text), format!("`{text}`")),
        };
        if !is_right {
            let message =
                format!("is {text}, but must be a non-negative whole number, or a percentage from 0% to 100%");
            reporter.report(format!("spec.{field}"), message);
        }
    }
    selectors::label_selector("spec.selector", spec.selector.as_ref(), reporter);
}

fn is_percentage(text: &str) -> bool {
    let number = text.strip_suffix('%').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|number| number <= 100)
}
