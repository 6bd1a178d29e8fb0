//! Fields of resource claims, resource slices and device classes.

use k8s_openapi::api::resource::v1 as api;

use super::metadata::MetadataOfClaims;
use super::object::selected_fields;

selected_fields! {
    api::DeviceClass { metadata = 1, spec = 2 }
    api::DeviceClassSpec {
        selectors = 1,
        config = 2,
        extended_resource_name: "extendedResourceName" as Pointer = 4,
    }
    api::DeviceClassConfiguration { opaque = 1 within 1 }
    api::DeviceSelector { cel = 1 }
    api::CELDeviceSelector { expression = 1 }

    api::ResourceSlice { metadata = 1, spec = 2 }
    api::ResourceSliceSpec {
        driver = 1,
        pool = 2,
        devices = 6,
        node_name: "nodeName" as Pointer = 3,
        node_selector: "nodeSelector" = 4,
        all_nodes: "allNodes" as Pointer = 5,
        per_device_node_selection: "perDeviceNodeSelection" as Pointer = 7,
        shared_counters: "sharedCounters" = 8,
    }
    api::ResourcePool { name = 1, generation = 2, resource_slice_count: "resourceSliceCount" = 3 }
    api::CounterSet { name = 1, counters = 2 }
    api::Counter { value = 1 }
    api::Device {
        name = 1,
        attributes = 2,
        capacity = 3,
        taints = 8,
        consumes_counters: "consumesCounters" = 4,
        node_name: "nodeName" as Pointer = 5,
        node_selector: "nodeSelector" = 6,
        all_nodes: "allNodes" as Pointer = 7,
        binds_to_node: "bindsToNode" as Pointer = 9,
        binding_conditions: "bindingConditions" = 10,
        binding_failure_conditions: "bindingFailureConditions" = 11,
        allow_multiple_allocations: "allowMultipleAllocations" as Pointer = 12,
    }
    api::DeviceAttribute {
        int as Pointer = 2,
        bool as Pointer = 3,
        string as Pointer = 4,
        version as Pointer = 5,
    }
    api::DeviceCapacity { value = 1, request_policy: "requestPolicy" = 2 }
    api::CapacityRequestPolicy { default = 1, valid_values: "validValues" = 3, valid_range: "validRange" = 4 }
    api::CapacityRequestPolicyRange { min = 1, max = 2, step = 3 }
    api::DeviceCounterConsumption { counters = 2, counter_set: "counterSet" = 1 }
    api::DeviceTaint { key = 1, value = 2, effect = 3 }

    api::ResourceClaim { metadata as MetadataOfClaims = 1, spec = 2, status = 3 }
    api::ResourceClaimSpec { devices = 1 }
    api::DeviceClaim { requests = 1, constraints = 2, config = 3 }
    api::DeviceRequest { name = 1, exactly = 2, first_available: "firstAvailable" = 3 }
    api::ExactDeviceRequest {
        selectors = 2,
        count = 4,
        tolerations = 6,
        capacity = 7,
        device_class_name: "deviceClassName" = 1,
        allocation_mode: "allocationMode" = 3,
        admin_access: "adminAccess" as Pointer = 5,
    }
    api::DeviceSubRequest {
        name = 1,
        selectors = 3,
        count = 5,
        tolerations = 6,
        capacity = 7,
        device_class_name: "deviceClassName" = 2,
        allocation_mode: "allocationMode" = 4,
    }
    api::CapacityRequirements { requests = 1 }
    api::DeviceConstraint {
        requests = 1,
        match_attribute: "matchAttribute" as Pointer = 2,
        distinct_attribute: "distinctAttribute" as Pointer = 3,
    }
    api::DeviceClaimConfiguration { requests = 1, opaque = 1 within 2 }

    // Hints compare the whole status with that of the previous version.
    api::ResourceClaimStatus { allocation = 1, devices = 4, reserved_for: "reservedFor" = 2 }
    api::AllocationResult {
        devices = 1,
        allocation_timestamp: "allocationTimestamp" = 5,
        node_selector: "nodeSelector" = 3,
    }
    api::DeviceAllocationResult { config = 2, results = 1 }
    api::DeviceAllocationConfiguration { opaque = 1 within 3, requests = 2, source = 1 }
    api::OpaqueDeviceConfiguration { driver = 1, parameters = 2 }
    api::DeviceRequestAllocationResult {
        device = 4,
        driver = 2,
        pool = 3,
        request = 1,
        tolerations = 6,
        admin_access: "adminAccess" as Pointer = 5,
        binding_conditions: "bindingConditions" = 7,
        binding_failure_conditions: "bindingFailureConditions" = 8,
        consumed_capacity: "consumedCapacity" = 10,
        share_id: "shareID" as Pointer = 9,
    }
    api::DeviceToleration {
        key = 1,
        operator = 2,
        value = 3,
        effect = 4,
        toleration_seconds: "tolerationSeconds" as Pointer = 5,
    }
    api::AllocatedDeviceStatus {
        conditions = 4,
        data = 5,
        device = 3,
        driver = 1,
        pool = 2,
        network_data: "networkData" = 6,
        share_id: "shareID" as Pointer = 7,
    }
    api::NetworkDeviceData {
        ips = 2,
        hardware_address: "hardwareAddress" = 3,
        interface_name: "interfaceName" = 1,
    }
    api::ResourceClaimConsumerReference { name = 4, resource = 3, uid = 5, api_group: "apiGroup" = 1 }
}
