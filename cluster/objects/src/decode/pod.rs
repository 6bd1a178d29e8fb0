//! Fields of pods.

use k8s_openapi::api::core::v1 as api;

use super::object::selected_fields;

selected_fields! {
    api::Pod { metadata = 1, spec = 2, status = 3 }
    api::PodSpec {
        volumes = 1,
        containers = 2,
        tolerations = 22,
        affinity = 18,
        priority as Pointer = 25,
        overhead = 32,
        resources = 40,
        init_containers: "initContainers" = 20,
        node_name: "nodeName" = 10,
        node_selector: "nodeSelector" = 7,
        scheduler_name: "schedulerName" = 19,
        preemption_policy: "preemptionPolicy" as Pointer = 31,
        topology_spread_constraints: "topologySpreadConstraints" = 33,
        scheduling_gates: "schedulingGates" = 38,
        resource_claims: "resourceClaims" = 39,
        host_network: "hostNetwork" = 11,
        host_users: "hostUsers" as Pointer = 37,
    }
    api::Container {
        name = 1,
        image = 2,
        ports = 6,
        resources = 8,
        restart_policy: "restartPolicy" as Pointer = 24,
        restart_policy_rules: "restartPolicyRules" = 25,
    }
    api::ContainerPort { protocol = 4, host_port: "hostPort" = 2, host_ip: "hostIP" = 5 }
    api::ContainerRestartRule { action = 1 }
    api::ResourceRequirements { requests = 2 }
    api::Toleration { key = 1, operator = 2, value = 3, effect = 4 }
    api::PodSchedulingGate { name = 1 }
    api::PodResourceClaim {
        name = 1,
        resource_claim_name: "resourceClaimName" as Pointer = 3,
        resource_claim_template_name: "resourceClaimTemplateName" as Pointer = 4,
    }

    api::PodStatus {
        phase = 1,
        conditions = 2,
        resources = 20,
        start_time: "startTime" = 7,
        nominated_node_name: "nominatedNodeName" = 11,
        container_statuses: "containerStatuses" = 8,
        init_container_statuses: "initContainerStatuses" = 10,
        allocated_resources: "allocatedResources" = 19,
        resource_claim_statuses: "resourceClaimStatuses" = 15,
        extended_resource_claim_status: "extendedResourceClaimStatus" = 18,
    }
    api::PodCondition {
        type_: "type" = 1,
        status = 2,
        reason = 5,
        message = 6,
        last_probe_time: "lastProbeTime" = 3,
        observed_generation: "observedGeneration" = 7,
    }
    api::ContainerStatus { name = 1, resources = 11, allocated_resources: "allocatedResources" = 10 }
    api::PodResourceClaimStatus { name = 1, resource_claim_name: "resourceClaimName" as Pointer = 2 }
    api::PodExtendedResourceClaimStatus {
        request_mappings: "requestMappings" = 1,
        resource_claim_name: "resourceClaimName" = 2,
    }
    api::ContainerExtendedResourceRequest {
        container_name: "containerName" = 1,
        request_name: "requestName" = 3,
        resource_name: "resourceName" = 2,
    }
}
