//! The resource claims of a pod.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NoClaimYet, Pod, ResourceClaim};

use crate::indexes::ResourceClaims;

/// Returns the claims of a pod, each with its name in the pod (`foreachPodResourceClaim`). Claims that the pod turned
/// out not to need are left out.
///
/// # Errors
/// A claim is not generated yet, does not exist, is being deleted, or belongs to another pod.
pub(super) fn of_pod<'a>(
    pod: &Pod,
    all: &'a ResourceClaims,
    interner: &Interner,
) -> Result<Vec<(Symbol, &'a Arc<ResourceClaim>)>, String> {
    let mut claims = Vec::with_capacity(pod.spec.resource_claims.len());
    for pod_claim in &pod.spec.resource_claims {
        let text = |symbol| interner.resolve(symbol);
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
        let Some((name, must_be_owned)) = name else { continue };
        let namespace = pod.spec.namespace;
        let Some(claim) = all.claim(namespace, name) else {
            return Err(format!("could not find ResourceClaim \"{}/{}\"", text(namespace), text(name)));
        };
        if claim.deleting {
            return Err(format!("resourceclaim {:?} is being deleted", text(name)));
        }
        if must_be_owned && claim.controller.as_ref() != Some(&pod.uid) {
            let (namespace, name) = (text(namespace), text(name));
            let pod = format!("Pod {namespace}/{} (Pod is not owner)", pod.name);
            return Err(format!("ResourceClaim {namespace}/{name} was not created for {pod}"));
        }
        claims.push((pod_claim.name, claim));
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use schedc_core::cache::Base;
    use schedc_core::column::Index;
    use schedc_objects::testing::{object, pod};

    use super::*;

    #[test]
    fn a_pod_waits_for_its_claims() {
        let check = |claim: &str, status: &str, expected: Result<usize, &str>| {
            let mut base = Base::default();
            let mut claims = ResourceClaims::default();
            let gone = "deletionTimestamp: '2026-01-01T00:00:00Z'";
            let own = "ownerReferences: [{apiVersion: v1, kind: Pod, name: web, uid: u1, controller: true}]";
            for (name, more) in [("shared", "labels: {}"), ("gone", gone), ("own", own)] {
                let head = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nspec: {}\n";
                let claim = format!("{head}metadata: {{name: {name}, namespace: default, {more}}}");
                claims.set_object(None, Some(&object(&claim, &mut base.interner)));
            }
            let text = format!(
                "metadata: {{name: web, uid: u1}}\nspec: {{resourceClaims: [{{name: gpu, {claim}}}]}}\n\
                 status: {{resourceClaimStatuses: [{status}]}}"
            );
            let pod = pod(&text, &mut base.interner);
            let found = of_pod(&pod, &claims, &base.interner).map(|claims| claims.len());
            assert_eq!(found, expected.map_err(str::to_owned), "{claim} {status}");
        };
        let template = "resourceClaimTemplateName: gpus";
        check("resourceClaimName: shared", "", Ok(1));
        check("resourceClaimName: other", "", Err("could not find ResourceClaim \"default/other\""));
        check("resourceClaimName: gone", "", Err("resourceclaim \"gone\" is being deleted"));
        check(template, "", Err("pod \"default/web\": ResourceClaim not created yet"));
        check(template, "{name: gpu}", Ok(0));
        check(template, "{name: gpu, resourceClaimName: own}", Ok(1));
        let wrong = "ResourceClaim default/shared was not created for Pod default/web (Pod is not owner)";
        check(template, "{name: gpu, resourceClaimName: shared}", Err(wrong));
        let neither = "pod \"default/web\", spec.resourceClaim \"gpu\": none of the supported fields are set";
        check("request: x", "", Err(neither));
    }
}
