//! What the misbehaving plugins are told to do, and what they were called for.
//!
//! A scheduler gives its plugins a handle and nothing else, so the ledger is laid out on the thread before the scheduler is
//! made, and its plugins take it from there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;

use crate::figures::Figures;
use crate::follower::Followed;
use crate::trouble::{Mischief, Point, Trouble, Who};

/// What is shared by the plugins of one scheduler and the simulation.
#[derive(Default)]
pub(crate) struct Ledger {
    /// What is left to be done to which pod, by its name. It outlives schedulers.
    troubles: BTreeMap<Arc<str>, Vec<Trouble>>,
    /// What was reserved and neither given back nor bound: by plugin and uid, the node.
    held: BTreeMap<(Who, Arc<str>), Arc<str>>,
    /// Until when a plugin makes a pod wait in Permit, in nanoseconds.
    waits: BTreeMap<(Who, Arc<str>), i64>,
    /// How often PostBind was called for a uid. It outlives schedulers.
    bound: BTreeMap<Arc<str>, u32>,
    /// Decisions since they were last taken: the uid and the node.
    decisions: Vec<(Arc<str>, Arc<str>)>,
    /// Bindings since they were last taken: the uid and the node.
    bindings: Vec<(Arc<str>, Arc<str>)>,
    /// Calls that must not be, since they were last taken.
    violations: Vec<String>,
    /// Names of pods that something was done to which nothing in the cluster ends.
    told: BTreeSet<Arc<str>>,
    /// What a background task knows of the cluster.
    pub(crate) followed: Followed,
    /// The way to the scheduler.
    handle: Option<Handle>,
    /// Failures at each extension point.
    pub(crate) figures: Figures,
    /// Calls of Unreserve of the last plugin are not taken down: a lie of the driver's.
    pub(crate) deaf_to_unreserve: bool,
}

/// The ledger that the next scheduler of this thread finds.
#[derive(Clone, Default)]
pub(crate) struct SharedLedger(Arc<Mutex<Ledger>>);

thread_local! {
    static LAID_OUT: RefCell<SharedLedger> = RefCell::default();
}

impl SharedLedger {
    /// Schedulers that this thread makes from now on use this one.
    pub(crate) fn lay_out(&self) {
        LAID_OUT.with(|laid_out| laid_out.replace(self.clone()));
    }
    /// The one that was laid out last.
    pub(crate) fn laid_out() -> SharedLedger {
        LAID_OUT.with(|laid_out| laid_out.borrow().clone())
    }
    /// What is in it.
    pub(crate) fn open(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    /// A new scheduler begins: what an earlier one reserved is gone with it.
    pub(crate) fn scheduler_starts(&mut self) {
        self.held.clear();
        self.waits.clear();
        self.decisions.clear();
        self.bindings.clear();
        self.followed = Followed::default();
        self.handle = None;
    }

    /// What is to be done to the pod of this name from now on.
    pub(crate) fn set_troubles(&mut self, pod: &str, troubles: &[Trouble]) {
        match troubles {
            [] => self.troubles.remove(pod),
            _ => self.troubles.insert(pod.into(), troubles.to_vec()),
        };
    }
    /// Names of pods that something was done to since the last call.
    pub(crate) fn take_told(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.told)
    }
    /// What is to be done to a pod here and now, once less from now on.
    pub(crate) fn take(&mut self, pod: &str, who: Who, point: Point) -> Option<Mischief> {
        let troubles = self.troubles.get_mut(pod)?;
        let at = troubles.iter().position(|trouble| trouble.who == who && trouble.point == point)?;
        let mischief = troubles[at].mischief;
        troubles[at].times -= 1;
        if troubles[at].times == 0 {
            troubles.remove(at);
        }
        if troubles.is_empty() {
            self.troubles.remove(pod);
        }
        self.figures.add("extension point", &format!("{point} {mischief}"));
        self.told.insert(pod.into());
        Some(mischief)
    }
    /// Whether something is to be done to a pod here.
    pub(crate) fn plans(&self, pod: &str, who: Who, point: Point) -> bool {
        let troubles = self.troubles.get(pod).map(Vec::as_slice).unwrap_or_default();
        troubles.iter().any(|trouble| trouble.who == who && trouble.point == point)
    }

    pub(crate) fn starts(&mut self, handle: &Handle) {
        self.handle = Some(handle.clone());
    }
    /// The way to the scheduler.
    pub(crate) fn handle(&self) -> Option<Handle> {
        self.handle.clone()
    }

    pub(crate) fn decided(&mut self, placement: &Placement) {
        self.decisions.push((placement.pod.uid.0.clone(), placement.node_name.clone()));
    }

    pub(crate) fn reserve(&mut self, who: Who, placement: &Placement) {
        let key = (who, placement.pod.uid.0.clone());
        if let Some(node) = self.held.insert(key, placement.node_name.clone()) {
            let Placement { pod, node_name, .. } = placement;
            self.violations.push(format!("Reserve of {} on {node_name}, which {who} has reserved on {node}", pod.name));
        }
    }

    pub(crate) fn unreserve(&mut self, who: Who, placement: &Placement) {
        if self.deaf_to_unreserve && who == Who::Last {
            return;
        }
        let uid = &placement.pod.uid.0;
        let name = &placement.pod.name;
        if self.held.remove(&(who, uid.clone())).is_none() {
            self.violations.push(format!("Unreserve of {name}, which {who} has not reserved"));
        }
        if who == Who::First && self.held.contains_key(&(Who::Last, uid.clone())) {
            self.violations.push(format!("Unreserve of {name} by {} before {}", Who::First, Who::Last));
        }
        self.waits.remove(&(who, uid.clone()));
    }

    pub(crate) fn waits(&mut self, who: Who, placement: &Placement, until: i64) {
        self.waits.insert((who, placement.pod.uid.0.clone()), until);
    }
    /// A plugin lets a waiting pod go.
    pub(crate) fn lets_go(&mut self, who: Who, uid: &Arc<str>) {
        self.waits.remove(&(who, uid.clone()));
    }
    /// Pods that a plugin makes wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Who, &Arc<str>, i64)> {
        self.waits.iter().map(|((who, uid), until)| (*who, uid, *until))
    }

    /// A binding step of a pod: whoever made it wait does so no longer.
    pub(crate) fn passes(&mut self, who: Who, point: Point, placement: &Placement) {
        let uid = &placement.pod.uid.0;
        self.waits.remove(&(Who::First, uid.clone()));
        self.waits.remove(&(Who::Last, uid.clone()));
        if !self.held.contains_key(&(who, uid.clone())) {
            self.violations.push(format!("{point} of {}, which {who} has not reserved", placement.pod.name));
        }
    }

    pub(crate) fn post_bind(&mut self, who: Who, placement: &Placement) {
        let uid = &placement.pod.uid.0;
        let name = &placement.pod.name;
        self.waits.remove(&(who, uid.clone()));
        if self.held.remove(&(who, uid.clone())).is_none() {
            self.violations.push(format!("PostBind of {name}, which {who} has not reserved"));
        }
        if who == Who::First {
            self.bindings.push((uid.clone(), placement.node_name.clone()));
            let times = self.bound.entry(uid.clone()).or_default();
            *times += 1;
            if *times > 1 {
                self.violations.push(format!("{name} is bound twice"));
            }
        }
    }

    /// What is reserved: the plugin, the uid, the node.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Who, &Arc<str>, &Arc<str>)> {
        self.held.iter().map(|((who, uid), node)| (*who, uid, node))
    }
    /// Where a plugin has reserved room for a pod.
    pub(crate) fn held_on(&self, who: Who, uid: &Arc<str>) -> Option<&Arc<str>> {
        self.held.get(&(who, uid.clone()))
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
