//! For users: the reasons why a node lacks devices for claims, for each request and device.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, QualifiedName, RequestRef, ResourceClaimSpec};

use crate::block::bits;
use crate::counters::Counters;
use crate::error::{Failure, Unfit};
use crate::evaluation::first_unmet;
use crate::input::{Input, device_id};
use crate::inventory::{Holders, Inventory};
use crate::pool::PoolStatus;
use crate::prepared::{Alternative, Prepared};

/// Maximum number of deadline checks in a search for an explanation.
const MAX_CHECKS: u32 = 64;

/// Devices of a node for each request, before any of them is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Pools that cannot be used, as `driver/pool`, each with whether it is incomplete (true) or invalid (false).
    pub unusable_pools: Vec<(String, bool)>,
    /// Requests and alternatives, in order.
    pub requests: Vec<RequestExplanation>,
    /// Whether the node lacks devices for the claims; false if this is unknown, because the search takes too long or fails.
    pub lacks_devices: bool,
    /// Reason why there is no solution although every request has enough devices. `None`: there may be a solution, a request
    /// lacks devices, or the search for the reason takes too long.
    pub conflict: Option<Conflict>,
}

/// Reason why the devices of several requests, or of one request, cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// There is a solution without this constraint.
    Constraint {
        /// Position of the claim.
        claim: usize,
        /// The attribute.
        attribute: QualifiedName,
        /// Whether its values have to be distinct; otherwise, they have to be equal.
        is_distinct: bool,
    },
    /// The first request for which earlier requests leave too few devices.
    Request {
        /// Position of the claim.
        claim: usize,
        /// The request.
        request: Symbol,
    },
}

/// Devices of a node for a request or alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestExplanation {
    /// Position of the claim.
    pub claim: usize,
    /// The request or alternative.
    pub request: RequestRef,
    /// Number of requested devices; `None`: all.
    pub count: Option<i64>,
    /// Every device of the slices that the node sees, as `driver/pool/device`, with the first reason that excludes the
    /// device. `None`: the request can have the device, subject to constraints and to other requests.
    pub devices: Vec<(String, Option<DeviceReason>)>,
}

impl RequestExplanation {
    /// Returns the number of devices that the request can have.
    pub fn available(&self) -> usize {
        self.devices.iter().filter(|(_, reason)| reason.is_none()).count()
    }

    /// Returns whether the request can have as many devices as it needs.
    pub fn has_enough(&self) -> bool {
        match self.count {
            Some(count) => i64::try_from(self.available()).is_ok_and(|available| available >= count),
            None => {
                let blocks = |reason: &DeviceReason| {
                    !matches!(reason, DeviceReason::Selector(..) | DeviceReason::OtherNode | DeviceReason::Capacity)
                };
                self.available() > 0 && !self.devices.iter().any(|(_, reason)| reason.as_ref().is_some_and(blocks))
            }
        }
    }
}

/// Reason why a request cannot have a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceReason {
    /// A claim holds it: `namespace/name`, if the claim is known.
    InUse(Option<String>),
    /// It does not meet a selector. The fields are whether the selector belongs to the class or to the request (false),
    /// and its position there.
    Selector(bool, usize),
    /// A selector fails, with the message.
    SelectorFails(String),
    /// It belongs to another node.
    OtherNode,
    /// It lacks a requested capacity, or has too little of it left.
    Capacity,
    /// It has a taint that the request does not tolerate.
    Taint,
    /// Too little is left of a counter that it shares with other devices. The text is `set/counter`.
    Counters(String),
    /// It lacks the attribute of a constraint.
    Attribute(QualifiedName),
}

impl Inventory {
    /// Returns the devices of a node for each request, with the reasons that exclude them.
    ///
    /// # Errors
    /// If the devices of the node cannot be determined.
    pub fn explain(
        &mut self,
        prepared: &Arc<Prepared>,
        node: &Node,
        interner: &Interner,
    ) -> Result<Explanation, Failure> {
        let prepared = self.current(prepared, interner);
        let holders = self.holders();
        let view = self.view(node, interner)?;
        let (input, _) = self.input(&prepared, &view, interner);
        let mut explanation = Explanation::default();
        for pool in input.view.pools.iter().filter(|pool| pool.status != PoolStatus::Ready) {
            let (driver, name) = &input.pools[pool.pool].texts;
            explanation.unusable_pools.push((format!("{driver}/{name}"), pool.status == PoolStatus::Incomplete));
        }
        let mut is_each_met = true;
        for (claim, requests) in prepared.claims.iter().enumerate() {
            for request in &requests.requests {
                let mut is_met = false;
                for alternative in request.alternatives.iter().filter(|alternative| alternative.error.is_none()) {
                    let explained = explain_request(&input, claim, alternative, &holders);
                    is_met |= explained.has_enough();
                    explanation.requests.push(explained);
                }
                is_each_met &= is_met;
            }
        }
        // A search that takes too long leaves `lacks_devices` false, because there may be a solution.
        explanation.lacks_devices = !is_each_met || self.is_solvable(&prepared.specs, node, interner) == Some(false);
        if is_each_met && explanation.lacks_devices {
            explanation.conflict = self.conflict(&prepared, node, interner);
        }
        Ok(explanation)
    }

    /// Determines why claims have no solution although each request has enough devices.
    fn conflict(&mut self, prepared: &Prepared, node: &Node, interner: &Interner) -> Option<Conflict> {
        let specs = prepared.specs();
        for (claim, spec) in specs.iter().enumerate() {
            for (at, constraint) in prepared.claims[claim].constraints.iter().enumerate() {
                let Some(attribute) = constraint.attribute else { continue };
                let mut others = spec.constraints.to_vec();
                others.remove(at);
                let without = ResourceClaimSpec { constraints: others.into(), ..(**spec).clone() };
                if self.is_solvable(&replaced(specs, claim, without), node, interner)? {
                    return Some(Conflict::Constraint { claim, attribute, is_distinct: constraint.is_distinct });
                }
            }
        }
        for (claim, spec) in specs.iter().enumerate() {
            for (at, request) in spec.requests.iter().enumerate() {
                let first = ResourceClaimSpec { requests: spec.requests[..=at].into(), ..(**spec).clone() };
                if !self.is_solvable(&replaced(&specs[..=claim], claim, first), node, interner)? {
                    return Some(Conflict::Request { claim, request: request.name });
                }
            }
        }
        None
    }

    /// Returns whether there are devices for specs. `None`: the search takes too long or fails.
    fn is_solvable(&mut self, specs: &[Arc<ResourceClaimSpec>], node: &Node, interner: &Interner) -> Option<bool> {
        let mut checks = 0;
        let is_expired = || {
            checks += 1;
            checks > MAX_CHECKS
        };
        let prepared = self.prepare(specs, interner);
        match self.evaluate(&prepared, node, interner, is_expired) {
            Ok(_) => Some(true),
            Err(Unfit::NoDevices | Unfit::InvalidPools) => Some(false),
            Err(Unfit::Failed(_)) => None,
        }
    }
}

/// Returns the specs with `spec` at a position.
fn replaced(specs: &[Arc<ResourceClaimSpec>], at: usize, spec: ResourceClaimSpec) -> Vec<Arc<ResourceClaimSpec>> {
    let mut specs = specs.to_vec();
    specs[at] = Arc::new(spec);
    specs
}

fn explain_request(
    input: &Input<'_>,
    claim: usize,
    alternative: &Alternative,
    holders: &Holders,
) -> RequestExplanation {
    let mut devices = Vec::new();
    for at in 0..input.view.blocks.len() {
        let block = input.block(at);
        for bit in bits(block.all) {
            let reason = reason(input, claim, alternative, at, bit, holders);
            devices.push((device_id(block, bit, input.interner), reason));
        }
    }
    RequestExplanation { claim, request: alternative.reference, count: alternative.count, devices }
}

fn reason(
    input: &Input<'_>,
    claim: usize,
    alternative: &Alternative,
    at: usize,
    bit: u32,
    holders: &Holders,
) -> Option<DeviceReason> {
    let (view, block) = (&input.view.blocks[at], input.block(at));
    let column = input.column(block, alternative);
    let has = |word: u64| word & 1 << bit != 0;
    if !has(view.visible) && !has(column.failing) {
        return Some(DeviceReason::OtherNode);
    }
    // A request for a number of devices skips devices in use, so a selector cannot fail on them. A request for all devices
    // applies its selectors to them, too.
    let fails = has(column.failing) && alternative.count.is_none();
    if has(block.in_use) && has(column.matching | column.failing) && !fails && !alternative.admin_access {
        let holder = holders.get(&[block.slice.driver, block.slice.pool, block.device(bit).name]);
        let text = |symbol| input.interner.resolve(symbol);
        return Some(DeviceReason::InUse(holder.map(|&(space, name)| format!("{}/{}", text(space), text(name)))));
    }
    if !has(column.matching) {
        let shape = &input.shapes[alternative.shape];
        let (selector, failure) = first_unmet(shape, input.list(block), bit).unwrap_or_default();
        return Some(match (failure, selector.checked_sub(shape.class_selectors)) {
            (Some(failure), _) => DeviceReason::SelectorFails(failure),
            (None, None) => DeviceReason::Selector(true, selector),
            (None, Some(selector)) => DeviceReason::Selector(false, selector),
        });
    }
    if !has(column.selected) || !input.has_free_capacity(alternative, block, bit) {
        return Some(DeviceReason::Capacity);
    }
    if has(column.tainted) {
        return Some(DeviceReason::Taint);
    }
    let constraints = &input.prepared.claims[claim].constraints;
    let lacking = constraints.iter().filter(|constraint| constraint.concerns(alternative.reference));
    let mut attributes = lacking.filter_map(|constraint| constraint.attribute);
    if let Some(name) = attributes.find(|name| block.attribute(bit, *name).is_none()) {
        return Some(DeviceReason::Attribute(name));
    }
    // If claims already share a device, its counters are already taken.
    if has(block.consumers) && block.consumed(bit).is_none() {
        let mut counters = Counters::default();
        counters.reset(input.view.pools.len());
        let pool_view = &input.view.pools[view.pool];
        let pool = &input.pools[pool_view.pool];
        if let Some(short) = counters.shortage(input.view, pool, view.pool, &view.consumption[bit as usize]) {
            let counter = &pool_view.counters[short];
            let [set, name] = [counter.set, counter.name].map(|symbol| input.interner.resolve(symbol));
            return Some(DeviceReason::Counters(format!("{set}/{name}")));
        }
    }
    None
}
