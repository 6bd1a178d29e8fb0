//! The planned faults of the fault injectors, and records of their calls.
//!
//! A scheduler passes only a handle to its plugins. Therefore this state is stored in a thread-local before
//! the scheduler is created, and its plugins read it there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;

use crate::counts::RunCounts;
use crate::plugin_fault::{FaultyPlugin, PlannedFault, PluginFault, Point};

/// State that the plugins of one scheduler share with the simulation.
#[derive(Default)]
pub(crate) struct InjectorState {
    /// Remaining faults by pod name. Kept over restarts.
    planned_faults: BTreeMap<Arc<str>, Vec<PlannedFault>>,
    /// Faults of the current attempt at PreFilter, Filter, PreScore and Score. Debug builds evaluate some pods twice,
    /// and both evaluations get the same faults.
    in_evaluation: BTreeMap<(FaultyPlugin, Point), Option<PluginFault>>,
    /// Nodes of the reservations that neither Unreserve nor PostBind has ended, by plugin and uid of the pod.
    held: BTreeMap<(FaultyPlugin, Arc<str>), Arc<str>>,
    /// End of each wait in Permit, in nanoseconds, by plugin and uid.
    waits: BTreeMap<(FaultyPlugin, Arc<str>), i64>,
    /// Calls of PostBind by uid. Kept over restarts.
    bound: BTreeMap<Arc<str>, u32>,
    /// Decisions since the last call of `take_decisions`: uid and node.
    decisions: Vec<(Arc<str>, Arc<str>)>,
    /// Bindings since the last call of `take_bindings`: uid and node.
    bindings: Vec<(Arc<str>, Arc<str>)>,
    /// Invalid calls since the last call of `take_violations`.
    violations: Vec<String>,
    /// Names of pods with an injected fault. If the fault was a rejection, no cluster event requeues the pod.
    faulted_pods: BTreeSet<Arc<str>>,
    /// State of the background task.
    pub(crate) follower_state: FollowerState,
    /// Handle of the scheduler.
    handle: Option<Handle>,
    /// Number of injected faults, by extension point.
    pub(crate) counts: RunCounts,
    /// Whether Unreserve calls of the plugin `Last` are ignored: an injected bug.
    pub(crate) ignores_unreserve: bool,
}

/// State of the background task that follows the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FollowerState {
    /// Nodes.
    pub(crate) nodes: BTreeSet<String>,
    /// Nodes of bound pods, by uid.
    pub(crate) pods: BTreeMap<Arc<str>, String>,
}

/// The state, shared by the simulation and the plugins.
#[derive(Clone, Default)]
pub(crate) struct SharedInjectorState(Arc<Mutex<InjectorState>>);

thread_local! {
    static INSTALLED: RefCell<SharedInjectorState> = RefCell::default();
}

impl SharedInjectorState {
    /// Makes later schedulers of this thread use this state.
    pub(crate) fn install(&self) {
        INSTALLED.with(|installed| installed.replace(self.clone()));
    }
    /// Returns the state that was installed last.
    pub(crate) fn installed() -> SharedInjectorState {
        INSTALLED.with(|installed| installed.borrow().clone())
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, InjectorState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InjectorState {
    /// Resets everything that ends with a scheduler, such as reservations.
    pub(crate) fn reset(&mut self) {
        self.in_evaluation.clear();
        self.held.clear();
        self.waits.clear();
        self.decisions.clear();
        self.bindings.clear();
        self.follower_state = FollowerState::default();
        self.handle = None;
    }

    /// Replaces the planned faults of the pod with this name.
    pub(crate) fn plan_faults(&mut self, pod: &str, planned_faults: &[PlannedFault]) {
        match planned_faults {
            [] => self.planned_faults.remove(pod),
            _ => self.planned_faults.insert(pod.into(), planned_faults.to_vec()),
        };
    }
    /// Returns the names of pods with injected faults since the last call.
    pub(crate) fn take_faulted_pods(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.faulted_pods)
    }
    /// Begins the next attempt.
    pub(crate) fn begin_attempt(&mut self) {
        self.in_evaluation.clear();
    }
    /// Takes one planned fault of a pod for this plugin and point. All evaluations of one attempt get the same fault.
    pub(crate) fn take(&mut self, pod: &str, plugin: FaultyPlugin, point: Point) -> Option<PluginFault> {
        if !matches!(point, Point::PreFilter | Point::Filter | Point::PreScore | Point::Score) {
            return self.take_planned(pod, plugin, point);
        }
        if let Some(fault) = self.in_evaluation.get(&(plugin, point)) {
            return *fault;
        }
        let fault = self.take_planned(pod, plugin, point);
        self.in_evaluation.insert((plugin, point), fault);
        fault
    }
    fn take_planned(&mut self, pod: &str, plugin: FaultyPlugin, point: Point) -> Option<PluginFault> {
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
    /// Returns whether a pod has a planned fault for this plugin and point.
    pub(crate) fn has_fault(&self, pod: &str, plugin: FaultyPlugin, point: Point) -> bool {
        let planned_faults = self.planned_faults.get(pod).map(Vec::as_slice).unwrap_or_default();
        planned_faults.iter().any(|planned| planned.plugin == plugin && planned.point == point)
    }

    pub(crate) fn set_handle(&mut self, handle: &Handle) {
        self.handle = Some(handle.clone());
    }
    /// Returns the handle of the scheduler.
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
            self.violations.push(format!(
                "Reserve of {} on {node_name}, but {plugin} already has a reservation on {node}",
                pod.name
            ));
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
    /// Records that a plugin allows a waiting pod.
    pub(crate) fn allow(&mut self, plugin: FaultyPlugin, uid: &Arc<str>) {
        self.waits.remove(&(plugin, uid.clone()));
    }
    /// Returns the waits in Permit: plugin, uid of the pod, and end.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (FaultyPlugin, &Arc<str>, i64)> {
        self.waits.iter().map(|((plugin, uid), until)| (*plugin, uid, *until))
    }

    /// Records a binding step of a pod, which ends its waits.
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

    /// Returns the reservations: plugin, uid and node.
    pub(crate) fn held(&self) -> impl Iterator<Item = (FaultyPlugin, &Arc<str>, &Arc<str>)> {
        self.held.iter().map(|((plugin, uid), node)| (*plugin, uid, node))
    }
    /// Returns the node on which a plugin has reserved resources for a pod.
    pub(crate) fn held_on(&self, plugin: FaultyPlugin, uid: &Arc<str>) -> Option<&Arc<str>> {
        self.held.get(&(plugin, uid.clone()))
    }
    /// Returns the decisions since the last call.
    pub(crate) fn take_decisions(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.decisions)
    }
    /// Returns the bindings since the last call.
    pub(crate) fn take_bindings(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.bindings)
    }
    /// Returns the invalid calls since the last call.
    pub(crate) fn take_violations(&mut self) -> Vec<String> {
        std::mem::take(&mut self.violations)
    }
}
