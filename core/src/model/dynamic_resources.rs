//! Resource claims, as far as hints and PreEnqueue look at them.

use std::sync::Arc;

use super::{ClaimSource, Pod, Uid};
use crate::intern::Symbol;

/// `resource.k8s.io/v1` ResourceClaim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceClaim {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// What controls it: the pod that it was generated for.
    pub controller: Option<Uid>,
    /// It is being deleted.
    pub deleting: bool,
    /// Whether `status.allocation` is there.
    pub is_allocated: bool,
    /// A digest of `status`, which differs if it does.
    pub status: u64,
}

/// `resource.k8s.io/v1` DeviceClass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceClass {
    /// `metadata.name`.
    pub name: Symbol,
    /// The resource that pods can always ask for to get such a device.
    pub implicit_resource: Symbol,
    /// `spec.extendedResourceName`: another such resource.
    pub extended_resource: Option<Symbol>,
}

/// `resource.k8s.io/v1` ResourceSlice, of which only the name is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSlice {
    /// `metadata.name`.
    pub name: Symbol,
}

impl Pod {
    /// The name of the resource claim behind one of `spec.resource_claims`, and whether it must be the pod's own. `None`: the
    /// claim turned out not to be needed. (`resourceclaim.Name`)
    ///
    /// # Errors
    /// There is no name yet.
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

/// Why a pod's resource claim has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoClaimYet {
    /// It has still to be generated.
    NotGenerated,
    /// The pod tells neither a claim nor a template.
    NoSource,
}
