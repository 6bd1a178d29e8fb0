//! Compiled constraints of a pod.

use std::sync::Arc;

use schedc_core::intern::Interner;
use schedc_core::model::{
    InclusionPolicy, LabelSelector, Labels, NodeIndex, NodeSelector, PodSpec, Toleration, TopologySpreadConstraint,
    UnsatisfiableAction,
};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;
use smallvec::SmallVec;

use super::{HOSTNAME, PodTopologySpread, PodTopologySpreadArgs};
use crate::indexes::{
    Domain, NodeCounts, PodQuery, PodQueryId, SelectorCounts, Topology, TopologyKey, WorkloadSelectors,
};

/// The spreading constraints of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodTopologySpreadPod {
    /// The constraints that filter, or an error in one of them.
    pub(super) hard: Result<Box<[Constraint]>, Arc<str>>,
    /// The constraints that score, or an error in one of them.
    pub(super) soft: Result<Box<[Constraint]>, Arc<str>>,
    /// Whether a node without the key of a soft constraint gets no score.
    pub(super) requires_all_keys: bool,
    /// The fields of the pod that determine which nodes count, as far as a constraint reads them.
    pub(super) inclusion: NodeInclusionRules,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) key: TopologyKey,
    /// Whether every node is a separate domain, regardless of the label values.
    pub(super) is_hostname: bool,
    /// The pods that the selector selects; `None` without a selector.
    pub(super) query: Option<PodQueryId>,
    /// Whether the selector is empty. It then selects every pod, but existing pods are not counted.
    pub(super) counts_nothing: bool,
    /// Whether the selector selects the pod itself.
    pub(super) matches_itself: bool,
    pub(super) min_domains: i32,
    pub(super) honors_affinity: bool,
    pub(super) honors_taints: bool,
}

impl Constraint {
    /// Returns the query for existing pods that count, if any can.
    #[inline]
    pub(super) fn counted(&self) -> Option<PodQueryId> {
        self.query.filter(|_| !self.counts_nothing)
    }

    /// Returns the number of existing pods that count, by node.
    pub(super) fn counts<'a>(&self, counts: &'a SelectorCounts) -> Option<&'a NodeCounts> {
        self.counted().map(|id| counts.counts(id))
    }

    /// Returns the end of the change log of the existing pods that count; 0 if none can count.
    #[inline]
    pub(super) fn position(&self, counts: &SelectorCounts) -> u64 {
        self.counted().map_or(0, |id| counts.log(id).end())
    }
}

/// The fields of the pod that determine which nodes count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NodeInclusionRules {
    selector: Labels,
    required: Option<NodeSelector>,
    /// `None` if no constraint checks taints.
    tolerations: Option<Box<[Toleration]>>,
}

/// Evaluates which nodes count for the constraints of a pod.
pub(super) struct NodeInclusion<'a, 'v> {
    constraints: &'a [Constraint],
    inclusion: &'a NodeInclusionRules,
    view: View<'v, PodTopologySpread>,
    checks_affinity: bool,
    checks_taints: bool,
}

impl<'a, 'v> NodeInclusion<'a, 'v> {
    pub(super) fn new(
        constraints: &'a [Constraint],
        inclusion: &'a NodeInclusionRules,
        view: View<'v, PodTopologySpread>,
    ) -> Self {
        let has_affinity = !inclusion.selector.is_empty() || inclusion.required.is_some();
        NodeInclusion {
            constraints,
            inclusion,
            view,
            checks_affinity: has_affinity && constraints.iter().any(|constraint| constraint.honors_affinity),
            checks_taints: constraints.iter().any(|constraint| constraint.honors_taints),
        }
    }

    /// Returns whether every node counts.
    pub(super) fn includes_all_nodes(&self) -> bool {
        !self.checks_affinity && !self.checks_taints
    }

    /// Returns, for each constraint in order, whether a node counts.
    #[inline]
    pub(super) fn evaluate(&self, node: NodeIndex) -> impl Iterator<Item = (&'a Constraint, bool)> {
        let (labels, taints, _) = self.view.row(node);
        let inclusion = self.inclusion;
        let affinity = !self.checks_affinity || labels.matches_pod(&inclusion.selector, inclusion.required.as_ref());
        let tolerations = inclusion.tolerations.as_deref().unwrap_or_default();
        let taints = !self.checks_taints
            || taints.hard.iter().all(|taint| tolerations.iter().any(|toleration| toleration.tolerates(taint)));
        self.constraints.iter().map(move |constraint| {
            (constraint, (affinity || !constraint.honors_affinity) && (taints || !constraint.honors_taints))
        })
    }
}

pub(super) fn compile(
    args: &PodTopologySpreadArgs,
    pod: &PodSpec,
    interner: &mut Interner,
    (topology, counts, workloads): (&mut Topology, &mut SelectorCounts, &mut WorkloadSelectors),
) -> PodTopologySpreadPod {
    let has_own = !pod.spread.is_empty();
    let defaults = if has_own { Vec::new() } else { default_constraints(args, pod, interner, workloads) };
    let constraints = if has_own { &pod.spread[..] } else { &defaults };
    if constraints.is_empty() {
        let none = || Ok(Box::default());
        return PodTopologySpreadPod {
            hard: none(),
            soft: none(),
            requires_all_keys: false,
            inclusion: NodeInclusionRules::default(),
        };
    }
    let hostname = interner.intern(HOSTNAME);
    let mut compile = |constraint: &TopologySpreadConstraint| {
        let selector = constraint.selector.clone()?;
        let counts_nothing = selector.as_ref().is_some_and(LabelSelector::is_empty);
        let matches_itself = selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels));
        let query = |selector| counts.register(PodQuery::new(pod.namespace, selector, false));
        Ok(Constraint {
            max_skew: constraint.max_skew,
            key: topology.register(constraint.topology_key),
            is_hostname: constraint.topology_key == hostname,
            query: selector.map(query),
            counts_nothing,
            matches_itself,
            min_domains: constraint.min_domains,
            honors_affinity: constraint.node_affinity_policy == InclusionPolicy::Honor,
            honors_taints: constraint.node_taints_policy == InclusionPolicy::Honor,
        })
    };
    let mut all = |action| {
        let constraints = constraints.iter().filter(|constraint| constraint.when_unsatisfiable == action);
        constraints.map(&mut compile).collect::<Result<Box<[Constraint]>, Arc<str>>>()
    };
    let (hard, soft) = (all(UnsatisfiableAction::DoNotSchedule), all(UnsatisfiableAction::ScheduleAnyway));
    let compiled = || hard.iter().chain(&soft).flat_map(|constraints| constraints.iter());
    let mut inclusion = NodeInclusionRules::default();
    if compiled().any(|constraint| constraint.honors_affinity) {
        inclusion.selector = pod.node_selector.clone();
        inclusion.required = pod.required_node_affinity.get().cloned();
    }
    if compiled().any(|constraint| constraint.honors_taints) {
        inclusion.tolerations = Some(pod.tolerations.clone());
    }
    let scores = soft.as_ref().is_ok_and(|soft| !soft.is_empty());
    PodTopologySpreadPod { hard, soft, requires_all_keys: scores && (has_own || !args.is_system()), inclusion }
}

/// Returns the profile's constraints with the selector of the pod's workloads; none if this selector is empty.
fn default_constraints(
    args: &PodTopologySpreadArgs,
    pod: &PodSpec,
    interner: &mut Interner,
    workloads: &mut WorkloadSelectors,
) -> Vec<TopologySpreadConstraint> {
    let selector = workloads.register(pod);
    if selector.is_empty() {
        return Vec::new();
    }
    let mut constraints = args.constraints(interner);
    for constraint in &mut constraints {
        constraint.selector = Ok(Some(selector.clone()));
    }
    constraints
}

/// The domain of each node, for each constraint.
pub(super) type DomainsOfNodes<'a> = SmallVec<[&'a [Domain]; 4]>;

pub(super) fn domains<'a>(constraints: &[Constraint], view: &View<'a, PodTopologySpread>) -> DomainsOfNodes<'a> {
    constraints.iter().map(|constraint| view.indexes.0.domains(constraint.key).as_slice()).collect()
}

/// Returns whether a node has the keys of all constraints.
#[inline]
pub(super) fn has_all_keys(domains: &DomainsOfNodes<'_>, node: NodeIndex) -> bool {
    domains.iter().all(|domains| domains.get(node.get()).is_some_and(|domain| *domain != Domain::NONE))
}

/// Clears a set, and gives it capacity for all nodes.
pub(super) fn clear_for_nodes(mask: &mut NodeMask, view: &View<'_, PodTopologySpread>) {
    mask.clear();
    mask.resize(view.base.infos().len());
}

/// Sums the changes with the same key, and removes sums of 0.
pub(super) fn merge_changes<K: Ord + Copy>(changes: &mut Vec<(K, i32)>) {
    changes.sort_unstable_by_key(|change| change.0);
    changes.dedup_by(|other, one| {
        let same = other.0 == one.0;
        if same {
            one.1 += other.1;
        }
        same
    });
    changes.retain(|change| change.1 != 0);
}
