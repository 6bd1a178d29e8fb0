//! A filter in ten lines.

use schedc_core::SimpleFilter;
use schedc_core::column::NodeInfo;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::PodSpec;

/// Reserves nodes with the label `example.com/kept-for` for pods of the namespace in the label.
#[derive(Default)]
pub struct KeptNodes;

/// The pod data that the plugin reads: its namespace, and the label key to compare with.
#[derive(PartialEq, Eq, Hash)]
pub struct Wanted {
    label: Symbol,
    namespace: Symbol,
}

impl SimpleFilter for KeptNodes {
    const NAME: &'static str = "KeptNodes";
    type Pod = Wanted;

    fn read(pod: &PodSpec, interner: &mut Interner) -> Wanted {
        Wanted { label: interner.intern("example.com/kept-for"), namespace: pod.namespace }
    }

    #[inline]
    fn filter(pod: &Wanted, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(pod.label) {
            Some(namespace) if namespace != pod.namespace => Err("node(s) were kept for another namespace"),
            _ => Ok(()),
        }
    }
}
