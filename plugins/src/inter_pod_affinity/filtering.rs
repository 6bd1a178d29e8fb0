//! Required terms: the pod's own, and running pods' anti-affinity.

use schedc_core::extension_points::{FilterPlugin, PreFilter, PreFilterPlugin, Skips};
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::plugin::View;
use schedc_core::status::{Code, Reasons, Status};

use super::places::Places;
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};

/// Where pods are that matter to a pod's required terms, and those to whose terms the pod matters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityState {
    /// Whether PreFilter ran.
    ready: bool,
    /// For each topology key of the pod's affinity, the pods that match all of its terms.
    near: Vec<Places>,
    /// Whether the pod matches all of them itself.
    matches_itself: bool,
    /// For each of the pod's anti-affinity terms, the pods that match it.
    apart: Vec<Places>,
    /// The pods whose anti-affinity the pod matches, by topology key.
    against: Vec<Against>,
}

/// Pods whose anti-affinity terms with one topology key match the pod.
#[derive(Clone, Debug, PartialEq)]
struct Against {
    key: Symbol,
    pods: Places,
    /// Whether it is there for a pod that came in thought.
    imagined: bool,
}

/// Room for a state.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Without contents.
    state: InterPodAffinityState,
    sums: Vec<Vec<i64>>,
}

impl Room {
    fn take_back(&mut self, mut state: InterPodAffinityState) {
        let own = state.near.drain(..).chain(state.apart.drain(..));
        self.sums.extend(own.chain(state.against.drain(..).map(|against| against.pods)).map(Places::into_sums));
        state.matches_itself = false;
        self.state = state;
    }
}

/// What a node does not satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmetAffinity {
    /// The pod's affinity.
    Affinity,
    /// The pod's anti-affinity.
    AntiAffinity,
    /// The anti-affinity of pods that run.
    ExistingAntiAffinity,
    /// The profile has no PreFilter of this plugin, which would have looked at the pods.
    NotPrepared,
}

impl PreFilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;
    const SKIPS: Skips = Skips::Usually;

    fn pre_filter(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
    ) -> Result<PreFilter<InterPodAffinityState>, Status> {
        if let Some(broken) = &pod.broken {
            return Err(Status::unresolvable(format!("parsing pod: {broken}")));
        }
        let (topology, counts, carried) = view.indexes;
        let mut room = self.filtering.lock();
        let Room { state, sums } = &mut *room;
        let mut state = InterPodAffinityState { ready: true, ..std::mem::take(state) };
        let mut places = |key| Places::new(topology, view.base, key, sums.pop().unwrap_or_default());
        for term in carried.anti_required(pod.namespace, &pod.labels) {
            let pods = state.against(term.key, || Against { key: term.key, pods: places(term.key), imagined: false });
            for (node, count) in term.nodes.iter() {
                pods.add(node, count.into());
            }
        }
        state.against.retain(|against| !against.pods.is_void());
        if let Some(near) = &pod.near {
            state.near.extend(near.keys.iter().map(|&key| places(key)));
            for (node, count) in counts.counts(near.pods).iter() {
                state.near.iter_mut().for_each(|places| _ = places.add(node, count.into()));
            }
            state.matches_itself = counts.selects_labels(near.pods, pod.namespace, &pod.labels);
        }
        for term in &pod.apart {
            let mut pods = places(term.key);
            for (node, count) in counts.counts(term.pods).iter() {
                pods.add(node, count.into());
            }
            state.apart.push(pods);
        }
        let idle = state.against.is_empty() && pod.near.is_none() && pod.apart.is_empty();
        Ok(if idle { PreFilter::skip(state) } else { PreFilter::ready(state) })
    }

    fn recycle(&self, state: InterPodAffinityState) {
        self.filtering.lock().take_back(state);
    }

    fn add_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, other, view, node, 1);
    }

    fn remove_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, other, view, node, -1);
    }
}

impl FilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;
    type Rejection = UnmetAffinity;

    #[inline(always)]
    fn filter(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        state: &InterPodAffinityState,
        node: NodeIndex,
    ) -> Result<(), UnmetAffinity> {
        if !state.ready {
            return Err(UnmetAffinity::NotPrepared);
        }
        if !state.is_near(node) {
            return Err(UnmetAffinity::Affinity);
        }
        if state.apart.iter().any(|pods| pods.at(node).is_some_and(|count| count > 0)) {
            return Err(UnmetAffinity::AntiAffinity);
        }
        if state.against.iter().any(|against| against.pods.at(node).is_some_and(|count| count > 0)) {
            return Err(UnmetAffinity::ExistingAntiAffinity);
        }
        Ok(())
    }

    fn code(unmet: &UnmetAffinity) -> Code {
        match unmet {
            UnmetAffinity::Affinity => Code::UnschedulableAndUnresolvable,
            UnmetAffinity::AntiAffinity | UnmetAffinity::ExistingAntiAffinity => Code::Unschedulable,
            UnmetAffinity::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        _: &InterPodAffinityState,
        _: NodeIndex,
        unmet: UnmetAffinity,
        out: &mut Reasons<'_>,
    ) {
        out.push(match unmet {
            UnmetAffinity::Affinity => "node(s) didn't match pod affinity rules",
            UnmetAffinity::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
            UnmetAffinity::ExistingAntiAffinity => "node(s) didn't satisfy existing pods anti-affinity rules",
            UnmetAffinity::NotPrepared => "error reading \"PreFilterInterPodAffinity\" from cycleState: not found",
        });
    }
}

impl InterPodAffinityState {
    /// Whether the node has pods that the pod requires near.
    #[inline(always)]
    fn is_near(&self, node: NodeIndex) -> bool {
        let mut found = true;
        for pods in &self.near {
            match pods.at(node) {
                Some(count) => found &= count > 0,
                // Such a node is out even for the first pod of a group.
                None => return false,
            }
        }
        // The first pod of a group that wants to be together has to start somewhere.
        found || self.matches_itself && self.near.iter().all(Places::is_void)
    }

    /// The pods with anti-affinity by a topology key. They are sorted by it, so that what comes and goes leaves no trace.
    fn against(&mut self, key: Symbol, new: impl FnOnce() -> Against) -> &mut Places {
        let at = self.against.binary_search_by_key(&key, |against| against.key).unwrap_or_else(|at| {
            self.against.insert(at, new());
            at
        });
        &mut self.against[at].pods
    }

    /// Counts another pod on a node that comes (1) or goes (-1).
    fn count(
        &mut self,
        pod: &InterPodAffinityPod,
        other: &Pod,
        view: View<'_, InterPodAffinity>,
        node: NodeIndex,
        change: i64,
    ) {
        let (topology, counts, carried) = view.indexes;
        let of_namespace = carried.namespace_labels(pod.namespace);
        for term in &other.spec.affinity.anti_required {
            if term.matches(pod.namespace, &pod.labels, of_namespace) {
                let key = term.topology_key;
                let new = || Against { key, pods: Places::new(topology, view.base, key, Vec::new()), imagined: true };
                self.against(key, new).add(node, change);
            }
        }
        self.against.retain(|against| !(against.imagined && against.pods.is_void()));
        let matches = |question| counts.selects(question, &other.spec);
        if pod.near.as_ref().is_some_and(|near| matches(near.pods)) {
            self.near.iter_mut().for_each(|places| _ = places.add(node, change));
        }
        for (term, places) in pod.apart.iter().zip(&mut self.apart) {
            if matches(term.pods) {
                places.add(node, change);
            }
        }
    }
}
