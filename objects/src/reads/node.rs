//! Nodes.

use k8s_openapi::api::core::v1 as api;

use super::metadata::Annotated;
use super::object::look_at;

look_at! {
    api::Node { metadata as Annotated, spec, status }
    api::NodeSpec { taints, unschedulable }
    api::Taint { key, value, effect }
    api::NodeStatus { allocatable, conditions, images, declared_features: "declaredFeatures" }
    api::NodeCondition { type_: "type", status }
    api::ContainerImage { names, size_bytes: "sizeBytes" }
}
