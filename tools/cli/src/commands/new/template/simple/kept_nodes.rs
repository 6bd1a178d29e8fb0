//! A filter in a few lines.

use schedc_core::prelude::*;

/// Reserves nodes with the label `example.com/kept-for` for pods of the namespace in the label.
#[derive(Clone, Copy, Args)]
pub struct KeptNodes;

/// The values that `filter` reads for a pod: the key of the node label, and the pod's namespace.
#[derive(PartialEq, Eq, Hash)]
pub struct Wanted {
    label: Symbol,
    namespace: Symbol,
}

#[plugin]
impl SimpleFilter for KeptNodes {
    type Pod = Wanted;

    fn read(&self, pod: &PodSpec, interner: &mut Interner) -> Wanted {
        Wanted { label: interner.intern("example.com/kept-for"), namespace: pod.namespace }
    }

    fn filter(&self, pod: &Wanted, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(pod.label) {
            Some(namespace) if namespace != pod.namespace => Err("node(s) were kept for another namespace"),
            _ => Ok(()),
        }
    }
}
