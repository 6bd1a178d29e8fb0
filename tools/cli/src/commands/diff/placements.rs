//! Pods with different nodes under two profiles.

use std::collections::BTreeMap;
use std::time::Duration;

use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_import::{Difference, ProfileSummary, differences};
use schedc_in_memory::SimulationHooks;
use schedc_interpret::Interpretation;
use schedc_objects::Objects;

use super::comparison::{Outcome, PlacementChange, PlacementChanges};
use super::sides::Side;
use crate::cluster::Routes;
use crate::commands::failure::Failure;
use crate::commands::reports::diff::SimulatedSide;
use crate::commands::{output, validate};
use crate::simulation::{Options, Report, SimulationInput, simulate_with_hooks};
use crate::simulation_history::SimulationHistory;
use crate::timeline::{Sources, Timeline};

/// The profile that places pods for one side.
pub(crate) struct PlacingProfile {
    pub(crate) bundle: AnyBundle,
    pub(crate) profile: &'static str,
}

/// Places the pending pods of a cluster with each of the two profiles. Returns the differences. If there is to be a
/// report, also returns both simulations.
pub(super) fn placement_changes(
    bundle: &AnyBundle,
    [a, b]: [&Side; 2],
    objects: Objects,
    seed: u64,
    has_report: bool,
) -> Result<(PlacementChanges, Option<[SimulatedSide; 2]>), Failure> {
    let (by_a, by_b) = (placing_profile(bundle, a)?, placing_profile(bundle, b)?);
    validate::warn(&objects.ignored);
    let (a, history_a) = placed(&by_a, objects.clone(), seed, has_report)?;
    let (b, history_b) = placed(&by_b, objects, seed, has_report)?;
    let changes = compare(&outcomes(&a), &outcomes(&b), &nodes_before_preemption(&[&a, &b]));
    let sides = history_a.zip(history_b).map(|(history_a, history_b)| {
        [SimulatedSide { report: a, history: history_a }, SimulatedSide { report: b, history: history_b }]
    });
    Ok((changes, sides))
}

/// Returns the profile that places pods for a side: the compiled-in profile, or else the interpreted one. If a
/// side cannot be interpreted, a compiled-in profile that differs only in settings takes its place.
pub(crate) fn placing_profile(bundle: &AnyBundle, side: &Side) -> Result<PlacingProfile, Failure> {
    let mut similar = None;
    for profile in bundle.profiles {
        let profile_differences = differences(&ProfileSummary::from(profile), &side.summary);
        if profile_differences.is_empty() {
            return Ok(PlacingProfile { bundle: bundle.clone(), profile: profile.name });
        }
        let only_settings_differ =
            profile_differences.iter().all(|difference| matches!(difference, Difference::Setting { .. }));
        similar = similar.or(only_settings_differ.then_some(profile.name));
    }
    let interpretation = side.compilation().transpose()?.map(Interpretation::of);
    match (interpretation, similar) {
        (Some(Ok(interpretation)), _) => {
            let bundle = interpretation.bundle();
            Ok(PlacingProfile { profile: bundle.profiles.first().map_or("", |profile| profile.name), bundle })
        }
        (_, Some(name)) => {
            output::note(format_args!(
                "for {}, pods are placed with `{name}`, which differs only in settings",
                side.name
            ));
            Ok(PlacingProfile { bundle: bundle.clone(), profile: name })
        }
        (Some(Err(reason)), None) => Err(reason.into()),
        (None, None) => Err(Failure::new(format_args!("{} is not compiled into this binary", side.name))),
    }
}

/// Places the pods with one profile. Returns the result, and its history if there is to be a report.
fn placed(
    placing_profile: &PlacingProfile,
    mut objects: Objects,
    seed: u64,
    has_report: bool,
) -> Result<(Report, Option<SimulationHistory>), Failure> {
    let timeline = Timeline::read(&Sources::default(), &mut objects)?;
    let routes = Routes::to(placing_profile.bundle.profiles, placing_profile.profile)?;
    let mut history = has_report.then(|| SimulationHistory::new(routes));
    let options = Options { routes, seed, until: None, log: false, extenders: Overrides::NONE, read: Duration::ZERO };
    let observer: &mut dyn SimulationHooks = match &mut history {
        Some(history) => history,
        None => &mut (),
    };
    let report =
        simulate_with_hooks(&placing_profile.bundle, SimulationInput { objects, timeline }, options, |_| {}, observer)?;
    Ok((report, history))
}

/// Returns the outcome of each pod that was placed, attempted without success, or preempted.
fn outcomes(report: &Report) -> BTreeMap<&str, Outcome> {
    let mut outcomes = BTreeMap::new();
    for pod in &report.placements {
        outcomes.insert(pod.pod.as_str(), Outcome { node: Some(pod.node.clone()), message: None });
    }
    for pod in &report.unschedulable {
        outcomes.insert(&pod.pod, Outcome { node: None, message: Some(pod.message.clone()) });
    }
    for pod in &report.preempted {
        outcomes.insert(&pod.pod, Outcome { node: None, message: Some(format!("preempted by {}", pod.by)) });
    }
    outcomes
}

/// Returns the node of each pod that a profile preempts. The pod stays on this node under the other profile, unless
/// that profile preempts it too.
fn nodes_before_preemption<'r>(reports: &[&'r Report]) -> BTreeMap<&'r str, Outcome> {
    let preempted = reports.iter().flat_map(|report| &report.preempted);
    preempted.map(|pod| (pod.pod.as_str(), Outcome { node: Some(pod.node.clone()), message: None })).collect()
}

fn compare(
    a: &BTreeMap<&str, Outcome>,
    b: &BTreeMap<&str, Outcome>,
    nodes_before_preemption: &BTreeMap<&str, Outcome>,
) -> PlacementChanges {
    let mut pods: Vec<&str> = a.keys().chain(b.keys()).copied().collect();
    pods.sort_unstable();
    pods.dedup();
    let nothing = Outcome { node: None, message: None };
    let of = |outcomes: &BTreeMap<&str, Outcome>, pod: &str| {
        outcomes.get(pod).or_else(|| nodes_before_preemption.get(pod)).unwrap_or(&nothing).clone()
    };
    let placement_changes =
        pods.iter().map(|pod| PlacementChange { pod: (*pod).to_owned(), a: of(a, pod), b: of(b, pod) });
    let elsewhere: Vec<PlacementChange> = placement_changes.filter(|moved| moved.a.node != moved.b.node).collect();
    PlacementChanges { pods: pods.len(), same: pods.len() - elsewhere.len(), elsewhere }
}
