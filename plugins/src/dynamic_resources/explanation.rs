//! Reasons why a node has no devices for a pod's claims, for reports.

use schedc_core::extension_points::Shortage;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, QualifiedName};
use schedc_device_allocator::{Conflict, DeviceReason, Explanation, Failure, RequestExplanation, Unfit};
use serde_json::{Value, json};

use super::devices::Devices;
use super::evaluation::{Infeasible, NodeEvaluator};
use super::pod_claims::{ClaimState, bit};

/// Maximum number of devices in a line.
const MAX_DEVICES: usize = 4;

impl NodeEvaluator<'_> {
    /// Returns the shortage of a node for the claims; `None` if the claims fail for another reason.
    pub(super) fn explain(&self, devices: &mut Devices, index: NodeIndex) -> Option<Shortage> {
        let interner = &self.base.interner;
        let mut found = None;
        let result = self.check(devices, index, |devices, node, claims| {
            let explained = devices.explain(node, &claims.prepared, interner);
            let lacks_devices = explained.as_ref().map_or(true, |explanation| explanation.lacks_devices);
            found = Some(explained);
            // If the node has enough devices, allocated claims that cannot be used on it are the reason.
            if lacks_devices { Err(Unfit::NoDevices) } else { Ok(()) }
        });
        let mut shortage = match found {
            Some(explained) => self.describe(explained),
            None => Shortage { data: json!({}), lines: Vec::new() },
        };
        if let Err(Infeasible::Unavailable(claims)) = result {
            self.add_unavailable(claims, &mut shortage);
        }
        (!shortage.lines.is_empty()).then_some(shortage)
    }

    fn describe(&self, explained: Result<Explanation, Failure>) -> Shortage {
        let explanation = match explained {
            Ok(explanation) => explanation,
            Err(failure) => {
                let message = failure.message(|at| self.name(at));
                return Shortage { data: json!({ "failure": message }), lines: vec![message] };
            }
        };
        let (mut pools, mut requests, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for (pool, is_incomplete) in &explanation.unusable_pools {
            let problem = if *is_incomplete { "incomplete" } else { "invalid" };
            lines.push(format!("pool {pool} is {problem}"));
            pools.push(json!({ "pool": pool, "problem": problem }));
        }
        for request in &explanation.requests {
            requests.push(self.request_data(request));
            if !request.has_enough() {
                self.add_request(request, &mut lines);
            }
        }
        let mut data = json!({ "requests": requests });
        if !pools.is_empty() {
            data["unusablePools"] = pools.into();
        }
        if let Some(conflict) = explanation.conflict {
            let (conflict, line) = self.conflict(conflict);
            data["conflict"] = conflict;
            lines.push(line);
        }
        Shortage { data, lines }
    }

    /// Adds lines about the devices of a request; all devices with the same reason share a line. Devices of other
    /// classes are omitted if the request's class has devices.
    fn add_request(&self, request: &RequestExplanation, lines: &mut Vec<String>) {
        let interner = &self.base.interner;
        let is_of_class = |reason: &Option<DeviceReason>| !matches!(reason, Some(DeviceReason::Selector(true, _)));
        let of_class = request.devices.iter().filter(|(_, reason)| is_of_class(reason)).count();
        let needed = request.count.map_or_else(|| "all".to_owned(), |count| count.to_string());
        let (claim, name) = (self.name(request.claim), request.request.display(interner));
        let available = request.available();
        lines.push(format!(
            "{claim}, request {name}: {available} of {of_class} devices of the class are available, {needed} needed"
        ));
        let mut groups: Vec<(&DeviceReason, Vec<&str>)> = Vec::new();
        for (device, reason) in request.devices.iter().filter(|(_, reason)| of_class == 0 || is_of_class(reason)) {
            let Some(reason) = reason else { continue };
            match groups.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, devices)) => devices.push(device),
                None => groups.push((reason, vec![device])),
            }
        }
        for (reason, devices) in groups {
            let shown = devices[..devices.len().min(MAX_DEVICES)].join(", ");
            let rest = match devices.len().saturating_sub(MAX_DEVICES) {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            lines.push(format!("  {}: {shown}{rest}", reason_text(reason, interner)));
        }
    }

    fn request_data(&self, request: &RequestExplanation) -> Value {
        let interner = &self.base.interner;
        let device = |(device, reason): &(String, Option<DeviceReason>)| match reason {
            None => json!({ "device": device }),
            Some(reason) => {
                let text = reason_text(reason, interner);
                json!({ "device": device, "reason": reason_name(reason), "message": text })
            }
        };
        json!({
            "claim": self.name(request.claim),
            "request": request.request.display(interner).to_string(),
            "needed": request.count,
            "available": request.available(),
            "enough": request.has_enough(),
            "devices": request.devices.iter().map(device).collect::<Vec<_>>(),
        })
    }

    fn conflict(&self, conflict: Conflict) -> (Value, String) {
        let interner = &self.base.interner;
        match conflict {
            Conflict::Constraint { claim, attribute, is_distinct } => {
                let (claim, attribute) = (self.name(claim), attribute.display(interner).to_string());
                let kind = if is_distinct { "distinctAttribute" } else { "matchAttribute" };
                let line = format!("{claim}: no available devices meet the constraint {kind} {attribute}");
                (json!({ "claim": claim, kind: attribute }), line)
            }
            Conflict::Request { claim, request } => {
                let (claim, request) = (self.name(claim), interner.resolve(request));
                let line = format!("{claim}, request {request}: earlier requests leave too few devices");
                (json!({ "claim": claim, "request": request }), line)
            }
        }
    }

    /// Adds the allocated claims that cannot be used on the node.
    fn add_unavailable(&self, marks: u64, shortage: &mut Shortage) {
        let interner = &self.base.interner;
        let mut unavailable = Vec::new();
        let marked = self.claims.claims.iter().enumerate().filter(|(at, _)| marks & bit(*at) != 0);
        for claim in marked.map(|(_, claim)| claim) {
            let (ClaimState::Allocated { has_failed, .. }, Some(object)) = (&claim.state, &claim.claim) else {
                continue;
            };
            let name = format!("{}/{}", interner.resolve(object.namespace), interner.resolve(object.name));
            let problem = match has_failed {
                true => "its devices failed, or were not ready in time",
                false => "its devices are for other nodes",
            };
            shortage.lines.push(format!("{name}: {problem}"));
            unavailable.push(json!({ "claim": name, "message": problem }));
        }
        shortage.data["unavailableClaims"] = unavailable.into();
    }

    /// Returns the name of a claim by its position among those that are to be allocated.
    pub(super) fn name(&self, at: usize) -> String {
        let interner = &self.base.interner;
        let is_new = |state: &ClaimState| matches!(state, ClaimState::Unallocated(_) | ClaimState::Extended);
        let claim = self.claims.claims.iter().filter(|claim| is_new(&claim.state)).nth(at);
        match claim.and_then(|claim| claim.claim.as_ref()) {
            Some(claim) => format!("{}/{}", interner.resolve(claim.namespace), interner.resolve(claim.name)),
            None => format!("{}/<extended-resources>", self.pod.namespace),
        }
    }
}

fn reason_name(reason: &DeviceReason) -> &'static str {
    match reason {
        DeviceReason::InUse(_) => "InUse",
        DeviceReason::Selector(..) => "Selector",
        DeviceReason::SelectorFails(_) => "SelectorError",
        DeviceReason::OtherNode => "OtherNode",
        DeviceReason::Capacity => "Capacity",
        DeviceReason::Taint => "Taint",
        DeviceReason::Counters(_) => "Counters",
        DeviceReason::Attribute(_) => "Attribute",
    }
}

fn reason_text(reason: &DeviceReason, interner: &Interner) -> String {
    let attribute = |name: &QualifiedName| name.display(interner).to_string();
    match reason {
        DeviceReason::InUse(Some(claim)) => format!("in use by {claim}"),
        DeviceReason::InUse(None) => "in use".to_owned(),
        DeviceReason::Selector(true, at) => format!("selector #{at} of the class does not match"),
        DeviceReason::Selector(false, at) => format!("selector #{at} of the request does not match"),
        DeviceReason::SelectorFails(failure) => failure.clone(),
        DeviceReason::OtherNode => "for other nodes".to_owned(),
        DeviceReason::Capacity => "not enough capacity".to_owned(),
        DeviceReason::Taint => "taint that the request does not tolerate".to_owned(),
        DeviceReason::Counters(counter) => format!("not enough left of shared counter {counter}"),
        DeviceReason::Attribute(name) => format!("no attribute {} for a constraint", attribute(name)),
    }
}
