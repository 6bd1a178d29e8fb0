//! A filter in a few lines.

use schedc_core::prelude::*;

/// Keeps nodes with the label `example.com/maintenance` free of pods.
#[derive(Clone, Copy, Args)]
pub struct Maintenance;

#[plugin]
impl SimpleFilter for Maintenance {
    type Pod = Symbol;

    fn read(&self, _: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern("example.com/maintenance")
    }

    fn filter(&self, label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(*label) {
            None => Ok(()),
            Some(_) => Err("node(s) were under maintenance"),
        }
    }
}
