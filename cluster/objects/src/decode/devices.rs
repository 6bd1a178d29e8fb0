//! Fields of resource claims and device classes.

use k8s_openapi::api::resource::v1 as api;

use super::object::selected_fields;

selected_fields! {
    api::DeviceClass { metadata = 1, spec = 2 }
    api::DeviceClassSpec { extended_resource_name: "extendedResourceName" as Pointer = 4 }
    api::ResourceSlice { metadata = 1 }

    // The status is compared with that of the previous version only.
    api::ResourceClaim { metadata = 1, status = 3 }
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
        share_id: "shareID" = 9,
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
