//! Coscheduling
//!
//! **What it does.** Pods of a group are bound once the required number of them has a node. Until then, pods with a
//! node wait in Permit on their reserved capacity. If the others get no nodes in time, the waiting pods release their
//! capacity.
//!
//! **Extension points.**
//! - *QueueSort*: by priority, then by time. All pods of a group have the time of the group; they are tried one after
//!   the other.
//! - *PreFilter* rejects a pod if its group does not exist, has too few pods, or was denied recently.
//! - *PostFilter* denies a group with an unschedulable pod, unless preemption helps or only few pods are missing.
//! - *Reserve* records that a pod has a node; *Unreserve* removes the record and rejects the rest of the group.
//! - *Permit* makes the pod wait and activates the rest of the group, or allows the whole group.
//! - *PostBind* removes the record of a bound pod; the index counts it from then on.
//!
//! A background task of the plugin updates the status of groups (`statuses`).
//!
//! **Arguments.** [`CoschedulingArgs`]. The label [`POD_GROUP`](crate::POD_GROUP) of a pod names its group, an object
//! of kind [`PodGroup`].
//!
//! **Upstream.** `coscheduling` of sigs.k8s.io/scheduler-plugins.
//!
//! **Differences.** Listed in README.md.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::args::Args;
use schedc_core::custom::{CustomResource, Lister};
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, HintContext, HintError, PermitPlugin, PermitResult, Placement, PostBindPlugin,
    PostFilterContext, PostFilterPlugin, PostFilterResult, PreFilterPlugin, PreFilterResult, QueueSortPlugin,
    QueuedPod, QueueingHint, Registration, ReservePlugin,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::incremental::Incremental;
use schedc_core::model::{Custom, Object, Pod, PodSpec};
use schedc_core::plugin::{CompileContext, IndexView, Refs, View};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, ReasonList, Status};
use schedc_core::{Plugin, plugin};

use crate::group::{GroupKey, PodGroup, PodGroupSpec};
use crate::pod_groups::PodGroups;
use crate::reservations::{Reservation, Reservations};
use crate::statuses::keep_statuses;

/// Arguments in `[args.Coscheduling]`.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct CoschedulingArgs {
    /// seconds that a pod with a node waits for the rest of its group, unless the group sets them
    #[args(default = 60, range = 1..=900)]
    pub permit_waiting_time_seconds: i64,
    /// seconds without attempts for a group with an unschedulable pod
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
        // No panic is possible while this lock is held, so its content is always consistent.
        self.reservations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rejects the pods of a group that wait in Permit. Has no effect on its other pods.
    fn reject_waiting(&self, group: GroupKey, reason: &str) {
        for pod in self.reservations().pods(group) {
            self.handle.reject(pod.clone(), Self::NAME, reason);
        }
    }
}

#[plugin]
impl Plugin for Coscheduling {
    type Args = CoschedulingArgs;
    type Indexes = (PodGroups, Lister<PodGroup>);
    /// The group of a pod, if it is in one.
    type Pod = Option<GroupKey>;

    fn new(_: &'static CoschedulingArgs, handle: &Handle) -> Result<Self, String> {
        handle.spawn(keep_statuses);
        Ok(Coscheduling { handle: handle.clone(), reservations: Mutex::default() })
    }

    fn compile(_: &CoschedulingArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod {
        GroupKey::of(pod, cx.indexes.0.label())
    }
}

impl Incremental for Coscheduling {
    fn compile_epoch(_: Refs<'_, Self>) -> Option<u64> {
        // `compile` reads only the symbol of the label, which never changes.
        Some(0)
    }
}

impl QueueSortPlugin for Coscheduling {
    fn less(_: &CoschedulingArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        let (a_priority, b_priority) = (a.pod.spec.priority, b.pod.spec.priority);
        a_priority > b_priority || a_priority == b_priority && a.timestamp < b.timestamp
    }

    fn timestamp(&self, _: &CoschedulingArgs, pod: &Pod, timestamp: i64, view: IndexView<'_, Self>) -> i64 {
        view.indexes.0.time(pod).unwrap_or(timestamp)
    }
}

impl PreFilterPlugin for Coscheduling {
    type Cycle = ();

    fn pre_filter(
        &self,
        _: &CoschedulingArgs,
        pod: &Self::Pod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        let Some(key) = *pod else { return Ok(PreFilterResult::skip(())) };
        let (members, groups) = view.indexes;
        let PodGroupSpec { min_member, .. } = key.find(groups, &view.base.interner).map_err(Status::unresolvable)?;
        let group = key.display(&view.base.interner);
        let size = members.size(key);
        if size < min_member {
            return Err(Status::unresolvable(format!("pod group {group} has {size} of {min_member} pods")));
        }
        if self.reservations().is_denied(key, self.handle.now()) {
            return Err(Status::unresolvable(format!("pod group {group} was denied recently")));
        }
        Ok(PreFilterResult::skip(()))
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
        let (members, groups) = view.indexes;
        let group = members.group(cx.pod);
        let Some((group, Ok(spec))) = group.map(|group| (group, group.find(groups, interner))) else {
            return PostFilterResult::nothing(Status {
                code: Code::Unschedulable,
                plugin: "",
                reasons: ReasonList::new(),
            });
        };
        let min_member = spec.min_member;
        let missing = min_member.saturating_sub(members.placed(group));
        let is_own_verdict = cx.diagnosis.unschedulable_plugins.contains(&Self::NAME);
        // Other pods of the group may fit where this one did not.
        let others_may_do = missing * 10 <= min_member && members.unplaced(group).count() > missing;
        if missing == 0 || is_own_verdict || others_may_do {
            return PostFilterResult::unschedulable(format!(
                "pod group {} waits for {missing} pods",
                group.display(interner)
            ));
        }
        self.reject_waiting(group, "optimistic rejection in PostFilter");
        // The released capacity wakes this pod. If it were tried at once, it would take the capacity, and the next pod
        // would not fit.
        let now = self.handle.now();
        let until = now.saturating_add(args.pod_group_backoff_seconds.saturating_mul(1_000_000_000));
        self.reservations().deny(group, now, until);
        for pod in members.pods(group) {
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
        let (pod, interner) = (&placement.pod, &view.base.interner);
        let (members, groups) = view.indexes;
        let Some(group) = members.group(pod) else { return Ok(()) };
        let spec = group.find(groups, interner).map_err(Status::unresolvable)?;
        let seconds = spec.timeout().unwrap_or(args.permit_waiting_time_seconds);
        // The index already counts this pod.
        let missing = spec.min_member.saturating_sub(members.placed(group));
        let siblings = if missing > 0 { members.unplaced(group).cloned().collect() } else { Vec::new() };
        let permit_timeout = Duration::from_secs(seconds.unsigned_abs());
        let reservation = Reservation { missing, permit_timeout, siblings };
        let mut reservations = self.reservations();
        reservations.clear_denial(group);
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
    fn permit(&self, _: &CoschedulingArgs, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult {
        let uid = &placement.pod.uid;
        let mut reservations = self.reservations();
        match reservations.get_mut(uid) {
            None => PermitResult::Allow,
            Some(reservation) if reservation.missing > 0 => {
                for sibling in reservation.siblings.drain(..) {
                    self.handle.activate(sibling);
                }
                PermitResult::Wait(reservation.permit_timeout)
            }
            Some(_) => {
                for pod in reservations.pods_in_group_of(uid) {
                    waiting.allow(pod, Self::NAME);
                }
                PermitResult::Allow
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
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Pod, Action::ADD.or(Action::UPDATE_POD_LABEL)),
        Registration::hinted(EventResource::Custom(PodGroup::RESOURCE), Action::ADD.or(Action::UPDATE)),
    ];

    /// Wakes a rejected pod when its group gets a pod, when its own labels change, or when the group's object appears
    /// or changes its specification (not its status). Pods that were rejected because others did not fit are activated
    /// by Permit and PostFilter.
    fn queueing_hint(&self, _: &CoschedulingArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let members = cx.view.indexes.0;
        let group = members.group(cx.rejected);
        Ok(QueueingHint::queue_if(match cx.object {
            EventObject::Pod(_, Some(changed)) => {
                let is_sibling = group.is_some_and(|group| members.group(&changed) == Some(group));
                is_sibling || changed.uid == cx.rejected.uid
            }
            EventObject::Object(old, Some(Object::Custom(new))) => {
                let is_of_its_group = group.is_some_and(|group| group.is_named(new.namespace, new.name));
                let spec = |object: &Custom| object.manifest.get("spec").cloned();
                is_of_its_group && old.and_then(Object::custom).is_none_or(|old| spec(old) != spec(new))
            }
            _ => true,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schedc_core::cache::Base;
    use schedc_core::column::Index;
    use schedc_core::model::{NodeIndex, Uid};
    use schedc_core::profile::Bundle;
    use schedc_objects::testing;
    use serde_json::json;

    use super::*;
    use crate::scheduler::Profiles;

    const ARGS: CoschedulingArgs = CoschedulingArgs::DEFAULT;

    /// Creates three pods of a group, all assumed on a node, and the plugin.
    fn assumed_group() -> (Base, (PodGroups, Lister<PodGroup>), Coscheduling, Vec<Placement>) {
        let (mut base, mut groups) = (Base::default(), PodGroups::default());
        groups.begin(&mut base.interner);
        let placements = ["a", "b", "c"].map(|name| {
            let yaml = format!(
                "{{ metadata: {{ name: {name}, uid: {name}, labels: {{ scheduling.x-k8s.io/pod-group: g }} }} }}"
            );
            let pod = Arc::new(testing::pod(&yaml, &mut base.interner));
            groups.add_pod(NodeIndex(0), &pod);
            Placement { pod, node: NodeIndex(0), node_name: "n".into() }
        });
        let plugin = Coscheduling { handle: Handle::default(), reservations: Mutex::default() };
        let mut listed = Lister::default();
        let [namespace, name] = ["default", "g"].map(|name| base.interner.intern(name));
        let manifest = json!({"spec": {"minMember": 3}});
        let group = Custom { kind: &Profiles::KINDS[0], namespace, name, uid: Uid("g".into()), manifest };
        listed.set_object(None, Some(&Object::Custom(Arc::new(group))));
        (base, (groups, listed), plugin, placements.into())
    }

    #[test]
    fn unreserve_undoes_reserve() {
        let (base, groups, plugin, placements) = assumed_group();
        let view = View { columns: (), indexes: (&groups.0, &groups.1), reads: (), base: &base };
        let [a, b, c] = &placements[..] else { panic!("three pods") };
        for placement in &placements {
            assert_eq!(plugin.reserve(&ARGS, placement, view), Ok(()));
        }
        plugin.post_bind(&ARGS, a);
        plugin.unreserve(&ARGS, b, Some(&()));
        // Unreserve may run twice, and without a preceding Reserve.
        plugin.unreserve(&ARGS, b, None);
        assert!(!plugin.reservations().is_empty());
        plugin.unreserve(&ARGS, c, Some(&()));
        assert!(plugin.reservations().is_empty());
    }
}
