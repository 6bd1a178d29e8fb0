//! Histories of small simulations.

use std::time::Duration;

use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_objects::{Manifests, Objects, Options as LoadOptions};

use super::sweep::Axis;
use super::{SimulationHistory, Sweep};
use crate::cluster::Routes;
use crate::simulation::{Options, Report, SimulationInput, simulate, simulate_with_hooks};
use crate::timeline::Timeline;
use default_profile::with_edge::Profiles;

/// Returns two nodes with this number of cores, a pod on node `a`, and pending pods. Each pod requests one core.
fn manifests(cores: u32, pods: u32) -> String {
    let mut text = String::new();
    for node in ["a", "b"] {
        text += &format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {node}}}, \
             status: {{allocatable: {{cpu: {cores}, memory: 8Gi, pods: 10}}}}}}\n---\n"
        );
    }
    text += "{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: x}, spec: {nodeName: a, containers: \
             [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n";
    for pod in 0..pods {
        text += &format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p{pod}, namespace: x}}, spec: {{containers: \
             [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}]}}}}\n"
        );
    }
    text
}

fn objects(text: &str) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn options() -> (AnyBundle, Options) {
    let bundle = AnyBundle::of::<Profiles>();
    let routes = Routes::to(bundle.profiles, "default").unwrap();
    let options =
        Options { routes, seed: 7, until: None, log: false, extenders: Overrides::NONE, read: Duration::ZERO };
    (bundle, options)
}

fn simulated(text: &str) -> (Report, SimulationHistory) {
    let (bundle, options) = options();
    let mut history = SimulationHistory::new(options.routes);
    let input = SimulationInput { objects: objects(text), timeline: Timeline::default() };
    let report = simulate_with_hooks(&bundle, input, options, |_| (), &mut history).unwrap();
    (report, history)
}

#[test]
fn a_recorded_simulation_places_the_same_pods() {
    let text = manifests(3, 8);
    let (bundle, options) = options();
    let plain = simulate(&bundle, objects(&text), Timeline::default(), options, |_| ()).unwrap();
    let (recorded, _) = simulated(&text);
    assert_eq!(plain.placements, recorded.placements);
    assert_eq!(plain.unschedulable, recorded.unschedulable);
}

#[test]
fn decisions_have_the_scores_of_the_chosen_and_of_the_best_other_node() {
    let (report, history) = simulated(&manifests(3, 2));
    let placed = &report.placements[0];
    let decision = history.decisions.of(&placed.pod).expect("a decision");
    assert_eq!((placed.node.as_str(), decision.feasible, decision.best), ("b", 2, 1));
    let [chosen, other] = &decision.candidates[..] else { panic!("{decision:?}") };
    assert_eq!((chosen.node.as_str(), chosen.role.as_str()), ("b", "chosen"));
    assert_eq!((other.node.as_str(), other.role.as_str()), ("a", "best other node"));
    let fit = |candidate: &schedc_report::Candidate| {
        candidate.scores.iter().find(|score| score.plugin == "NodeResourcesFit").map(|score| score.normalized)
    };
    assert!(fit(chosen) > fit(other), "{decision:?}");
}

#[test]
fn pending_pods_have_their_reasons() {
    let (report, history) = simulated(&manifests(1, 2));
    assert_eq!(report.unschedulable.len(), 1);
    let reasons = &history.reasons[&report.unschedulable[0].pod];
    assert_eq!(reasons[..], [("Insufficient cpu".to_owned(), 2)]);
}

#[test]
fn without_time_the_axis_counts_attempts() {
    let (report, history) = simulated(&manifests(4, 3));
    let Sweep { axis, x, pending, running, shares, node_shares, last, .. } = history.sweep(report.summary.end, 60);
    assert_eq!((axis, x), (Axis::Attempts(3), vec![0.0, 1.0, 2.0, 3.0]));
    assert_eq!(pending, [3.0, 2.0, 1.0, 0.0].map(Some));
    assert_eq!(running, [1.0, 2.0, 3.0, 4.0].map(Some));
    let cpu = history.resources.iter().position(|(_, name)| name == "cpu").expect("cpu");
    assert_eq!(shares[cpu], [12.5, 25.0, 37.5, 50.0].map(Some));
    let at_end = node_shares[cpu].last().expect("the end");
    assert_eq!(at_end.iter().flatten().sum::<f64>(), 100.0);
    assert_eq!(last.len(), 2);
    assert_eq!(history.bound_before, [("x/old".to_owned(), "a".to_owned())]);
}
