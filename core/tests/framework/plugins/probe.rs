//! Plugins with configured answers at PostFilter and at every point from Reserve on. They record each call.

use std::future::{pending, poll_fn};
use std::marker::PhantomData;
use std::task::Poll;
use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::client::Client;
use schedc_core::extension_points::{
    BindPlugin, BindResult, PermitPlugin, PermitResult, Placement, PostBindPlugin, PostFilterContext, PostFilterPlugin,
    PostFilterResult, PreBindPlugin, PreFlightResult, ReservePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::model::{NodeIndex, Pod, PodSpec, Uid};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, ReasonList, Status};

use super::names::{Named, NamedA, NamedB, NamedC};
use super::stage::{Answer, answer, note};

pub type A = Probe<NamedA>;
pub type B = Probe<NamedB>;
pub type C = Probe<NamedC>;

pub struct Probe<N> {
    handle: Handle,
    name: PhantomData<fn() -> N>,
}

impl<N: Named> Probe<N> {
    /// Returns the data from Reserve for PreBind and Unreserve.
    fn reserved(placement: &Placement) -> String {
        format!("{} has {} for {}", N::PROBE, placement.node_name, placement.pod.name)
    }

    pub(super) fn record_call(&self, point: &str, pod: &Pod) -> Answer {
        let call = format!("{} {point}", N::PROBE);
        note(format!("{call} {}", pod.name));
        let answer = answer(&call, &pod.name);
        if let Answer::Call(call) = answer {
            call(&self.handle);
        }
        answer
    }
}

impl<N: Named> Plugin for Probe<N> {
    const NAME: &'static str = N::PROBE;
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, handle: &Handle) -> Result<Self, String> {
        note(format!("{} new", N::PROBE));
        match answer(&format!("{} new", N::PROBE), "") {
            Answer::Fail(reason) => Err(reason.into()),
            _ => Ok(Probe { handle: handle.clone(), name: PhantomData }),
        }
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}

    fn close(&self) {
        note(format!("{} close", N::PROBE));
    }
}

impl<N: Named> PostFilterPlugin for Probe<N> {
    fn post_filter<P: Profile>(&self, _: &NoArgs, cx: PostFilterContext<'_, P>, _: View<'_, Self>) -> PostFilterResult {
        let status = match self.record_call("post-filter", cx.pod) {
            Answer::Nominate => return PostFilterResult::nominate(NodeIndex(0), Vec::new()),
            Answer::Evict(pod) => return PostFilterResult::nominate(NodeIndex(0), vec![Uid(pod.into())]),
            Answer::Done => Status { code: Code::Success, plugin: "", reasons: ReasonList::new() },
            Answer::Nothing => Status { code: Code::Unschedulable, plugin: "", reasons: ReasonList::new() },
            answer => answer.status().err().unwrap_or_else(|| Status::unschedulable("no idea")),
        };
        PostFilterResult::nothing(status)
    }
}

impl<N: Named> ReservePlugin for Probe<N> {
    type Reserved = String;

    fn reserve(&self, _: &NoArgs, placement: &Placement, _: View<'_, Self>) -> Result<String, Status> {
        self.record_call("reserve", &placement.pod).status()?;
        Ok(Self::reserved(placement))
    }

    fn unreserve(&self, _: &NoArgs, placement: &Placement, reserved: Option<&String>) {
        let reserved = reserved.map_or("nothing", String::as_str);
        note(format!("{} unreserve {}: {reserved}", N::PROBE, placement.pod.name));
    }
}

impl<N: Named> PermitPlugin for Probe<N> {
    fn permit(&self, _: &NoArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult {
        match self.record_call("permit", &placement.pod) {
            Answer::Wait(seconds) => PermitResult::Wait(Duration::from_secs(seconds)),
            Answer::AllowOthers => {
                let pods: Vec<_> = waiting.iter().map(|waiting| waiting.placement.pod.uid.clone()).collect();
                pods.iter().for_each(|pod| waiting.allow(pod, N::PROBE));
                PermitResult::Allow
            }
            answer => answer.status().map_or_else(PermitResult::Reject, |()| PermitResult::Allow),
        }
    }
}

impl<N: Named> PreBindPlugin for Probe<N> {
    type Reserved = String;

    fn pre_bind_pre_flight(
        &self,
        _: &NoArgs,
        placement: &Placement,
        reserved: &String,
    ) -> Result<PreFlightResult, Status> {
        assert_eq!(*reserved, Self::reserved(placement));
        let answer = self.record_call("pre-flight", &placement.pod);
        answer.status().map(|()| match answer {
            Answer::Skip => PreFlightResult::Skip,
            Answer::Parallel => PreFlightResult::RunInParallel,
            _ => PreFlightResult::Run,
        })
    }

    async fn pre_bind<X: Client>(
        &self,
        _: &NoArgs,
        _: &X,
        placement: &Placement,
        reserved: &String,
    ) -> Result<(), Status> {
        assert_eq!(*reserved, Self::reserved(placement));
        let answer = self.record_call("pre-bind", &placement.pod);
        if matches!(answer, Answer::Never) {
            pending::<()>().await;
        }
        if matches!(answer, Answer::NotYet) {
            let mut polled = false;
            poll_fn(|context| {
                if std::mem::replace(&mut polled, true) {
                    note(format!("{} pre-bind is ready", N::PROBE));
                    return Poll::Ready(());
                }
                note(format!("{} pre-bind is not ready", N::PROBE));
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        answer.status()
    }
}

impl<N: Named> BindPlugin for Probe<N> {
    async fn bind<X: Client>(&self, _: &NoArgs, _: &X, placement: &Placement) -> Result<BindResult, Status> {
        let answer = self.record_call("bind", &placement.pod);
        answer.status()?;
        Ok(if matches!(answer, Answer::Done) { BindResult::Done } else { BindResult::Skip })
    }
}

impl<N: Named> PostBindPlugin for Probe<N> {
    fn post_bind(&self, _: &NoArgs, placement: &Placement) {
        self.record_call("post-bind", &placement.pod);
    }
}

/// Binds through the client.
pub struct Binder;

impl Plugin for Binder {
    const NAME: &'static str = "Binder";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Binder)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl BindPlugin for Binder {
    async fn bind<X: Client>(&self, _: &NoArgs, client: &X, placement: &Placement) -> Result<BindResult, Status> {
        client.bind(placement).await.map_err(Status::error)?;
        Ok(BindResult::Done)
    }
}
