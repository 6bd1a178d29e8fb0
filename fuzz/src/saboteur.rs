//! Two plugins that do to pods what the ledger says, and take down what they are called for.

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
use crate::ledger::SharedLedger;
use crate::trouble::{Mischief, Point, Who};

/// The label with a pod's name, which its troubles are known by where plugins see no more than the spec.
pub(crate) const LABEL: &str = "trouble";

/// The one before all others.
pub type First = Saboteur<true>;
/// The one after all others.
pub type Last = Saboteur<false>;

/// A plugin that misbehaves on demand.
pub struct Saboteur<const FIRST: bool> {
    ledger: SharedLedger,
}

impl<const FIRST: bool> Saboteur<FIRST> {
    const WHO: Who = if FIRST { Who::First } else { Who::Last };

    fn take(&self, pod: &str, point: Point) -> Option<Mischief> {
        self.ledger.open().take(pod, Self::WHO, point)
    }

    /// Fails or rejects, if that is what it shall do.
    fn obey(mischief: Option<Mischief>, point: Point) -> Result<(), Status> {
        let code = match mischief {
            Some(Mischief::Error | Mischief::SlowError(_)) => Code::Error,
            Some(Mischief::Unschedulable) => Code::Unschedulable,
            Some(Mischief::Unresolvable) => Code::UnschedulableAndUnresolvable,
            Some(Mischief::Pending) => Code::Pending,
            Some(Mischief::Wait(_) | Mischief::Slow(_) | Mischief::Itself) | None => return Ok(()),
        };
        Err(Status::new(code, format!("told so at {point}")))
    }
}

/// What kernels do to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kernel {
    /// Nothing.
    #[default]
    Pass,
    /// They say this.
    Say(Code),
}

impl<const FIRST: bool> Plugin for Saboteur<FIRST> {
    const NAME: &'static str = if FIRST { "First" } else { "Last" };
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    /// The pod's name, if something is to be done to it by those who see no more of it than this.
    type Pod = Option<Symbol>;

    fn new(_: &'static NoArgs, handle: &Handle) -> Result<Self, String> {
        let ledger = SharedLedger::laid_out();
        ledger.open().starts(handle);
        if FIRST {
            handle.spawn(|client| follow(ledger.clone(), client));
        }
        Ok(Saboteur { ledger })
    }

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod {
        pod.labels.value(cx.interner.intern(LABEL))
    }
}

impl PreEnqueuePlugin for First {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, _: IndexView<'_, Self>) -> Result<(), Status> {
        Self::obey(self.take(&pod.name, Point::PreEnqueue), Point::PreEnqueue)
    }
}

impl PreFilterPlugin for First {
    type Cycle = Kernel;

    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &Option<Symbol>,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<Kernel>, Status> {
        let Some(pod) = pod.map(|pod| view.base.interner.resolve(pod)) else {
            return Ok(PreFilterResult::skip(Kernel::Pass));
        };
        match Self::obey(self.take(pod, Point::PreFilter), Point::PreFilter) {
            Ok(()) => {}
            Err(status) if status.code == Code::Unschedulable => {
                return Ok(PreFilterResult::reject(Kernel::Pass, status));
            }
            Err(status) => return Err(status),
        }
        Ok(match Self::obey(self.take(pod, Point::Filter), Point::Filter) {
            Ok(()) => PreFilterResult::skip(Kernel::Pass),
            Err(status) => PreFilterResult::ready(Kernel::Say(status.code)),
        })
    }
}

impl FilterPlugin for First {
    type Cycle = Kernel;
    type Rejection = Code;

    fn filter(_: &NoArgs, _: &Option<Symbol>, kernel: &Kernel, _: Row<'_, Self>) -> Result<(), Code> {
        match kernel {
            Kernel::Pass => Ok(()),
            Kernel::Say(code) => Err(*code),
        }
    }
    fn code(code: &Code) -> Code {
        *code
    }
    fn explain(_: &NoArgs, _: &Option<Symbol>, _: &Kernel, _: Row<'_, Self>, _: Code, out: &mut Reasons<'_>) {
        out.push("told so at Filter");
    }
}

impl PreScorePlugin for First {
    type Cycle = Kernel;

    fn pre_score(
        &self,
        _: &NoArgs,
        pod: &Option<Symbol>,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<Kernel>, Status> {
        let Some(pod) = pod.map(|pod| view.base.interner.resolve(pod)) else {
            return Ok(CycleSlot::skip(Kernel::Pass));
        };
        Self::obey(self.take(pod, Point::PreScore), Point::PreScore)?;
        Ok(match self.take(pod, Point::Score) {
            Some(_) => CycleSlot::ready(Kernel::Say(Code::Error)),
            None => CycleSlot::skip(Kernel::Pass),
        })
    }
}

impl ScorePlugin for First {
    type Cycle = Kernel;

    fn score(_: &NoArgs, _: &Option<Symbol>, kernel: &Kernel, _: Row<'_, Self>) -> Result<i64, ScoreError> {
        match kernel {
            Kernel::Pass => Ok(0),
            Kernel::Say(_) => Err(ScoreError("told so at Score")),
        }
    }
}

impl<const FIRST: bool> ReservePlugin for Saboteur<FIRST> {
    type Reserved = ();

    fn reserve(&self, _: &NoArgs, placement: &Placement, _: View<'_, Self>) -> Result<(), Status> {
        if FIRST {
            self.ledger.open().decided(placement);
        }
        Self::obey(self.take(&placement.pod.name, Point::Reserve), Point::Reserve)?;
        self.ledger.open().reserve(Self::WHO, placement);
        Ok(())
    }

    fn unreserve(&self, _: &NoArgs, placement: &Placement, reserved: Option<&()>) {
        if reserved.is_some() {
            self.ledger.open().unreserve(Self::WHO, placement);
        }
    }
}

impl<const FIRST: bool> PermitPlugin for Saboteur<FIRST> {
    fn permit(&self, _: &NoArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult {
        let mischief = self.take(&placement.pod.name, Point::Permit);
        if let Some(Mischief::Wait(seconds)) = mischief {
            let patience = Duration::from_secs(seconds.into());
            let until = waiting.now.saturating_add(patience.as_nanos() as i64);
            self.ledger.open().waits(Self::WHO, placement, until);
            return PermitResult::Wait(patience);
        }
        Self::obey(mischief, Point::Permit).map_or_else(PermitResult::Reject, |()| PermitResult::Allow)
    }
}

impl<const FIRST: bool> PreBindPlugin for Saboteur<FIRST> {
    type Reserved = ();

    fn pre_bind_pre_flight(&self, _: &NoArgs, placement: &Placement, _: &()) -> Result<PreFlightResult, Status> {
        let plans = self.ledger.open().plans(&placement.pod.name, Self::WHO, Point::PreBind);
        Ok(if plans { PreFlightResult::Run } else { PreFlightResult::Skip })
    }

    async fn pre_bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement, _: &()) -> Result<(), Status> {
        self.ledger.open().passes(Self::WHO, Point::PreBind, placement);
        let mischief = self.take(&placement.pod.name, Point::PreBind);
        if let Some(Mischief::Slow(seconds) | Mischief::SlowError(seconds)) = mischief {
            client.sleep(Duration::from_secs(seconds.into())).await;
        }
        Self::obey(mischief, Point::PreBind)
    }
}

impl BindPlugin for First {
    async fn bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement) -> Result<BindResult, Status> {
        self.ledger.open().passes(Self::WHO, Point::Bind, placement);
        let mischief = self.take(&placement.pod.name, Point::Bind);
        Self::obey(mischief, Point::Bind)?;
        match mischief {
            Some(_) => client.bind(placement).await.map(|()| BindResult::Done).map_err(Status::error),
            None => Ok(BindResult::Skip),
        }
    }
}

impl<const FIRST: bool> PostBindPlugin for Saboteur<FIRST> {
    fn post_bind(&self, _: &NoArgs, placement: &Placement) {
        self.ledger.open().post_bind(Self::WHO, placement);
    }
}
