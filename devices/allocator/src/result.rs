//! Converts the devices that a search chose into allocations.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::model::{
    AllocationNodes, AllocationResult, ConfigurationSource, DeviceAllocationConfiguration, DeviceNodeSelector,
    DeviceNodes, DeviceRequestAllocationResult, RequestRef, ResourceClaimSpec,
};
use smallvec::SmallVec;

use crate::error::Failure;
use crate::input::Input;
use crate::prepared::Alternative;
use crate::search::{Pick, Scratch};

/// Allocations of claims, in order. Most pods have one claim.
pub type Allocations = SmallVec<[Arc<AllocationResult>; 1]>;

/// Returns the allocations of all claims on a node. `share_id` returns a new identifier of a share.
pub(crate) fn allocations(
    input: &Input<'_>,
    scratch: &Scratch,
    node: Symbol,
    mut share_id: impl FnMut() -> Arc<str>,
) -> Result<Allocations, Failure> {
    let mut allocations = Allocations::new();
    for (at, (claim, spec)) in input.prepared.claims.iter().zip(&input.prepared.specs).enumerate() {
        let picks = || scratch.picks.iter().filter(|pick| pick.claim == at);
        let alternatives: SmallVec<[&Alternative; 2]> = claim
            .requests
            .iter()
            .enumerate()
            .map(|(request_at, request)| &request.alternatives[scratch.chosen[scratch.request(at, request_at)]])
            .collect();
        allocations.push(Arc::new(AllocationResult {
            results: picks().map(|pick| result(input, pick, &mut share_id)).collect(),
            config: configuration(spec, &alternatives),
            nodes: nodes(input, picks(), node, at)?,
            timestamp: None,
        }));
    }
    Ok(allocations)
}

fn result(input: &Input<'_>, pick: &Pick, share_id: &mut impl FnMut() -> Arc<str>) -> DeviceRequestAllocationResult {
    let alternative = &input.prepared.claims[pick.claim].requests[pick.request].alternatives[pick.alternative];
    let block = input.block(pick.block);
    let device = block.device(pick.bit);
    DeviceRequestAllocationResult {
        request: alternative.reference,
        driver: block.slice.driver,
        pool: block.slice.pool,
        device: device.name,
        admin_access: alternative.admin_access.then_some(true),
        tolerations: alternative.tolerations.clone(),
        binding_conditions: device.binding_conditions.clone(),
        binding_failure_conditions: device.binding_failure_conditions.clone(),
        share_id: pick.consumed.is_some().then(share_id),
        consumed_capacity: pick.consumed.clone().unwrap_or_default(),
    }
}

/// Returns the configuration of the classes, followed by that of the claim.
fn configuration(spec: &ResourceClaimSpec, alternatives: &[&Alternative]) -> Arc<[DeviceAllocationConfiguration]> {
    let mut config = Vec::new();
    let classes = alternatives.iter().filter_map(|alternative| alternative.class.as_ref());
    let mut known: Vec<Symbol> = Vec::new();
    for class in classes {
        if class.config.is_empty() || known.contains(&class.name) {
            continue;
        }
        known.push(class.name);
        let is_of_class =
            |alternative: &&&Alternative| alternative.class.as_ref().is_some_and(|other| other.name == class.name);
        let requests: Arc<[RequestRef]> =
            alternatives.iter().filter(is_of_class).map(|alternative| alternative.reference).collect();
        config.extend(class.config.iter().map(|configuration| DeviceAllocationConfiguration {
            source: ConfigurationSource::Class,
            requests: requests.clone(),
            configuration: configuration.clone(),
        }));
    }
    for entry in &spec.config {
        let concerns = |alternative: &&&Alternative| {
            let request = RequestRef { request: alternative.reference.request, alternative: None };
            entry.requests.contains(&request) || entry.requests.contains(&alternative.reference)
        };
        // As in Kubernetes, an entry that concerns several requests is repeated.
        let times = if entry.requests.is_empty() { 1 } else { alternatives.iter().filter(concerns).count() };
        config.extend(std::iter::repeat_n(
            DeviceAllocationConfiguration {
                source: ConfigurationSource::Claim,
                requests: (*entry.requests).into(),
                configuration: entry.configuration.clone(),
            },
            times,
        ));
    }
    // The conversion of an empty list would allocate memory.
    if config.is_empty() { Arc::default() } else { config.into() }
}

/// Checks that the node selectors of a solution can be merged.
pub(crate) fn check_nodes(input: &Input<'_>, scratch: &Scratch) -> Result<(), Failure> {
    if !input.view.has_selectors {
        return Ok(());
    }
    (0..input.prepared.claims.len()).try_for_each(|claim| {
        selectors(input, scratch.picks.iter().filter(|pick| pick.claim == claim))
            .map_while(|selector| selector)
            .try_for_each(|selector| check_terms(selector, claim))
    })
}

/// Returns the nodes where the devices can be used; `None`: on all nodes.
fn nodes<'a>(
    input: &Input<'a>,
    picks: impl Iterator<Item = &'a Pick>,
    node: Symbol,
    claim: usize,
) -> Result<Option<AllocationNodes>, Failure> {
    let mut found: Vec<&DeviceNodeSelector> = Vec::new();
    for selector in selectors(input, picks) {
        let Some(selector) = selector else { return Ok(Some(AllocationNodes::Node(node))) };
        check_terms(selector, claim)?;
        found.push(selector);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let merged = DeviceNodeSelector::merge(found);
    let is_empty = merged.terms.iter().all(|term| term.match_expressions.is_empty() && term.match_fields.is_empty());
    Ok((!is_empty).then(|| AllocationNodes::Selector(merged.into())))
}

/// Returns the node selectors of devices; `None` for a device that can be used only on the node of the allocation.
fn selectors<'a>(
    input: &Input<'a>,
    picks: impl Iterator<Item = &'a Pick>,
) -> impl Iterator<Item = Option<&'a DeviceNodeSelector>> {
    picks.filter_map(move |pick| {
        let block = input.block(pick.block);
        let device = block.device(pick.bit);
        let nodes: &DeviceNodes = if block.slice.per_device_nodes { &device.nodes } else { &block.slice.nodes };
        if nodes.node.is_some() || device.binds_to_node {
            return Some(None);
        }
        nodes.selector.as_deref().map(Some)
    })
}

fn check_terms(selector: &DeviceNodeSelector, claim: usize) -> Result<(), Failure> {
    match selector.terms.len() {
        0 | 1 => Ok(()),
        terms => Err(Failure::of_node_selector(claim, terms)),
    }
}
