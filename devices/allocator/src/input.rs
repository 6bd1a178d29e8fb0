//! Inputs of a search.

use schedc_core::intern::Interner;
use slab::Slab;

use crate::block::Block;
use crate::capacity::{Amounts, consumption, fits};
use crate::column::{Column, Shape};
use crate::device_list::{BlockTables, DeviceList};
use crate::error::Failure;
use crate::evaluation::first_unmet;
use crate::pool::Pool;
use crate::prepared::{Alternative, Prepared};
use crate::view::NodeView;

/// Claims, and the devices that a node sees.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) pools: &'a Slab<Pool>,
    pub(crate) tables: &'a BlockTables,
    pub(crate) view: &'a NodeView,
    pub(crate) prepared: &'a Prepared,
    pub(crate) shapes: &'a [Shape],
    pub(crate) interner: &'a Interner,
}

impl<'a> Input<'a> {
    pub(crate) fn block(&self, at: usize) -> &'a Block {
        let view = &self.view.blocks[at];
        &self.pools[self.view.pools[view.pool].pool].slices[view.slice].blocks[view.block]
    }

    pub(crate) fn list(&self, block: &Block) -> &'a DeviceList {
        &self.tables.lists[block.list]
    }

    pub(crate) fn column(&self, block: &Block, alternative: &Alternative) -> &'a Column {
        self.column_of_list(block.list, alternative)
    }

    /// Returns the devices of a list that an alternative selects.
    pub(crate) fn column_of_list(&self, list: usize, alternative: &Alternative) -> &'a Column {
        self.tables.lists[list].columns[alternative.shape].as_ref().expect("columns are evaluated before the search")
    }

    /// Returns whether a device has the capacity that a request consumes, in addition to the capacity that allocated
    /// claims consume.
    pub(crate) fn has_free_capacity(&self, alternative: &Alternative, block: &'a Block, bit: u32) -> bool {
        self.has_capacity(alternative, block, bit, std::iter::empty())
    }

    /// Returns whether a device has the capacity that a request consumes, in addition to the capacity that allocated
    /// claims and the `picked` requests of the search consume.
    pub(crate) fn has_capacity<'p>(
        &self,
        alternative: &Alternative,
        block: &'p Block,
        bit: u32,
        picked: impl Iterator<Item = &'p Amounts> + Clone,
    ) -> bool
    where
        'a: 'p,
    {
        let (held, device) = (block.consumed(bit), block.device(bit));
        if let Some(column) = &self.list(block).columns[alternative.shape]
            && let Some(consumed) = column.consumed(bit)
        {
            return fits(device, consumed, held.into_iter().chain(picked));
        }
        // The device is not shareable. Claims that consume a part of it were allocated when it still was shareable.
        held.is_none_or(|held| {
            let capacity = self.shapes[alternative.shape].capacity.as_ref();
            consumption(capacity, device).is_some_and(|consumed| fits(device, &consumed, [held].into_iter()))
        })
    }

    /// Returns the failure for a device on which a selector of the request fails.
    pub(crate) fn selector_failure(&self, claim: usize, alternative: &Alternative, block: &Block, bit: u32) -> Failure {
        let shape = &self.shapes[alternative.shape];
        let (at, text) = first_unmet(shape, self.list(block), bit).unwrap_or_default();
        let text = text.unwrap_or_default();
        match at.checked_sub(shape.class_selectors) {
            None => Failure::new(format!("class {}: selector #{at}: {text}", self.interner.resolve(shape.class))),
            Some(at) => Failure::of_claim(claim, format!(": selector #{at}: {text}")),
        }
    }
}

/// Returns the driver, pool and name of a device.
pub(crate) fn device_id(block: &Block, bit: u32, interner: &Interner) -> String {
    let [driver, pool, device] =
        [block.slice.driver, block.slice.pool, block.device(bit).name].map(|symbol| interner.resolve(symbol));
    format!("{driver}/{pool}/{device}")
}
