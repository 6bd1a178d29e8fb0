//! A score with normalisation.

use schedc_core::prelude::*;

/// Prefers nodes with few pods of the pod's namespace.
#[derive(Clone, Copy, Args)]
pub struct NamespaceSpread;

#[plugin]
impl SimpleScore for NamespaceSpread {
    type Pod = Symbol;
    type Normalization = ReversedNormalization;

    fn read(&self, pod: &PodSpec, _: &mut Interner) -> Symbol {
        pod.namespace
    }

    fn score(&self, namespace: &Symbol, node: &NodeInfo) -> i64 {
        node.pods.iter().filter(|pod| pod.spec.namespace == *namespace).count() as i64
    }
}
