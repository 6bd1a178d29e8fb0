//! Two plugins that inject the planned faults, and record their calls.

use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::client::Client;
use schedc_core::extension_points::{
    BindPlugin, BindResult, FilterPlugin, PermitPlugin, PermitResult, Placement, PostBindPlugin, PreBindPlugin,
    PreEnqueuePlugin, PreFilterPlugin, PreFilterResult, PreFlightResult, PreScorePlugin, ReservePlugin, ScoreError,
    ScorePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, Pod, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, IndexView, Row, View};
use schedc_core::status::{Code, Reasons, Status};

use crate::follower::follow;
use crate::injector_state::SharedInjectorState;
use crate::plugin_fault::{FaultyPlugin, PluginFault, Point};

/// Label with a pod's name, which identifies its faults where plugins receive only the spec.
pub(crate) const LABEL: &str = "trouble";

/// The fault injector before all other plugins.
pub type First = FaultInjector<true>;
/// The fault injector after all other plugins.
pub type Last = FaultInjector<false>;

/// A plugin that injects faults on demand.
pub struct FaultInjector<const FIRST: bool> {
    injectors: SharedInjectorState,
}

impl<const FIRST: bool> FaultInjector<FIRST> {
    const PLUGIN: FaultyPlugin = if FIRST { FaultyPlugin::First } else { FaultyPlugin::Last };

    fn take(&self, pod: &str, point: Point) -> Option<PluginFault> {
        self.injectors.lock().take(pod, Self::PLUGIN, point)
    }

    /// Returns an error if the fault is a failure or a rejection.
    fn apply(fault: Option<PluginFault>, point: Point) -> Result<(), Status> {
        let code = match fault {
            Some(PluginFault::Error | PluginFault::SlowError(_)) => Code::Error,
            Some(PluginFault::Unschedulable) => Code::Unschedulable,
            Some(PluginFault::Unresolvable) => Code::UnschedulableAndUnresolvable,
            Some(PluginFault::Pending) => Code::Pending,
            Some(PluginFault::Wait(_) | PluginFault::Slow(_) | PluginFault::BindDirectly) | None => return Ok(()),
        };
        Err(Status::new(code, format!("injected at {point}")))
    }
}

/// Outcome of Filter or Score for a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum KernelOutcome {
    /// Success.
    #[default]
    Pass,
    /// Failure with this code.
    Return(Code),
}

impl<const FIRST: bool> Plugin for FaultInjector<FIRST> {
    const NAME: &'static str = if FIRST { "First" } else { "Last" };
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    /// The pod's name, if PreFilter, Filter, PreScore or Score have planned faults for the pod.
    type Pod = Option<Symbol>;

    fn new(_: &'static NoArgs, handle: &Handle) -> Result<Self, String> {
        let injectors = SharedInjectorState::installed();
        injectors.lock().set_handle(handle);
        if FIRST {
            handle.spawn(|client| follow(injectors.clone(), client));
        }
        Ok(FaultInjector { injectors })
    }

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod {
        pod.labels.value(cx.interner.intern(LABEL))
    }
}

impl PreEnqueuePlugin for First {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, _: IndexView<'_, Self>) -> Result<(), Status> {
        Self::apply(self.take(&pod.name, Point::PreEnqueue), Point::PreEnqueue)
    }
}

impl PreFilterPlugin for First {
    type Cycle = KernelOutcome;

    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &Option<Symbol>,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<KernelOutcome>, Status> {
        let Some(pod) = pod.map(|pod| view.base.interner.resolve(pod)) else {
            return Ok(PreFilterResult::skip(KernelOutcome::Pass));
        };
        match Self::apply(self.take(pod, Point::PreFilter), Point::PreFilter) {
            Ok(()) => {}
            Err(status) if status.code == Code::Unschedulable => {
                return Ok(PreFilterResult::reject(KernelOutcome::Pass, status));
            }
            Err(status) => return Err(status),
        }
        Ok(match Self::apply(self.take(pod, Point::Filter), Point::Filter) {
            Ok(()) => PreFilterResult::skip(KernelOutcome::Pass),
            Err(status) => PreFilterResult::ready(KernelOutcome::Return(status.code)),
        })
    }
}

impl FilterPlugin for First {
    type Cycle = KernelOutcome;
    type Rejection = Code;

    fn filter(_: &NoArgs, _: &Option<Symbol>, kernel: &KernelOutcome, _: Row<'_, Self>) -> Result<(), Code> {
        match kernel {
            KernelOutcome::Pass => Ok(()),
            KernelOutcome::Return(code) => Err(*code),
        }
    }
    fn code(code: &Code) -> Code {
        *code
    }
    fn explain(_: &NoArgs, _: &Option<Symbol>, _: &KernelOutcome, _: Row<'_, Self>, _: Code, out: &mut Reasons<'_>) {
        out.push("injected at Filter");
    }
}

impl PreScorePlugin for First {
    type Cycle = KernelOutcome;

    fn pre_score(
        &self,
        _: &NoArgs,
        pod: &Option<Symbol>,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<KernelOutcome>, Status> {
        let Some(pod) = pod.map(|pod| view.base.interner.resolve(pod)) else {
            return Ok(CycleSlot::skip(KernelOutcome::Pass));
        };
        Self::apply(self.take(pod, Point::PreScore), Point::PreScore)?;
        Ok(match self.take(pod, Point::Score) {
            Some(_) => CycleSlot::ready(KernelOutcome::Return(Code::Error)),
            None => CycleSlot::skip(KernelOutcome::Pass),
        })
    }
}

impl ScorePlugin for First {
    type Cycle = KernelOutcome;

    fn score(_: &NoArgs, _: &Option<Symbol>, kernel: &KernelOutcome, _: Row<'_, Self>) -> Result<i64, ScoreError> {
        match kernel {
            KernelOutcome::Pass => Ok(0),
            KernelOutcome::Return(_) => Err(ScoreError("injected at Score")),
        }
    }
}

impl<const FIRST: bool> ReservePlugin for FaultInjector<FIRST> {
    type Reserved = ();

    fn reserve(&self, _: &NoArgs, placement: &Placement, _: View<'_, Self>) -> Result<(), Status> {
        if FIRST {
            self.injectors.lock().record_decision(placement);
        }
        Self::apply(self.take(&placement.pod.name, Point::Reserve), Point::Reserve)?;
        self.injectors.lock().reserve(Self::PLUGIN, placement);
        Ok(())
    }

    fn unreserve(&self, _: &NoArgs, placement: &Placement, reserved: Option<&()>) {
        if reserved.is_some() {
            self.injectors.lock().unreserve(Self::PLUGIN, placement);
        }
    }
}

impl<const FIRST: bool> PermitPlugin for FaultInjector<FIRST> {
    fn permit(&self, _: &NoArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult {
        let fault = self.take(&placement.pod.name, Point::Permit);
        if let Some(PluginFault::Wait(seconds)) = fault {
            let timeout = Duration::from_secs(seconds.into());
            let until = waiting.now.saturating_add(timeout.as_nanos() as i64);
            self.injectors.lock().record_wait(Self::PLUGIN, placement, until);
            return PermitResult::Wait(timeout);
        }
        Self::apply(fault, Point::Permit).map_or_else(PermitResult::Reject, |()| PermitResult::Allow)
    }
}

impl<const FIRST: bool> PreBindPlugin for FaultInjector<FIRST> {
    type Reserved = ();

    fn pre_bind_pre_flight(&self, _: &NoArgs, placement: &Placement, _: &()) -> Result<PreFlightResult, Status> {
        let has_fault = self.injectors.lock().has_fault(&placement.pod.name, Self::PLUGIN, Point::PreBind);
        Ok(if has_fault { PreFlightResult::Run } else { PreFlightResult::Skip })
    }

    async fn pre_bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement, _: &()) -> Result<(), Status> {
        self.injectors.lock().record_binding_step(Self::PLUGIN, Point::PreBind, placement);
        let fault = self.take(&placement.pod.name, Point::PreBind);
        if let Some(PluginFault::Slow(seconds) | PluginFault::SlowError(seconds)) = fault {
            client.sleep(Duration::from_secs(seconds.into())).await;
        }
        Self::apply(fault, Point::PreBind)
    }
}

impl BindPlugin for First {
    async fn bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement) -> Result<BindResult, Status> {
        self.injectors.lock().record_binding_step(Self::PLUGIN, Point::Bind, placement);
        let fault = self.take(&placement.pod.name, Point::Bind);
        Self::apply(fault, Point::Bind)?;
        match fault {
            Some(_) => client.bind(placement).await.map(|()| BindResult::Done).map_err(Status::error),
            None => Ok(BindResult::Skip),
        }
    }
}

impl<const FIRST: bool> PostBindPlugin for FaultInjector<FIRST> {
    fn post_bind(&self, _: &NoArgs, placement: &Placement) {
        self.injectors.lock().post_bind(Self::PLUGIN, placement);
    }
}
