//! Simulation of all pending pods of a cluster in virtual time, with the events of a timeline.

mod intervals;
mod log;
mod pod_records;
mod recorder;
mod report;

use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::model::Uid;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::{ApiServer, Key};
use schedc_in_memory::{Input, SimulationEnd, SimulationHooks, Simulator, TimedInput};
use schedc_objects::{AnyObject, Objects};

use crate::budgets;
use crate::cluster::{self, Routes};
use crate::timeline::{Action, Event, Reference, Span, Timeline};
use crate::utilisation::utilisation;
pub use log::{Line, LogEvent};
use pod_records::PodResults;
use recorder::Recorder;
pub use report::{Ended, Interval, KeptByBudget, Placement, Preempted, Report, Summary, Unschedulable, Waits};

/// Options of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The profile for each pod.
    pub routes: Routes,
    /// Seed for the choice among equally good nodes.
    pub seed: u64,
    /// Time limit in virtual time.
    pub until: Option<Span>,
    /// Whether to record a log.
    pub log: bool,
    /// Overrides of the profiles' extender settings.
    pub extenders: &'static Overrides,
    /// The time that reading the input took.
    pub read: Duration,
}

/// Runs until no more changes can happen. `progress` is called with the number of pods attempted so far.
///
/// Only backoff, the waits of plugins and the provisioning of volumes take virtual time: bindings and deletions are
/// immediate. Unschedulable pods are retried after events that may help them. Victims of preemption are not recreated.
///
/// # Errors
/// Returns an error for plugins that cannot start.
pub fn simulate(
    bundle: &AnyBundle,
    objects: Objects,
    timeline: Timeline,
    options: Options,
    progress: impl FnMut(usize),
) -> Result<Report, StartErrors> {
    simulate_with_hooks(bundle, SimulationInput { objects, timeline }, options, progress, &mut ())
}

/// The input of a simulation.
pub(crate) struct SimulationInput {
    /// The objects of the cluster.
    pub(crate) objects: Objects,
    /// The events of the cluster.
    pub(crate) timeline: Timeline,
}

/// Simulates like [`simulate`], with hooks that observe the simulation.
///
/// # Errors
/// Returns an error for plugins that cannot start.
pub(crate) fn simulate_with_hooks(
    bundle: &AnyBundle,
    SimulationInput { mut objects, timeline }: SimulationInput,
    options: Options,
    progress: impl FnMut(usize),
    observer: &mut dyn SimulationHooks,
) -> Result<Report, StartErrors> {
    let begin = Instant::now();
    let mut objects_by_kind = objects.others_by_kind();
    for (kind, n) in timeline.objects {
        *objects_by_kind.entry(kind).or_default() += n;
    }
    let mut other_kinds = std::mem::take(&mut objects.skipped);
    for (kind, n) in timeline.skipped {
        *other_kinds.entry(kind).or_default() += n;
    }
    let all = cluster::objects(objects);
    let start = timeline.start.map_or_else(|| cluster::latest_time(&all), nanoseconds);
    let recorder = Recorder::new(options.routes, start, options.log, progress, observer);
    let mut simulator_options = cluster::simulator_options(&options.routes, options.seed, start);
    simulator_options.scheduler.extenders = options.extenders;
    let mut simulator = Simulator::new(bundle, simulator_options, recorder)?;
    for object in all {
        // Only an object without a name cannot be added, and the reader has reported that as an error.
        let _ = simulator.add(object);
    }
    let is_reached = |event: &Event| options.until.is_none_or(|until| event.at <= until);
    let (reached, not_reached): (Vec<Event>, Vec<Event>) = timeline.events.into_iter().partition(is_reached);
    let (events, events_not_reached) = (reached.len(), not_reached.len());
    for event in reached {
        let at = start.saturating_add(event.at.0);
        simulator.schedule(TimedInput { at, input: input(event.action) });
    }
    let ended = match options.until {
        Some(Span(until)) => simulator.run_until(start.saturating_add(until)),
        None => simulator.run(),
    };
    let end = simulator.now() - start;
    // The reasons of gated pods, which have no attempts, are collected at the end.
    for uid in simulator.hooks.pod_records.never_attempted() {
        if let Some(status) = simulator.scheduler.gate_status(&Uid(uid.as_str().into())) {
            simulator.hooks.pod_records.record_failure(&uid, &status.message());
        }
    }
    let elapsed = begin.elapsed();

    let Simulator { hooks: Recorder { pod_records, skipped, without_object, log, .. }, scheduler, server, .. } =
        simulator;
    let base = scheduler.base();
    let (attempts, retries) = (pod_records.attempts, pod_records.retries);
    let PodResults { waits, transitions, placements, mut unschedulable, deleted_unplaced, preempted, kept_by_budgets } =
        pod_records.close();
    for pod in &mut unschedulable {
        pod.nominated_node = nominated_node(&server, &pod.pod);
    }
    Ok(Report {
        summary: Summary {
            pods: placements.len() + unschedulable.len() + deleted_unplaced.len() + preempted.len() + skipped.count(),
            placed: placements.len(),
            unschedulable: unschedulable.len(),
            deleted_unplaced: deleted_unplaced.len(),
            preempted: preempted.len(),
            skipped: skipped.count(),
            skipped_by: skipped,
            attempts,
            retries,
            start: timeline.start.map(|start| start.to_string()),
            end: Span(end).seconds(),
            ended: match ended {
                SimulationEnd::Idle => Ended::NothingHappens,
                SimulationEnd::NoProgress => Ended::NothingHelps,
                SimulationEnd::TimeLimit => Ended::TimeIsOver,
            },
            events,
            events_without_object: without_object,
            events_not_reached,
            nodes: base.count(),
            objects: objects_by_kind,
            other_kinds,
            seconds: (options.read + elapsed).as_secs_f64(),
            read_seconds: options.read.as_secs_f64(),
            schedule_seconds: elapsed.as_secs_f64(),
        },
        waits,
        over_time: transitions.over(end),
        placements,
        unschedulable,
        deleted_unplaced,
        preempted,
        kept_by_budgets,
        budgets: budgets::Status::all(&server),
        utilisation: utilisation(base),
        log: log.map(|log| log.lines).unwrap_or_default(),
    })
}

/// Returns the nominated node of a pod.
fn nominated_node(server: &ApiServer, name: &str) -> Option<String> {
    let (namespace, name) = name.split_once('/')?;
    match &**server.get(&Key::pod(namespace, name))? {
        AnyObject::Pod(pod) => pod.status.as_ref()?.nominated_node_name.clone(),
        _ => None,
    }
}

fn input(action: Action) -> Input {
    match action {
        Action::Create(object) => Input::Apply(Box::new(object)),
        Action::Update(object) => Input::Replace(Box::new(object)),
        Action::Patch { object, patch } => Input::Patch(Key::of(&object), patch),
        Action::Delete(Reference { kind, namespace, name }) => {
            Input::Delete(Key { kind, namespace: namespace.into(), name: name.into() })
        }
    }
}

fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}
