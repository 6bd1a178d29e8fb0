//! The scheduling cycle to explain.

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::StartErrors;
use schedc_in_memory::Simulator;
use schedc_in_memory::server::{Key, uid_of};
use schedc_objects::{AnyObject, Objects};

use super::{Comparison, EarlierCycles, Explanation, Rejection};
use crate::attempts::AttemptRecorder;
use crate::budgets::{Budgets, Status};
use crate::cluster::{self, Cluster, Routes};
use crate::remedies::Subject;

/// Settings of an explanation.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Profiles, and the pods that they serve.
    pub routes: Routes,
    /// Index of the profile that serves the pod.
    pub profile: usize,
    /// Seed for the choice among equally good nodes, as in a simulation.
    pub seed: u64,
    /// Whether the pending pods that a simulation attempts before this pod are placed first.
    pub after: bool,
    /// Whether every plugin evaluates nodes that another plugin rejects.
    pub all_filters: bool,
    /// A node with which the chosen node is compared.
    pub against: Option<&'a str>,
    /// Maximum number of remedies for a pod that stays unschedulable; 0 leaves out the search.
    pub max_remedies: usize,
    /// Overrides of the profiles' extender settings.
    pub extenders: &'static Overrides,
}

/// Explains the next scheduling cycle of a pod. `subject` is its index in `objects.pods`.
///
/// With [`Options::after`], the explained cycle is the pod's last attempt in a simulation of the same objects. The
/// simulation reports the result of that attempt.
///
/// Returns `None` if the pod does not wait for a scheduler.
///
/// # Errors
/// Returns an error for plugins that cannot start.
pub fn explain(
    bundle: &AnyBundle,
    mut objects: Objects,
    subject: usize,
    options: Options<'_>,
) -> Result<Option<Explanation>, StartErrors> {
    let Some(pod) = objects.pods.get_mut(subject) else { return Ok(None) };
    as_pending(&mut pod.object);
    let key = Key::of(&pod.object.clone().into());
    let objects = cluster::objects(objects);
    let mut after = None;
    let mut simulator = match options.after {
        false => start(bundle, objects, &key, &options)?,
        true => {
            let mut simulator = start(bundle, objects.clone(), &key, &options)?;
            simulator.run_to_attempt(|_| false);
            let AttemptRecorder { subject, mut subject_attempts, preempted, .. } = simulator.hooks.clone();
            let (attempt, name) = (subject_attempts, format!("{}/{}", key.namespace, key.name));
            let preempted_by = preempted.into_iter().rfind(|victim| victim.pod == name).map(|victim| victim.by);
            // A pod without an attempt, such as a gated pod, is explained in the final state of the simulation.
            if attempt > 0 {
                simulator = start(bundle, objects, &key, &options)?;
                simulator.run_to_attempt(|pod| {
                    subject_attempts -= usize::from(pod.uid == subject);
                    subject_attempts == 0
                });
            }
            let AttemptRecorder { placed, rejections, preempted, .. } = simulator.hooks.clone();
            let unschedulable = rejections.keys().filter(|pod| **pod != subject).count();
            let preempted = preempted.into_iter().filter(|victim| victim.by == name).map(|victim| victim.pod).collect();
            after = Some(EarlierCycles { placed, unschedulable, attempt, preempted, preempted_by });
            simulator
        }
    };
    while simulator.catch_up() {}
    let scheduler = &mut simulator.scheduler;
    let Some(pod) = scheduler.pending(&simulator.hooks.subject).cloned() else { return Ok(None) };
    let mut cycle = scheduler.explain(options.profile, &pod, options.all_filters);
    scheduler.explain_shortages(options.profile, &pod, &mut cycle);
    let rejections = options.against.map(|node| {
        let nodes = scheduler.explain(options.profile, &pod, true).nodes;
        let verdicts = nodes.into_iter().find(|other| other.node == node).map(|node| node.verdicts);
        verdicts.into_iter().flatten().map(Rejection::from).collect()
    });
    let base = scheduler.base_mut();
    let mut budgets = Budgets::default();
    for budget in simulator.server.list("PodDisruptionBudget") {
        budgets.set(budget, &mut base.interner);
    }
    let profile = &options.routes.profiles()[options.profile];
    let explanation = Explanation::new(&pod, profile, cycle, &budgets, base);
    let comparison = options.against.zip(rejections);
    let comparison = comparison.and_then(|(node, rejections)| Comparison::of(&explanation, node, rejections));
    // A pod for which preemption makes room needs no remedies.
    let is_stuck = explanation.node.is_none() && explanation.preemption.is_none();
    let remedies = match options {
        Options { max_remedies: max, profile, extenders, .. } if max > 0 && is_stuck => {
            Subject { bundle, profile, extenders, pod: key }.remedies(simulator.server.objects(), max)?
        }
        _ => None,
    };
    Ok(Some(Explanation { after, remedies, comparison, budgets: Status::all(&simulator.server), ..explanation }))
}

/// Creates a cluster before any attempt, in which the attempts of the subject are counted.
fn start(
    bundle: &AnyBundle,
    objects: Vec<AnyObject>,
    subject: &Key,
    options: &Options<'_>,
) -> Result<Simulator<AttemptRecorder>, StartErrors> {
    let Options { routes, seed, extenders, .. } = *options;
    let options = cluster::Options { routes, seed, extenders };
    let Cluster { mut simulator, .. } = Cluster::new(bundle, objects, &options, AttemptRecorder::default())?;
    if let Some(pod) = simulator.server.get(subject) {
        simulator.hooks.subject = uid_of(pod);
    }
    Ok(simulator)
}

/// Reverts a pod to its state before it had a node, ran or was deleted.
fn as_pending(pod: &mut ApiPod) {
    pod.metadata.deletion_timestamp = None;
    let had_node = pod.spec.as_mut().is_some_and(|spec| spec.node_name.take().is_some());
    if let Some(status) = &mut pod.status {
        status.phase = None;
        if had_node {
            status.nominated_node_name = None;
        }
    }
}
