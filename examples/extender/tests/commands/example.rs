//! The example in docs/extenders.md.

use expect_test::expect;
use serde_json::Value;

use crate::process::{Extender, gpu_sharing};

/// Returns the outcome of each pod by name: its node, or the reason why it has none.
fn outcomes(report: &Value) -> Vec<(String, String)> {
    let part = |list: &str, what: &str| -> Vec<(String, String)> {
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
        report[list].as_array().unwrap().iter().map(|entry| (text(entry, "pod"), text(entry, what))).collect()
    };
    let mut all = [part("placements", "node"), part("unschedulable", "message")].concat();
    all.sort();
    all
}

#[test]
fn pods_go_where_their_gpus_fit_best() {
    let extender = Extender::start();
    let simulate = ["simulate", "cluster.yaml", "-o", "json", "--extender-url-prefix", &extender.url];
    let [answers, draws, learns] = &outcomes(&gpu_sharing(&simulate).json())[..] else { panic!("three pods") };
    assert_eq!(answers, &("default/answers".to_owned(), "small".to_owned()));
    assert_eq!(draws, &("default/draws".to_owned(), "middle".to_owned()));
    assert_eq!(learns.0, "default/learns");
    expect!["0/3 nodes are available: 3 node(s) had too little GPU memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."].assert_eq(&learns.1);
}

#[test]
fn without_the_extender_all_wait() {
    // The extender stops at the end of this statement.
    let url = Extender::start().url.clone();
    let simulate = ["simulate", "cluster.yaml", "-o", "json", "--extender-url-prefix", &url];
    for (pod, message) in outcomes(&gpu_sharing(&simulate).json()) {
        assert_eq!(message, format!("extender {url}: filter: connection refused"), "{pod}");
    }
}

#[test]
fn explanations_include_the_extender() {
    let extender = Extender::start();
    let explain = |pod, more: &[&str]| gpu_sharing(&[&["explain", pod, "cluster.yaml"], more].concat()).ok();
    let url = extender.url.clone();
    let at = ["--extender-url-prefix", url.as_str()];
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE    TOTAL   Extender x1
          middle    524  60 > 60 > 60
          large     464     0 > 0 > 0
          equal on all feasible nodes:
            TaintToleration x3 0 > 100 > 300, NodeResourcesFit x1 93 > 93 > 93,
            DynamicResources x2 0 > 0 > 0, NodeResourcesBalancedAllocation x1 71 > 71 > 71,
            ImageLocality x1 0 > 0 > 0

        Rejected nodes
          COUNT  PLUGIN    REASON                             NODES
              1  Extender  node(s) had too little GPU memory  small

        default/draws goes to middle (profile gpu)
          the highest total; 2 of 3 nodes are feasible
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&explain("draws", &at));
    expect![[r#"
        Rejected nodes
          COUNT  PLUGIN    REASON                             NODES
              3  Extender  node(s) had too little GPU memory  large, middle, small

        default/learns is unschedulable (profile gpu)
          0/3 nodes are available: 3 node(s) had too little GPU memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures

        No remedy found (8 decisions with one or two changes)
          the search was limited and ended after 8 decisions; other remedies may exist
    "#]].assert_eq(&explain("learns", &at));
    drop(extender);
    let url = format!("extender {url}");
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE    TOTAL
          large     464
          middle    464
          small     464
          equal on all feasible nodes:
            TaintToleration x3 0 > 100 > 300, NodeResourcesFit x1 93 > 93 > 93,
            DynamicResources x2 0 > 0 > 0, NodeResourcesBalancedAllocation x1 71 > 71 > 71,
            ImageLocality x1 0 > 0 > 0

        default/draws is unschedulable (profile gpu)
          extender URL: filter: connection refused
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity

        No remedy found (8 decisions with one or two changes)
          the search was limited and ended after 8 decisions; other remedies may exist
    "#]]
    .assert_eq(&explain("draws", &at).replace(&url, "extender URL"));
}
