//! Conditions on several devices of a claim, during a search.

use schedc_core::model::{DeviceAttribute, RequestRef};

use crate::block::Block;
use crate::prepared::PreparedConstraint;

/// Devices that a constraint has accepted.
#[derive(Debug, Default)]
pub(crate) struct ConstraintState {
    count: usize,
    /// Value of the first device.
    first: Option<DeviceAttribute>,
    /// Latest value of each request. As in Kubernetes, the removal of a device also removes the value of its request,
    /// although earlier devices of the request remain.
    latest: Vec<Option<DeviceAttribute>>,
}

impl ConstraintState {
    pub(crate) fn reset(&mut self, requests: usize) {
        self.count = 0;
        self.first = None;
        self.latest.clear();
        self.latest.resize(requests, None);
    }

    /// Adds a device of a request. Returns whether the constraint permits it.
    pub(crate) fn add(
        &mut self,
        constraint: &PreparedConstraint,
        request: RequestRef,
        first_with_name: usize,
        block: &Block,
        bit: u32,
    ) -> bool {
        if !constraint.concerns(request) {
            return true;
        }
        let Some(value) = constraint.attribute.and_then(|name| block.attribute(bit, name)) else { return false };
        if self.count > 0 {
            let is_permitted = if constraint.is_distinct {
                self.latest.iter().flatten().all(|known| *known != value && value != DeviceAttribute::Unknown)
            } else {
                self.first == Some(value) && value != DeviceAttribute::Unknown
            };
            if !is_permitted {
                return false;
            }
        } else {
            self.first = Some(value);
        }
        self.latest[first_with_name] = Some(value);
        self.count += 1;
        true
    }

    /// Removes the latest device of a request.
    pub(crate) fn remove(&mut self, constraint: &PreparedConstraint, request: RequestRef, first_with_name: usize) {
        if constraint.concerns(request) {
            self.latest[first_with_name] = None;
            self.count -= 1;
        }
    }
}
