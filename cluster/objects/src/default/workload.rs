//! Defaults of workloads.

use k8s_openapi::api::core::v1::ReplicationController;

/// Sets a missing selector of a controller to the labels of its template (`SetDefaults_ReplicationController`).
pub(super) fn complete_controller(controller: &mut ReplicationController) {
    let Some(spec) = &mut controller.spec else { return };
    let labels = spec.template.as_ref().and_then(|template| template.metadata.as_ref()?.labels.clone());
    if let (Some(labels), true) = (labels, spec.selector.as_ref().is_none_or(|selector| selector.is_empty())) {
        spec.selector = Some(labels);
    }
}
