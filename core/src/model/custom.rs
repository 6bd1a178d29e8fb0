//! Objects of kinds that plugins declare: custom resources, and other kinds without built-in support.

use std::hash::{Hash, Hasher};

use serde_json::Value;

use super::Uid;
use crate::model::intern::{Interner, Symbol};
use crate::model::object_ref::ObjectRef;

/// A kind that a plugin's catalog declares. Kinds are equal if their names are; the other fields are compared when
/// profiles are compiled.
#[derive(Clone, Copy, Debug)]
pub struct CustomKind {
    /// Its resource, version and group, as in kube-scheduler's events: `podgroups.v1alpha1.scheduling.x-k8s.io`.
    pub name: &'static str,
    /// `apiVersion`, such as `scheduling.x-k8s.io/v1alpha1`.
    pub api_version: &'static str,
    /// `kind`, such as `PodGroup`.
    pub kind: &'static str,
    /// Name in paths: `podgroups`.
    pub plural: &'static str,
    /// Whether its objects are namespaced.
    pub is_namespaced: bool,
}

impl PartialEq for CustomKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for CustomKind {}

impl Hash for CustomKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PartialOrd for CustomKind {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for CustomKind {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(other.name)
    }
}

impl CustomKind {
    /// Returns its API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// An object of a declared kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Custom {
    /// Its kind.
    pub kind: &'static CustomKind,
    /// `metadata.namespace`; empty if the kind is not namespaced.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Uid,
    /// The whole manifest.
    pub manifest: Value,
}

impl Custom {
    /// Returns its reference for a [`Client`](crate::client::Client).
    pub fn reference(&self, interner: &Interner) -> ObjectRef {
        ObjectRef {
            api_version: self.kind.api_version.into(),
            kind: self.kind.kind.into(),
            namespace: interner.resolve(self.namespace).into(),
            name: interner.resolve(self.name).into(),
        }
    }
}
