//! Amounts that a request consumes of the capacities of a device.

use schedc_core::model::{
    CapacityRequestPolicy, CapacityRequestRange, CapacityRequirements, Device, DeviceCapacity, QualifiedName,
};
use schedc_core::quantity::Quantity;

/// Amounts by capacity.
pub(crate) type Amounts = [(QualifiedName, Quantity)];

/// Returns the amount that a request consumes of each capacity of a device. `None`: the request does not fit the
/// device, even if no other claim uses the device.
pub(crate) fn consumption(
    requested: Option<&CapacityRequirements>,
    device: &Device,
) -> Option<Vec<(QualifiedName, Quantity)>> {
    let requests = requested.map_or(&[][..], |requested| &requested.requests);
    let is_known = |name| device.capacity.iter().any(|(known, _)| *known == name);
    if !requests.iter().all(|(name, _)| is_known(*name)) {
        return None;
    }
    let amount = |(name, capacity): &(QualifiedName, DeviceCapacity)| {
        let requested = requests.iter().find(|(known, _)| known == name).map(|(_, amount)| *amount);
        let amount = rounded(requested, capacity);
        let policy = capacity.request_policy.as_deref();
        let fits = amount <= capacity.value && policy.is_none_or(|policy| is_valid(amount, policy));
        fits.then_some((*name, amount))
    };
    device.capacity.iter().map(amount).collect()
}

/// Returns whether the capacities of a device suffice for `amounts` in addition to the consumed amounts.
pub(crate) fn fits<'a>(
    device: &Device,
    amounts: &Amounts,
    consumed: impl Iterator<Item = &'a Amounts> + Clone,
) -> bool {
    device.capacity.iter().zip(amounts).all(|((name, capacity), (_, amount))| {
        let mut total = *amount;
        for (_, consumed) in consumed.clone().flatten().filter(|(other, _)| other == name) {
            total.add(*consumed);
        }
        total <= capacity.value
    })
}

/// Rounds a requested amount up by the device's policy. An amount above all valid values is not changed. Without a
/// requested amount, returns the policy's default, or the whole capacity if the policy has no default.
fn rounded(requested: Option<Quantity>, capacity: &DeviceCapacity) -> Quantity {
    let policy = capacity.request_policy.as_deref();
    let Some(requested) = requested else {
        return policy.and_then(|policy| policy.default).unwrap_or(capacity.value);
    };
    match policy {
        Some(CapacityRequestPolicy {
            valid_range: Some(CapacityRequestRange { min: Some(min), step, .. }), ..
        }) => rounded_to_step(requested, *min, *step),
        Some(policy) => policy.valid_values.iter().copied().find(|valid| requested <= *valid).unwrap_or(requested),
        None => requested,
    }
}

fn rounded_to_step(requested: Quantity, min: Quantity, step: Option<Quantity>) -> Quantity {
    if requested < min {
        return min;
    }
    let Some(step) = step.map(Quantity::value).filter(|step| *step != 0) else { return requested };
    let min = min.value();
    let added = requested.value().wrapping_sub(min);
    let steps = added.wrapping_div(step).wrapping_add(i64::from(added.wrapping_rem(step) != 0));
    Quantity::from_units(min.wrapping_add(step.wrapping_mul(steps)))
}

/// Returns whether a policy permits an amount.
fn is_valid(amount: Quantity, policy: &CapacityRequestPolicy) -> bool {
    if policy.default.is_some_and(|default| default == amount) {
        return true;
    }
    match &policy.valid_range {
        Some(range) => {
            let min = range.min.map_or(0, Quantity::value);
            let is_step = |step: i64| step == 0 || amount.value().wrapping_sub(min).wrapping_rem(step) == 0;
            range.max.is_none_or(|max| amount <= max) && range.step.is_none_or(|step| is_step(step.value()))
        }
        None => policy.valid_values.is_empty() || policy.valid_values.contains(&amount),
    }
}
