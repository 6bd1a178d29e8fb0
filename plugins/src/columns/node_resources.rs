//! What a node has, and what its pods take of it.

use schedc_core::column::Column;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, NonZero, Pod, Resources};

/// Resources of a node: what `NodeInfo` holds of them in kube-scheduler. Amounts wrap on overflow, as they do there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeResources {
    /// `status.allocatable`.
    pub allocatable: Resources,
    /// What the pods ask for, each rounded up by itself. Scalar resources of which nothing is asked are not listed.
    pub requested: Resources,
    /// What the pods ask for as scoring counts it.
    pub non_zero: NonZero,
    /// How many pods the node may have.
    pub allowed_pods: i64,
    /// How many pods it has.
    pub pods: i64,
}

impl Column for NodeResources {
    fn build(node: &Node, _: &Interner) -> Self {
        NodeResources {
            allocatable: node.allocatable.clone(),
            allowed_pods: node.allowed_pods,
            ..NodeResources::default()
        }
    }

    fn add_pod(&mut self, pod: &Pod) {
        self.requested.add(&pod.usage.requests);
        self.drop_empty_scalars();
        self.non_zero.add(pod.usage.non_zero);
        self.pods += 1;
    }

    fn remove_pod(&mut self, pod: &Pod) {
        self.requested.subtract(&pod.usage.requests);
        self.drop_empty_scalars();
        self.non_zero.subtract(pod.usage.non_zero);
        self.pods -= 1;
    }
}

impl NodeResources {
    /// Without this, an entry would tell of pods that have gone.
    fn drop_empty_scalars(&mut self) {
        self.requested.scalars.retain(|scalar| scalar.1 != 0);
    }
}
