//! The kinds of objects that a scheduler can watch: built-in kinds, and those of catalogs.

use super::writes::is_group;
use crate::diagnostic::Diagnostic;
use crate::fields::{self, Fields};
use crate::format::{is_dns_subdomain, is_resource_name};
use crate::messages;
use crate::source::{Span, Spanned};
use crate::tree::RawField;

/// Built-in kinds: Node and Pod, then the others in alphabetical order.
pub const KINDS: [&str; 18] = [
    "Node",
    "Pod",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "DeviceClass",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceSlice",
    "Service",
    "StatefulSet",
    "StorageClass",
    "VolumeAttachment",
];

/// A kind that a catalog declares: a custom resource, or a resource of Kubernetes that is not in [`KINDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomKind {
    /// Name of the kind for plugins of the catalog: `PodGroup`.
    pub name: String,
    /// Location of the name in the catalog.
    pub declared_at: Span,
    /// API group and version: `scheduling.x-k8s.io/v1alpha1`; for the core group only the version.
    pub api_version: String,
    /// Name of the kind at the API server: `PodGroup`.
    pub kind: String,
    /// Name in URL paths and roles: `podgroups`.
    pub resource: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

impl CustomKind {
    /// Returns its API group; empty for the core group, that of pods and nodes.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns resource, version and group, as kube-scheduler writes them in events:
    /// `podgroups.v1alpha1.scheduling.x-k8s.io`.
    pub fn full_name(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, version)) => format!("{}.{version}.{group}", self.resource),
            None => format!("{}.{}", self.resource, self.api_version),
        }
    }

    /// Returns whether two kinds with the same [full name](Self::full_name) agree in their other properties, regardless of
    /// their names in the catalogs.
    pub(super) fn is_same_kind(&self, other: &CustomKind) -> bool {
        (&self.kind, self.namespaced) == (&other.kind, other.namespaced)
    }
}

/// Reads an entry of `[kinds]`. Returns `None` after reporting an error.
pub(super) fn kind(field: &RawField, diagnostics: &mut Vec<Diagnostic>) -> Option<CustomKind> {
    let found_before = diagnostics.len();
    let (name, at) = (&field.key, field.value.span);
    if KINDS.contains(&name.value.as_str()) {
        diagnostics.push(messages::known_kind(name));
    }
    let table = fields::table(&field.value, &format!("`{}`", name.value), diagnostics)?;
    let keys = ["api-version", "kind", "resource", "namespaced"];
    let mut fields = Fields::new(table, format!("kind `{}`", name.value), at, &keys, diagnostics);
    let api_version = fields.required_string("api-version");
    let kind = fields.string("kind");
    let resource = fields.required_string("resource");
    let namespaced = fields.boolean("namespaced");

    if let Some(api_version) = api_version.as_ref().filter(|api_version| !is_api_version(&api_version.value)) {
        diagnostics.push(messages::not_an_api_version(api_version));
    }
    let kind = kind.unwrap_or_else(|| Spanned { value: name.value.clone(), span: name.span });
    if !is_kind(&kind.value) {
        diagnostics.push(messages::not_a_kind(&kind));
    }
    if let Some(resource) = resource.as_ref().filter(|resource| !is_resource_name(&resource.value)) {
        diagnostics.push(messages::not_a_resource(resource));
    }
    if diagnostics.len() > found_before {
        return None;
    }
    Some(CustomKind {
        name: name.value.clone(),
        declared_at: name.span,
        api_version: api_version?.value,
        kind: kind.value,
        resource: resource?.value,
        namespaced: namespaced.is_none_or(|namespaced| namespaced.value),
    })
}

/// Returns whether a text is an API version: `group/version`, or only the version for the core group.
fn is_api_version(text: &str) -> bool {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    let is_version = version.starts_with('v') && is_dns_subdomain(version) && !version.contains('.');
    is_version && is_group(group) && text.contains('/') != group.is_empty()
}

fn is_kind(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}
