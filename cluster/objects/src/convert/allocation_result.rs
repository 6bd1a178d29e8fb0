//! Conversion of allocations.

use k8s_openapi::api::core::v1::NodeSelector;
use k8s_openapi::api::resource::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{
    AllocationNodes, AllocationResult, ConfigurationSource, DeviceAllocationConfiguration,
    DeviceRequestAllocationResult, RequestRef,
};

use super::device_fields::{configuration, qualified_amounts, request_refs, symbols, tolerations};
use super::nanoseconds;
use super::selector::term_text;

pub(super) fn allocation(allocation: &api::AllocationResult, interner: &mut Interner) -> AllocationResult {
    let devices = allocation.devices.as_ref();
    let results = devices.and_then(|devices| devices.results.as_ref());
    let config = devices.and_then(|devices| devices.config.as_ref());
    AllocationResult {
        results: results.into_iter().flatten().map(|it| result(it, interner)).collect(),
        config: config.into_iter().flatten().map(|it| allocated_configuration(it, interner)).collect(),
        nodes: allocation.node_selector.as_ref().map(|selector| nodes(selector, interner)),
        timestamp: nanoseconds(allocation.allocation_timestamp.as_ref()),
    }
}

fn nodes(selector: &NodeSelector, interner: &mut Interner) -> AllocationNodes {
    let terms: Vec<_> = selector.node_selector_terms.iter().map(term_text).collect();
    AllocationNodes::parse(&terms, interner)
}

fn result(result: &api::DeviceRequestAllocationResult, interner: &mut Interner) -> DeviceRequestAllocationResult {
    DeviceRequestAllocationResult {
        request: RequestRef::parse(&result.request, interner),
        driver: interner.intern(&result.driver),
        pool: interner.intern(&result.pool),
        device: interner.intern(&result.device),
        admin_access: result.admin_access,
        tolerations: tolerations(result.tolerations.as_ref(), interner),
        binding_conditions: symbols(result.binding_conditions.as_ref(), interner),
        binding_failure_conditions: symbols(result.binding_failure_conditions.as_ref(), interner),
        share_id: result.share_id.as_deref().map(Into::into),
        consumed_capacity: qualified_amounts(result.consumed_capacity.as_ref(), interner).collect(),
    }
}

fn allocated_configuration(
    config: &api::DeviceAllocationConfiguration,
    interner: &mut Interner,
) -> DeviceAllocationConfiguration {
    DeviceAllocationConfiguration {
        source: match config.source.as_str() {
            "FromClass" => ConfigurationSource::Class,
            "FromClaim" => ConfigurationSource::Claim,
            other => ConfigurationSource::Other(interner.intern(other)),
        },
        requests: request_refs(config.requests.as_ref(), interner),
        configuration: configuration(config.opaque.as_ref(), interner),
    }
}
