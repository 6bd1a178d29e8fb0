//! Coscheduling
//!
//! **What it does.** Pods of a group are bound when as many of them have a node as the group needs, and not before. Until
//! then those that have one wait in Permit, on the room that is kept for them; if the others do not come in time, all give
//! their room back.
//!
//! **Extension points.**
//! - *QueueSort*: by priority, then by time, where all pods of a group have the time of the group: they are tried one after
//!   the other.
//! - *PreFilter* rejects a pod of a group that has not enough pods, or that was denied recently.
//! - *PostFilter* denies a group of which one pod fits nowhere, not even after preemption, if many more are missing.
//! - *Reserve* takes note that a pod has a node; *Unreserve* takes that back, and rejects the rest of the group.
//! - *Permit* makes the pod wait and has the rest of the group tried at once, or lets the whole group go.
//! - *PostBind* forgets a pod that is bound: from then on it is one of those that have a node.
//!
//! **Arguments.** [`CoschedulingArgs`]. The group is in the pods' labels: [`POD_GROUP`](crate::POD_GROUP),
//! [`MIN_MEMBER`](crate::MIN_MEMBER), [`SCHEDULE_TIMEOUT`](crate::SCHEDULE_TIMEOUT).
//!
//! **Upstream.** `coscheduling` of sigs.k8s.io/scheduler-plugins.
//!
//! **Differences.** README.md has them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::Plugin;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, HintContext, HintError, Permit, PermitPlugin, Placement, PostBindPlugin, PostFilterContext,
    PostFilterPlugin, PostFilterResult, PreFilter, PreFilterPlugin, QueueSortPlugin, QueuedPod, QueueingHint,
    Registration, ReservePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::model::{Pod, PodSpec};
use schedc_core::plugin::{Compile, IndexView, View};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, Status};
use schedc_macros::Args;

use crate::membership::{GroupKey, Membership};
use crate::pod_groups::PodGroups;
use crate::reservations::{Reservation, Reservations};

/// What a profile can say in `[args.Coscheduling]`.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct CoschedulingArgs {
    /// how long a pod that has its node waits for the rest of its group, unless its label says so
    #[args(default = 60, range = 1..=900)]
    pub permit_waiting_time_seconds: i64,
    /// for how long a group is not tried again of which one pod fits nowhere
    #[args(default = 10, range = 1..=900)]
    pub pod_group_backoff_seconds: i64,
}

/// Binds the pods of a group together or not at all.
pub struct Coscheduling {
    handle: Handle,
    reservations: Mutex<Reservations>,
}

impl Coscheduling {
    fn reservations(&self) -> MutexGuard<'_, Reservations> {
        // Nothing is left half done under this lock, so a panic elsewhere does not spoil what it holds.
        self.reservations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rejects the pods of a group that wait in Permit. Of the others nobody minds.
    fn reject_waiting(&self, group: GroupKey, reason: &str) {
        for pod in self.reservations().pods(group) {
            self.handle.reject(pod.clone(), Self::NAME, reason);
        }
    }
}

impl Plugin for Coscheduling {
    const NAME: &'static str = "Coscheduling";
    type Args = CoschedulingArgs;
    type Columns = ();
    type Indexes = PodGroups;
    type Reads = ();
    /// None: it is in no group.
    type Pod = Option<Result<Membership, Arc<str>>>;

    fn new(_: &'static CoschedulingArgs, handle: &Handle) -> Result<Self, String> {
        Ok(Coscheduling { handle: handle.clone(), reservations: Mutex::default() })
    }

    fn compile(_: &CoschedulingArgs, pod: &PodSpec, cx: Compile<'_, Self>) -> Self::Pod {
        Membership::of(pod, cx.interner).transpose()
    }
}

impl QueueSortPlugin for Coscheduling {
    fn less(_: &CoschedulingArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        let (a_priority, b_priority) = (a.pod.spec.priority, b.pod.spec.priority);
        a_priority > b_priority || a_priority == b_priority && a.timestamp < b.timestamp
    }

    fn timestamp(&self, _: &CoschedulingArgs, pod: &Pod, timestamp: i64, view: IndexView<'_, Self>) -> i64 {
        view.indexes.time(pod).unwrap_or(timestamp)
    }
}

impl PreFilterPlugin for Coscheduling {
    type Cycle = ();

    fn pre_filter(&self, _: &CoschedulingArgs, pod: &Self::Pod, view: View<'_, Self>) -> Result<PreFilter<()>, Status> {
        let membership = match pod {
            None => return Ok(PreFilter::skip(())),
            Some(Err(reason)) => return Err(Status::unresolvable(&**reason)),
            Some(Ok(membership)) => membership,
        };
        let group = membership.group.display(&view.base.interner);
        let (size, min_member) = (view.indexes.size(membership.group), membership.min_member);
        if size < min_member {
            return Err(Status::unresolvable(format!("pod group {group} has {size} of {min_member} pods")));
        }
        if self.reservations().is_denied(membership.group, self.handle.now()) {
            return Err(Status::unresolvable(format!("pod group {group} was denied recently")));
        }
        Ok(PreFilter::skip(()))
    }
}

impl PostFilterPlugin for Coscheduling {
    fn post_filter<P: Profile>(
        &self,
        args: &CoschedulingArgs,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult {
        let interner = &view.base.interner;
        let Ok(Some(Membership { group, min_member, .. })) = Membership::of(&cx.pod.spec, interner) else {
            return PostFilterResult::nothing(Status { code: Code::Unschedulable, plugin: "", reasons: Vec::new() });
        };
        let missing = min_member.saturating_sub(view.indexes.placed(group));
        let is_own_verdict = cx.diagnosis.unschedulable_plugins.contains(&Self::NAME);
        // Those that are left may fit where this one did not.
        let others_may_do = missing * 10 <= min_member && view.indexes.unplaced(group).count() > missing;
        if missing == 0 || is_own_verdict || others_may_do {
            return PostFilterResult::unschedulable(format!(
                "pod group {} waits for {missing} pods",
                group.display(interner)
            ));
        }
        self.reject_waiting(group, "optimistic rejection in PostFilter");
        // The room that they leave wakes this pod. Tried at once, it would take the room, and the next one would find none.
        let now = self.handle.now();
        let until = now.saturating_add(args.pod_group_backoff_seconds.saturating_mul(1_000_000_000));
        self.reservations().deny(group, now, until);
        for pod in view.indexes.pods(group) {
            self.handle.activate_at(pod.clone(), until);
        }
        PostFilterResult::unschedulable(format!(
            "pod group {} is rejected because pod {} is unschedulable even after PostFilter",
            group.display(interner),
            cx.pod.name
        ))
    }
}

impl ReservePlugin for Coscheduling {
    type Reserved = ();

    fn reserve(&self, args: &CoschedulingArgs, placement: &Placement, view: View<'_, Self>) -> Result<(), Status> {
        let pod = &placement.pod;
        let membership =
            Membership::of(&pod.spec, &view.base.interner).map_err(|reason| Status::unresolvable(&*reason))?;
        let Some(Membership { group, min_member, timeout }) = membership else { return Ok(()) };
        let seconds = timeout.unwrap_or(args.permit_waiting_time_seconds);
        // The pod counts already.
        let missing = min_member.saturating_sub(view.indexes.placed(group));
        let siblings = if missing > 0 { view.indexes.unplaced(group).cloned().collect() } else { Vec::new() };
        let reservation = Reservation { missing, patience: Duration::from_secs(seconds.unsigned_abs()), siblings };
        let mut reservations = self.reservations();
        reservations.forgive(group);
        reservations.insert(pod.uid.clone(), group, reservation);
        Ok(())
    }

    fn unreserve(&self, _: &CoschedulingArgs, placement: &Placement, _: Option<&()>) {
        let group = self.reservations().remove(&placement.pod.uid);
        if let Some(group) = group {
            self.reject_waiting(group, "rejection in Unreserve");
        }
    }
}

impl PermitPlugin for Coscheduling {
    fn permit(&self, _: &CoschedulingArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> Permit {
        let uid = &placement.pod.uid;
        let mut reservations = self.reservations();
        match reservations.get_mut(uid) {
            None => Permit::Allow,
            Some(reservation) if reservation.missing > 0 => {
                for sibling in reservation.siblings.drain(..) {
                    self.handle.activate(sibling);
                }
                Permit::Wait(reservation.patience)
            }
            Some(_) => {
                for pod in reservations.group_of(uid) {
                    waiting.allow(pod, Self::NAME);
                }
                Permit::Allow
            }
        }
    }
}

impl PostBindPlugin for Coscheduling {
    fn post_bind(&self, _: &CoschedulingArgs, placement: &Placement) {
        self.reservations().remove(&placement.pod.uid);
    }
}

impl EnqueueExtensions for Coscheduling {
    const EVENTS: &'static [Registration] =
        &[Registration::hinted(EventResource::Pod, Action::ADD.or(Action::UPDATE_POD_LABEL))];

    /// A group that had not enough pods may have enough when one comes, and labels may say something else. What was rejected
    /// because others found no room is tried again when one of them finds it: Permit activates it.
    fn queueing_hint(&self, _: &CoschedulingArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let EventObject::Pod(_, Some(changed)) = cx.object else { return Ok(QueueingHint::Queue) };
        let groups = cx.view.indexes;
        let is_sibling = groups.group(cx.rejected).is_some_and(|group| groups.group(&changed) == Some(group));
        Ok(QueueingHint::queue_if(is_sibling || changed.uid == cx.rejected.uid))
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::cache::Base;
    use schedc_core::column::Index;
    use schedc_core::model::NodeIndex;
    use schedc_objects::testing;

    use super::*;

    const ARGS: CoschedulingArgs = CoschedulingArgs::DEFAULT;

    /// Three pods of a group, all assumed on a node, and the plugin.
    fn world() -> (Base, PodGroups, Coscheduling, Vec<Placement>) {
        let (mut base, mut groups) = (Base::default(), PodGroups::default());
        groups.begin(&mut base.interner);
        let placements = ["a", "b", "c"].map(|name| {
            let yaml = format!(
                "{{ metadata: {{ name: {name}, uid: {name}, labels: {{ scheduling.x-k8s.io/pod-group: g, \
                 scheduling.x-k8s.io/min-member: '3' }} }} }}"
            );
            let pod = Arc::new(testing::pod(&yaml, &mut base.interner));
            groups.add_pod(NodeIndex(0), &pod);
            Placement { pod, node: NodeIndex(0), node_name: "n".into() }
        });
        let plugin = Coscheduling { handle: Handle::default(), reservations: Mutex::default() };
        (base, groups, plugin, placements.into())
    }

    #[test]
    fn what_is_reserved_is_given_back() {
        let (base, groups, plugin, placements) = world();
        let view = View { columns: (), indexes: &groups, reads: (), base: &base };
        let [a, b, c] = &placements[..] else { panic!("three pods") };
        for placement in &placements {
            assert_eq!(plugin.reserve(&ARGS, placement, view), Ok(()));
        }
        plugin.post_bind(&ARGS, a);
        plugin.unreserve(&ARGS, b, Some(&()));
        // Whoever undoes does not know how far it came, and may do so twice.
        plugin.unreserve(&ARGS, b, None);
        assert!(!plugin.reservations().is_empty());
        plugin.unreserve(&ARGS, c, Some(&()));
        assert!(plugin.reservations().is_empty());
    }
}
