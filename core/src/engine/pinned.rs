//! Decisions about pods that are pinned to one node, such as those of a DaemonSet. Pods that differ only in this node
//! share their compiled form and their cycle state. Filter runs on one node.

use std::sync::Arc;

use super::{CycleStateOwner, Decision, Engine, PreFilterOutcome, PreFilteredPod};
use crate::engine::incremental::{CompiledPod, compile, sample};
use crate::model::cache::Cache;
use crate::model::{NodeIndex, Pod, PodSpec, RequiredNodeAffinity};
use crate::profile_api::extenders::Extenders;
use crate::profile_api::plugin_results::PluginResults;
use crate::profile_api::profile::Profile;

/// Maximum number of templates.
const LIMIT: usize = 64;

/// The templates of pinned pods.
pub(super) struct PinnedTemplates<P: Profile> {
    /// The last one that was used is the first one.
    templates: Vec<PinnedTemplate<P>>,
    /// Identity of the cluster, and [`Profile::compile_epoch`] when the templates were compiled.
    cluster: Arc<()>,
    epoch: u64,
}

struct PinnedTemplate<P: Profile> {
    /// The spec without required node affinity.
    spec: Arc<PodSpec>,
    /// The attempt of every pod of the template, for any node. `None`: each pod needs a separate one.
    attempt: Option<Box<PreFilteredPod<P>>>,
}

impl<P: Profile> Default for PinnedTemplates<P> {
    fn default() -> Self {
        PinnedTemplates { templates: Vec::new(), cluster: Arc::default(), epoch: 0 }
    }
}

impl<P: Profile> PinnedTemplates<P> {
    /// Returns the cycle state of the last pod.
    pub(super) fn cycle(&self) -> Option<&P::Cycle> {
        Some(&self.templates.first()?.attempt.as_ref()?.cycle)
    }
}

impl<P: Profile> Engine<P> {
    /// Decides about a pod that is pinned to a node and passes there. `None`: it is not, or its attempt cannot be shared.
    #[inline(never)]
    pub(super) fn decide_on_pinned_node(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
    ) -> Option<(Decision, CycleStateOwner<P>)> {
        let (name, spec) = pod.spec.required_node_affinity.pin()?;
        let can_share = self.cache_answers && <P::PluginResults as PluginResults<P>>::IS_CACHED && P::Extenders::NONE;
        // A nominated node is evaluated first, and may be another one.
        if !can_share || pod.nominated_node.is_some() {
            return None;
        }
        let node = cache.base.node(name).filter(|&node| cache.base.alive().contains(node))?;
        let epoch = self.plugins.compile_epoch(&cache.state)?;
        if !Arc::ptr_eq(&self.pinned.cluster, &cache.identity) || self.pinned.epoch != epoch {
            self.pinned = PinnedTemplates { templates: Vec::new(), cluster: cache.identity.clone(), epoch };
        }
        let is_first = self.pinned.templates.first().is_some_and(|first| Arc::ptr_eq(&first.spec, spec));
        if !is_first {
            self.move_to_front(spec, cache);
        }
        let attempt = self.pinned.templates.first_mut()?.attempt.as_mut()?;
        attempt.passes_filters(pod, cache, node).ok()?;
        if self.sampler.is_due() {
            self.compare_pinned(pod, cache, node);
        }
        Some((Decision::Node(node), CycleStateOwner::Pinned))
    }

    /// Moves a template to the front, or adds it there.
    #[inline(never)]
    fn move_to_front(&mut self, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) {
        let known = self.pinned.templates.iter().position(|template| Arc::ptr_eq(&template.spec, spec));
        let template = match known {
            Some(at) => self.pinned.templates.remove(at),
            None => PinnedTemplate { spec: spec.clone(), attempt: self.shared_attempt(spec, cache) },
        };
        self.pinned.templates.truncate(LIMIT - 1);
        self.pinned.templates.insert(0, template);
    }

    /// Returns an attempt for all pods that differ only in the node that they name. `None`: a plugin reads the name, its
    /// state depends on the cluster, or no plugin enforces the name.
    fn shared_attempt(&mut self, spec: &PodSpec, cache: &mut Cache<P::State>) -> Option<Box<PreFilteredPod<P>>> {
        // The compiled form contains the current state of the claims that the spec names. Devices depend on the cluster.
        if spec.names_claims() || !spec.resource_claims.is_empty() {
            return None;
        }
        let withheld = PodSpec { required_node_affinity: RequiredNodeAffinity::withheld(), ..spec.clone() };
        let compiled = Arc::new(compile(&*self.plugins, &withheld, cache));
        if withheld.required_node_affinity.was_read() {
            return None;
        }
        let read = CompiledPod { signature: None, signature_number: 0, compiled };
        match self.start(&read, cache) {
            PreFilterOutcome::PreFiltered(attempt)
                if attempt.pre_filter.is_only_pinned() && P::is_constant(&attempt.compiled, &attempt.cycle) =>
            {
                Some(attempt)
            }
            _ => None,
        }
    }

    /// Compares a decision with the evaluation of the pod's full spec.
    fn compare_pinned(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, node: NodeIndex) {
        let compiled = Arc::new(compile(&*self.plugins, &pod.spec, cache));
        let read = CompiledPod { signature: None, signature_number: 0, compiled };
        let (expected, plugin) = match self.start(&read, cache) {
            PreFilterOutcome::PreFiltered(mut attempt) => match attempt.verdict(pod, cache, node) {
                None if attempt.pre_filter.nodes() == Some(&[node]) => return,
                None => ("other nodes".to_owned(), ""),
                Some(verdict) => (verdict.reasons.join(", "), verdict.plugin),
            },
            PreFilterOutcome::Rejected(rejected) => (rejected.status.message(), rejected.status.plugin),
        };
        sample::fail(&*self.plugins, pod, "Filter on the pinned node", &[plugin], [&expected, "passes"])
    }
}
