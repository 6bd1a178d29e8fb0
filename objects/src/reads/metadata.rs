//! What objects are called, and who owns them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;

use super::object::{Fields, look_at};

look_at! {
    // Without annotations: they can be long, and few look at them.
    meta::ObjectMeta {
        name, namespace, uid, labels, generation,
        resource_version: "resourceVersion",
        creation_timestamp: "creationTimestamp",
        deletion_timestamp: "deletionTimestamp",
        owner_references: "ownerReferences",
    }
    meta::OwnerReference { api_version: "apiVersion", kind, name, uid, controller }
    meta::LabelSelector { match_labels: "matchLabels", match_expressions: "matchExpressions" }
    meta::LabelSelectorRequirement { key, operator, values }
}

/// All of it but who manages which field.
pub(super) struct Unmanaged;

impl Fields for Unmanaged {
    type Object = meta::ObjectMeta;

    look_at! {
        @fields
        name, namespace, uid, labels, annotations, generation, finalizers,
        generate_name: "generateName",
        resource_version: "resourceVersion",
        creation_timestamp: "creationTimestamp",
        deletion_timestamp: "deletionTimestamp",
        deletion_grace_period_seconds: "deletionGracePeriodSeconds",
        owner_references: "ownerReferences",
    }
}

/// Metadata of objects whose annotations are looked at.
pub(super) struct Annotated;

impl Fields for Annotated {
    type Object = meta::ObjectMeta;

    look_at! {
        @fields
        name, namespace, uid, labels, annotations,
        resource_version: "resourceVersion",
        deletion_timestamp: "deletionTimestamp",
        owner_references: "ownerReferences",
    }
}
