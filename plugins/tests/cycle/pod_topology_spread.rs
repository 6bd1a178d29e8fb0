//! Constraints of the profile, for pods that a Service or a controller makes one of many.

use crate::cycle::scheduler::spreading::Pipeline;
use crate::cycle::world::World;

/// n1 and n2 in zone a, n3 in zone b, n4 in none; a pod of app `web` on n1.
fn world() -> World<Pipeline> {
    let mut world = World::new();
    for (n, zone) in [(1, ", zone: a"), (2, ", zone: a"), (3, ", zone: b"), (4, "")] {
        world.node(&format!("metadata: {{name: n{n}, labels: {{host: n{n}{zone}}}}}"));
    }
    world.running("{metadata: {name: first, labels: {app: web}}, spec: {nodeName: n1}}");
    world
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
fn every_attempt_looks_at_the_services_of_the_day() {
    let mut world = world();
    assert_eq!(world.verdicts(WEB), EVERYWHERE);
    world.object(&service("app: web"));
    assert_eq!(world.verdicts(WEB), SPREAD);
    world.object(&service("app: db"));
    assert_eq!(world.verdicts(WEB), EVERYWHERE);
}

#[test]
fn a_controller_tells_its_pods_apart_from_others() {
    let mut world = world();
    world.object(
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: set},
          spec: {serviceName: s, template: {}, selector: {matchLabels: {app: web}}}}",
    );
    assert_eq!(world.verdicts(WEB), EVERYWHERE);
    let owner = "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: set, uid: u, controller: true}]";
    let of_set = format!("metadata: {{name: second, labels: {{app: web}}, {owner}}}");
    assert_eq!(world.verdicts(&of_set), SPREAD);
}

#[test]
fn hosts_with_fewer_pods_are_taken() {
    let mut world = world();
    world.object(&service("app: web"));
    assert_eq!(world.decide(WEB), "n3");
    world.running("{metadata: {name: second, labels: {app: web}}, spec: {nodeName: n3}}");
    assert_eq!(world.decide(WEB), "n2", "zones are even, and n2 has none");
}

#[test]
fn a_pod_like_an_earlier_one_follows_the_services_of_the_day() {
    let mut world = world();
    let expect = |world: &mut World<Pipeline>, node| assert_eq!(world.decide(WEB), node);
    expect(&mut world, "n1");
    world.object(&service("app: web"));
    expect(&mut world, "n3");
    world.object(&service("app: db"));
    expect(&mut world, "n1");
}

#[test]
fn a_pod_like_an_earlier_one_asks_again_for_what_was_forgotten() {
    let mut world = world();
    let spread = |app: &str, key: &str| {
        format!(
            "{{metadata: {{name: p, labels: {{app: {app}}}}}, spec: {{topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {key}, \
             whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: {app}}}}}}}]}}}}"
        )
    };
    assert_eq!(world.decide(&spread("web", "zone")), "n3");
    for other in 0..200 {
        world.decide(&spread("other", &format!("key-{other}")));
    }
    world.node("metadata: {name: n5}");
    // These get the numbers that were given back.
    for other in 200..300 {
        world.decide(&spread("other", &format!("key-{other}")));
    }
    assert_eq!(world.decide(&spread("web", "zone")), "n3");
}

#[test]
fn a_pod_that_would_leave_makes_room() {
    let mut world = world();
    world.object(&service("app: web"));
    let first = world.pod("{metadata: {name: first, labels: {app: web}}, spec: {nodeName: n1}}");
    let verdicts = world.verdicts_with(WEB, |node| node.remove_pod(&first));
    assert!(verdicts.starts_with("n1\n"), "{verdicts}");
}
