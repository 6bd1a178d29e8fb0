//! Evaluation of a request for a list of devices.

use schedc_core::intern::Symbol;
use schedc_core::model::{Device, DeviceTaint, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator};

use crate::block::{bits, bits_of};
use crate::capacity::consumption;
use crate::column::{Column, Shape};
use crate::device_list::DeviceList;

impl Column {
    /// Evaluates a request for the devices of a list.
    pub(crate) fn evaluate(shape: &Shape, list: &DeviceList) -> Column {
        let devices = list.devices();
        let mut column = Column { matching: bits_of(devices, |_| true), ..Column::default() };
        for selector in &shape.selectors {
            if column.matching == 0 {
                break;
            }
            match &**selector {
                Err(_) => {
                    column.failing |= column.matching;
                    column.matching = 0;
                }
                Ok(selector) => {
                    let verdicts = selector.evaluate(&list.table);
                    let word = |words: &[u64]| words.first().copied().unwrap_or(0);
                    column.failing |= column.matching & word(verdicts.failures());
                    column.matching &= word(verdicts.matches());
                }
            }
        }
        column.tainted = bits_of(devices, |device| is_tainted(device, &shape.tolerations));
        for bit in bits(column.matching) {
            let device = &devices[bit as usize];
            let Some(consumed) = consumption(shape.capacity.as_ref(), device) else { continue };
            column.selected |= 1 << bit;
            if device.allow_multiple_allocations {
                column.consumed.push((bit, consumed.into()));
            }
        }
        column
    }
}

/// Returns the position of the first selector that a device does not meet, and the error if the selector fails.
pub(crate) fn first_unmet(shape: &Shape, list: &DeviceList, bit: u32) -> Option<(usize, Option<String>)> {
    let device = list.table.get(bit as usize)?;
    shape.selectors.iter().enumerate().find_map(|(at, selector)| match &**selector {
        Err(error) => Some((at, Some(format!("CEL compile error: {error}")))),
        Ok(selector) => match selector.matches(device) {
            Ok(true) => None,
            Ok(false) => Some((at, None)),
            Err(error) => Some((at, Some(format!("CEL runtime error: {error}")))),
        },
    })
}

/// Returns whether a device has a taint that prevents its allocation.
fn is_tainted(device: &Device, tolerations: &[DeviceToleration]) -> bool {
    let prevents =
        |taint: &&DeviceTaint| matches!(taint.effect, DeviceTaintEffect::NoSchedule | DeviceTaintEffect::NoExecute);
    device
        .taints
        .iter()
        .filter(prevents)
        .any(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint)))
}

fn tolerates(toleration: &DeviceToleration, taint: &DeviceTaint) -> bool {
    if toleration.effect.is_some_and(|effect| effect != taint.effect) {
        return false;
    }
    if toleration.key != Symbol::EMPTY && toleration.key != taint.key {
        return false;
    }
    match toleration.operator {
        DeviceTolerationOperator::Unset | DeviceTolerationOperator::Equal => toleration.value == taint.value,
        DeviceTolerationOperator::Exists => true,
        DeviceTolerationOperator::Other(_) => false,
    }
}
