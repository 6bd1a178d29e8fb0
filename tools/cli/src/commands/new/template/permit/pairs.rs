//! A Reserve and Permit plugin that binds the two pods of a pair together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::prelude::*;

/// Arguments of the plugin: `[args.Pairs]` in a profile.
#[derive(Clone, Copy, Args)]
pub struct PairsArgs {
    /// Label with the name of a pod's pair. The two pods are in the same namespace.
    #[args(default = "example.com/pair", format = "qualified-name")]
    pub label: &'static str,
    /// How long a pod with a node waits for its partner, in seconds.
    #[args(default = 30, range = 1..=900)]
    pub wait_seconds: i64,
}

/// Binds a pod of a pair when the other pod has a node too.
#[derive(Default)]
pub struct Pairs {
    /// Pods that have a node and are not bound yet. Scheduling and binding access it concurrently, so it has
    /// a lock.
    reserved: Mutex<BTreeMap<Uid, Pair>>,
}

/// Namespace and name of a pair.
type Pair = (Symbol, Symbol);

impl Pairs {
    fn reserved(&self) -> MutexGuard<'_, BTreeMap<Uid, Pair>> {
        // Every change under this lock is complete, so a panic elsewhere leaves the content valid.
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[plugin]
impl Plugin for Pairs {
    type Args = PairsArgs;
}

impl ReservePlugin for Pairs {
    type Reserved = ();

    /// Records that the pod has a node. Permit, which runs next, cannot read the cluster and uses this record.
    fn reserve(&self, args: &PairsArgs, placement: &Placement, view: View<'_, Self>) -> Result<(), Status> {
        let spec = &placement.pod.spec;
        let label = view.base.interner.get(args.label);
        if let Some(name) = label.and_then(|label| spec.labels.value(label)) {
            self.reserved().insert(placement.pod.uid.clone(), (spec.namespace, name));
        }
        Ok(())
    }

    /// Removes the record of a pod that will not be bound, for any reason. Must be idempotent.
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
        if has_partner {
            PermitResult::Allow
        } else {
            PermitResult::Wait(Duration::from_secs(args.wait_seconds.unsigned_abs()))
        }
    }
}

impl PostBindPlugin for Pairs {
    /// Removes the record of a bound pod. After Reserve, exactly one of Unreserve and PostBind runs.
    fn post_bind(&self, _: &PairsArgs, placement: &Placement) {
        self.reserved().remove(&placement.pod.uid);
    }
}

/// Events that return a rejected pod to the queue: a new pod may be its partner.
impl EnqueueExtensions for Pairs {
    const EVENTS: &'static [Registration] = &[Registration::hinted(EventResource::Pod, Action::ADD)];

    fn queueing_hint(&self, args: &PairsArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        let EventObject::Pod(None, Some(new)) = object else { return Ok(QueueingHint::Queue) };
        let label = view.interner().get(args.label);
        let pair =
            |pod: &Pod| label.and_then(|label| pod.spec.labels.value(label)).map(|name| (pod.spec.namespace, name));
        Ok(QueueingHint::queue_if(new.uid != rejected.uid && pair(&new) == pair(rejected)))
    }
}
