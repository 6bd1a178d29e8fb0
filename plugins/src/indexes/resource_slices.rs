//! Resource slices by name.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Object, ResourceSlice};

use super::Epoch;

/// All resource slices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceSlices {
    slices: Map<Symbol, Arc<ResourceSlice>>,
    changes: Epoch,
}

impl ResourceSlices {
    /// Returns the slice with this name.
    pub fn slice(&self, name: Symbol) -> Option<&Arc<ResourceSlice>> {
        self.slices.get(&name)
    }

    /// Returns all slices, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ResourceSlice>> {
        self.slices.values()
    }

    /// Returns the epoch, which changes when a slice is added, changed or removed.
    pub fn changes(&self) -> &Epoch {
        &self.changes
    }
}

impl Index for ResourceSlices {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(Object::ResourceSlice(new)) = new {
            self.slices.insert(new.name, new.clone());
        } else if let Some(Object::ResourceSlice(old)) = old {
            self.slices.remove(&old.name);
        } else {
            return;
        }
        self.changes.advance();
    }
}
