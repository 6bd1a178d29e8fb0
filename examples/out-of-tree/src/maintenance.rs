//! A filter in ten lines.

use schedc_core::SimpleFilter;
use schedc_core::column::NodeInfo;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::PodSpec;

/// Keeps nodes with the label `example.com/maintenance` free of pods.
#[derive(Default)]
pub struct Maintenance;

impl SimpleFilter for Maintenance {
    const NAME: &'static str = "Maintenance";
    type Pod = Symbol;

    fn read(_: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern("example.com/maintenance")
    }

    #[inline]
    fn filter(label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(*label) {
            None => Ok(()),
            Some(_) => Err("node(s) were under maintenance"),
        }
    }
}
