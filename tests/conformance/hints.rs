//! Events and queueing hints, compared with kube-scheduler 1.36.2.

use std::collections::{BTreeMap, BTreeSet};

use schedc::evaluation::{Evaluator, HintScenario};
use schedc_core::events::{Action, ClusterEvent, EventResource};
use schedc_core::hints::InterestedPlugins;
use schedc_core::profile::Profile;
use serde::Deserialize;
use serde_json::Value;

use crate::conformance::corpus::lines;
use crate::conformance::scheduler::{Profiles, default};

/// A change, and the results of kube-scheduler's event handlers, hints and queue.
#[derive(Deserialize)]
struct Entry {
    scenario: HintScenario,
    expected: Value,
}

fn entries() -> impl Iterator<Item = Entry> {
    lines("hints/hints.jsonl.gz").map(|line| serde_json::from_str(&line).unwrap())
}

#[test]
fn events_hints_and_places_agree() {
    let mut evaluator = Evaluator::of::<Profiles>().unwrap();
    let (mut all, mut wrong) = (0, Vec::new());
    for Entry { scenario, expected } in entries() {
        let id = scenario.id.clone();
        let got = evaluator.hints(scenario).unwrap_or_else(|error| panic!("{id}: {error}"));
        let got = serde_json::to_value(got).unwrap();
        all += 1;
        if got != expected {
            wrong.push(format!("{id}:\n  expected {expected}\n  got      {got}"));
        }
    }
    assert_eq!(all, 1400);
    assert!(wrong.is_empty(), "{} of {all} differ:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}

/// A plugin and an event, by name.
type Pair = (String, String);

/// Returns the results in the corpus for each plugin and event: `false` for `Skip`, `true` for `Queue` and `Error`.
fn answers() -> BTreeMap<Pair, BTreeSet<bool>> {
    let mut answers: BTreeMap<Pair, BTreeSet<bool>> = BTreeMap::new();
    for Entry { expected, .. } in entries() {
        for event in expected["perEvent"].as_array().unwrap() {
            let name = format!("{} {}", event["resource"].as_str().unwrap(), event["action"].as_str().unwrap());
            for hints in ["hints", "otherHints"].map(|field| &event[field]).into_iter().filter_map(Value::as_object) {
                for (plugin, hint) in hints {
                    answers.entry((plugin.clone(), name.clone())).or_default().insert(hint != "Skip");
                }
            }
        }
    }
    answers
}

/// Reason why a hint has only one result in the corpus.
#[derive(Clone, Copy, PartialEq)]
enum ConstantHintReason {
    /// Every event may help the pod.
    AlwaysHelps,
    /// Only an update of the waiting pod itself helps, and the event is an update of another pod.
    OnlyOwnUpdate,
    /// Only the deletion of a pod on a node helps, and the event is the deletion of a pending pod.
    NotOnNode,
    /// Another mechanism wakes the pod.
    OtherMechanism,
}

/// Hints with only one result in the corpus. All others have both results, so a hint that always returned `Queue`, or
/// always `Skip`, would disagree with a scenario.
const ONE_ANSWER: [(&str, &str, ConstantHintReason); 16] = [
    ("DefaultPreemption", "AssignedPod Delete", ConstantHintReason::OtherMechanism),
    ("DefaultPreemption", "UnschedulablePod Delete", ConstantHintReason::OtherMechanism),
    ("DynamicResources", "AssignedPod UpdatePodGeneratedResourceClaim", ConstantHintReason::OnlyOwnUpdate),
    ("InterPodAffinity", "UnschedulablePod Delete", ConstantHintReason::NotOnNode),
    ("InterPodAffinity", "UnschedulablePod UpdatePodLabel", ConstantHintReason::AlwaysHelps),
    ("NodeDeclaredFeatures", "AssignedPod Update", ConstantHintReason::OnlyOwnUpdate),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodGeneratedResourceClaim", ConstantHintReason::OnlyOwnUpdate),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodLabel", ConstantHintReason::OnlyOwnUpdate),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodScaleDown", ConstantHintReason::OnlyOwnUpdate),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodToleration", ConstantHintReason::OnlyOwnUpdate),
    ("NodeDeclaredFeatures", "UnschedulablePod UpdatePodSchedulingGatesEliminated", ConstantHintReason::OnlyOwnUpdate),
    ("NodeUnschedulable", "AssignedPod UpdatePodToleration", ConstantHintReason::OnlyOwnUpdate),
    ("NodeVolumeLimits", "UnschedulablePod Delete", ConstantHintReason::NotOnNode),
    ("PodTopologySpread", "AssignedPod UpdatePodToleration", ConstantHintReason::OnlyOwnUpdate),
    ("PodTopologySpread", "UnschedulablePod Delete", ConstantHintReason::NotOnNode),
    ("TaintToleration", "AssignedPod UpdatePodToleration", ConstantHintReason::OnlyOwnUpdate),
];

#[test]
fn a_constant_hint_is_detected() {
    let answers = answers();
    let mut one_answer = BTreeSet::new();
    let mut hinted = BTreeSet::new();
    for ((plugin, event), results) in &answers {
        let (resource, action) = event.split_once(' ').unwrap();
        let cluster_event =
            ClusterEvent::new(EventResource::from_name(resource).unwrap(), Action::from_name(action).unwrap());
        let at = default::Pipeline::PLUGINS.iter().position(|known| known.name == plugin).unwrap();
        if !InterestedPlugins::of(default::Pipeline::PLUGINS, cluster_event).hinted.contains(at) {
            assert_eq!(results, &BTreeSet::from([true]), "{plugin} has no hint for {event}");
            continue;
        }
        let registrations = default::Pipeline::PLUGINS[at].events.unwrap();
        hinted.extend(
            registrations.iter().enumerate().filter(|(_, r)| r.event.covers(cluster_event)).map(|(i, _)| (at, i)),
        );
        if results.len() == 1 {
            one_answer.insert((plugin.as_str(), event.as_str(), results.contains(&true)));
        }
    }
    assert_eq!(
        one_answer,
        BTreeSet::from(ONE_ANSWER.map(|(plugin, event, why)| (plugin, event, why == ConstantHintReason::AlwaysHelps)))
    );
    for (at, plugin) in default::Pipeline::PLUGINS.iter().enumerate() {
        for (i, registration) in plugin.events.unwrap_or_default().iter().enumerate() {
            assert!(!registration.has_hint || hinted.contains(&(at, i)), "{} on {}", plugin.name, registration.event);
        }
    }
}
