//! Resources of a node, and the requests of its pods.

use std::num::NonZeroU8;
use std::sync::Arc;

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, NonZero, Pod, Resources};
use smallvec::SmallVec;

use crate::exact::{are_exact, evenness_of_two, sums};

/// Resources of a node. Amounts wrap on overflow, as in kube-scheduler's `NodeInfo`.
///
/// The resources that most pods request lie close together in memory, because the duration of a loop over all nodes
/// depends on the number of bytes that it reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeResources {
    /// Maximum number of pods.
    pub allowed_pods: i64,
    /// Number of pods.
    pub pods: i64,
    /// `status.allocatable`.
    pub allocatable: Basics,
    /// Sum of the pods' requests. The amounts of each pod are rounded up before they are added.
    pub requested: Basics,
    /// Sum of the pods' requests as scoring counts them (`NonZeroRequested`).
    pub non_zero: NonZero,
    /// [`NodeResources::evenness`], which is at least 50.
    evenness: Option<NonZeroU8>,
    /// `None` if the node has no scalar resources and its pods request none.
    scalars: Option<Arc<Scalars>>,
}

/// Amounts of CPU, memory and ephemeral storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Basics {
    /// CPU in thousandths of a core.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
    /// Ephemeral storage in bytes.
    pub ephemeral_storage: i64,
}

/// Resources that are not [`Basics`], sorted by symbol, each once.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scalars {
    allocatable: SmallVec<[(Symbol, i64); 2]>,
    /// Resources with a total request of 0 are omitted.
    requested: SmallVec<[(Symbol, i64); 2]>,
}

impl Column for NodeResources {
    fn build(node: &Node, _: &Interner) -> Self {
        let allocatable = &node.allocatable;
        let scalars = Scalars { allocatable: allocatable.scalars.clone(), ..Scalars::default() };
        let mut new = NodeResources {
            allowed_pods: node.allowed_pods,
            allocatable: Basics {
                milli_cpu: allocatable.milli_cpu,
                memory: allocatable.memory,
                ephemeral_storage: allocatable.ephemeral_storage,
            },
            scalars: (!scalars.allocatable.is_empty()).then(|| Arc::new(scalars)),
            ..NodeResources::default()
        };
        new.update_evenness();
        new
    }

    #[inline]
    fn add_pod(&mut self, pod: &Pod) {
        self.change_requested(&pod.usage.requests, i64::wrapping_add);
        self.non_zero.add(pod.usage.non_zero);
        self.pods += 1;
        self.update_evenness();
    }

    #[inline]
    fn remove_pod(&mut self, pod: &Pod) {
        self.change_requested(&pod.usage.requests, i64::wrapping_sub);
        self.non_zero.subtract(pod.usage.non_zero);
        self.pods -= 1;
        self.update_evenness();
    }
}

impl NodeResources {
    /// Returns how evenly the pods' requests use CPU and memory: 100 minus the standard deviation of both utilizations
    /// in percent, rounded down. Stored because Score reads it for every pod, and divisions are slow.
    ///
    /// `None` if the node lacks one of both resources, or if an amount is negative, or too large to be exact as a
    /// floating-point number.
    #[inline(always)]
    pub fn evenness(&self) -> Option<i64> {
        self.evenness.map(|evenness| i64::from(evenness.get()))
    }

    #[inline]
    pub(crate) fn update_evenness(&mut self) {
        let (has, used, non_zero) = (self.allocatable, self.requested, self.non_zero);
        let (allocatable, requested) = ([has.milli_cpu, has.memory], [used.milli_cpu, used.memory]);
        let amounts = [has.milli_cpu, has.memory, used.milli_cpu, used.memory, non_zero.milli_cpu, non_zero.memory];
        let has_both = has.milli_cpu != 0 && has.memory != 0;
        self.evenness = (has_both && are_exact(amounts))
            .then(|| evenness_of_two(sums(requested, [0; 2]), sums(allocatable, [0; 2])))
            .and_then(|evenness| NonZeroU8::new(evenness as u8));
    }

    /// Returns the node's allocatable amount of a scalar resource; `None` if the node does not list the resource.
    #[inline(always)]
    pub fn allocatable_scalar(&self, name: Symbol) -> Option<i64> {
        find(&self.scalars.as_ref()?.allocatable, name)
    }

    /// Returns the pods' total request of a scalar resource; `None` if it is 0.
    #[inline(always)]
    pub fn requested_scalar(&self, name: Symbol) -> Option<i64> {
        find(&self.scalars.as_ref()?.requested, name)
    }

    #[inline(always)]
    fn change_requested(&mut self, requests: &Resources, change: impl Fn(i64, i64) -> i64) {
        let requested = &mut self.requested;
        requested.milli_cpu = change(requested.milli_cpu, requests.milli_cpu);
        requested.memory = change(requested.memory, requests.memory);
        requested.ephemeral_storage = change(requested.ephemeral_storage, requests.ephemeral_storage);
        if !requests.scalars.is_empty() {
            self.change_requested_scalars(&requests.scalars, change);
        }
    }

    fn change_requested_scalars(&mut self, requests: &[(Symbol, i64)], change: impl Fn(i64, i64) -> i64) {
        let scalars = Arc::make_mut(self.scalars.get_or_insert_default());
        for &(name, amount) in requests {
            let at = scalars.requested.binary_search_by_key(&name, |scalar| scalar.0).unwrap_or_else(|at| {
                scalars.requested.insert(at, (name, 0));
                at
            });
            scalars.requested[at].1 = change(scalars.requested[at].1, amount);
        }
        // Entries of removed pods would make the column differ from a rebuilt one.
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
