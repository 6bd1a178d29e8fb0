//! Plugins that stop pods at the extension point that a test selects.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::client::{Client, ObjectRef};
use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, FilterPlugin, PermitPlugin, PermitResult, Placement, PreBindPlugin, PreFilterPlugin,
    PreFilterResult, PreFlightResult, Registration, ReservePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::intern::Interner;
use schedc_core::map::Map;
use schedc_core::model::{LabelsExt, NodeIndex, Pod, PodSpec, Uid};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};

/// Key of the label that names the place where a pod's first attempt stops.
const STOPS: &str = "stops";

/// Stops a pod's first attempt at the place that the pod's label `stops` names. Later attempts do not stop.
#[derive(Default)]
pub struct Stops(Mutex<Map<Uid, Stop>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// `reserve-rejects`, `reserve-breaks`
    Reserve(Code),
    /// `permit-rejects`, `permit-breaks`
    Permit(Code),
    /// `permit-waits`: for a minute.
    Waits,
    /// `pre-bind-waits`: for a response of the API server.
    PreBindWaits,
    /// `pre-bind-rejects`, `pre-bind-breaks`
    PreBind(Code),
    /// The pod was stopped before.
    Over,
}

impl Stop {
    fn of(label: Option<&str>) -> Stop {
        match label {
            Some("reserve-rejects") => Stop::Reserve(Code::Unschedulable),
            Some("reserve-breaks") => Stop::Reserve(Code::Error),
            Some("permit-rejects") => Stop::Permit(Code::Unschedulable),
            Some("permit-breaks") => Stop::Permit(Code::Error),
            Some("permit-waits") => Stop::Waits,
            Some("pre-bind-waits") => Stop::PreBindWaits,
            Some("pre-bind-rejects") => Stop::PreBind(Code::Unschedulable),
            Some("pre-bind-breaks") => Stop::PreBind(Code::Error),
            Some(other) => panic!("no stop is called {other}"),
            None => Stop::Over,
        }
    }
}

impl Stops {
    fn pods(&self) -> MutexGuard<'_, Map<Uid, Stop>> {
        self.0.lock().unwrap()
    }
    fn at(&self, pod: &Pod) -> Stop {
        self.pods().get(&pod.uid).copied().unwrap_or(Stop::Over)
    }
    /// Returns the stop of a pod if `here` accepts it. The pod does not stop again.
    fn meets(&self, pod: &Pod, here: impl Fn(Stop) -> bool) -> Option<Stop> {
        let stop = self.at(pod);
        here(stop).then(|| {
            self.pods().insert(pod.uid.clone(), Stop::Over);
            stop
        })
    }
}

fn label<'a>(spec: &PodSpec, key: &str, interner: &'a Interner) -> Option<&'a str> {
    let value = spec.labels.value(interner.get(key)?)?;
    Some(interner.resolve(value))
}

impl Plugin for Stops {
    const NAME: &'static str = "Stops";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Stops::default())
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

/// Only a new node causes another attempt.
impl EnqueueExtensions for Stops {
    const EVENTS: &'static [Registration] = &[Registration::always(EventResource::Node, Action::ADD)];
}

impl ReservePlugin for Stops {
    type Reserved = ();
    fn reserve(&self, _: &NoArgs, placement: &Placement, view: View<'_, Self>) -> Result<(), Status> {
        let pod = &placement.pod;
        let stop = || Stop::of(label(&pod.spec, STOPS, &view.base.interner));
        self.pods().entry(pod.uid.clone()).or_insert_with(stop);
        match self.meets(pod, |stop| matches!(stop, Stop::Reserve(_))) {
            Some(Stop::Reserve(code)) => Err(Status::new(code, "stopped at Reserve")),
            _ => Ok(()),
        }
    }
    fn unreserve(&self, _: &NoArgs, _: &Placement, _: Option<&()>) {}
}

impl PermitPlugin for Stops {
    fn permit(&self, _: &NoArgs, placement: &Placement, _: &mut WaitingPods<'_>) -> PermitResult {
        match self.meets(&placement.pod, |stop| matches!(stop, Stop::Permit(_) | Stop::Waits)) {
            Some(Stop::Permit(code)) => PermitResult::Reject(Status::new(code, "stopped at Permit")),
            Some(_) => PermitResult::Wait(Duration::from_secs(60)),
            None => PermitResult::Allow,
        }
    }
}

impl PreBindPlugin for Stops {
    type Reserved = ();
    fn pre_bind_pre_flight(&self, _: &NoArgs, placement: &Placement, _: &()) -> Result<PreFlightResult, Status> {
        match self.at(&placement.pod) {
            Stop::PreBindWaits | Stop::PreBind(_) => Ok(PreFlightResult::Run),
            _ => Ok(PreFlightResult::Skip),
        }
    }
    async fn pre_bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement, _: &()) -> Result<(), Status> {
        match self.meets(&placement.pod, |_| true) {
            Some(Stop::PreBind(code)) => Err(Status::new(code, "stopped at PreBind")),
            Some(Stop::PreBindWaits) => {
                let object = ObjectRef {
                    api_version: "example.com/v1".into(),
                    kind: "Disk".into(),
                    namespace: placement.pod.namespace.clone(),
                    name: placement.pod.name.clone(),
                };
                client.get(&object).await.map_err(|error| Status::error(error.message)).map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// A single token. While a pod with the label `takes: token` holds it, other pods fit nowhere.
#[derive(Default)]
pub struct Token(Mutex<Option<Uid>>);

impl Plugin for Token {
    const NAME: &'static str = "Token";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Token::default())
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl EnqueueExtensions for Token {
    const EVENTS: &'static [Registration] = &[Registration::always(EventResource::Pod, Action::DELETE)];
}

impl PreFilterPlugin for Token {
    /// The pod that holds the token.
    type Cycle = Option<Uid>;
    fn pre_filter(&self, _: &NoArgs, _: &(), _: View<'_, Self>) -> Result<PreFilterResult<Option<Uid>>, Status> {
        Ok(PreFilterResult::ready(self.0.lock().unwrap().clone()))
    }
    fn add_pod(_: &(), cycle: &mut Option<Uid>, other: &Pod, view: View<'_, Self>, _: NodeIndex) {
        if label(&other.spec, "takes", &view.base.interner) == Some("token") {
            *cycle = Some(other.uid.clone());
        }
    }
    fn remove_pod(_: &(), cycle: &mut Option<Uid>, other: &Pod, _: View<'_, Self>, _: NodeIndex) {
        cycle.take_if(|owner| *owner == other.uid);
    }
}

impl FilterPlugin for Token {
    type Cycle = Option<Uid>;
    type Rejection = ();
    fn filter(_: &NoArgs, _: &(), owner: &Option<Uid>, (): ()) -> Result<(), ()> {
        if owner.is_some() { Err(()) } else { Ok(()) }
    }
    fn code((): &()) -> Code {
        Code::Unschedulable
    }
    fn explain(_: &NoArgs, _: &(), _: &Option<Uid>, (): (), (): (), out: &mut Reasons<'_>) {
        out.push("the token is taken");
    }
}

impl ReservePlugin for Token {
    type Reserved = ();
    fn reserve(&self, _: &NoArgs, placement: &Placement, view: View<'_, Self>) -> Result<(), Status> {
        let pod = &placement.pod;
        if label(&pod.spec, "takes", &view.base.interner) == Some("token") {
            *self.0.lock().unwrap() = Some(pod.uid.clone());
        }
        Ok(())
    }
    fn unreserve(&self, _: &NoArgs, placement: &Placement, _: Option<&()>) {
        self.0.lock().unwrap().take_if(|owner| *owner == placement.pod.uid);
    }
}
