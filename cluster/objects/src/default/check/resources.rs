//! Validation of resource amounts.

use k8s_openapi::api::core::v1::ResourceRequirements;
use schedc_core::quantity::Quantity;

use super::super::{ProblemReporter, ResourceList};
use super::key;
use crate::kinds::quantity_problem;

/// Checks that amounts are numbers and not negative, and whole for extended resources.
pub(super) fn amounts(path: &str, amounts: Option<&ResourceList>, reporter: &mut ProblemReporter<'_>) {
    for (name, text) in amounts.into_iter().flatten() {
        let path = || format!("{path}[{name}]");
        let Ok(quantity) = Quantity::parse(&text.0) else {
            reporter.report(path(), quantity_problem(&text.0).unwrap_or_default());
            continue;
        };
        if quantity.is_negative() {
            reporter.report(path(), format!("is {}, but must not be negative", text.0));
        } else if name.contains('/') && !name.contains("kubernetes.io/") && quantity.milli_value() % 1000 != 0 {
            reporter.report(path(), format!("is {}, but an extended resource must be a whole number", text.0));
        }
    }
}

/// Checks the requirements of a container: resource names, and requests up to the limits.
pub(super) fn requirements(path: &str, resources: Option<&ResourceRequirements>, reporter: &mut ProblemReporter<'_>) {
    let Some(resources) = resources else { return };
    for (list, written) in [("requests", &resources.requests), ("limits", &resources.limits)] {
        let path = format!("{path}.{list}");
        amounts(&path, written.as_ref(), reporter);
        for name in written.iter().flatten().map(|(name, _)| name) {
            let standard = ["cpu", "memory", "ephemeral-storage"].contains(&name.as_str());
            if standard || name.starts_with("hugepages-") {
                continue;
            }
            if !name.contains('/') {
                reporter.report(
                    format!("{path}[{name}]"),
                    "is no resource of containers: those are cpu, memory, ephemeral-storage, hugepages-..., and \
                     names with a domain such as example.com/gpu",
                );
            }
            key(&format!("{path}[{name}]"), name, reporter);
        }
    }
    let limits = resources.limits.as_ref();
    for (name, request) in resources.requests.iter().flatten() {
        let Some(limit) = limits.and_then(|limits| limits.get(name)) else { continue };
        if let (Ok(requested), Ok(allowed)) = (Quantity::parse(&request.0), Quantity::parse(&limit.0))
            && requested > allowed
        {
            let message = format!("is {}, but must not be more than the limit of {}", request.0, limit.0);
            reporter.report(format!("{path}.requests[{name}]"), message);
        }
    }
}
