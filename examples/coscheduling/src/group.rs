//! Which group a pod is in, and what the cluster says of it.

use std::fmt;

use schedc_core::custom::{CustomResource, Lister};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, PodSpec};
use serde::Deserialize;

/// The label with the name of a pod's group.
pub const POD_GROUP: &str = "scheduling.x-k8s.io/pod-group";

/// A Permit plugin can make a pod wait for 15 minutes.
const LONGEST_WAIT: i64 = 900;

/// What is read of a PodGroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct PodGroup {
    /// What is wanted.
    pub spec: PodGroupSpec,
}

/// What is wanted of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodGroupSpec {
    /// How many of its pods must have a node before any of them is bound.
    pub min_member: usize,
    /// For how many seconds pods wait for the others, in place of what the profile says.
    pub schedule_timeout_seconds: Option<i64>,
}

impl CustomResource for PodGroup {
    const RESOURCE: &'static str = "podgroups.v1alpha1.scheduling.x-k8s.io";
}

impl PodGroupSpec {
    /// How long pods wait, if the group says it: no longer than a plugin can make them wait.
    pub fn timeout(self) -> Option<i64> {
        self.schedule_timeout_seconds.filter(|seconds| *seconds > 0).map(|seconds| seconds.min(LONGEST_WAIT))
    }
}

/// Which group. Pods that name different schedulers are in different groups, whatever their label says: nobody could
/// promise them a node at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    scheduler: Symbol,
    namespace: Symbol,
    name: Symbol,
}

impl GroupKey {
    /// The group of a pod. `label` is the symbol of [`POD_GROUP`].
    pub fn of(spec: &PodSpec, label: Symbol) -> Option<GroupKey> {
        let name = spec.labels.value(label)?;
        Some(GroupKey { scheduler: spec.scheduler_name, namespace: spec.namespace, name })
    }

    /// What the cluster says of it.
    ///
    /// # Errors
    /// There is no such group, or nobody can make sense of it.
    pub fn find(self, groups: &Lister<PodGroup>, interner: &Interner) -> Result<PodGroupSpec, String> {
        let this = self.display(interner);
        let listed = groups.get(self.namespace, self.name);
        let listed = listed.ok_or_else(|| format!("pod group {this} does not exist"))?;
        match &listed.content {
            Ok(group) => Ok(group.spec),
            Err(error) => Err(format!("pod group {this} cannot be read: {error}")),
        }
    }

    /// As people write it: `namespace/name`.
    pub fn display(self, interner: &Interner) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}/{}", interner.resolve(self.namespace), interner.resolve(self.name)))
    }

    /// Whether an object of this namespace and name describes the group.
    pub fn is_named(self, namespace: Symbol, name: Symbol) -> bool {
        (self.namespace, self.name) == (namespace, name)
    }
}
