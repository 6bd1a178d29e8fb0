//! Lists of devices. Blocks with equal devices share a list, and selectors are evaluated once for each list.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use schedc_cel::Devices;
use schedc_core::intern::Interner;
use schedc_core::model::{Device, ResourceSlice};
use slab::Slab;

use crate::block::{Block, SIZE, bits_of, table};
use crate::column::Column;

/// Number of lists with which the devices of a new block are compared.
const MAX_RECENT: usize = 8;

/// Up to 64 consecutive devices of a slice, without their use.
#[derive(Debug)]
pub(crate) struct DeviceList {
    /// The first slice that had these devices.
    slice: Arc<ResourceSlice>,
    /// Position of the first device in this slice.
    first: usize,
    /// Attributes and capacities, as selectors read them.
    pub(crate) table: Devices,
    /// Devices that several claims may share, or that consume counters.
    pub(crate) special: u64,
    /// Devices that requests select, by index of the request's [`crate::column::Shape`].
    pub(crate) columns: Vec<Option<Column>>,
    /// Epoch of the inventory's shapes that `columns` belongs to.
    pub(crate) epoch: u64,
    /// Number of blocks that share the list.
    blocks: usize,
}

/// Tables of all blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockTables {
    pub(crate) lists: DeviceLists,
    /// Copies of the use of each block, by the block's key. They are contiguous because a search may read many of them.
    pub(crate) uses: Slab<BlockUse>,
}

/// Use of the devices of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockUse {
    /// Devices that no claim holds exclusively.
    pub(crate) free: u64,
    /// Whether claims consume capacity of a device.
    pub(crate) is_consumed: bool,
}

/// The lists of all blocks.
#[derive(Debug, Default)]
pub(crate) struct DeviceLists {
    lists: Slab<DeviceList>,
    /// The latest lists.
    recent: Vec<usize>,
}

impl DeviceList {
    pub(crate) fn devices(&self) -> &[Device] {
        devices(&self.slice, self.first)
    }
}

/// Returns the devices of a slice from a position on, up to the size of a block.
pub(crate) fn devices(slice: &ResourceSlice, first: usize) -> &[Device] {
    &slice.devices[first..slice.devices.len().min(first + SIZE)]
}

impl BlockTables {
    /// Removes the entries of a block.
    pub(crate) fn remove(&mut self, block: &Block) {
        self.lists.release(block.list);
        self.uses.remove(block.number);
    }
}

impl DeviceLists {
    /// Returns the key of the list of devices that begin at a position of a slice. A recent list with equal devices of the
    /// same driver is shared. Call `release` when the devices are no longer needed.
    pub(crate) fn add(&mut self, slice: &Arc<ResourceSlice>, first: usize, interner: &Interner) -> usize {
        let devices = devices(slice, first);
        let is_equal = |at: &&usize| {
            let known = &self.lists[**at];
            known.slice.driver == slice.driver && known.devices() == devices
        };
        if let Some(&at) = self.recent.iter().rev().find(is_equal) {
            self.lists[at].blocks += 1;
            return at;
        }
        let at = self.lists.insert(DeviceList {
            slice: slice.clone(),
            first,
            table: table(interner.resolve(slice.driver), devices, interner),
            special: bits_of(devices, |device| {
                device.allow_multiple_allocations || !device.consumes_counters.is_empty()
            }),
            columns: Vec::new(),
            epoch: 0,
            blocks: 1,
        });
        if self.recent.len() == MAX_RECENT {
            self.recent.remove(0);
        }
        self.recent.push(at);
        at
    }

    /// Releases a list after a block is removed.
    fn release(&mut self, at: usize) {
        let list = &mut self.lists[at];
        list.blocks -= 1;
        if list.blocks == 0 {
            self.lists.remove(at);
            self.recent.retain(|recent| *recent != at);
        }
    }
}

impl Index<usize> for DeviceLists {
    type Output = DeviceList;
    fn index(&self, at: usize) -> &DeviceList {
        &self.lists[at]
    }
}

impl IndexMut<usize> for DeviceLists {
    fn index_mut(&mut self, at: usize) -> &mut DeviceList {
        &mut self.lists[at]
    }
}
