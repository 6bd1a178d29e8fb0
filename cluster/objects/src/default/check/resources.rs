//! Validation of resource amounts.

use std::cmp::Ordering;

use k8s_openapi::api::core::v1::{Pod, ResourceRequirements};
use schedc_core::quantity::Quantity;
use schedc_kinds::quantity_problem;

use super::super::{ProblemReporter, ResourceList};
use super::key;
use crate::convert::{container_amounts, is_pod_level};

/// Checks that amounts are numbers and not negative, and that those of extended resources and of `pods` are whole.
pub(super) fn amounts(path: &str, amounts: Option<&ResourceList>, reporter: &mut ProblemReporter<'_>) {
    for (name, text) in amounts.into_iter().flatten() {
        let path = || format!("{path}[{name}]");
        let Ok(quantity) = Quantity::parse(&text.0) else {
            reporter.report(path(), quantity_problem(&text.0).unwrap_or_default());
            continue;
        };
        if quantity.is_negative() {
            reporter.report(path(), format!("is {}, but must not be negative", text.0));
        } else if (is_extended(name) || name == "pods") && quantity.milli_value() % 1000 != 0 {
            let what = if name == "pods" { "the number of pods" } else { "an extended resource" };
            reporter.report(path(), format!("is {}, but {what} must be a whole number", text.0));
        }
    }
}

/// Checks the requirements of a container.
pub(super) fn requirements(path: &str, resources: Option<&ResourceRequirements>, reporter: &mut ProblemReporter<'_>) {
    let problem = |name: &str| {
        let is_standard = is_pod_level(name) || name == "ephemeral-storage";
        if !is_standard && !name.contains('/') {
            Some(
                "is not a container resource (those are cpu, memory, ephemeral-storage, hugepages-..., and names with a \
                 domain such as example.com/gpu)",
            )
        } else if name.starts_with("requests.") {
            Some("must not begin with `requests.`, which is for quotas")
        } else {
            None
        }
    };
    lists(path, resources, problem, reporter);
}

/// Checks the requirements of a pod as a whole, and that its containers do not request more.
pub(super) fn pod_level(pod: &Pod, reporter: &mut ProblemReporter<'_>) {
    let resources = pod.spec.as_ref().and_then(|spec| spec.resources.as_ref());
    let problem = |name: &str| {
        let message =
            "is not a pod-level resource (those are cpu, memory and hugepages-...); request it in a container";
        (!is_pod_level(name)).then_some(message)
    };
    lists("spec.resources", resources, problem, reporter);
    let Some(requests) = resources.and_then(|resources| resources.requests.as_ref()) else { return };
    for (name, sum) in container_amounts(pod, |resources| resources.requests.as_ref()) {
        let Some(text) = requests.get(name) else { continue };
        if Quantity::parse(&text.0).is_ok_and(|requested| sum > requested) {
            let message = format!("is {}, but must not be less than the {sum} that the containers request", text.0);
            reporter.report(format!("spec.resources.requests[{name}]"), message);
        }
    }
}

fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

/// Checks resource names and amounts, and that requests do not exceed limits. For extended resources and huge pages, a
/// request must equal the limit, if there is one. `problem` returns the problem of a resource name.
fn lists(
    path: &str,
    resources: Option<&ResourceRequirements>,
    problem: impl Fn(&str) -> Option<&'static str>,
    reporter: &mut ProblemReporter<'_>,
) {
    let Some(resources) = resources else { return };
    for (list, written) in [("requests", &resources.requests), ("limits", &resources.limits)] {
        let path = format!("{path}.{list}");
        amounts(&path, written.as_ref(), reporter);
        for name in written.iter().flatten().map(|(name, _)| name) {
            let path = format!("{path}[{name}]");
            if let Some(problem) = problem(name) {
                reporter.report(&path, problem);
            }
            key(&path, name, reporter);
        }
    }
    let limits = resources.limits.as_ref();
    for (name, request) in resources.requests.iter().flatten() {
        let Some(limit) = limits.and_then(|limits| limits.get(name)) else { continue };
        let (Ok(requested), Ok(allowed)) = (Quantity::parse(&request.0), Quantity::parse(&limit.0)) else { continue };
        let relation = match requested.cmp(&allowed) {
            Ordering::Greater => "must not be more than",
            Ordering::Less if is_extended(name) || name.starts_with("hugepages-") => "must be equal to",
            _ => continue,
        };
        let message = format!("is {}, but {relation} the limit of {}", request.0, limit.0);
        reporter.report(format!("{path}.requests[{name}]"), message);
    }
}
