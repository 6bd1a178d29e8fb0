//! The resource claims of a pod.

use std::sync::Arc;

use schedc_core::model::{NoClaimYet, Pod, ResourceClaim};
use schedc_core::plugin::IndexView;

use super::DynamicResources;

/// The claims of a pod, as far as they are generated (`foreachPodResourceClaim`).
///
/// # Errors
/// One of them is missing, being deleted, or somebody else's.
pub(super) fn of_pod<'a>(
    pod: &Pod,
    view: IndexView<'a, DynamicResources>,
) -> Result<Vec<&'a Arc<ResourceClaim>>, String> {
    let mut claims = Vec::new();
    for pod_claim in &pod.spec.resource_claims {
        let text = |symbol| view.interner().resolve(symbol);
        let name = pod.resource_claim_name(pod_claim).map_err(|problem| {
            let pod = format!("pod \"{}/{}\"", text(pod.spec.namespace), pod.name);
            match problem {
                NoClaimYet::NotGenerated => format!("{pod}: ResourceClaim not created yet"),
                NoClaimYet::NoSource => {
                    let claim = text(pod_claim.name);
                    format!("{pod}, spec.resourceClaim {claim:?}: none of the supported fields are set")
                }
            }
        })?;
        let Some((name, must_be_its_own)) = name else { continue };
        let namespace = pod.spec.namespace;
        let Some(claim) = view.indexes.claim(namespace, name) else {
            return Err(format!("could not find ResourceClaim \"{}/{}\"", text(namespace), text(name)));
        };
        if claim.deleting {
            return Err(format!("resourceclaim {:?} is being deleted", text(name)));
        }
        if must_be_its_own && claim.controller.as_ref() != Some(&pod.uid) {
            let (namespace, name) = (text(namespace), text(name));
            let pod = format!("pod {namespace}/{} (pod is not owner)", pod.name);
            return Err(format!("ResourceClaim {namespace}/{name} was not created for {pod}"));
        }
        claims.push(claim);
    }
    Ok(claims)
}
