//! A filter in a few lines.

use schedc_core::prelude::*;

/// Keeps pods off nodes that have a label.
#[derive(Clone, Copy, Args)]
pub struct Maintenance {
    /// Label of nodes under maintenance.
    #[args(default = "example.com/maintenance", format = "qualified-name")]
    label: &'static str,
}

#[plugin]
impl SimpleFilter for Maintenance {
    type Pod = Symbol;

    fn read(&self, _: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern(self.label)
    }

    fn filter(&self, label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(*label) {
            None => Ok(()),
            Some(_) => Err("node(s) were under maintenance"),
        }
    }
}
