//! Blocks of up to 64 devices of a slice. A property of devices is a word with one bit for each device.

use std::sync::Arc;

use schedc_cel::{Attribute, Devices};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Device, DeviceAttribute, DeviceCapacity, QualifiedName, ResourceSlice};
use schedc_core::quantity::Quantity;

use crate::column::Column;

/// Maximum number of devices in a block.
pub(crate) const SIZE: usize = 64;

/// Consecutive devices of a slice.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) slice: Arc<ResourceSlice>,
    /// Position of the first device in the slice.
    first: usize,
    /// Attributes and capacities, as selectors read them.
    pub(crate) table: Devices,
    /// All devices of the block.
    pub(crate) all: u64,
    /// Devices that several claims may share.
    pub(crate) shareable: u64,
    /// Devices that consume counters.
    pub(crate) consumers: u64,
    /// Devices that a claim holds exclusively.
    pub(crate) in_use: u64,
    /// Devices that a claim holds, exclusively or shared.
    pub(crate) held: u64,
    /// Consumed capacity of devices that claims share, by bit.
    pub(crate) consumed: Vec<(u32, Vec<(QualifiedName, Quantity)>)>,
    /// Devices that requests select, by index of the request's [`crate::column::Shape`].
    pub(crate) columns: Vec<Option<Column>>,
    /// Epoch of the inventory's shapes that `columns` belongs to.
    pub(crate) epoch: u64,
}

impl Block {
    /// Divides the devices of a slice into blocks.
    pub(crate) fn of(slice: &Arc<ResourceSlice>, interner: &Interner) -> Vec<Block> {
        let chunks = slice.devices.chunks(SIZE).enumerate();
        chunks.map(|(at, devices)| Block::new(slice, at * SIZE, devices, interner)).collect()
    }

    fn new(slice: &Arc<ResourceSlice>, first: usize, devices: &[Device], interner: &Interner) -> Block {
        let bits = |is_set: fn(&Device) -> bool| {
            devices.iter().enumerate().fold(0, |bits, (at, device)| bits | u64::from(is_set(device)) << at)
        };
        Block {
            slice: slice.clone(),
            first,
            table: table(interner.resolve(slice.driver), devices, interner),
            all: bits(|_| true),
            shareable: bits(|device| device.allow_multiple_allocations),
            consumers: bits(|device| !device.consumes_counters.is_empty()),
            in_use: 0,
            held: 0,
            consumed: Vec::new(),
            columns: Vec::new(),
            epoch: 0,
        }
    }

    /// Returns the devices with their bits.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (u32, &Device)> {
        (0..).zip(self.slice.devices[self.first..].iter().take(SIZE))
    }

    pub(crate) fn device(&self, bit: u32) -> &Device {
        &self.slice.devices[self.first + bit as usize]
    }

    /// Returns the capacity that allocated claims consume of a device.
    pub(crate) fn consumed(&self, bit: u32) -> Option<&[(QualifiedName, Quantity)]> {
        self.consumed.iter().find(|(device, _)| *device == bit).map(|(_, consumed)| &consumed[..])
    }

    /// Returns the value of an attribute of a device. A name without domain belongs to the driver.
    pub(crate) fn attribute(&self, bit: u32, name: QualifiedName) -> Option<DeviceAttribute> {
        let attributes = &self.device(bit).attributes;
        let value = |name: QualifiedName| attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        value(name).or_else(|| {
            let is_of_driver = name.domain == Some(self.slice.driver);
            is_of_driver.then(|| value(QualifiedName { domain: None, name: name.name })).flatten()
        })
    }
}

/// Returns the devices as a table for selectors.
fn table(driver: &str, devices: &[Device], interner: &Interner) -> Devices {
    let mut table = Devices::new();
    for device in devices {
        let mut row = table.add(driver, device.allow_multiple_allocations);
        for (name, value) in &device.attributes {
            let name = name.display(interner).to_string();
            row = match *value {
                DeviceAttribute::Int(value) => row.attribute(&name, Attribute::Int(value)),
                DeviceAttribute::Bool(value) => row.attribute(&name, Attribute::Bool(value)),
                DeviceAttribute::String(value) => row.attribute(&name, Attribute::String(resolve(value, interner))),
                DeviceAttribute::Version(value) => row.version(&name, interner.resolve(value)),
                DeviceAttribute::Unknown => row.unsupported(&name),
            };
        }
        for (name, DeviceCapacity { value, .. }) in &device.capacity {
            row = row.capacity(&name.display(interner).to_string(), *value);
        }
    }
    table
}

fn resolve(symbol: Symbol, interner: &Interner) -> Box<str> {
    interner.resolve(symbol).into()
}

/// Returns the positions of set bits, in ascending order.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

/// Returns a mask of all bits from a position on.
pub(crate) fn bits_from(bit: u32) -> u64 {
    u64::MAX.checked_shl(bit).unwrap_or(0)
}
