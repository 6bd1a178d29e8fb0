//! An index.

use std::collections::BTreeMap;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::model::Object;

/// Number of claims in each namespace.
#[derive(Default)]
pub struct Claims(BTreeMap<Symbol, u32>);

impl Index for Claims {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(Object::PersistentVolumeClaim(claim)) = old {
            *self.0.entry(claim.namespace).or_default() -= 1;
        }
        if let Some(Object::PersistentVolumeClaim(claim)) = new {
            *self.0.entry(claim.namespace).or_default() += 1;
        }
    }
}
