//! Reasons per request and device why a node has no devices, for users.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, RequestRef};

use crate::block::{Block, bits};
use crate::column::first_unmet;
use crate::counters::Counters;
use crate::error::Failure;
use crate::input::{Input, device_id};
use crate::inventory::Inventory;
use crate::prepared::{Alternative, Prepared};
use crate::view::PoolStatus;

/// Devices of a node for each request, before any of them is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Pools that cannot be used: driver and name, and whether they are incomplete (or else invalid).
    pub unusable_pools: Vec<(String, bool)>,
    /// Requests and alternatives, in order.
    pub requests: Vec<RequestExplanation>,
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
    /// Every device that the node sees, as `driver/pool/device`, with the first reason that excludes it. `None`: the request
    /// can have it, subject to constraints and to other requests.
    pub devices: Vec<(String, Option<DeviceReason>)>,
}

/// Reason why a request cannot have a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceReason {
    /// A claim holds it.
    InUse,
    /// It does not meet a selector: whether this is one of the class, and the selector's position.
    Selector(bool, usize),
    /// A selector fails, with the message.
    SelectorFails(String),
    /// It belongs to another node.
    OtherNode,
    /// It lacks a requested capacity, or enough of it.
    Capacity,
    /// It has a taint that the request does not tolerate.
    Taint,
    /// Counters that it shares with other devices are used up.
    Counters,
    /// It lacks the attribute of a constraint.
    Attribute(Symbol),
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
        let (input, _) = self.input(&prepared, node, interner)?;
        let mut explanation = Explanation::default();
        for pool in input.view.pools.iter().filter(|pool| pool.status != PoolStatus::Ready) {
            let (driver, name) = &input.pools[pool.pool].texts;
            explanation.unusable_pools.push((format!("{driver}/{name}"), pool.status == PoolStatus::Incomplete));
        }
        for (claim, alternative) in alternatives(&prepared).filter(|(_, alternative)| alternative.error.is_none()) {
            let mut devices = Vec::new();
            for at in 0..input.view.blocks.len() {
                let block = input.block(at);
                for bit in bits(block.all) {
                    let reason = reason(&input, claim, alternative, at, block, bit);
                    devices.push((device_id(block, bit, interner), reason));
                }
            }
            let (request, count) = (alternative.reference, alternative.count);
            explanation.requests.push(RequestExplanation { claim, request, count, devices });
        }
        Ok(explanation)
    }
}

fn alternatives(prepared: &Prepared) -> impl Iterator<Item = (usize, &Alternative)> {
    let claims = prepared.claims.iter().enumerate();
    claims.flat_map(|(at, claim)| claim.requests.iter().flat_map(|request| &request.alternatives).map(move |a| (at, a)))
}

fn reason(
    input: &Input<'_>,
    claim: usize,
    alternative: &Alternative,
    at: usize,
    block: &Block,
    bit: u32,
) -> Option<DeviceReason> {
    let view = &input.view.blocks[at];
    let column = input.column(block, alternative);
    let has = |word: u64| word & 1 << bit != 0;
    if has(block.in_use) && !alternative.admin_access {
        return Some(DeviceReason::InUse);
    }
    if !has(column.matching) {
        let shape = &input.shapes[alternative.shape];
        let (selector, failure) = first_unmet(shape, block, bit).unwrap_or_default();
        return Some(match (failure, selector.checked_sub(shape.of_class)) {
            (Some(failure), _) => DeviceReason::SelectorFails(failure),
            (None, None) => DeviceReason::Selector(true, selector),
            (None, Some(selector)) => DeviceReason::Selector(false, selector),
        });
    }
    if !has(view.visible) {
        return Some(DeviceReason::OtherNode);
    }
    if !has(column.selected) || !input.has_room_now(alternative, block, bit) {
        return Some(DeviceReason::Capacity);
    }
    if has(column.tainted) {
        return Some(DeviceReason::Taint);
    }
    let constraints = &input.prepared.claims[claim].constraints;
    let lacking = constraints.iter().filter(|constraint| constraint.concerns(alternative.reference));
    let lacking = lacking.filter_map(|constraint| constraint.attribute);
    if let Some(name) = lacking.into_iter().find(|name| block.attribute(bit, *name).is_none()) {
        return Some(DeviceReason::Attribute(name.name));
    }
    if has(block.consumers) && block.consumed(bit).is_none() {
        let mut counters = Counters::default();
        counters.reset(input.view.pools.len());
        let pool = &input.pools[input.view.pools[view.pool].pool];
        if !counters.take(input.view, pool, view.pool, &view.consumption[bit as usize]) {
            return Some(DeviceReason::Counters);
        }
    }
    None
}
