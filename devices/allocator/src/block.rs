//! Blocks of up to 64 devices of a slice. A property of devices is a word with one bit for each device.

use std::sync::Arc;

use schedc_cel::{Attribute, Devices};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Device, DeviceAttribute, DeviceCapacity, QualifiedName, ResourceSlice};
use schedc_core::quantity::Quantity;
use smallvec::SmallVec;

use crate::device_list::{BlockTables, BlockUse, devices};

/// Maximum number of devices in a block.
pub(crate) const SIZE: usize = 64;

/// Consumed capacity of a device. Most devices have one capacity.
pub(crate) type Consumption = SmallVec<[(QualifiedName, Quantity); 1]>;

/// Consecutive devices of a slice.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) slice: Arc<ResourceSlice>,
    /// Position of the first device in the slice.
    first: usize,
    /// Key of its [`crate::device_list::DeviceList`].
    pub(crate) list: usize,
    /// Key of its use in [`BlockTables`].
    pub(crate) number: usize,
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
    pub(crate) consumed: Vec<(u32, Consumption)>,
}

impl Block {
    /// Divides the devices of a slice into blocks.
    pub(crate) fn of(slice: &Arc<ResourceSlice>, tables: &mut BlockTables, interner: &Interner) -> Vec<Block> {
        (0..slice.devices.len()).step_by(SIZE).map(|first| Block::new(slice, first, tables, interner)).collect()
    }

    fn new(slice: &Arc<ResourceSlice>, first: usize, tables: &mut BlockTables, interner: &Interner) -> Block {
        let devices = devices(slice, first);
        let bits = |is_set: fn(&Device) -> bool| bits_of(devices, is_set);
        let all = bits(|_| true);
        Block {
            slice: slice.clone(),
            first,
            list: tables.lists.add(slice, first, interner),
            number: tables.uses.insert(BlockUse { free: all, is_consumed: false }),
            all,
            shareable: bits(|device| device.allow_multiple_allocations),
            consumers: bits(|device| !device.consumes_counters.is_empty()),
            in_use: 0,
            held: 0,
            consumed: Vec::new(),
        }
    }

    /// Copies the use of its devices to the tables.
    pub(crate) fn copy_use(&self, tables: &mut BlockTables) {
        let free = self.all & !self.in_use;
        tables.uses[self.number] = BlockUse { free, is_consumed: !self.consumed.is_empty() };
    }

    /// Returns the devices with their bits.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (u32, &Device)> {
        (0..).zip(devices(&self.slice, self.first))
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

/// Returns the devices for which `is_set` returns true.
pub(crate) fn bits_of(devices: &[Device], is_set: impl Fn(&Device) -> bool) -> u64 {
    devices.iter().enumerate().fold(0, |bits, (at, device)| bits | u64::from(is_set(device)) << at)
}

/// Returns the devices as a table for selectors.
pub(crate) fn table(driver: &str, devices: &[Device], interner: &Interner) -> Devices {
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
