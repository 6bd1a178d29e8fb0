//! The resource claims of a pod.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NoClaimYet, Pod, ResourceClaim};
use smallvec::SmallVec;

use crate::indexes::ResourceClaims;

/// Reason why a claim of a pod cannot be used. Its message is composed on request, because hints often need the reason
/// without the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusableClaim {
    /// The claim with this name in the pod has no source.
    NoSource(Symbol),
    NotGenerated,
    /// The claim with this name does not exist.
    Missing(Symbol),
    Deleting(Symbol),
    OtherOwner(Symbol),
}

impl UnusableClaim {
    /// Returns kube-scheduler's message.
    pub(super) fn message(self, pod: &Pod, interner: &Interner) -> String {
        let text = |symbol| interner.resolve(symbol);
        let namespace = text(pod.spec.namespace);
        match self {
            UnusableClaim::NotGenerated => format!("pod \"{namespace}/{}\": ResourceClaim not created yet", pod.name),
            UnusableClaim::NoSource(claim) => {
                let claim = text(claim);
                let pod = format!("pod \"{namespace}/{}\"", pod.name);
                format!("{pod}, spec.resourceClaim {claim:?}: none of the supported fields are set")
            }
            UnusableClaim::Missing(name) => format!("could not find ResourceClaim \"{namespace}/{}\"", text(name)),
            UnusableClaim::Deleting(name) => format!("resourceclaim {:?} is being deleted", text(name)),
            UnusableClaim::OtherOwner(name) => {
                let pod = format!("Pod {namespace}/{} (Pod is not owner)", pod.name);
                format!("ResourceClaim {namespace}/{} was not created for {pod}", text(name))
            }
        }
    }
}

/// Claims, each with its name in the pod.
type NamedClaims<'a> = SmallVec<[(Symbol, &'a Arc<ResourceClaim>); 2]>;

/// Returns the claims of a pod (`foreachPodResourceClaim`). Claims that the pod does not need, according to its
/// status, are omitted.
///
/// # Errors
/// A claim has no source, is not generated yet, does not exist, is being deleted, or belongs to another pod.
pub(super) fn of_pod<'a>(pod: &Pod, all: &'a ResourceClaims) -> Result<NamedClaims<'a>, UnusableClaim> {
    let mut claims = NamedClaims::new();
    for pod_claim in &pod.spec.resource_claims {
        let name = pod.resource_claim_name(pod_claim).map_err(|problem| match problem {
            NoClaimYet::NotGenerated => UnusableClaim::NotGenerated,
            NoClaimYet::NoSource => UnusableClaim::NoSource(pod_claim.name),
        })?;
        let Some((name, must_be_owned)) = name else { continue };
        let claim = all.claim(pod.spec.namespace, name).ok_or(UnusableClaim::Missing(name))?;
        if claim.deleting {
            return Err(UnusableClaim::Deleting(name));
        }
        if must_be_owned && claim.controller.as_ref() != Some(&pod.uid) {
            return Err(UnusableClaim::OtherOwner(name));
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
    fn unusable_claims_are_reported() {
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
            let found = of_pod(&pod, &claims).map(|claims| claims.len());
            let found = found.map_err(|unusable| unusable.message(&pod, &base.interner));
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
