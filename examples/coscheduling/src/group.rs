//! Groups of pods, and the objects that describe them.

use std::fmt;

use schedc_core::custom::{CustomResource, Lister};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, PodSpec};
use serde::Deserialize;

/// The label with the name of a pod's group.
pub const POD_GROUP: &str = "scheduling.x-k8s.io/pod-group";

/// Maximum wait in Permit, in seconds: 15 minutes, as in kube-scheduler.
const MAX_WAIT: i64 = 900;

/// Fields of a PodGroup that the plugin reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct PodGroup {
    /// Desired state.
    pub spec: PodGroupSpec,
}

/// Specification of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodGroupSpec {
    /// Number of pods that must have a node before any of them is bound.
    pub min_member: usize,
    /// Seconds that pods wait for the others; default: the argument of the profile.
    pub schedule_timeout_seconds: Option<i64>,
}

impl CustomResource for PodGroup {
    const RESOURCE: &'static str = "podgroups.v1alpha1.scheduling.x-k8s.io";
}

impl PodGroupSpec {
    /// Returns the group's waiting time in seconds, limited to the maximum of Permit. `None`: it is missing or not
    /// positive.
    pub fn timeout(self) -> Option<i64> {
        self.schedule_timeout_seconds.filter(|seconds| *seconds > 0).map(|seconds| seconds.min(MAX_WAIT))
    }
}

/// Key of a group. Pods of different schedulers are in different groups, because a scheduler can reserve nodes only for
/// its own pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    scheduler: Symbol,
    namespace: Symbol,
    name: Symbol,
}

impl GroupKey {
    /// Returns the group of a pod; `None` without the label. `label` is the symbol of [`POD_GROUP`].
    pub fn of(spec: &PodSpec, label: Symbol) -> Option<GroupKey> {
        let name = spec.labels.value(label)?;
        Some(GroupKey { scheduler: spec.scheduler_name, namespace: spec.namespace, name })
    }

    /// Returns the specification in the group's object.
    ///
    /// # Errors
    /// The object does not exist, or its content is invalid.
    pub fn find(self, groups: &Lister<PodGroup>, interner: &Interner) -> Result<PodGroupSpec, String> {
        let this = self.display(interner);
        let listed = groups.get(self.namespace, self.name);
        let listed = listed.ok_or_else(|| format!("pod group {this} does not exist"))?;
        match &listed.content {
            Ok(group) => Ok(group.spec),
            Err(error) => Err(format!("pod group {this} cannot be read: {error}")),
        }
    }

    /// Displays the group as `namespace/name`.
    pub fn display(self, interner: &Interner) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}/{}", interner.resolve(self.namespace), interner.resolve(self.name)))
    }

    /// Returns whether an object of this namespace and name describes the group.
    pub fn is_named(self, namespace: Symbol, name: Symbol) -> bool {
        (self.namespace, self.name) == (namespace, name)
    }
}
