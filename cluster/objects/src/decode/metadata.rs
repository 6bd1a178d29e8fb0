//! Fields of object metadata and owner references.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;

use super::object::{SelectedFields, selected_fields};

selected_fields! {
    // Annotations are left out: they can be long, and few plugins read them.
    meta::ObjectMeta {
        name = 1,
        namespace = 3,
        uid = 5,
        labels = 11,
        generation = 7,
        resource_version: "resourceVersion" = 6,
        creation_timestamp: "creationTimestamp" = 8,
        deletion_timestamp: "deletionTimestamp" = 9,
        owner_references: "ownerReferences" = 13,
    }
    meta::OwnerReference {
        api_version: "apiVersion" = 5,
        kind = 1,
        name = 3,
        uid = 4,
        controller as Pointer = 6,
    }
    meta::LabelSelector { match_labels: "matchLabels" = 1, match_expressions: "matchExpressions" = 2 }
    meta::LabelSelectorRequirement { key = 1, operator = 2, values = 3 }
}

/// All metadata except managed fields, the deprecated `selfLink`, and `blockOwnerDeletion` of owner references.
pub(super) struct MetadataWithoutManagedFields;

impl SelectedFields for MetadataWithoutManagedFields {
    type Object = meta::ObjectMeta;

    selected_fields! {
        @fields
        name = 1,
        namespace = 3,
        uid = 5,
        labels = 11,
        annotations = 12,
        generation = 7,
        finalizers = 14,
        generate_name: "generateName" = 2,
        resource_version: "resourceVersion" = 6,
        creation_timestamp: "creationTimestamp" = 8,
        deletion_timestamp: "deletionTimestamp" = 9,
        deletion_grace_period_seconds: "deletionGracePeriodSeconds" as Pointer = 10,
        owner_references: "ownerReferences" = 13,
    }
}

/// Metadata of objects with annotations that schedulers read.
pub(super) struct MetadataWithAnnotations;

impl SelectedFields for MetadataWithAnnotations {
    type Object = meta::ObjectMeta;

    selected_fields! {
        @fields
        name = 1,
        namespace = 3,
        uid = 5,
        labels = 11,
        annotations = 12,
        resource_version: "resourceVersion" = 6,
        deletion_timestamp: "deletionTimestamp" = 9,
        owner_references: "ownerReferences" = 13,
    }
}

pub(super) struct MetadataOfClaims;

impl SelectedFields for MetadataOfClaims {
    type Object = meta::ObjectMeta;

    selected_fields! {
        @fields
        name = 1,
        namespace = 3,
        uid = 5,
        annotations = 12,
        finalizers = 14,
        resource_version: "resourceVersion" = 6,
        creation_timestamp: "creationTimestamp" = 8,
        deletion_timestamp: "deletionTimestamp" = 9,
        owner_references: "ownerReferences" = 13,
    }
}
