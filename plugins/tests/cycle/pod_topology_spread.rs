//! Default constraints of the profile, for pods of a Service or controller.

use crate::cycle::scheduler::spreading::Pipeline;
use crate::cycle::test_cluster::TestCluster;

/// Creates nodes n1 and n2 in zone a, n3 in zone b, and n4 without a zone. A pod of app `web` runs on n1.
fn cluster() -> TestCluster<Pipeline> {
    let mut cluster = TestCluster::new();
    for (n, zone) in [(1, ", zone: a"), (2, ", zone: a"), (3, ", zone: b"), (4, "")] {
        cluster.node(&format!("metadata: {{name: n{n}, labels: {{host: n{n}{zone}}}}}"));
    }
    cluster.add_running("{metadata: {name: first, labels: {app: web}}, spec: {nodeName: n1}}");
    cluster
}

fn service(selector: &str) -> String {
    format!("{{kind: Service, metadata: {{name: web}}, spec: {{selector: {{{selector}}}}}}}")
}

const WEB: &str = "metadata: {name: second, labels: {app: web}}";
const EVERYWHERE: &str = "n1\nn2\nn3\nn4\n";
const SPREAD: &str = "\
n1: Unschedulable PodTopologySpread: node(s) didn't match pod topology spread constraints
n2: Unschedulable PodTopologySpread: node(s) didn't match pod topology spread constraints
n3
n4: UnschedulableAndUnresolvable PodTopologySpread: node(s) didn't match pod topology spread constraints (missing required label)
";

#[test]
fn every_attempt_uses_the_current_services() {
    let mut cluster = cluster();
    assert_eq!(cluster.verdicts(WEB), EVERYWHERE);
    cluster.object(&service("app: web"));
    assert_eq!(cluster.verdicts(WEB), SPREAD);
    cluster.object(&service("app: db"));
    assert_eq!(cluster.verdicts(WEB), EVERYWHERE);
}

#[test]
fn controllers_separate_their_pods_from_others() {
    let mut cluster = cluster();
    cluster.object(
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: set},
          spec: {serviceName: s, template: {}, selector: {matchLabels: {app: web}}}}",
    );
    assert_eq!(cluster.verdicts(WEB), EVERYWHERE);
    let owner = "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: set, uid: u, controller: true}]";
    let of_set = format!("metadata: {{name: second, labels: {{app: web}}, {owner}}}");
    assert_eq!(cluster.verdicts(&of_set), SPREAD);
}

#[test]
fn hosts_with_fewer_pods_are_chosen() {
    let mut cluster = cluster();
    cluster.object(&service("app: web"));
    assert_eq!(cluster.decide(WEB), "n3");
    cluster.add_running("{metadata: {name: second, labels: {app: web}}, spec: {nodeName: n3}}");
    assert_eq!(cluster.decide(WEB), "n2", "the zones have equally many pods, and n2 has none");
}

#[test]
fn cached_answers_use_the_current_services() {
    let mut cluster = cluster();
    let expect = |cluster: &mut TestCluster<Pipeline>, node| assert_eq!(cluster.decide(WEB), node);
    expect(&mut cluster, "n1");
    cluster.object(&service("app: web"));
    expect(&mut cluster, "n3");
    cluster.object(&service("app: db"));
    expect(&mut cluster, "n1");
}

#[test]
fn cached_answers_register_evicted_queries_again() {
    let mut cluster = cluster();
    let spread = |app: &str, key: &str| {
        format!(
            "{{metadata: {{name: p, labels: {{app: {app}}}}}, spec: {{topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {key}, \
             whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: {app}}}}}}}]}}}}"
        )
    };
    assert_eq!(cluster.decide(&spread("web", "zone")), "n3");
    for other in 0..200 {
        cluster.decide(&spread("other", &format!("key-{other}")));
    }
    cluster.node("metadata: {name: n5}");
    // These pods reuse the ids that were evicted.
    for other in 200..300 {
        cluster.decide(&spread("other", &format!("key-{other}")));
    }
    assert_eq!(cluster.decide(&spread("web", "zone")), "n3");
}

#[test]
fn a_hypothetically_removed_pod_reduces_the_skew() {
    let mut cluster = cluster();
    cluster.object(&service("app: web"));
    let first = cluster.pod("{metadata: {name: first, labels: {app: web}}, spec: {nodeName: n1}}");
    let verdicts = cluster.verdicts_with(WEB, |node| node.remove_pod(&first));
    assert!(verdicts.starts_with("n1\n"), "{verdicts}");
}
