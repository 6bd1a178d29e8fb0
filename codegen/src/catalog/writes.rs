//! `writes`: a plugin's requests to the API server other than watches.

use crate::diagnostic::Diagnostic;
use crate::fields::{self, Fields};
use crate::format::{is_dns_subdomain, is_resource_name};
use crate::messages;
use crate::source::{Span, Spanned};
use crate::tree::RawNode;

/// The verbs of resources, in the order in which roles list them.
pub const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// Requests for the objects of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The API group; empty for the core group, that of pods and nodes.
    pub group: String,
    /// The resource as roles name it: `persistentvolumes`, `pods/status`.
    pub resource: String,
    /// The verbs: at least one, and only those in [`VERBS`].
    pub verbs: Vec<String>,
    /// The namespace; `None` for all namespaces or a cluster-scoped resource.
    pub namespace: Option<String>,
}

/// Reads an element of `writes`. Returns `None` after reporting an error.
pub(super) fn write(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Option<Write> {
    let table = fields::table(node, "an element of `writes`", diagnostics)?;
    let found_before = diagnostics.len();
    let keys = ["group", "resource", "verbs", "namespace"];
    let mut fields = Fields::new(table, "an element of `writes`", node.span, &keys, diagnostics);
    let group = fields.string("group");
    let resource = fields.required_string("resource");
    let has_verbs_key = fields.get("verbs").is_some();
    let verbs = fields.strings("verbs");
    let namespace = fields.string("namespace");

    if let Some(group) = group.as_ref().filter(|group| !is_group(&group.value)) {
        diagnostics.push(messages::not_a_group(group));
    }
    if let Some(resource) = resource.as_ref().filter(|resource| !is_resource(&resource.value)) {
        diagnostics.push(messages::not_a_resource(resource));
    }
    check_verbs(&verbs, has_verbs_key, node.span, diagnostics);
    if let Some(namespace) = namespace.as_ref().filter(|namespace| !is_dns_subdomain(&namespace.value)) {
        diagnostics.push(messages::not_a_namespace(namespace));
    }
    if diagnostics.len() > found_before {
        return None;
    }
    Some(Write {
        group: group.map(|group| group.value).unwrap_or_default(),
        resource: resource?.value,
        verbs: verbs.into_iter().map(|verb| verb.value).collect(),
        namespace: namespace.map(|namespace| namespace.value),
    })
}

fn check_verbs(verbs: &[Spanned<String>], has_verbs_key: bool, at: Span, diagnostics: &mut Vec<Diagnostic>) {
    let unknown = verbs.iter().filter(|verb| !VERBS.contains(&verb.value.as_str()));
    diagnostics.extend(unknown.map(|verb| messages::unknown_verb(verb, &VERBS)));
    if verbs.is_empty() && !has_verbs_key {
        diagnostics.push(messages::missing_key(at, "an element of `writes`", "verbs"));
    } else if verbs.is_empty() {
        diagnostics.push(messages::no_verbs(at));
    }
}

/// Returns whether a text is an API group. The core group is the empty text, not `core` or `v1`.
pub(super) fn is_group(group: &str) -> bool {
    group.is_empty() || is_dns_subdomain(group) && group != "core" && group != "v1"
}

/// Returns whether a text is the name of a resource, optionally with a subresource.
fn is_resource(resource: &str) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, "status"));
    is_resource_name(resource) && is_resource_name(subresource)
}
