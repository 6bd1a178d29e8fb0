//! Owners of pods, from which default spreading constraints get their selectors.

use super::{Kind, LabelSelector};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// The kinds of [`Workload`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WorkloadKind {
    /// `v1` Service.
    Service,
    /// `v1` ReplicationController.
    ReplicationController,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `apps/v1` StatefulSet.
    StatefulSet,
}

impl From<WorkloadKind> for Kind {
    fn from(kind: WorkloadKind) -> Kind {
        match kind {
            WorkloadKind::Service => Kind::Service,
            WorkloadKind::ReplicationController => Kind::ReplicationController,
            WorkloadKind::ReplicaSet => Kind::ReplicaSet,
            WorkloadKind::StatefulSet => Kind::StatefulSet,
        }
    }
}

/// A Service, ReplicationController, ReplicaSet or StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct Workload {
    /// Its kind.
    pub kind: WorkloadKind,
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// Selector of its pods. The selectors of Services and ReplicationControllers are not validated. `None`: there is
    /// no selector, or Kubernetes cannot parse it.
    pub selector: Option<LabelSelector>,
}

/// The controller that owns a pod: the owner in `metadata.ownerReferences` with `controller: true`, if it is a
/// ReplicationController (`v1`), ReplicaSet or StatefulSet (`apps/v1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct ControllerRef {
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its name, in the pod's namespace.
    pub name: Symbol,
}
