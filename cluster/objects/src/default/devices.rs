//! Defaults of resource claims.

use k8s_openapi::api::resource::v1::ResourceClaimSpec;

/// Sets the allocation mode and the count of requests (`SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`).
pub fn complete_claim_spec(spec: &mut ResourceClaimSpec) {
    let requests = spec.devices.iter_mut().flat_map(|devices| devices.requests.iter_mut().flatten());
    for request in requests {
        if let Some(exactly) = &mut request.exactly {
            complete_request(&mut exactly.allocation_mode, &mut exactly.count);
        }
        for alternative in request.first_available.iter_mut().flatten() {
            complete_request(&mut alternative.allocation_mode, &mut alternative.count);
        }
    }
}

fn complete_request(mode: &mut Option<String>, count: &mut Option<i64>) {
    const EXACT_COUNT: &str = "ExactCount";
    let mode = mode.get_or_insert_default();
    if mode.is_empty() {
        mode.push_str(EXACT_COUNT);
    }
    if mode == EXACT_COUNT && count.unwrap_or_default() == 0 {
        *count = Some(1);
    }
}
