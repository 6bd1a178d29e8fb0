//! The scheduling cycle of one pod, from PreFilter to Permit: kube-scheduler's `schedulingCycle`.

use std::sync::Arc;

use super::outcome::Failure;
use crate::engine::bundle::Visitor;
use crate::engine::observer::{Observer, Point};
use crate::engine::{CycleInputs, Decision, Engine, ReservationId, UNTIMED};
use crate::model::cache::{Base, Cache, State, UnplacedPod};
use crate::model::placement::Placement;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::client::Client;
use crate::plugin_api::handle::{WaitingPodMap, WaitingPods};
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::extenders::Extenders;
use crate::profile_api::profile::{PermitRun, Profile};

/// A pod that has its node, and is reserved there.
pub(super) struct Permitted {
    pub(super) placement: Placement,
    pub(super) reserved: ReservationId,
    /// The plugins for which the pod waits in Permit, each with its maximum wait in nanoseconds.
    pub(super) waits: Vec<(&'static str, i64)>,
}

pub(super) struct Cycle<'a, S, C, D, O> {
    pub(super) client: &'a C,
    pub(super) pod: &'a Arc<Pod>,
    pub(super) unplaced: UnplacedPod,
    pub(super) cache: &'a mut Cache<S>,
    pub(super) lists_preemption_candidates: bool,
    pub(super) draw: D,
    pub(super) waiting: &'a mut WaitingPodMap,
    pub(super) now: i64,
    pub(super) observer: &'a mut O,
}

impl<S: State, C: Client, D: FnMut(usize) -> usize, O: Observer> Visitor<S> for Cycle<'_, S, C, D, O> {
    type Output = Result<Permitted, Failure>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        let Cycle { client, pod, unplaced, cache, lists_preemption_candidates, draw, waiting, now, observer } = self;
        let inputs = CycleInputs { now: UNTIMED, lists_preemption_candidates, draw };
        let (decision, owner) = engine.decide_with_state(pod, cache, inputs, observer);
        let node = match decision {
            Decision::Node(node) => node,
            Decision::Unschedulable(unschedulable) => {
                engine.release(owner);
                return Err(Failure::Unschedulable(unschedulable));
            }
            Decision::Error(message) => {
                engine.release(owner);
                return Err(Failure::Error(message));
            }
        };
        let placement = assume(cache, pod, unplaced, node)?;
        let undo = |plugins: &Arc<P>, cache: &mut Cache<S>, status: Status| {
            notify_extenders_of_unreserve(plugins, client, &placement, &cache.base);
            cache.forget(&pod.uid);
            Err(Failure::on_node(status))
        };
        observer.point_started(Point::Reserve);
        let reserved = match engine.cycle(&owner) {
            Some(cycle) => engine.plugins.reserve(cycle, cache, &placement),
            None => Err(Status::error("a decision without cycle state")),
        };
        observer.point_ended(Point::Reserve, code(&reserved));
        engine.release(owner);
        let reserved = match reserved {
            Ok(reserved) => reserved,
            Err(status) => return undo(&engine.plugins, cache, status),
        };
        let mut permit = PermitRun::default();
        let mut pods = WaitingPods { waiting, now };
        observer.point_started(Point::Permit);
        let permitted = engine.plugins.permit(&placement, &mut pods, &mut permit);
        observer.point_ended(Point::Permit, if permit.waits.is_empty() { code(&permitted) } else { Code::Wait });
        if let Err(status) = permitted {
            engine.plugins.unreserve(&placement, &reserved);
            return undo(&engine.plugins, cache, status);
        }
        let reserved = engine.reserved.insert(reserved);
        Ok(Permitted { placement, reserved, waits: permit.waits })
    }
}

/// Returns the code of an extension point's result.
fn code<T>(result: &Result<T, Status>) -> Code {
    result.as_ref().map_or_else(|status| status.code, |_| Code::Success)
}

/// Assumes a pod on its chosen node.
#[inline]
fn assume<S: State>(
    cache: &mut Cache<S>,
    pod: &Arc<Pod>,
    unplaced: UnplacedPod,
    node: NodeIndex,
) -> Result<Placement, Failure> {
    let chosen = cache.assume_unplaced(pod.clone(), unplaced, node);
    chosen.ok_or_else(|| Failure::Error("the chosen node disappeared".into()))?;
    let node_name = cache.base.shared_name(node);
    // The pod is on its node now, and must not also be counted as a nominated pod.
    cache.withdraw_nomination(&pod.uid);
    Ok(Placement { pod: pod.clone(), node, node_name })
}

/// Notifies the interested extenders that a pod is not bound to its node after all.
pub(super) fn notify_extenders_of_unreserve<P: Profile>(
    plugins: &Arc<P>,
    client: &impl Client,
    placement: &Placement,
    base: &Base,
) {
    let unreservers = plugins.extenders().unreservers(&placement.pod, base);
    if !P::Extenders::NONE && !unreservers.is_empty() {
        let (plugins, placement) = (plugins.clone(), placement.clone());
        client.notify_extender(move || plugins.extenders().unreserve(&placement, &unreservers));
    }
}
