//! Evaluates a pod's claims on each node: the decision of Filter.

use std::cell::RefCell;
use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::device_counts::{DeviceCount, NodeDeviceCounts};
use schedc_core::intern::Symbol;
use schedc_core::model::{Node, NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use schedc_device_allocator::{Allocations, INVALID_POOLS, NO_DEVICES, Prepared, SharedView, Unfit};
use smallvec::SmallVec;

use super::devices::{AffectedNodes, Devices, Position, SearchTimeout};
use super::extended::{ExtendedClaim, ExtendedResources, NeededResources};
use super::pod_claims::{ClaimState, PodClaim, PodClaims, bit, matches};

/// Result of evaluating a pod's claims on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeResult {
    /// Devices can be allocated, with this score.
    Feasible(i64),
    /// A rejection with this text.
    Rejected(TextId),
    /// Some allocated claims cannot be used on the node. The value is a bit mask of these claims; all claims after the
    /// 63rd share one bit. 0 if the node was not evaluated.
    Unavailable(u64),
    /// A failure with this text.
    Failed(TextId),
}

impl NodeResult {
    /// Returns the score of a feasible node; 0 for other nodes.
    fn score(self) -> i64 {
        match self {
            NodeResult::Feasible(score) => score,
            NodeResult::Rejected(_) | NodeResult::Unavailable(_) | NodeResult::Failed(_) => 0,
        }
    }
}

/// Index of a text of an [`Evaluation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextId(u32);

/// Rejection text for a node on which allocated claims cannot be used.
pub(super) const UNAVAILABLE: &str = "resourceclaim not available on the node";

/// Results of a pod's claims on all nodes.
#[derive(Clone, Debug)]
pub(super) struct Evaluation {
    /// The pod's extended resources.
    pub(super) extended: ExtendedResources,
    /// States of the claims at the evaluation.
    states: SmallVec<[ClaimState; 1]>,
    /// Claims of the first evaluated node that allocates any. Most nodes allocate the same claims.
    pub(super) usual_claims: Option<NodeClaims>,
    /// By node index.
    results: Vec<NodeResult>,
    /// Number of results with a score other than 0.
    scored: usize,
    texts: Vec<Box<str>>,
    /// Device counts of extended resources, for the scores of other plugins.
    counts: Vec<ResourceCounts>,
    /// Position in the changes of devices up to which the results are current.
    read: Position,
    /// Nodes with equal results, because they see the same devices.
    groups: Vec<NodeGroup>,
}

/// Maximum number of groups of nodes.
const MAX_GROUPS: usize = 8;

/// Nodes that see the same devices. Claims without an allocation have equal results on all of them.
#[derive(Clone, Debug)]
struct NodeGroup {
    view: SharedView,
    /// Result of the latest evaluation of a node of the group.
    result: NodeResult,
    nodes: NodeMask,
}

/// For each node, the number of devices that back an extended resource.
#[derive(Clone, Debug)]
struct ResourceCounts {
    resource: Symbol,
    class: Symbol,
    nodes: NodeDeviceCounts,
}

/// The claims that are to be allocated on a node.
#[derive(Clone, Debug)]
pub(super) struct NodeClaims {
    /// The claim for extended resources.
    extended: Option<Arc<ExtendedClaim>>,
    /// All claims, compiled. The claim for extended resources is the last one.
    pub(super) prepared: Arc<Prepared>,
}

/// Two evaluations with equal results on all nodes have equal effects.
impl PartialEq for Evaluation {
    fn eq(&self, other: &Self) -> bool {
        self.results == other.results && self.texts == other.texts
    }
}

/// Allocations of a pod's claims on a node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeAllocation {
    /// One allocation for each claim that is to be allocated, in the order of the claims. Empty if the only such
    /// claim is for extended resources, and the node has all of them itself.
    pub(super) allocations: Allocations,
    /// The claim for extended resources.
    pub(super) extended: Option<Arc<ExtendedClaim>>,
}

/// Result for a node on which the claims can be used.
pub(super) struct Feasible<T> {
    /// Score of the existing allocations.
    pub(super) score: i64,
    /// The result of the parameter `find` of [`NodeEvaluator::check`]; `None` if no claims are to be allocated.
    pub(super) found: Option<T>,
}

/// Rejection or failure on a node.
pub(super) enum Infeasible {
    Rejected(&'static str),
    Unavailable(u64),
    Failed(String),
}

/// Inputs of the evaluation of a node.
pub(super) struct NodeEvaluator<'a> {
    pub(super) pod: &'a Pod,
    pub(super) extended: &'a ExtendedResources,
    pub(super) claims: &'a PodClaims,
    pub(super) base: &'a Base,
    /// Timeout for a node.
    pub(super) timeout: Option<SearchTimeout>,
    /// The current time in nanoseconds since 1970.
    pub(super) now: i64,
    /// The first claims that a node allocates. Usually, all nodes allocate the same claims.
    pub(super) usual_claims: RefCell<Option<NodeClaims>>,
}

impl NodeEvaluator<'_> {
    /// Evaluates a node as Filter does. Returns the score.
    pub(super) fn evaluate(&self, devices: &mut Devices, index: NodeIndex) -> Result<i64, Infeasible> {
        let interner = &self.base.interner;
        let found = self.check(devices, index, |devices, node, claims| {
            devices.evaluate(node, &claims.prepared, self.timeout, interner)
        });
        found.map(|feasible| feasible.score + feasible.found.unwrap_or(0))
    }

    /// Allocates devices on a node.
    pub(super) fn allocate(&self, devices: &mut Devices, index: NodeIndex) -> Result<NodeAllocation, Infeasible> {
        let interner = &self.base.interner;
        let times = (self.timeout, self.now);
        let feasible = self.check(devices, index, |devices, node, claims| {
            let allocations = devices.allocate(node, &claims.prepared, times, interner)?;
            Ok(NodeAllocation { allocations, extended: claims.extended.clone() })
        })?;
        Ok(feasible.found.unwrap_or_default())
    }

    /// Checks a node. If claims are to be allocated, it calls `find`, which finds devices for them.
    pub(super) fn check<T>(
        &self,
        devices: &mut Devices,
        index: NodeIndex,
        find: impl FnOnce(&mut Devices, &Node, &NodeClaims) -> Result<T, Unfit>,
    ) -> Result<Feasible<T>, Infeasible> {
        let Some(node) = self.node(index) else {
            return Err(Infeasible::Failed("there is no such node".to_owned()));
        };
        let needed = self.needed_resources(node)?;
        if needed.is_none() && self.claims.claims.iter().all(|claim| claim.pod_claim.is_none()) {
            return Ok(Feasible { score: 0, found: None });
        }
        let (mut unavailable, mut score) = (0, 0);
        for (at, claim) in self.claims.claims.iter().enumerate() {
            match &claim.state {
                ClaimState::Allocated { nodes, has_failed, score: of_claim } => {
                    let interner = &self.base.interner;
                    let is_usable = !has_failed && nodes.as_ref().is_none_or(|nodes| matches(nodes, node, interner));
                    if !is_usable {
                        unavailable |= bit(at);
                    }
                    score += of_claim;
                }
                ClaimState::Unallocated(_) | ClaimState::Extended | ClaimState::Obsolete => {}
            }
        }
        let found = match needed.is_none() && self.claims.unallocated.is_empty() {
            true => None,
            false => {
                let mut first = self.usual_claims.borrow_mut();
                let other;
                let claims = match &mut *first {
                    Some(first) if first.needed() == needed.as_deref() => first,
                    Some(_) => {
                        other = self.node_claims(needed, devices);
                        &other
                    }
                    first => first.insert(self.node_claims(needed, devices)),
                };
                Some(find(devices, node, claims).map_err(|unfit| self.infeasible(node, &unfit))?)
            }
        };
        if unavailable != 0 {
            return Err(Infeasible::Unavailable(unavailable));
        }
        Ok(Feasible { score, found })
    }

    /// Converts the reason why the allocator found no devices to a rejection or failure of the node.
    fn infeasible(&self, node: &Node, unfit: &Unfit) -> Infeasible {
        let name = |at| self.name(at);
        match unfit {
            Unfit::Failed(failure) if failure.is_interruption() => {
                let node = self.base.interner.resolve(node.name);
                Infeasible::Failed(format!("node {node}: timed out trying to allocate devices"))
            }
            Unfit::Failed(failure) => Infeasible::Failed(failure.message(name)),
            Unfit::NoDevices => Infeasible::Rejected(NO_DEVICES),
            Unfit::InvalidPools => Infeasible::Rejected(INVALID_POOLS),
        }
    }

    /// Compiles the claims for a node that needs a claim for these extended resources, if any.
    fn node_claims(&self, needed: Option<NeededResources>, devices: &mut Devices) -> NodeClaims {
        let interner = &self.base.interner;
        let extended = needed.map(|needed| Arc::new(ExtendedClaim::new(&self.pod.spec, needed, interner)));
        let own = extended.as_ref().map(|extended| &extended.spec);
        let specs: SmallVec<[_; 2]> = self.claims.unallocated.iter().chain(own).cloned().collect();
        NodeClaims { prepared: devices.prepare(&specs, interner), extended }
    }

    /// Returns the extended resources that need a claim because the node does not have them
    /// (`filterExtendedResources`); `None` if no such claim is necessary.
    fn needed_resources(&self, node: &Node) -> Result<Option<NeededResources>, Infeasible> {
        let Some(claim) = self.claims.claims.last().filter(|claim| claim.pod_claim.is_none()) else { return Ok(None) };
        if claim.state == ClaimState::Obsolete {
            return match claim.claim.as_ref().is_some_and(|claim| claim.spec.requests.is_empty()) {
                true => Ok(None),
                false => Err(Infeasible::Rejected("cannot schedule extended resource claim")),
            };
        }
        let mut needed = NeededResources::new();
        for request in &self.extended.requests {
            match (request.class, node.allocatable.scalar(request.name)) {
                (Some(class), None | Some(0)) => needed.push((request.name, class)),
                (None, None) => return Err(Infeasible::Rejected("cannot fit resource")),
                _ => {}
            }
        }
        Ok((!needed.is_empty() || self.claims.claims.len() > 1).then_some(needed))
    }

    fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.base.infos().get(index.get())?.node.as_deref()
    }

    /// Evaluates every node. `counted`: extended resources whose devices are to be counted, with their device classes.
    pub(super) fn evaluate_all(&self, devices: &mut Devices, counted: &[(Symbol, Symbol)]) -> Evaluation {
        let counts = counted.iter().map(|&(resource, class)| ResourceCounts { resource, class, nodes: Arc::default() });
        let mut evaluation = Evaluation {
            extended: self.extended.clone(),
            states: self.claims.claims.iter().map(|claim| claim.state.clone()).collect(),
            usual_claims: None,
            results: Vec::new(),
            scored: 0,
            texts: Vec::new(),
            counts: counts.collect(),
            read: devices.position(),
            groups: Vec::new(),
        };
        let slots = self.base.infos().len();
        evaluation.results.resize(slots, NodeResult::Unavailable(0));
        for node in self.base.alive().iter() {
            self.update(&mut evaluation, devices, node);
            self.group(&mut evaluation, devices, node);
        }
        evaluation.usual_claims = self.usual_claims.take();
        evaluation
    }

    /// Evaluates a node again. Returns whether its result changed.
    fn update(&self, evaluation: &mut Evaluation, devices: &mut Devices, node: NodeIndex) -> bool {
        let result = self.result(evaluation, devices, node);
        if !evaluation.counts.is_empty() {
            self.count(evaluation, devices, node);
        }
        evaluation.set(node, result)
    }

    fn result(&self, evaluation: &mut Evaluation, devices: &mut Devices, node: NodeIndex) -> NodeResult {
        match self.evaluate(devices, node) {
            Ok(score) => NodeResult::Feasible(score),
            Err(Infeasible::Unavailable(claims)) => NodeResult::Unavailable(claims),
            Err(Infeasible::Rejected(text)) => NodeResult::Rejected(evaluation.text(text)),
            Err(Infeasible::Failed(text)) => NodeResult::Failed(evaluation.text(&text)),
        }
    }

    /// Assigns an evaluated node to its group.
    fn group(&self, evaluation: &mut Evaluation, devices: &Devices, index: NodeIndex) {
        for group in &mut evaluation.groups {
            if group.nodes.contains(index) {
                group.nodes.remove(index);
            }
        }
        // Other claims have results that depend on the node.
        let is_unallocated = |claim: &PodClaim| matches!(claim.state, ClaimState::Unallocated(_));
        let result = evaluation.result(index);
        let node = self.node(index);
        let Some(view) = node.and_then(|node| devices.shared_view(node)) else { return };
        if matches!(result, NodeResult::Failed(_)) || !self.claims.claims.iter().all(is_unallocated) {
            return;
        }
        let groups = &mut evaluation.groups;
        let at = groups.iter().position(|group| group.view == view).unwrap_or_else(|| {
            groups.push(NodeGroup { view, result, nodes: NodeMask::default() });
            groups.len() - 1
        });
        // If the group was empty, or all of its nodes were evaluated one by one, its result may be an old one.
        groups[at].result = result;
        groups[at].nodes.resize(evaluation.results.len());
        groups[at].nodes.insert(index);
        if groups.len() > MAX_GROUPS {
            groups.remove(0);
        }
    }

    /// Evaluates one node of each group again after the use of shared devices changed, and sets the results of its other
    /// nodes. Extends `affected` to all other nodes, which the caller evaluates one by one.
    fn update_groups(
        &self,
        evaluation: &mut Evaluation,
        devices: &mut Devices,
        affected: &mut NodeMask,
        mut changed: impl FnMut(NodeIndex),
    ) {
        let single = affected.clone();
        affected.copy_from(self.base.alive());
        let mut groups = std::mem::take(&mut evaluation.groups);
        for NodeGroup { view, result, nodes } in &mut groups {
            let is_member = |node: &NodeIndex| affected.contains(*node) && !single.contains(*node);
            let Some(first) = nodes.iter().find(is_member) else { continue };
            let node = self.node(first);
            if node.and_then(|node| devices.shared_view(node)).as_ref() != Some(view) {
                continue;
            }
            let known = std::mem::replace(result, self.result(evaluation, devices, first));
            if matches!(result, NodeResult::Failed(_)) {
                nodes.clear();
                continue;
            }
            if known != *result {
                for node in nodes.iter().filter(is_member) {
                    if evaluation.set(node, *result) {
                        changed(node);
                    }
                }
            }
            for (word, known) in affected.words_mut().iter_mut().zip(nodes.words()) {
                *word &= !known;
            }
        }
        affected.extend(single.iter());
        evaluation.groups = groups;
    }

    /// Counts the devices of a node again.
    fn count(&self, evaluation: &mut Evaluation, devices: &mut Devices, index: NodeIndex) {
        let Some(node) = self.node(index) else { return };
        for ResourceCounts { class, nodes, .. } in &mut evaluation.counts {
            let found = devices.count(*class, node, &self.base.interner);
            if nodes.get(index.get()) != Some(&found) {
                let nodes = Arc::make_mut(nodes);
                nodes.resize(evaluation.results.len(), DeviceCount::default());
                nodes[index.get()] = found;
            }
        }
    }

    /// Updates an evaluation, of this pod or another one with the same signature, to the current devices.
    /// `node_changed`: nodes whose objects changed. `changed` is called with each node whose result changed.
    pub(super) fn update_all(
        &self,
        evaluation: &mut Evaluation,
        devices: &mut Devices,
        node_changed: &[NodeIndex],
        mut changed: impl FnMut(NodeIndex),
    ) {
        let alive = self.base.alive();
        evaluation.results.resize(self.base.infos().len(), NodeResult::Unavailable(0));
        let mut affected = std::mem::take(&mut devices.affected);
        affected.clear();
        affected.resize(self.base.infos().len());
        let has_equal_states = self.claims.have_equal_states(&evaluation.states);
        let is_prepared = |claims: &NodeClaims| has_equal_states && devices.is_prepared(&claims.prepared);
        self.usual_claims.replace(evaluation.usual_claims.take().filter(is_prepared));
        let changes = match has_equal_states {
            true => devices.affected_nodes(evaluation.read, self.base, &mut affected),
            false => AffectedNodes::All,
        };
        affected.extend(node_changed.iter().copied());
        match changes {
            AffectedNodes::Single => {}
            AffectedNodes::Sharing => {
                self.update_groups(evaluation, devices, &mut affected, &mut changed);
            }
            AffectedNodes::All => {
                evaluation.states = self.claims.claims.iter().map(|claim| claim.state.clone()).collect();
                evaluation.groups.clear();
                affected.copy_from(alive);
            }
        }
        let has_groups = changes == AffectedNodes::All || !evaluation.groups.is_empty();
        evaluation.read = devices.position();
        for node in affected.iter().filter(|&node| alive.contains(node)) {
            if self.update(evaluation, devices, node) {
                changed(node);
            }
            if has_groups {
                self.group(evaluation, devices, node);
            }
        }
        devices.affected = affected;
        evaluation.usual_claims = self.usual_claims.take();
    }
}

impl NodeClaims {
    /// Returns the extended resources of the claim for them; `None` if there is no such claim.
    fn needed(&self) -> Option<&[(Symbol, Symbol)]> {
        self.extended.as_ref().map(|extended| &extended.needed[..])
    }
}

impl Evaluation {
    /// Returns whether the results are those of a position in the changes of devices.
    pub(super) fn is_at(&self, position: Position) -> bool {
        self.read == position
    }

    /// Sets the result of a node. Returns whether it changed.
    fn set(&mut self, node: NodeIndex, result: NodeResult) -> bool {
        let known = std::mem::replace(&mut self.results[node.get()], result);
        self.scored += usize::from(result.score() != 0);
        self.scored -= usize::from(known.score() != 0);
        known != result
    }

    pub(super) fn result(&self, node: NodeIndex) -> NodeResult {
        self.results.get(node.get()).copied().unwrap_or(NodeResult::Unavailable(0))
    }

    /// Returns the score of each node; `None` if all are 0. Only requests with alternatives contribute to scores.
    pub(super) fn scores(&self) -> Option<Arc<[i64]>> {
        (self.scored > 0).then(|| self.results.iter().map(|result| result.score()).collect())
    }

    /// Returns the device counts of each extended resource, for scores; `None` if no plugin requested any.
    pub(super) fn counts(&self) -> Option<Vec<(Symbol, NodeDeviceCounts)>> {
        let counts = self.counts.iter().map(|counts| (counts.resource, counts.nodes.clone()));
        (!self.counts.is_empty()).then(|| counts.collect())
    }

    pub(super) fn text_of(&self, id: TextId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    fn text(&mut self, text: &str) -> TextId {
        let at = self.texts.iter().position(|known| **known == *text).unwrap_or_else(|| {
            self.texts.push(text.into());
            self.texts.len() - 1
        });
        TextId(at as u32)
    }
}
