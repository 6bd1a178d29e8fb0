//! Devices, and claims of them.

use k8s_openapi::api::resource::v1 as api;

use super::object::look_at;

look_at! {
    api::DeviceClass { metadata, spec }
    api::DeviceClassSpec { extended_resource_name: "extendedResourceName" }
    api::ResourceSlice { metadata }

    // Whether anything in the status of a claim changed is looked at.
    api::ResourceClaim { metadata, status }
    api::ResourceClaimStatus { allocation, devices, reserved_for: "reservedFor" }
    api::AllocationResult { devices, allocation_timestamp: "allocationTimestamp", node_selector: "nodeSelector" }
    api::DeviceAllocationResult { config, results }
    api::DeviceAllocationConfiguration { opaque, requests, source }
    api::OpaqueDeviceConfiguration { driver, parameters }
    api::DeviceRequestAllocationResult {
        device, driver, pool, request, tolerations,
        admin_access: "adminAccess",
        binding_conditions: "bindingConditions",
        binding_failure_conditions: "bindingFailureConditions",
        consumed_capacity: "consumedCapacity",
        share_id: "shareID",
    }
    api::DeviceToleration { key, operator, value, effect, toleration_seconds: "tolerationSeconds" }
    api::AllocatedDeviceStatus {
        conditions, data, device, driver, pool,
        network_data: "networkData",
        share_id: "shareID",
    }
    api::NetworkDeviceData { ips, hardware_address: "hardwareAddress", interface_name: "interfaceName" }
    api::ResourceClaimConsumerReference { name, resource, uid, api_group: "apiGroup" }
}
