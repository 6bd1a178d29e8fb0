//! Pods.

use k8s_openapi::api::core::v1 as api;

use super::object::look_at;

look_at! {
    api::Pod { metadata, spec, status }
    api::PodSpec {
        volumes, containers, tolerations, affinity, priority, overhead, resources,
        init_containers: "initContainers",
        node_name: "nodeName",
        node_selector: "nodeSelector",
        scheduler_name: "schedulerName",
        preemption_policy: "preemptionPolicy",
        topology_spread_constraints: "topologySpreadConstraints",
        scheduling_gates: "schedulingGates",
        resource_claims: "resourceClaims",
        host_network: "hostNetwork",
        host_users: "hostUsers",
    }
    api::Container {
        name, image, ports, resources,
        restart_policy: "restartPolicy",
        restart_policy_rules: "restartPolicyRules",
    }
    api::ContainerPort { protocol, host_port: "hostPort", host_ip: "hostIP" }
    api::ContainerRestartRule { action }
    api::ResourceRequirements { requests }
    api::Toleration { key, operator, value, effect }
    api::PodSchedulingGate { name }
    api::PodResourceClaim {
        name,
        resource_claim_name: "resourceClaimName",
        resource_claim_template_name: "resourceClaimTemplateName",
    }

    api::PodStatus {
        phase, conditions, resources,
        start_time: "startTime",
        nominated_node_name: "nominatedNodeName",
        container_statuses: "containerStatuses",
        init_container_statuses: "initContainerStatuses",
        allocated_resources: "allocatedResources",
        resource_claim_statuses: "resourceClaimStatuses",
        extended_resource_claim_status: "extendedResourceClaimStatus",
    }
    api::PodCondition {
        type_: "type", status, reason, message,
        last_probe_time: "lastProbeTime",
        observed_generation: "observedGeneration",
    }
    api::ContainerStatus { name, resources, allocated_resources: "allocatedResources" }
    api::PodResourceClaimStatus { name, resource_claim_name: "resourceClaimName" }
    api::PodExtendedResourceClaimStatus {
        request_mappings: "requestMappings",
        resource_claim_name: "resourceClaimName",
    }
    api::ContainerExtendedResourceRequest {
        container_name: "containerName",
        request_name: "requestName",
        resource_name: "resourceName",
    }
}
