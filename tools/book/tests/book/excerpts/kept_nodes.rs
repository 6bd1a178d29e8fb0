//! The plugin of `schedc new` with the changes of the tutorial.

use schedc_core::SimpleFilter;
use schedc_core::column::NodeInfo;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::PodSpec;

#[derive(Default)]
pub struct KeptNodes;

#[derive(PartialEq, Eq, Hash)]
pub struct Wanted {
    label: Symbol,
    namespace: Symbol,
    is_system: bool,
}

impl SimpleFilter for KeptNodes {
    const NAME: &'static str = "KeptNodes";
    type Pod = Wanted;

    fn read(pod: &PodSpec, interner: &mut Interner) -> Wanted {
        let is_system = pod.namespace == interner.intern("kube-system");
        Wanted { label: interner.intern("example.com/kept-for"), namespace: pod.namespace, is_system }
    }

    #[inline]
    fn filter(pod: &Wanted, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(pod.label) {
            Some(namespace) if namespace != pod.namespace && !pod.is_system => {
                Err("node(s) were kept for another namespace")
            }
            _ => Ok(()),
        }
    }
}
