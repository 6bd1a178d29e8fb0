//! What the misbehaving plugins are told to do, and what they were called for.
//!
//! A scheduler gives its plugins a handle and nothing else, so the ledger is laid out on the thread before the scheduler is
//! made, and its plugins take it from there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;

use crate::counts::RunCounts;
use crate::follower::FollowerState;
use crate::plugin_fault::{FaultyPlugin, PlannedFault, PluginFault, Point};

/// What is shared by the plugins of one scheduler and the simulation.
#[derive(Default)]
pub(crate) struct InjectorState {
    /// What is left to be done to which pod, by its name. It outlives schedulers.
    planned_faults: BTreeMap<Arc<str>, Vec<PlannedFault>>,
    /// What was reserved and neither given back nor bound: by plugin and uid, the node.
    held: BTreeMap<(FaultyPlugin, Arc<str>), Arc<str>>,
    /// Until when a plugin makes a pod wait in Permit, in nanoseconds.
    waits: BTreeMap<(FaultyPlugin, Arc<str>), i64>,
    /// How often PostBind was called for a uid. It outlives schedulers.
    bound: BTreeMap<Arc<str>, u32>,
    /// Decisions since they were last taken: the uid and the node.
    decisions: Vec<(Arc<str>, Arc<str>)>,
    /// Bindings since they were last taken: the uid and the node.
    bindings: Vec<(Arc<str>, Arc<str>)>,
    /// Calls that must not be, since they were last taken.
    violations: Vec<String>,
    /// Names of pods that something was done to which nothing in the cluster ends.
    faulted_pods: BTreeSet<Arc<str>>,
    /// What a background task knows of the cluster.
    pub(crate) follower_state: FollowerState,
    /// The way to the scheduler.
    handle: Option<Handle>,
    /// Failures at each extension point.
    pub(crate) counts: RunCounts,
    /// Calls of Unreserve of the last plugin are not taken down: a lie of the driver's.
    pub(crate) ignores_unreserve: bool,
}

/// The ledger that the next scheduler of this thread finds.
#[derive(Clone, Default)]
pub(crate) struct SharedInjectorState(Arc<Mutex<InjectorState>>);

thread_local! {
    static INSTALLED: RefCell<SharedInjectorState> = RefCell::default();
}

impl SharedInjectorState {
    /// Schedulers that this thread makes from now on use this one.
    pub(crate) fn install(&self) {
        INSTALLED.with(|installed| installed.replace(self.clone()));
    }
    /// The one that was laid out last.
    pub(crate) fn installed() -> SharedInjectorState {
        INSTALLED.with(|installed| installed.borrow().clone())
    }
    /// What is in it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, InjectorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InjectorState {
    /// A new scheduler begins: what an earlier one reserved is gone with it.
    pub(crate) fn reset(&mut self) {
        self.held.clear();
        self.waits.clear();
        self.decisions.clear();
        self.bindings.clear();
        self.follower_state = FollowerState::default();
        self.handle = None;
    }

    /// What is to be done to the pod of this name from now on.
    pub(crate) fn plan_faults(&mut self, pod: &str, planned_faults: &[PlannedFault]) {
        match planned_faults {
            [] => self.planned_faults.remove(pod),
            _ => self.planned_faults.insert(pod.into(), planned_faults.to_vec()),
        };
    }
    /// Names of pods that something was done to since the last call.
    pub(crate) fn take_faulted_pods(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.faulted_pods)
    }
    /// What is to be done to a pod here and now, once less from now on.
    pub(crate) fn take(&mut self, pod: &str, plugin: FaultyPlugin, point: Point) -> Option<PluginFault> {
        let planned_faults = self.planned_faults.get_mut(pod)?;
        let at = planned_faults.iter().position(|planned| planned.plugin == plugin && planned.point == point)?;
        let fault = planned_faults[at].fault;
        planned_faults[at].times -= 1;
        if planned_faults[at].times == 0 {
            planned_faults.remove(at);
        }
        if planned_faults.is_empty() {
            self.planned_faults.remove(pod);
        }
        self.counts.add("extension point", &format!("{point} {fault}"));
        self.faulted_pods.insert(pod.into());
        Some(fault)
    }
    /// Whether something is to be done to a pod here.
    pub(crate) fn has_fault(&self, pod: &str, plugin: FaultyPlugin, point: Point) -> bool {
        let planned_faults = self.planned_faults.get(pod).map(Vec::as_slice).unwrap_or_default();
        planned_faults.iter().any(|planned| planned.plugin == plugin && planned.point == point)
    }

    pub(crate) fn set_handle(&mut self, handle: &Handle) {
        self.handle = Some(handle.clone());
    }
    /// The way to the scheduler.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.handle.clone()
    }

    pub(crate) fn record_decision(&mut self, placement: &Placement) {
        self.decisions.push((placement.pod.uid.0.clone(), placement.node_name.clone()));
    }

    pub(crate) fn reserve(&mut self, plugin: FaultyPlugin, placement: &Placement) {
        let key = (plugin, placement.pod.uid.0.clone());
        if let Some(node) = self.held.insert(key, placement.node_name.clone()) {
            let Placement { pod, node_name, .. } = placement;
            self.violations
                .push(format!("Reserve of {} on {node_name}, which {plugin} has reserved on {node}", pod.name));
        }
    }

    pub(crate) fn unreserve(&mut self, plugin: FaultyPlugin, placement: &Placement) {
        if self.ignores_unreserve && plugin == FaultyPlugin::Last {
            return;
        }
        let uid = &placement.pod.uid.0;
        let name = &placement.pod.name;
        if self.held.remove(&(plugin, uid.clone())).is_none() {
            self.violations.push(format!("Unreserve of {name}, which {plugin} has not reserved"));
        }
        if plugin == FaultyPlugin::First && self.held.contains_key(&(FaultyPlugin::Last, uid.clone())) {
            self.violations.push(format!(
                "Unreserve of {name} by {} before {}",
                FaultyPlugin::First,
                FaultyPlugin::Last
            ));
        }
        self.waits.remove(&(plugin, uid.clone()));
    }

    pub(crate) fn record_wait(&mut self, plugin: FaultyPlugin, placement: &Placement, until: i64) {
        self.waits.insert((plugin, placement.pod.uid.0.clone()), until);
    }
    /// A plugin lets a waiting pod go.
    pub(crate) fn allow(&mut self, plugin: FaultyPlugin, uid: &Arc<str>) {
        self.waits.remove(&(plugin, uid.clone()));
    }
    /// Pods that a plugin makes wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (FaultyPlugin, &Arc<str>, i64)> {
        self.waits.iter().map(|((plugin, uid), until)| (*plugin, uid, *until))
    }

    /// A binding step of a pod: whoever made it wait does so no longer.
    pub(crate) fn record_binding_step(&mut self, plugin: FaultyPlugin, point: Point, placement: &Placement) {
        let uid = &placement.pod.uid.0;
        self.waits.remove(&(FaultyPlugin::First, uid.clone()));
        self.waits.remove(&(FaultyPlugin::Last, uid.clone()));
        if !self.held.contains_key(&(plugin, uid.clone())) {
            self.violations.push(format!("{point} of {}, which {plugin} has not reserved", placement.pod.name));
        }
    }

    pub(crate) fn post_bind(&mut self, plugin: FaultyPlugin, placement: &Placement) {
        let uid = &placement.pod.uid.0;
        let name = &placement.pod.name;
        self.waits.remove(&(plugin, uid.clone()));
        if self.held.remove(&(plugin, uid.clone())).is_none() {
            self.violations.push(format!("PostBind of {name}, which {plugin} has not reserved"));
        }
        if plugin == FaultyPlugin::First {
            self.bindings.push((uid.clone(), placement.node_name.clone()));
            let times = self.bound.entry(uid.clone()).or_default();
            *times += 1;
            if *times > 1 {
                self.violations.push(format!("{name} is bound twice"));
            }
        }
    }

    /// What is reserved: the plugin, the uid, the node.
    pub(crate) fn held(&self) -> impl Iterator<Item = (FaultyPlugin, &Arc<str>, &Arc<str>)> {
        self.held.iter().map(|((plugin, uid), node)| (*plugin, uid, node))
    }
    /// Where a plugin has reserved room for a pod.
    pub(crate) fn held_on(&self, plugin: FaultyPlugin, uid: &Arc<str>) -> Option<&Arc<str>> {
        self.held.get(&(plugin, uid.clone()))
    }
    /// Decisions since the last call.
    pub(crate) fn take_decisions(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.decisions)
    }
    /// Bindings since the last call.
    pub(crate) fn take_bindings(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.bindings)
    }
    /// Calls that must not be, since the last call.
    pub(crate) fn take_violations(&mut self) -> Vec<String> {
        std::mem::take(&mut self.violations)
    }
}
