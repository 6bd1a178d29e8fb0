//! A cache and the plugins of all profiles, without a queue, a client and a clock.

use std::sync::Arc;

use super::record::Recorder;
use crate::engine::bundle::{Bundle, set_up_extenders, with_profile};
use crate::engine::explain::Explanation;
use crate::engine::tie_break::TieBreak;
use crate::engine::{CycleInputs, Decision, UNTIMED};
use crate::model::cache::{Base, Cache, PodState};
use crate::model::intern::Symbol;
use crate::model::{Node, Object, ObjectKey, Pod, Uid};
use crate::plugin_api::events::{ClusterEvent, EventObject};
use crate::plugin_api::extension_points::{HintError, QueueingHint};
use crate::plugin_api::handle::Handle;
use crate::plugin_api::random::Random;
use crate::plugin_api::status::Status;
use crate::profile_api::costs::{CostPart, Meter};
use crate::profile_api::extenders::{Extenders, Overrides};
use crate::profile_api::hints::{InterestedPlugins, PluginEvents};
use crate::profile_api::profile::StartErrors;

/// Time of all decisions of an [`AnyCluster`], in nanoseconds since 1970: the beginning of 2026.
pub const SCENARIO_TIME: i64 = 1_767_225_600_000_000_000;

/// A cluster that the caller sets object by object, with the plugins of all profiles; for scenarios and measurements.
pub trait AnyCluster: Send {
    /// Removes all objects, and makes a new interner: earlier symbols are invalid.
    fn clear(&mut self);
    /// Returns nodes and names.
    fn base(&self) -> &Base;
    /// Returns nodes and names, to intern strings and to store originals.
    fn base_mut(&mut self) -> &mut Base;
    /// Adds or replaces a node.
    fn set_node(&mut self, node: Node);
    /// Removes a node.
    fn remove_node(&mut self, name: Symbol);
    /// Adds or replaces an object that is neither a node nor a pod.
    fn set_object(&mut self, object: Object);
    /// Removes an object that is neither a node nor a pod.
    fn remove_object(&mut self, key: &ObjectKey);
    /// Adds a pod to a node.
    fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol, state: PodState);
    /// Removes a pod from its node.
    fn remove_pod(&mut self, uid: &Uid);
    /// Nominates a pod for a node.
    fn nominate(&mut self, pod: Arc<Pod>, node: Symbol);
    /// Withdraws the nomination of a pod.
    fn withdraw_nomination(&mut self, uid: &Uid);

    /// Returns the status of the PreEnqueue plugin that holds a pod; `None` if the pod is admitted to the queue.
    fn gate_status(&mut self, profile: usize, pod: &Pod) -> Option<Status>;
    /// Explains a decision over all nodes, regardless of `percentage-of-nodes-to-score`.
    fn explain(&mut self, profile: usize, pod: &Arc<Pod>) -> Explanation;
    /// Explains a decision like [`AnyCluster::explain`], but lists every plugin that rejects a node, not only the
    /// first.
    fn explain_all_filters(&mut self, profile: usize, pod: &Arc<Pod>) -> Explanation;
    /// Decides about a pod over all nodes. Among equally good nodes, the decision is the first by index.
    fn decide(&mut self, profile: usize, pod: &Arc<Pod>) -> Decision;
    /// Returns the plugins of a profile, as in [`Profile::plugins`](crate::profile_api::profile::Profile::plugins).
    fn plugins(&mut self, profile: usize) -> &'static [PluginEvents];
    /// Returns whether a profile has extenders.
    fn has_extenders(&mut self, profile: usize) -> bool;
    /// Returns the hint of a plugin for an event; `None` if the plugin is not registered for the event. `plugin` is the
    /// index in [`AnyCluster::plugins`].
    fn hint(
        &mut self,
        profile: usize,
        plugin: usize,
        event: ClusterEvent,
        object: EventObject<'_>,
        pod: &Pod,
    ) -> Option<Result<QueueingHint, HintError>>;

    /// Returns the columns that a profile reads, each with the size of a node's entry in bytes.
    fn columns(&mut self, profile: usize) -> &'static [(&'static str, usize)];
    /// Measures the work of each plugin of a profile, like [`Profile::costs`](crate::profile_api::profile::Profile::costs).
    ///
    /// # Errors
    /// PreFilter or PreScore rejects the pod or fails.
    fn costs(&mut self, profile: usize, pod: &Pod, meter: &mut dyn AnyMeter) -> Result<(), Status>;
}

/// A [`Meter`] of any type.
pub trait AnyMeter {
    /// Measures `work`. An implementation may run it repeatedly.
    fn measure_any(&mut self, plugin: &'static str, part: CostPart, work: &mut dyn FnMut());
}

struct MeterOf<'a>(&'a mut dyn AnyMeter);

impl Meter for MeterOf<'_> {
    fn measure(&mut self, plugin: &'static str, part: CostPart, mut work: impl FnMut()) {
        self.0.measure_any(plugin, part, &mut work);
    }
}

/// The profiles `B` over a cache.
pub(super) struct ClusterOf<B: Bundle> {
    bundle: B,
    cache: Cache<B::State>,
}

impl<B: Bundle> ClusterOf<B> {
    pub(super) fn new(
        make: impl FnOnce(&Handle) -> Result<B, StartErrors>,
        extenders: Option<&Overrides>,
    ) -> Result<Self, StartErrors> {
        let handle = Handle::default();
        handle.publish_now(SCENARIO_TIME);
        let mut bundle = make(&handle)?;
        if let Some(extenders) = extenders {
            set_up_extenders(&mut bundle, extenders)?;
        }
        Ok(ClusterOf { bundle, cache: Cache::default() })
    }
}

impl<B: Bundle> AnyCluster for ClusterOf<B> {
    fn clear(&mut self) {
        self.cache = Cache::default();
    }
    fn base(&self) -> &Base {
        &self.cache.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.cache.base
    }
    fn set_node(&mut self, node: Node) {
        self.cache.set_node(node);
    }
    fn remove_node(&mut self, name: Symbol) {
        self.cache.remove_node(name);
    }
    fn set_object(&mut self, object: Object) {
        self.cache.set_object(object);
    }
    fn remove_object(&mut self, key: &ObjectKey) {
        self.cache.remove_object(key);
    }
    fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol, state: PodState) {
        self.cache.add_pod(pod, node, state);
    }
    fn remove_pod(&mut self, uid: &Uid) {
        self.cache.remove_pod(uid);
    }
    fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.cache.nominate(pod, node);
    }
    fn withdraw_nomination(&mut self, uid: &Uid) {
        self.cache.withdraw_nomination(uid);
    }

    fn gate_status(&mut self, profile: usize, pod: &Pod) -> Option<Status> {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Pod = pod, cache: &Cache<S> = &self.cache) -> Option<Status> {
                engine.plugins.pre_enqueue(pod, cache).err()
            }
        )
    }
    fn explain(&mut self, profile: usize, pod: &Arc<Pod>) -> Explanation {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Arc<Pod> = pod, cache: &mut Cache<S> = &mut self.cache) -> Explanation {
                engine.percentage_of_nodes_to_score = 100;
                engine.explain(pod, cache, false)
            }
        )
    }
    fn explain_all_filters(&mut self, profile: usize, pod: &Arc<Pod>) -> Explanation {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Arc<Pod> = pod, cache: &mut Cache<S> = &mut self.cache) -> Explanation {
                engine.percentage_of_nodes_to_score = 100;
                engine.explain(pod, cache, true)
            }
        )
    }
    fn decide(&mut self, profile: usize, pod: &Arc<Pod>) -> Decision {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Arc<Pod> = pod, cache: &mut Cache<S> = &mut self.cache) -> Decision {
                engine.percentage_of_nodes_to_score = 100;
                // The argument types are those of the scheduling cycle: the engine is compiled only once per profile.
                let (mut random, mut observer) = (Random::new(0), ());
                let mut draw = TieBreak::First.draw_fn(&mut random);
                let recorder = &mut Recorder::new(&mut observer);
                let inputs = CycleInputs { now: UNTIMED, lists_preemption_candidates: true, draw: &mut draw };
                let (decision, cycle_state) = engine.decide_with_state(pod, cache, inputs, recorder);
                engine.release(cycle_state);
                decision
            }
        )
    }
    fn plugins(&mut self, profile: usize) -> &'static [PluginEvents] {
        with_profile!(self.bundle, profile, fn(engine) -> &'static [PluginEvents] { engine.plugins.plugins() })
    }
    fn has_extenders(&mut self, profile: usize) -> bool {
        with_profile!(self.bundle, profile, fn(_engine) -> bool { !P::Extenders::NONE })
    }
    fn hint(
        &mut self,
        profile: usize,
        plugin: usize,
        event: ClusterEvent,
        object: EventObject<'_>,
        pod: &Pod,
    ) -> Option<Result<QueueingHint, HintError>> {
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                plugin: usize = plugin,
                event: ClusterEvent = event,
                object: EventObject<'_> = object,
                pod: &Pod = pod,
                cache: &Cache<S> = &self.cache,
            ) -> Option<Result<QueueingHint, HintError>> {
                let profile = &*engine.plugins;
                InterestedPlugins::of(profile.plugins(), event).hint(profile, plugin, pod, object, cache)
            }
        )
    }

    fn columns(&mut self, profile: usize) -> &'static [(&'static str, usize)] {
        with_profile!(self.bundle, profile, fn(_engine) -> &'static [(&'static str, usize)] { P::COLUMNS })
    }
    fn costs(&mut self, profile: usize, pod: &Pod, meter: &mut dyn AnyMeter) -> Result<(), Status> {
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                pod: &Pod = pod,
                cache: &mut Cache<S> = &mut self.cache,
                meter: &mut dyn AnyMeter = meter,
            ) -> Result<(), Status> {
                let Cache { base, state, .. } = &mut *cache;
                base.begin_attempt(&Arc::new(pod.clone()));
                let compiled = engine.plugins.compile(&pod.spec, &mut base.interner, state);
                engine.plugins.costs(&compiled, cache, &mut MeterOf(meter))
            }
        )
    }
}
