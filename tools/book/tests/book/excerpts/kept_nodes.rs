//! The plugin of `schedc new` with the changes of the tutorial.

use schedc_core::prelude::*;

/// Reserves nodes with the label `example.com/kept-for` for pods of the namespace in the label.
#[derive(Clone, Copy, Args)]
pub struct KeptNodes {
    /// Pods of this namespace run on every node.
    #[args(default = "kube-system")]
    exempt_namespace: &'static str,
}

#[derive(PartialEq, Eq, Hash)]
pub struct Wanted {
    label: Symbol,
    namespace: Symbol,
    is_exempt: bool,
}

#[plugin]
impl SimpleFilter for KeptNodes {
    type Pod = Wanted;

    fn read(&self, pod: &PodSpec, interner: &mut Interner) -> Wanted {
        let is_exempt = pod.namespace == interner.intern(self.exempt_namespace);
        Wanted { label: interner.intern("example.com/kept-for"), namespace: pod.namespace, is_exempt }
    }

    fn filter(&self, pod: &Wanted, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(pod.label) {
            Some(namespace) if namespace != pod.namespace && !pod.is_exempt => {
                Err("node(s) were kept for another namespace")
            }
            _ => Ok(()),
        }
    }
}
