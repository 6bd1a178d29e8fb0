//! DynamicResources
//!
//! **What it does.** Allocates devices for the pod's resource claims, and for extended resources that device classes
//! back. Rejects nodes where no devices can be allocated, and nodes that cannot use devices of allocated claims.
//!
//! **Extension points.** PreEnqueue, PreFilter (skips without claims), Filter, PostFilter, Score, Reserve, PreBind.
//!
//! **Arguments.** [`DynamicResourcesArgs`].
//!
//! **Upstream.** `plugins/dynamicresources` (kube-scheduler 1.36.2).
//!
//! **Differences.** PreFilter evaluates all nodes. An error on a node counts only if the earlier filters pass there.
//! PostFilter deallocates a claim only if it still has the version that was read. Unreserve removes all finalizers of a
//! claim that was created for extended resources.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::args::{Args, Errors, Node, Part, parse_duration};
use schedc_core::cache::Base;
use schedc_core::client::Client;
use schedc_core::column::Position;
use schedc_core::extension_points::{
    FilterPlugin, Placement, PostFilterContext, PostFilterPlugin, PostFilterResult, PreBindPlugin, PreEnqueuePlugin,
    PreFilterPlugin, PreFilterResult, PreFlightResult, ReservePlugin, Shortage, SkipFrequency,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, FilterUpdate, Incremental, NeedsFullEvaluation};
use schedc_core::intern::Symbol;
use schedc_core::model::{ContainerDeviceRequest, NodeIndex, Pod, PodSpec, Uid};
use schedc_core::plugin::{CompileContext, CycleSlot, IndexView, Refs, View};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use serde_json::Value;

mod binding;
mod claims;
mod devices;
mod evaluation;
mod explanation;
mod extended;
mod fingerprint;
mod hint;
mod pod_claims;
mod post_filter;
mod readiness;
mod score;
mod unreceived;

use binding::{BindingPlan, Removals, SparePlans};
use devices::{Devices, SearchTimeout};
use evaluation::{Evaluation, Infeasible, NodeClaims, NodeEvaluator, NodeResult, UNAVAILABLE};
use extended::ExtendedResources;
use pod_claims::PodClaims;
use unreceived::Lookups;

use crate::indexes::{DeviceClasses, ResourceClaims, ResourceSlices};

/// Arguments of DynamicResources. They apply to pods with resource claims or with extended resources that devices
/// back, and are validated as in kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_binding_timeout)]
pub struct DynamicResourcesArgs {
    /// timeout of Filter for finding devices on a node, 0s for none; default 10s
    #[args(default = "10s", format = "duration")]
    pub filter_timeout: &'static str,
    /// timeout of PreBind for devices to become ready, at least 1s; default 10m
    #[args(default = "600s", format = "duration")]
    pub binding_timeout: &'static str,
}

const fn check_binding_timeout(args: &DynamicResourcesArgs, node: &Node, errors: &mut Errors) {
    if matches!(parse_duration(args.binding_timeout), Some(..1_000_000_000)) {
        errors.report(node, &[Part::Name("binding-timeout"), Part::Text(" must be at least 1 second")]);
    }
}

/// Allocates devices for resource claims and extended resources.
#[derive(Debug)]
pub struct DynamicResources {
    handle: Handle,
    filter_timeout: Option<SearchTimeout>,
    /// In nanoseconds.
    binding_timeout: i64,
    devices: Mutex<Devices>,
    /// The current attempt, for Score and Reserve.
    last_attempt: Mutex<Option<Attempt>>,
    /// Number of binding plans so far.
    plans: AtomicU64,
    removals: Removals,
    spare_plans: SparePlans,
    lookups: Lookups,
}

/// Results of Filter for a pod.
#[derive(Debug)]
struct Attempt {
    pod: Uid,
    evaluation: Arc<Evaluation>,
    /// The pod's claims; `None` after Reserve took them.
    claims: Option<PodClaims>,
}

type Indexes<'a> = Refs<'a, DynamicResources>;
type ViewOf<'a> = View<'a, DynamicResources>;

/// Parts of a pod's spec that Filter reads. Pods that differ only in the names of their generated claims share cached
/// answers; `update_filter` compares the claims themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DynamicResourcesPod {
    has_claims: bool,
    /// Hash of the claims that the pod names.
    claims_hash: u64,
    extended: ExtendedResources,
    device_requests: Box<[ContainerDeviceRequest]>,
}

impl DynamicResourcesPod {
    /// Returns whether the pod may need devices.
    fn uses_devices(&self) -> bool {
        self.has_claims || self.extended.is_any_backed()
    }
}

/// State of Filter: the results of all nodes; `None` for a pod that needs no devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDevices(Option<Arc<Evaluation>>);

/// Devices that are reserved for a placed pod; empty without claims.
#[derive(Debug, Default)]
pub struct ReservedDevices(Option<(Box<BindingPlan>, SparePlans)>);

impl Drop for ReservedDevices {
    fn drop(&mut self) {
        if let Some((plan, spare_plans)) = self.0.take() {
            spare_plans.recycle(plan);
        }
    }
}

impl DynamicResources {
    fn devices(&self) -> MutexGuard<'_, Devices> {
        // Every use begins with a complete update, so a partial change after a panic does not matter.
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_attempt(&self) -> MutexGuard<'_, Option<Attempt>> {
        self.last_attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn extended_resources(&self, pod: &PodSpec, view: ViewOf<'_>) -> ExtendedResources {
        ExtendedResources::of(pod, view.indexes.2, &view.base.interner)
    }

    /// Reads the claims of a pod, and updates the devices.
    fn look_up(&self, pod: &Pod, is_extended: bool, view: ViewOf<'_>) -> Result<PodClaims, Status> {
        let mut pending = self.handle.pending_allocations();
        self.devices().update(view, &mut pending);
        let times = (self.handle.now(), self.binding_timeout);
        PodClaims::look_up(pod, is_extended, view, &pending, times)
    }

    fn evaluator<'a>(
        &self,
        pod: &'a Pod,
        extended: &'a ExtendedResources,
        claims: &'a PodClaims,
        base: &'a Base,
    ) -> NodeEvaluator<'a> {
        let (timeout, now) = (self.filter_timeout, self.handle.now());
        NodeEvaluator { pod, extended, claims, base, timeout, now, usual_claims: RefCell::default() }
    }

    fn remember(&self, pod: &Pod, evaluation: &Arc<Evaluation>, claims: PodClaims) {
        let attempt = Attempt { pod: pod.uid.clone(), evaluation: evaluation.clone(), claims: Some(claims) };
        *self.last_attempt() = Some(attempt);
        if let Some(counts) = evaluation.counts() {
            self.handle.device_counts().set(pod.uid.clone(), counts);
        }
    }

    /// Returns the pod's extended resources for which other plugins requested device counts, each with its device
    /// class.
    fn counted_resources(&self, extended: &ExtendedResources, base: &Base) -> Vec<(Symbol, Symbol)> {
        if !extended.is_any_backed() {
            return Vec::new();
        }
        let counts = self.handle.device_counts();
        let backed = extended.requests.iter().filter_map(|resource| Some((resource.name, resource.class?)));
        backed.filter(|(name, _)| counts.is_requested(base.interner.resolve(*name))).collect()
    }

    /// Returns the evaluation and the claims of the pod's latest Filter, if the devices have not changed since.
    fn take_attempt(&self, pod: &Pod, view: ViewOf<'_>) -> Option<(Arc<Evaluation>, PodClaims)> {
        let mut last = self.last_attempt();
        let attempt = last.as_mut().filter(|attempt| attempt.pod == pod.uid)?;
        let claims = attempt.claims.take()?;
        let pending = self.handle.pending_allocations();
        let devices = self.devices();
        let is_current = devices.is_current(view, &pending) && attempt.evaluation.is_at(devices.position());
        is_current.then(|| (attempt.evaluation.clone(), claims))
    }

    /// Returns the writes of PreBind for a pod on a node, with new allocations. `None`: the pod has no claims.
    fn plan(&self, placement: &Placement, view: ViewOf<'_>) -> Result<Option<BindingPlan>, Status> {
        let extended = self.extended_resources(&placement.pod.spec, view);
        let claims = self.look_up(&placement.pod, extended.is_any_backed(), view)?;
        if claims.is_empty() {
            return Ok(None);
        }
        self.plan_for_claims(placement, claims, &extended, None, view).map(Some)
    }

    /// Returns the writes of PreBind for a pod with claims. `usual_claims`: claims to reuse, if the node needs the same
    /// extended resources.
    fn plan_for_claims(
        &self,
        placement: &Placement,
        claims: PodClaims,
        extended: &ExtendedResources,
        usual_claims: Option<NodeClaims>,
        view: ViewOf<'_>,
    ) -> Result<BindingPlan, Status> {
        let evaluator = self.evaluator(&placement.pod, extended, &claims, view.base);
        evaluator.usual_claims.replace(usual_claims);
        // Nothing has changed since Filter, so the result is that of Filter.
        let allocated = evaluator.allocate(&mut self.devices(), placement.node);
        match allocated {
            Ok(allocation) => {
                let new_key = || {
                    let number = self.plans.fetch_add(1, Ordering::Relaxed);
                    self.devices().pending_key(number, &placement.pod.uid)
                };
                Ok(BindingPlan::new(placement, claims, allocation, new_key, &view.base.interner))
            }
            Err(Infeasible::Failed(error)) => Err(Status::error(error)),
            Err(_) => Err(Status::error("claim allocation not found for node")),
        }
    }
}

#[plugin]
impl Plugin for DynamicResources {
    type Args = DynamicResourcesArgs;
    type Columns = Position;
    type Indexes = (ResourceClaims, ResourceSlices, DeviceClasses);
    type Pod = DynamicResourcesPod;

    fn new(args: &'static DynamicResourcesArgs, handle: &Handle) -> Result<Self, String> {
        let timeout = parse_duration(args.filter_timeout).and_then(|time| u64::try_from(time).ok());
        let timeout_of = if handle.has_real_time() { SearchTimeout::Real } else { SearchTimeout::Virtual };
        Ok(DynamicResources {
            handle: handle.clone(),
            filter_timeout: timeout.filter(|&time| time > 0).map(Duration::from_nanos).map(timeout_of),
            binding_timeout: parse_duration(args.binding_timeout).unwrap_or(i64::MAX),
            devices: Devices::new(handle).into(),
            last_attempt: Mutex::default(),
            plans: AtomicU64::default(),
            removals: Removals::default(),
            spare_plans: SparePlans::default(),
            lookups: Lookups::default(),
        })
    }

    fn compile(_: &DynamicResourcesArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> DynamicResourcesPod {
        if !pod.may_use_devices() {
            return DynamicResourcesPod::default();
        }
        let (claims, _, classes) = cx.indexes;
        let extended = ExtendedResources::of(pod, classes, cx.interner);
        DynamicResourcesPod {
            has_claims: !pod.resource_claims.is_empty(),
            claims_hash: fingerprint::of_named(pod, claims),
            device_requests: if extended.is_any_backed() { pod.device_requests.clone() } else { Box::default() },
            extended,
        }
    }
}

impl PreEnqueuePlugin for DynamicResources {
    fn pre_enqueue(&self, _: &DynamicResourcesArgs, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status> {
        let claims = claims::of_pod(pod, view.indexes.0);
        claims.map(|_| ()).map_err(|unusable| Status::unresolvable(unusable.message(pod, view.interner())))
    }
}

impl PreFilterPlugin for DynamicResources {
    type Cycle = PodDevices;

    #[inline]
    fn pre_filter(
        &self,
        _: &DynamicResourcesArgs,
        pod: &DynamicResourcesPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<PodDevices>, Status> {
        if !pod.uses_devices() {
            return Ok(PreFilterResult::skip(PodDevices::default()));
        }
        let Some(claimant) = view.base.claimant() else { return Err(Status::error("an attempt without a pod")) };
        let claims = self.look_up(claimant, pod.extended.is_any_backed(), view)?;
        if claims.is_empty() {
            *self.last_attempt() = None;
            return Ok(PreFilterResult::skip(PodDevices::default()));
        }
        let evaluator = self.evaluator(claimant, &pod.extended, &claims, view.base);
        let counted = self.counted_resources(&pod.extended, view.base);
        let evaluation = Arc::new(evaluator.evaluate_all(&mut self.devices(), &counted));
        self.remember(claimant, &evaluation, claims);
        Ok(PreFilterResult::ready(PodDevices(Some(evaluation))))
    }
}

impl FilterPlugin for DynamicResources {
    type Cycle = PodDevices;
    type Rejection = NodeResult;

    #[inline(always)]
    fn filter(
        _: &DynamicResourcesArgs,
        pod: &DynamicResourcesPod,
        cycle: &PodDevices,
        node: NodeIndex,
    ) -> Result<(), NodeResult> {
        match cycle.0.as_ref().map(|evaluation| evaluation.result(node)) {
            Some(NodeResult::Feasible(_)) => Ok(()),
            Some(rejected) => Err(rejected),
            // The profile has no PreFilter of this plugin.
            None if pod.uses_devices() => Err(NodeResult::Unavailable(0)),
            None => Ok(()),
        }
    }

    fn code(rejection: &NodeResult) -> Code {
        match rejection {
            NodeResult::Failed(_) => Code::Error,
            NodeResult::Feasible(_) | NodeResult::Rejected(_) | NodeResult::Unavailable(_) => {
                Code::UnschedulableAndUnresolvable
            }
        }
    }

    fn explain(
        _: &DynamicResourcesArgs,
        _: &DynamicResourcesPod,
        cycle: &PodDevices,
        _: NodeIndex,
        rejection: NodeResult,
        out: &mut Reasons<'_>,
    ) {
        match (&cycle.0, rejection) {
            (Some(evaluation), NodeResult::Rejected(text) | NodeResult::Failed(text)) => {
                out.push(evaluation.text_of(text).to_owned());
            }
            _ => out.push(UNAVAILABLE),
        }
    }
}

impl PostFilterPlugin for DynamicResources {
    /// If the PreFilter of an earlier plugin rejects the pod as unresolvable, PostFilter fails as in kube-scheduler,
    /// where it does not find the state of its own PreFilter.
    fn post_filter<P: Profile>(
        &self,
        _: &DynamicResourcesArgs,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult {
        match cx.ran_pre_filter(Self::NAME) {
            true => self.release(&cx, view),
            false => PostFilterResult::nothing(Status::error("not found")),
        }
    }
}

impl Incremental for DynamicResources {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;

    #[inline]
    fn compile_epoch((_, _, classes): Indexes<'_>) -> Option<u64> {
        Some(classes.epoch())
    }

    #[inline]
    fn filter_depends_on(pod: &DynamicResourcesPod, _: &PodDevices) -> DependsOn {
        if pod.uses_devices() { DependsOn::Cluster } else { DependsOn::Node }
    }

    #[inline]
    fn score_depends_on(pod: &DynamicResourcesPod) -> DependsOn {
        if pod.uses_devices() { DependsOn::Cluster } else { DependsOn::Nothing }
    }

    fn update_filter(
        &self,
        _: &DynamicResourcesArgs,
        pod: &DynamicResourcesPod,
        slot: &mut CycleSlot<PodDevices>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let claimant = view.base.claimant().ok_or(NeedsFullEvaluation)?;
        let claims = self.look_up(claimant, pod.extended.is_any_backed(), view).map_err(|_| NeedsFullEvaluation)?;
        // The last attempt may refer to this evaluation; without other references, `make_mut` does not copy it.
        *self.last_attempt() = None;
        match (&mut slot.state.0, claims.is_empty()) {
            (None, true) => Ok(()),
            (Some(evaluation), false) => {
                let changed = if verdicts.changed.node_objects { verdicts.changed.nodes } else { &[] };
                let evaluator = self.evaluator(claimant, &pod.extended, &claims, view.base);
                let known = Arc::make_mut(evaluation);
                evaluator.update_all(known, &mut self.devices(), changed, |node| verdicts.reevaluate(node));
                self.remember(claimant, evaluation, claims);
                Ok(())
            }
            _ => Err(NeedsFullEvaluation),
        }
    }
}

impl ReservePlugin for DynamicResources {
    type Reserved = ReservedDevices;

    #[inline]
    fn reserve(
        &self,
        _: &DynamicResourcesArgs,
        placement: &Placement,
        view: View<'_, Self>,
    ) -> Result<ReservedDevices, Status> {
        if !placement.pod.spec.may_use_devices() {
            return Ok(ReservedDevices::default());
        }
        let plan = match self.take_attempt(&placement.pod, view) {
            Some((evaluation, claims)) => {
                let usual_claims = evaluation.usual_claims.clone();
                Some(self.plan_for_claims(placement, claims, &evaluation.extended, usual_claims, view)?)
            }
            None => self.plan(placement, view)?,
        };
        let Some(plan) = plan else { return Ok(ReservedDevices::default()) };
        let mut pending = self.handle.pending_allocations();
        for new in plan.pending() {
            pending.insert(new.uid.clone(), new.claim, new.allocation.clone());
        }
        Ok(ReservedDevices(Some((self.spare_plans.place(plan), self.spare_plans.clone()))))
    }

    fn preview(
        &self,
        _: &DynamicResourcesArgs,
        placement: &Placement,
        view: View<'_, Self>,
    ) -> Option<Result<Value, Shortage>> {
        if !placement.pod.spec.may_use_devices() {
            return None;
        }
        match self.plan(placement, view) {
            Ok(plan) => Some(Ok(plan?.preview(&view.base.interner))),
            Err(_) => {
                let extended = self.extended_resources(&placement.pod.spec, view);
                let claims = self.look_up(&placement.pod, extended.is_any_backed(), view).ok()?;
                let evaluator = self.evaluator(&placement.pod, &extended, &claims, view.base);
                evaluator.explain(&mut self.devices(), placement.node).map(Err)
            }
        }
    }

    fn unreserve(&self, _: &DynamicResourcesArgs, placement: &Placement, reserved: Option<&ReservedDevices>) {
        let Some(ReservedDevices(Some((plan, _)))) = reserved else { return };
        let mut pending = self.handle.pending_allocations();
        for new in plan.pending() {
            // Devices of a written claim stay allocated until the watch delivers another state of the claim or its
            // deletion.
            if pending.get(&new.uid).is_some_and(|pending| pending.written.is_none()) {
                pending.remove(&new.uid);
            }
        }
        drop(pending);
        plan.undo(&self.handle, &placement.pod.uid, &self.removals);
    }
}

impl PreBindPlugin for DynamicResources {
    type Reserved = ReservedDevices;

    fn pre_bind_pre_flight(
        &self,
        _: &DynamicResourcesArgs,
        _: &Placement,
        reserved: &ReservedDevices,
    ) -> Result<PreFlightResult, Status> {
        Ok(if reserved.0.is_some() { PreFlightResult::RunInParallel } else { PreFlightResult::Skip })
    }

    async fn pre_bind<C: Client>(
        &self,
        _: &DynamicResourcesArgs,
        client: &C,
        placement: &Placement,
        reserved: &ReservedDevices,
    ) -> Result<(), Status> {
        let Some((plan, _)) = &reserved.0 else { return Ok(()) };
        plan.run(client, placement, &self.handle, &self.removals, self.binding_timeout).await.map_err(Status::error)
    }
}

#[cfg(test)]
mod tests;
