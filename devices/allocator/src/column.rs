//! Requests, and the devices of a list that they select. The result is shared by all claims with an equal request.

use std::sync::Arc;

use schedc_cel::{CompileError, Selector};
use schedc_core::intern::Symbol;
use schedc_core::model::{CapacityRequirements, DeviceToleration, QualifiedName};
use schedc_core::quantity::Quantity;

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
    pub(crate) class_selectors: usize,
    pub(crate) capacity: Option<CapacityRequirements>,
    pub(crate) tolerations: Arc<[DeviceToleration]>,
}

/// Devices of a list, as a request sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Devices that meet all selectors and have the requested capacities.
    pub(crate) selected: u64,
    /// Devices that meet all selectors.
    pub(crate) matching: u64,
    /// Devices for which the evaluation of a selector fails.
    pub(crate) failing: u64,
    /// Devices with a taint that the request does not tolerate.
    pub(crate) tainted: u64,
    /// Capacity that the request consumes of selected devices that several claims may share, by bit.
    pub(crate) consumed: Vec<(u32, Amounts)>,
}

impl Column {
    /// Returns the capacity that the request consumes of a device that several claims may share.
    pub(crate) fn consumed(&self, bit: u32) -> Option<&Arc<[(QualifiedName, Quantity)]>> {
        self.consumed.iter().find(|(device, _)| *device == bit).map(|(_, consumed)| consumed)
    }
}
