//! What a node has, and what its pods take of it.

use std::sync::Arc;

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, NonZero, Pod, Resources};
use smallvec::SmallVec;

/// Resources of a node: what `NodeInfo` holds of them in kube-scheduler. Amounts wrap on overflow, as they do there.
///
/// What every pod asks for lies close together, the rest elsewhere: loops over all nodes live on how few bytes that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeResources {
    /// How many pods the node may have.
    pub allowed_pods: i64,
    /// How many pods it has.
    pub pods: i64,
    /// `status.allocatable`.
    pub allocatable: Basics,
    /// What the pods ask for, each rounded up by itself.
    pub requested: Basics,
    /// What the pods ask for as scoring counts it.
    pub non_zero: NonZero,
    /// None if there are none of them.
    scalars: Option<Arc<Scalars>>,
}

/// The resources that every node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Basics {
    /// CPU in thousandths of a core.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
    /// Ephemeral storage in bytes.
    pub ephemeral_storage: i64,
}

/// The other resources, sorted by symbol, each once.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scalars {
    allocatable: SmallVec<[(Symbol, i64); 2]>,
    /// Without those of which nothing is asked.
    requested: SmallVec<[(Symbol, i64); 2]>,
}

impl Column for NodeResources {
    fn build(node: &Node, _: &Interner) -> Self {
        let allocatable = &node.allocatable;
        let scalars = Scalars { allocatable: allocatable.scalars.clone(), ..Scalars::default() };
        NodeResources {
            allowed_pods: node.allowed_pods,
            allocatable: Basics {
                milli_cpu: allocatable.milli_cpu,
                memory: allocatable.memory,
                ephemeral_storage: allocatable.ephemeral_storage,
            },
            scalars: (!scalars.allocatable.is_empty()).then(|| Arc::new(scalars)),
            ..NodeResources::default()
        }
    }

    #[inline]
    fn add_pod(&mut self, pod: &Pod) {
        self.request(&pod.usage.requests, i64::wrapping_add);
        self.non_zero.add(pod.usage.non_zero);
        self.pods += 1;
    }

    #[inline]
    fn remove_pod(&mut self, pod: &Pod) {
        self.request(&pod.usage.requests, i64::wrapping_sub);
        self.non_zero.subtract(pod.usage.non_zero);
        self.pods -= 1;
    }
}

impl NodeResources {
    /// What the node has of a scalar resource; none if it is not listed.
    #[inline(always)]
    pub fn allocatable_scalar(&self, name: Symbol) -> Option<i64> {
        find(&self.scalars.as_ref()?.allocatable, name)
    }

    /// What the pods ask for of a scalar resource; none if that is nothing.
    #[inline(always)]
    pub fn requested_scalar(&self, name: Symbol) -> Option<i64> {
        find(&self.scalars.as_ref()?.requested, name)
    }

    #[inline(always)]
    fn request(&mut self, requests: &Resources, change: impl Fn(i64, i64) -> i64) {
        let requested = &mut self.requested;
        requested.milli_cpu = change(requested.milli_cpu, requests.milli_cpu);
        requested.memory = change(requested.memory, requests.memory);
        requested.ephemeral_storage = change(requested.ephemeral_storage, requests.ephemeral_storage);
        if !requests.scalars.is_empty() {
            self.request_scalars(&requests.scalars, change);
        }
    }

    fn request_scalars(&mut self, requests: &[(Symbol, i64)], change: impl Fn(i64, i64) -> i64) {
        let scalars = Arc::make_mut(self.scalars.get_or_insert_default());
        for &(name, amount) in requests {
            let at = scalars.requested.binary_search_by_key(&name, |scalar| scalar.0).unwrap_or_else(|at| {
                scalars.requested.insert(at, (name, 0));
                at
            });
            scalars.requested[at].1 = change(scalars.requested[at].1, amount);
        }
        // Otherwise an entry would tell of pods that have gone.
        scalars.requested.retain(|scalar| scalar.1 != 0);
        if scalars.requested.is_empty() && scalars.allocatable.is_empty() {
            self.scalars = None;
        }
    }
}

#[inline(always)]
fn find(scalars: &[(Symbol, i64)], name: Symbol) -> Option<i64> {
    scalars.iter().find(|scalar| scalar.0 == name).map(|scalar| scalar.1)
}
