//! A cluster over time: objects come, change and go as a timeline says, and the scheduler works in between, on virtual
//! time.

mod intervals;
mod ledger;
mod log;
mod recorder;
mod report;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::jiff::Timestamp;
use schedc_core::model::Uid;
use schedc_core::profile::{Bundle, StartError};
use schedc_core::scheduler;
use schedc_embedded::server::Key;
use schedc_embedded::{End, Input, Options as SimulatorOptions, ServerOptions, Simulator, TimedInput};
use schedc_objects::Objects;

use crate::cluster::{self, Routes};
use crate::timeline::{Action, Reference, Span, Timeline};
use crate::utilisation::utilisation;
use ledger::Pods;
pub use log::{Line, What};
use recorder::Recorder;
pub use report::{Ended, Interval, Placement, Preempted, Report, Summary, Unschedulable, Waits};

/// What can be set.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which profile serves which pods.
    pub routes: Routes,
    /// Which of several equally good nodes is drawn.
    pub seed: u64,
    /// When to stop, if something may happen later.
    pub until: Option<Span>,
    /// Whether to tell all that happens.
    pub log: bool,
    /// The time that it took to read the input.
    pub read: Duration,
}

/// Lets time pass until nothing happens any more. `progress` is called with the number of events and attempts so far.
///
/// Nothing takes time but backoff and what plugins wait for: pods are bound, and those that are deleted are gone, at once.
///
/// # Errors
/// Plugins that cannot start.
pub fn replay<B: Bundle>(
    mut objects: Objects,
    timeline: Timeline,
    options: Options,
    progress: impl FnMut(usize),
) -> Result<Report, Vec<StartError>> {
    let begin = Instant::now();
    let implied = timeline.implied.into_iter().chain(objects.implied.iter().map(|object| object.name().to_owned()));
    let implied: Vec<String> = implied.collect();
    let mut other_kinds = std::mem::take(&mut objects.skipped);
    for (kind, n) in timeline.skipped {
        *other_kinds.entry(kind).or_default() += n;
    }
    let all = cluster::objects(objects);
    let start = timeline.start.map_or_else(|| cluster::newest(&all), nanoseconds);
    let simulator_options = SimulatorOptions {
        scheduler: scheduler::Options {
            seed: options.seed,
            serve_all: options.routes.serve_all(),
            // What a hint missed is not to be hidden by trying pods again without an event.
            leftover_after: i64::MAX,
            ..scheduler::Options::default()
        },
        server: ServerOptions { grace: Some(Duration::ZERO), ..ServerOptions::default() },
        start,
        ..SimulatorOptions::default()
    };
    let recorder = Recorder::new(options.routes, start, options.log, progress);
    let mut simulator = Simulator::<B, _>::with_hooks(simulator_options, recorder)?;
    for object in all {
        // Manifests without a name were refused on reading, unless API-server defaults are left out.
        let _ = simulator.add(object);
    }
    let (mut events, mut events_not_reached) = (0, 0);
    for event in timeline.events {
        match options.until.is_none_or(|until| event.at <= until) {
            true => {
                events += 1;
                let at = start.saturating_add(event.at.0);
                simulator.schedule(TimedInput { at, what: input(event.action) });
            }
            false => events_not_reached += 1,
        }
    }
    let ended = match options.until {
        Some(Span(until)) => simulator.run_until(start.saturating_add(until)),
        None => simulator.run(),
    };
    let end = simulator.now() - start;
    // Why pods are held that were never tried is asked in the end.
    for uid in simulator.hooks.ledger.never_tried() {
        let held = simulator.scheduler.held(&Uid(uid.as_str().into()));
        let message = held.map_or_else(|| "not tried yet".to_owned(), |status| status.message());
        simulator.hooks.ledger.failed(&uid, &message, None);
    }
    let simulated = begin.elapsed();

    let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
    for object in simulator.server.objects() {
        let is_implied = object.kind() == Namespace::KIND && implied.iter().any(|name| name == object.name());
        if ![Node::KIND, Pod::KIND].contains(&object.kind()) && !is_implied {
            *kinds.entry(object.kind()).or_default() += 1;
        }
    }
    let base = &simulator.scheduler.cache.base;
    let (nodes, utilisation) = (base.count(), utilisation(base));
    let Recorder { ledger, skipped, in_vain, log, .. } = simulator.hooks;
    let (attempts, retries) = (ledger.attempts, ledger.retries);
    let Pods { waits, moments, placements, unschedulable, deleted_unplaced, preempted } = ledger.close();
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
                End::Idle => Ended::NothingHappens,
                End::InVain => Ended::NothingHelps,
                End::TimeIsOver => Ended::TimeIsOver,
            },
            events,
            events_without_object: in_vain,
            events_not_reached,
            nodes,
            objects: kinds,
            other_kinds,
            seconds: (options.read + simulated).as_secs_f64(),
            read_seconds: options.read.as_secs_f64(),
            schedule_seconds: simulated.as_secs_f64(),
        },
        waits,
        over_time: moments.over(end),
        placements,
        unschedulable,
        deleted_unplaced,
        preempted,
        utilisation,
        log: log.map(|log| log.lines).unwrap_or_default(),
    })
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
