//! Devices of a block that a request selects: evaluated once per block, and shared by all claims with an equal request.

use std::sync::Arc;

use schedc_cel::{CompileError, Selector};
use schedc_core::intern::Symbol;
use schedc_core::model::{
    CapacityRequirements, Device, DeviceTaint, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator,
    QualifiedName,
};
use schedc_core::quantity::Quantity;

use crate::block::{Block, bits};
use crate::capacity::consumption;

/// Amounts of capacities.
pub(crate) type Amounts = Arc<[(QualifiedName, Quantity)]>;

/// A compiled expression, or its error.
pub(crate) type Compiled = Arc<Result<Selector, CompileError>>;

/// Conditions of a request on a single device, independent of other devices.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Name of the class.
    pub(crate) class: Symbol,
    /// Selectors of the class, then those of the request.
    pub(crate) selectors: Vec<Compiled>,
    /// Number of selectors of the class.
    pub(crate) of_class: usize,
    pub(crate) capacity: Option<CapacityRequirements>,
    pub(crate) tolerations: Arc<[DeviceToleration]>,
}

/// Devices of a block, as a request sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Devices that meet all selectors and have the requested capacities.
    pub(crate) selected: u64,
    /// Devices that meet all selectors.
    pub(crate) matching: u64,
    /// Devices for which a selector fails.
    pub(crate) failing: u64,
    /// Devices with a taint that the request does not tolerate.
    pub(crate) tainted: u64,
    /// Capacity that the request consumes of selected devices that several claims may share, by bit.
    pub(crate) consumed: Vec<(u32, Amounts)>,
}

impl Column {
    /// Evaluates a request for the devices of a block.
    pub(crate) fn evaluate(shape: &Shape, block: &Block) -> Column {
        let mut column = Column { matching: block.all, ..Column::default() };
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
                    let verdicts = selector.evaluate(&block.table);
                    let word = |words: &[u64]| words.first().copied().unwrap_or(0);
                    column.failing |= column.matching & word(verdicts.failures());
                    column.matching &= word(verdicts.matches());
                }
            }
        }
        for (bit, device) in block.devices() {
            column.tainted |= u64::from(is_tainted(device, &shape.tolerations)) << bit;
        }
        for bit in bits(column.matching) {
            let Some(consumed) = consumption(shape.capacity.as_ref(), block.device(bit)) else { continue };
            column.selected |= 1 << bit;
            if block.shareable & 1 << bit != 0 {
                column.consumed.push((bit, consumed.into()));
            }
        }
        column
    }

    /// Returns the capacity that the request consumes of a device that several claims may share.
    pub(crate) fn consumed(&self, bit: u32) -> Option<&Arc<[(QualifiedName, Quantity)]>> {
        self.consumed.iter().find(|(device, _)| *device == bit).map(|(_, consumed)| consumed)
    }
}

/// Returns the first selector that a device does not meet, with the reason if it fails.
pub(crate) fn first_unmet(shape: &Shape, block: &Block, bit: u32) -> Option<(usize, Option<String>)> {
    let device = block.table.get(bit as usize)?;
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
