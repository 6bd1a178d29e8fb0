//! Fields of Services and controllers of pods.

use k8s_openapi::api::{apps::v1 as apps, core::v1 as core, policy::v1 as policy};

use super::object::selected_fields;

selected_fields! {
    core::Namespace { metadata = 1 }

    core::Service { metadata = 1, spec = 2 }
    core::ServiceSpec { selector = 2 }
    core::ReplicationController { metadata = 1, spec = 2 }
    core::ReplicationControllerSpec { selector = 2 }
    apps::ReplicaSet { metadata = 1, spec = 2 }
    apps::ReplicaSetSpec { selector = 2 }
    apps::StatefulSet { metadata = 1, spec = 2 }
    apps::StatefulSetSpec { selector = 2 }

    policy::PodDisruptionBudget { metadata = 1, spec = 2, status = 3 }
    policy::PodDisruptionBudgetSpec { selector = 2 }
    policy::PodDisruptionBudgetStatus {
        disruptions_allowed: "disruptionsAllowed" = 3,
        disrupted_pods: "disruptedPods" = 2,
    }
}
