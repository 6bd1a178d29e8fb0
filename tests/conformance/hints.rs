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
    New,
    /// Only an update of the waiting pod itself helps, which is not an event of a bound pod.
    Itself,
    /// Only pods with resource usage matter, and the end of such a pod is an event of a bound pod.
    TakesNoRoom,
    /// Another mechanism wakes the pod.
    Never,
}

/// Hints with only one result in the corpus. All others have both: a hint that always returns `Queue`, or always
/// `Skip`, disagrees with a scenario.
const ONE_ANSWER: [(&str, &str, ConstantHintReason); 16] = [
    ("DefaultPreemption", "AssignedPod Delete", ConstantHintReason::Never),
    ("DefaultPreemption", "UnschedulablePod Delete", ConstantHintReason::Never),
    ("DynamicResources", "AssignedPod UpdatePodGeneratedResourceClaim", ConstantHintReason::Itself),
    ("InterPodAffinity", "UnschedulablePod Delete", ConstantHintReason::TakesNoRoom),
    ("InterPodAffinity", "UnschedulablePod UpdatePodLabel", ConstantHintReason::New),
    ("NodeDeclaredFeatures", "AssignedPod Update", ConstantHintReason::Itself),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodGeneratedResourceClaim", ConstantHintReason::Itself),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodLabel", ConstantHintReason::Itself),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodScaleDown", ConstantHintReason::Itself),
    ("NodeDeclaredFeatures", "AssignedPod UpdatePodToleration", ConstantHintReason::Itself),
    ("NodeDeclaredFeatures", "UnschedulablePod UpdatePodSchedulingGatesEliminated", ConstantHintReason::Itself),
    ("NodeUnschedulable", "AssignedPod UpdatePodToleration", ConstantHintReason::Itself),
    ("NodeVolumeLimits", "UnschedulablePod Delete", ConstantHintReason::TakesNoRoom),
    ("PodTopologySpread", "AssignedPod UpdatePodToleration", ConstantHintReason::Itself),
    ("PodTopologySpread", "UnschedulablePod Delete", ConstantHintReason::TakesNoRoom),
    ("TaintToleration", "AssignedPod UpdatePodToleration", ConstantHintReason::Itself),
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
        BTreeSet::from(ONE_ANSWER.map(|(plugin, event, why)| (plugin, event, why == ConstantHintReason::New)))
    );
    for (at, plugin) in default::Pipeline::PLUGINS.iter().enumerate() {
        for (i, registration) in plugin.events.unwrap_or_default().iter().enumerate() {
            assert!(!registration.has_hint || hinted.contains(&(at, i)), "{} on {}", plugin.name, registration.event);
        }
    }
}
