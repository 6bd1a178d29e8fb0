//! Reserve and Permit: the two pods of a pair are bound together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::prelude::*;

/// What a profile can set in `[args.Pairs]`.
#[derive(Clone, Copy, Args)]
pub struct PairsArgs {
    /// The label with the name of a pod's pair, in its namespace.
    #[args(default = "example.com/pair", format = "qualified-name")]
    pub label: &'static str,
    /// How long a pod that has its node waits for its partner.
    #[args(default = 30, range = 1..=900)]
    pub wait_seconds: i64,
}

/// Binds a pod of a pair when the other one has a node too.
#[derive(Default)]
pub struct Pairs {
    /// Pods that have a node and are not bound yet. Scheduling and binding use it at the same time, hence the lock.
    reserved: Mutex<BTreeMap<Uid, Pair>>,
}

/// Namespace and name of a pair.
type Pair = (Symbol, Symbol);

impl Pairs {
    fn reserved(&self) -> MutexGuard<'_, BTreeMap<Uid, Pair>> {
        // No change is left half done under this lock, so a panic elsewhere does not spoil its content.
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plugin for Pairs {
    const NAME: &'static str = "Pairs";
    type Args = PairsArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    /// No kernel reads anything of a pod.
    type Pod = ();

    fn new(_: &'static PairsArgs, _: &Handle) -> Result<Self, String> {
        Ok(Pairs::default())
    }

    fn compile(_: &PairsArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl ReservePlugin for Pairs {
    type Reserved = ();

    /// The pod has a node. Permit, which follows, cannot see the cluster: what it needs is left in the plugin's state.
    fn reserve(&self, args: &PairsArgs, placement: &Placement, view: View<'_, Self>) -> Result<(), Status> {
        let spec = &placement.pod.spec;
        let label = view.base.interner.get(args.label);
        if let Some(name) = label.and_then(|label| spec.labels.value(label)) {
            self.reserved().insert(placement.pod.uid.clone(), (spec.namespace, name));
        }
        Ok(())
    }

    /// The pod is not bound, for whatever reason. Must be idempotent.
    fn unreserve(&self, _: &PairsArgs, placement: &Placement, _: Option<&()>) {
        self.reserved().remove(&placement.pod.uid);
    }
}

impl PermitPlugin for Pairs {
    fn permit(&self, args: &PairsArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult {
        let reserved = self.reserved();
        let Some(pair) = reserved.get(&placement.pod.uid) else { return PermitResult::Allow };
        let is_partner = |(uid, other): &(&Uid, &Pair)| *other == pair && **uid != placement.pod.uid;
        let mut has_partner = false;
        for (partner, _) in reserved.iter().filter(is_partner) {
            waiting.allow(partner, Self::NAME);
            has_partner = true;
        }
        if has_partner { PermitResult::Allow } else { PermitResult::Wait(Duration::from_secs(args.wait_seconds.unsigned_abs())) }
    }
}

impl PostBindPlugin for Pairs {
    /// The pod is bound. After Reserve, either Unreserve or PostBind runs, exactly one of them.
    fn post_bind(&self, _: &PairsArgs, placement: &Placement) {
        self.reserved().remove(&placement.pod.uid);
    }
}

/// A pod that waited without success is tried again when a pod comes that may be its partner.
impl EnqueueExtensions for Pairs {
    const EVENTS: &'static [Registration] = &[Registration::hinted(EventResource::Pod, Action::ADD)];

    fn queueing_hint(&self, args: &PairsArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        let EventObject::Pod(None, Some(new)) = object else { return Ok(QueueingHint::Queue) };
        let label = view.interner().get(args.label);
        let pair = |pod: &Pod| label.and_then(|label| pod.spec.labels.value(label)).map(|name| (pod.spec.namespace, name));
        Ok(QueueingHint::queue_if(new.uid != rejected.uid && pair(&new) == pair(rejected)))
    }
}
