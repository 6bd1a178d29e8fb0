//! Devices that are interchangeable in a search. If the search finds no solution with one of them at some point, it
//! finds none with another one at the same point.

use std::hash::{Hash, Hasher};

use schedc_core::map::{FixedHasher, Map};
use schedc_core::model::{DeviceAttribute, QualifiedName};
use schedc_core::quantity::Quantity;

use crate::block::{SIZE, bits};
use crate::input::Input;

/// Class of a device that is not interchangeable with any other.
const SINGLE: u32 = u32::MAX;

/// Classes of interchangeable devices, determined in long searches only.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// By block and bit; empty if they are not determined, or if the order of devices matters.
    classes: Vec<u32>,
    /// The first device with each hash of properties.
    representatives: Map<u64, Representative>,
}

#[derive(Clone, Copy, Debug)]
struct Representative {
    block: usize,
    bit: u32,
}

impl Classes {
    pub(crate) fn reset(&mut self) {
        self.classes.clear();
    }

    /// Returns the class of a device; `None` if there is no other device in it, or the classes are not known.
    pub(crate) fn of(&self, block: usize, bit: u32) -> Option<u32> {
        self.classes.get(block * SIZE + bit as usize).copied().filter(|class| *class != SINGLE)
    }

    /// Determines the classes of all devices.
    pub(crate) fn determine(&mut self, input: &Input<'_>) {
        if !is_independent_of_order(input) {
            return;
        }
        self.representatives.clear();
        self.classes.resize(input.view.blocks.len() * SIZE, SINGLE);
        for at in 0..input.view.blocks.len() {
            for bit in bits(input.block(at).all) {
                if !is_comparable(input, at, bit) {
                    continue;
                }
                let device = Representative { block: at, bit };
                let known = *self.representatives.entry(hash(input, at, bit)).or_insert(device);
                let is_other = (known.block, known.bit) != (at, bit);
                if is_other && properties(input, known.block, known.bit).eq(properties(input, at, bit)) {
                    let class = known.block * SIZE + known.bit as usize;
                    self.classes[class] = class as u32;
                    self.classes[at * SIZE + bit as usize] = class as u32;
                }
            }
        }
    }
}

/// Returns whether the order of equal devices has no effect. It has an effect in four cases: a constraint compares with
/// the latest device, there are constraints and a request for all devices, a request has admin access (claims may take
/// the same device), or a device can end the search with an error.
fn is_independent_of_order(input: &Input<'_>) -> bool {
    let claims = || input.prepared.claims.iter();
    let alternatives = || claims().flat_map(|claim| &claim.requests).flat_map(|request| &request.alternatives);
    let has_constraints = claims().any(|claim| !claim.constraints.is_empty());
    let requests_all = alternatives().any(|alternative| alternative.count.is_none());
    let columns = (0..input.view.blocks.len()).flat_map(|at| {
        let block = input.block(at);
        alternatives().map(move |alternative| input.column(block, alternative))
    });
    let is_any_order_equal = !(requests_all && has_constraints);
    is_any_order_equal
        && claims().flat_map(|claim| &claim.constraints).all(|constraint| !constraint.is_distinct)
        && alternatives().all(|alternative| !alternative.admin_access)
        && columns.into_iter().all(|column| column.failing == 0)
}

/// Returns whether a device can equal others. Devices in use and devices that several claims may share cannot, because
/// their states differ.
fn is_comparable(input: &Input<'_>, at: usize, bit: u32) -> bool {
    let block = input.block(at);
    block.shareable & 1 << bit == 0 && block.consumed(bit).is_none() && block.in_use & 1 << bit == 0
}

/// A property of a device that a search reads.
#[derive(PartialEq, Eq)]
enum Property {
    /// Pool of a counter that it consumes, the counter, and the consumed amount.
    Counter(usize, usize, Quantity),
    /// Whether a request selects it, and whether it has a taint that the request does not tolerate.
    Selected(bool, bool),
    Attribute(QualifiedName, Option<DeviceAttribute>),
}

impl Hash for Property {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Property::Counter(pool, counter, amount) => (pool, counter, amount.value()).hash(state),
            Property::Selected(is_selected, is_tainted) => (is_selected, is_tainted).hash(state),
            Property::Attribute(name, value) => (name, value).hash(state),
        }
    }
}

/// Returns everything that a search reads of a device that no claim holds, apart from its position.
fn properties<'a>(input: &'a Input<'_>, at: usize, bit: u32) -> impl Iterator<Item = Property> + 'a {
    let (block, view) = (input.block(at), &input.view.blocks[at]);
    let is_visible = view.visible & 1 << bit != 0;
    let consumed = view.consumption.get(bit as usize).map_or(&[][..], |consumed| &consumed[..]);
    let counters = consumed.iter().map(|&(counter, amount)| Property::Counter(view.pool, counter, amount));
    let selected = input.prepared.shapes.iter().filter_map(move |&shape| {
        let column = input.list(block).columns[shape].as_ref()?;
        let is_set = |word: u64| word & 1 << bit != 0;
        Some(Property::Selected(is_visible && is_set(column.selected), is_set(column.tainted)))
    });
    let constraints = input.prepared.claims.iter().flat_map(|claim| &claim.constraints);
    let names = constraints.filter_map(|constraint| constraint.attribute);
    let attributes = names.map(move |name| Property::Attribute(name, block.attribute(bit, name)));
    counters.chain(selected).chain(attributes)
}

fn hash(input: &Input<'_>, at: usize, bit: u32) -> u64 {
    let mut hasher = FixedHasher::default();
    properties(input, at, bit).for_each(|property| property.hash(&mut hasher));
    hasher.finish()
}
