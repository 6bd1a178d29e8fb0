//! Pods that are of use only together.
//!
//! A pod with the labels `example.com/gang: training` and `example.com/gang-size: "3"` is bound once three pods of the
//! gang `training` have a node. Until then it waits in Permit, on the node that is reserved for it.
//!
//! - **Reserve** counts the pod, **Unreserve** gives its place, and with it those of the rest of the gang, up.
//! - **Permit** makes the pod wait, or lets the whole gang go.
//! - **PostFilter** gives the gang up when one of its pods fits nowhere.
//! - **PreBind** looks once more whether the gang is complete, **PostBind** tells people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::client::Client;
use schedc_core::extension_points::{
    Permit, PermitPlugin, Placement, PostBindPlugin, PostFilterContext, PostFilterPlugin, PostFilterResult,
    PreBindPlugin, PreFlight, ReservePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, Pod, PodSpec, Uid};
use schedc_core::plugin::{Compile, View};
use schedc_core::profile::Profile;
use schedc_core::status::Status;
use schedc_macros::Args;

/// What a profile can say in `[args.Gang]`.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct GangArgs {
    /// The label with the gang's name. The number of its pods is in the same label with `-size` at the end.
    #[args(default = "example.com/gang", format = "qualified-name")]
    pub label: &'static str,
    /// How long a pod waits for the rest of its gang.
    #[args(default = 60, range = 1..=900)]
    pub patience_seconds: i64,
}

/// The gang of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Its name.
    pub name: Symbol,
    /// How many pods it has.
    pub size: usize,
}

/// Binds the pods of a gang together or not at all.
pub struct Gang {
    handle: Handle,
    gangs: Mutex<BTreeMap<Symbol, Members>>,
}

/// The pods of a gang that have a node.
#[derive(Debug, Default)]
struct Members {
    size: usize,
    pods: BTreeSet<Uid>,
}

impl Gang {
    /// The gang of a pod; none if it says nothing of one.
    fn membership(args: &GangArgs, pod: &Pod, interner: &Interner) -> Result<Option<Membership>, Status> {
        let label = |key: &str| interner.get(key).and_then(|key| pod.spec.labels.value(key));
        let Some(name) = label(args.label) else { return Ok(None) };
        let size = label(&format!("{}-size", args.label)).and_then(|size| interner.resolve(size).parse().ok());
        match size {
            Some(size) => Ok(Some(Membership { name, size })),
            None => Err(Status::unresolvable(format!("label {}-size is not a number", args.label))),
        }
    }

    fn gangs(&self) -> MutexGuard<'_, BTreeMap<Symbol, Members>> {
        self.gangs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rejects the pods of a gang that wait.
    fn give_up(&self, name: Symbol, reason: &str) {
        let gangs = self.gangs();
        let Some(members) = gangs.get(&name) else { return };
        for pod in self.handle.waiting_pods().into_iter().filter(|pod| members.pods.contains(pod)) {
            self.handle.reject(pod, Self::NAME, reason);
        }
    }
}

impl Plugin for Gang {
    const NAME: &'static str = "Gang";
    type Args = GangArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static GangArgs, handle: &Handle) -> Result<Self, String> {
        Ok(Gang { handle: handle.clone(), gangs: Mutex::default() })
    }

    fn compile(_: &GangArgs, _: &PodSpec, _: Compile<'_, Self>) -> Self::Pod {}
}

impl PostFilterPlugin for Gang {
    fn post_filter<P: Profile>(
        &self,
        args: &GangArgs,
        cx: PostFilterContext<'_, P>,
        _: View<'_, Self>,
    ) -> PostFilterResult {
        if let Ok(Some(gang)) = Self::membership(args, cx.pod, &cx.cache.base.interner) {
            self.give_up(gang.name, "a pod of the gang fits nowhere");
        }
        PostFilterResult::unschedulable("the gang is not complete")
    }
}

impl ReservePlugin for Gang {
    type Reserved = Option<Membership>;

    fn reserve(
        &self,
        args: &GangArgs,
        placement: &Placement,
        view: View<'_, Self>,
    ) -> Result<Option<Membership>, Status> {
        let gang = Self::membership(args, &placement.pod, &view.base.interner)?;
        if let Some(gang) = gang {
            let mut gangs = self.gangs();
            let members = gangs.entry(gang.name).or_default();
            members.size = gang.size;
            members.pods.insert(placement.pod.uid.clone());
        }
        Ok(gang)
    }

    fn unreserve(&self, _: &GangArgs, placement: &Placement, reserved: Option<&Option<Membership>>) {
        let Some(Some(gang)) = reserved else { return };
        if let Some(members) = self.gangs().get_mut(&gang.name) {
            members.pods.remove(&placement.pod.uid);
        }
        self.give_up(gang.name, "a pod of the gang lost its node");
    }
}

impl PermitPlugin for Gang {
    fn permit(&self, args: &GangArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> Permit {
        let gangs = self.gangs();
        let Some(members) = gangs.values().find(|members| members.pods.contains(&placement.pod.uid)) else {
            return Permit::Allow;
        };
        if members.pods.len() < members.size {
            return Permit::Wait(Duration::from_secs(args.patience_seconds.unsigned_abs()));
        }
        for pod in &members.pods {
            waiting.allow(pod, Self::NAME);
        }
        Permit::Allow
    }
}

impl PreBindPlugin for Gang {
    type Reserved = Option<Membership>;

    fn pre_bind_pre_flight(
        &self,
        _: &GangArgs,
        _: &Placement,
        reserved: &Option<Membership>,
    ) -> Result<PreFlight, Status> {
        Ok(if reserved.is_some() { PreFlight::Run } else { PreFlight::Skip })
    }

    async fn pre_bind<C: Client>(
        &self,
        _: &GangArgs,
        _: &C,
        _: &Placement,
        reserved: &Option<Membership>,
    ) -> Result<(), Status> {
        let complete = match reserved {
            None => true,
            Some(gang) => self.gangs().get(&gang.name).is_some_and(|members| members.pods.len() >= gang.size),
        };
        if complete { Ok(()) } else { Err(Status::unschedulable("the gang is no longer complete")) }
    }
}

impl PostBindPlugin for Gang {
    fn post_bind(&self, _: &GangArgs, placement: &Placement) {
        if self.gangs().values().any(|members| members.pods.contains(&placement.pod.uid)) {
            let note = format!("Bound to {} with the rest of its gang", placement.node_name);
            self.handle.event(placement.pod.uid.clone(), "GangBound", note);
        }
    }
}
