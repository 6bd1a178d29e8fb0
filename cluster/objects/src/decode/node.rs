//! Fields of nodes.

use k8s_openapi::api::core::v1 as api;

use super::metadata::MetadataWithAnnotations;
use super::object::selected_fields;

selected_fields! {
    api::Node { metadata as MetadataWithAnnotations = 1, spec = 2, status = 3 }
    api::NodeSpec { taints = 5, unschedulable = 4 }
    api::Taint { key = 1, value = 2, effect = 3 }
    api::NodeStatus { allocatable = 2, conditions = 4, images = 8, declared_features: "declaredFeatures" = 14 }
    api::NodeCondition { type_: "type" = 1, status = 2 }
    api::ContainerImage { names = 1, size_bytes: "sizeBytes" = 2 }
}
