//! What pods belong to.

use k8s_openapi::api::{apps::v1 as apps, core::v1 as core, policy::v1 as policy};

use super::object::look_at;

look_at! {
    core::Namespace { metadata }

    core::Service { metadata, spec }
    core::ServiceSpec { selector }
    core::ReplicationController { metadata, spec }
    core::ReplicationControllerSpec { selector }
    apps::ReplicaSet { metadata, spec }
    apps::ReplicaSetSpec { selector }
    apps::StatefulSet { metadata, spec }
    apps::StatefulSetSpec { selector }

    policy::PodDisruptionBudget { metadata, spec, status }
    policy::PodDisruptionBudgetSpec { selector }
    policy::PodDisruptionBudgetStatus { disruptions_allowed: "disruptionsAllowed", disrupted_pods: "disruptedPods" }
}
