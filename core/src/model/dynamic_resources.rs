//! Resource claims, as far as hints and PreEnqueue read them.

use std::sync::Arc;

use super::{ClaimSource, Pod, Uid};
use crate::model::intern::Symbol;

/// `resource.k8s.io/v1` ResourceClaim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceClaim {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// Its controller: the pod that it was generated for.
    pub controller: Option<Uid>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it has a `status.allocation`.
    pub is_allocated: bool,
    /// Hash of `status`, to find changes.
    pub status: u64,
}

/// `resource.k8s.io/v1` DeviceClass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceClass {
    /// `metadata.name`.
    pub name: Symbol,
    /// The extended resource with which pods can always request such a device.
    pub implicit_resource: Symbol,
    /// `spec.extendedResourceName`: a second such resource.
    pub extended_resource: Option<Symbol>,
}

/// `resource.k8s.io/v1` ResourceSlice, of which only the name is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSlice {
    /// `metadata.name`.
    pub name: Symbol,
}

impl Pod {
    /// Returns the name of the resource claim behind one of `spec.resource_claims`, and whether the pod must own it.
    /// `None`: the claim turned out not to be needed. (`resourceclaim.Name`)
    ///
    /// # Errors
    /// The claim has no name yet.
    pub fn resource_claim_name(&self, claim: &super::PodResourceClaim) -> Result<Option<(Symbol, bool)>, NoClaimYet> {
        match claim.source {
            ClaimSource::Named(name) => Ok(Some((name, false))),
            ClaimSource::Generated => {
                let mut statuses = self.claim_statuses.iter().flat_map(|statuses| &statuses.generated);
                let status = statuses.find(|(name, _)| *name == claim.name).ok_or(NoClaimYet::NotGenerated)?;
                Ok(status.1.map(|name| (name, true)))
            }
            ClaimSource::Missing => Err(NoClaimYet::NoSource),
        }
    }
}

/// Reason why a pod's resource claim has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoClaimYet {
    /// The claim is not generated yet.
    NotGenerated,
    /// The pod has neither a claim name nor a template name.
    NoSource,
}
