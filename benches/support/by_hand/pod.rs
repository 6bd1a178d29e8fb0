//! Values of a pod for the loops.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    Effect, HostPort, Labels, NodeSelector, NodeSelectorTerm, PodSpec, Resources, Taint, Toleration,
};

use super::resources::Requests;

/// A pod, prepared once.
pub(crate) struct Pod {
    pub(super) node_name: Option<Symbol>,
    pub(super) tolerates_cordon: bool,
    /// Tolerations of `NoSchedule` and `NoExecute` taints.
    pub(super) hard: Vec<Toleration>,
    /// Tolerations of `PreferNoSchedule` taints.
    pub(super) soft: Vec<Toleration>,
    pub(super) selector: Labels,
    pub(super) required: Option<NodeSelector>,
    pub(super) preferred: Vec<(i64, NodeSelectorTerm)>,
    pub(super) ports: Vec<HostPort>,
    pub(super) any_address: Symbol,
    /// Amounts that must be free; `i64::MIN`, which is always free, for a resource without a request.
    pub(super) requested: RequestedResources,
    /// Requests of CPU and memory that NodeResourcesFit scores.
    pub(super) scored: Requests,
    /// Requests of CPU and memory that NodeResourcesBalancedAllocation scores; `None` if both are 0.
    pub(super) balanced: Option<Requests>,
    pub(super) images: Vec<Symbol>,
    pub(super) containers: i64,
}

pub(super) struct RequestedResources {
    pub(super) milli_cpu: i64,
    pub(super) memory: i64,
    pub(super) ephemeral_storage: i64,
    pub(super) scalars: Vec<(Symbol, i64)>,
}

impl Pod {
    pub(crate) fn new(spec: &PodSpec, interner: &mut Interner) -> Pod {
        let cordon = Taint {
            key: interner.intern("node.kubernetes.io/unschedulable"),
            value: Symbol::EMPTY,
            effect: Effect::NoSchedule,
        };
        let tolerations = |effects: &[Effect]| {
            spec.tolerations.iter().filter(|t| t.effect.is_none_or(|e| effects.contains(&e))).copied().collect()
        };
        let preferred = spec.preferred_node_affinity.iter();
        let preferred =
            preferred.map(|term| (term.weight, term.term.clone().expect("terms of the benchmark are valid")));
        let Resources { milli_cpu, memory, .. } = spec.requests;
        Pod {
            node_name: spec.node_name,
            tolerates_cordon: spec.tolerations.iter().any(|toleration| toleration.tolerates(&cordon)),
            hard: tolerations(&[Effect::NoSchedule, Effect::NoExecute]),
            soft: tolerations(&[Effect::PreferNoSchedule]),
            selector: spec.node_selector.clone(),
            required: spec.required_node_affinity.get().cloned(),
            preferred: preferred.collect(),
            ports: spec.host_ports.to_vec(),
            any_address: interner.intern("0.0.0.0"),
            requested: RequestedResources::new(&spec.requests),
            scored: Requests::new(spec.fit_score_requests.milli_cpu, spec.fit_score_requests.memory),
            balanced: (milli_cpu != 0 || memory != 0).then(|| Requests::new(milli_cpu, memory)),
            images: spec.images.to_vec(),
            containers: spec.containers.into(),
        }
    }
}

impl RequestedResources {
    fn new(requests: &Resources) -> RequestedResources {
        let or_always_free = |amount: i64| if amount > 0 { amount } else { i64::MIN };
        RequestedResources {
            milli_cpu: or_always_free(requests.milli_cpu),
            memory: or_always_free(requests.memory),
            ephemeral_storage: or_always_free(requests.ephemeral_storage),
            scalars: requests.scalars.iter().filter(|scalar| scalar.1 > 0).copied().collect(),
        }
    }
}

#[inline(always)]
pub(super) fn is_tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|toleration| toleration.tolerates(taint))
}
