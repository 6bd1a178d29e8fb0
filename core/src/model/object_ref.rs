//! References to objects of any kind.

use std::sync::Arc;

/// Reference to an object by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef {
    /// `apiVersion`, such as `v1` or `storage.k8s.io/v1`.
    pub api_version: Arc<str>,
    /// `kind`, such as `PersistentVolumeClaim`.
    pub kind: Arc<str>,
    /// Empty for a kind that is not namespaced.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}
