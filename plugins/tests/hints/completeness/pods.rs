//! Hints for changes of nodes and pods.

use proptest::prelude::*;
use proptest::sample::select;
use schedc_core::events::EventResource;

use super::rarely;
use crate::hints::history::{Step, wakes};
use crate::hints::known_misses::is_known;

fn node() -> impl Strategy<Value = String> {
    let labels = (
        select(vec!["", "zone: a, ", "zone: b, "]),
        select(vec!["", "rack: r1, ", "rack: r2, "]),
        select(vec!["", "disk: ssd, "]),
    );
    let spec = (
        select(vec!["", "", "", "unschedulable: true, "]),
        select(vec![
            "",
            "{key: a, effect: NoSchedule}",
            "{key: b, effect: NoExecute}",
            "{key: soft, effect: PreferNoSchedule}",
        ]),
    );
    let status = (1..4_u8, 1..4_u8, select(vec!["", "UserNamespacesHostNetworkSupport"]));
    (labels, spec, status).prop_map(|((zone, rack, disk), (cordoned, taint), (cpu, pods, feature))| {
        format!(
            "{{metadata: {{name: NAME, labels: {{{zone}{rack}{disk}}}}}, spec: {{{cordoned}taints: [{taint}]}},
               status: {{declaredFeatures: [{feature}], allocatable: {{cpu: {cpu}, pods: {pods}}}}}}}"
        )
    })
}

fn app() -> impl Strategy<Value = &'static str> {
    select(vec!["web", "db", "cache"])
}

fn term() -> impl Strategy<Value = String> {
    (select(vec!["zone", "rack"]), app(), any::<bool>()).prop_map(|(key, app, everywhere)| {
        let namespaces = if everywhere { ", namespaceSelector: {}" } else { "" };
        format!("{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}{namespaces}}}")
    })
}

fn required(up_to: usize) -> impl Strategy<Value = String> {
    rarely(up_to, term())
        .prop_map(|terms| format!("{{requiredDuringSchedulingIgnoredDuringExecution: [{}]}}", terms.join(", ")))
}

fn constraint() -> impl Strategy<Value = String> {
    let policy = select(vec!["Honor", "Ignore"]);
    (select(vec!["zone", "rack"]), app(), 1..3, policy).prop_map(|(key, app, skew, taints)| {
        format!(
            "{{topologyKey: {key}, maxSkew: {skew}, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: {taints},
               labelSelector: {{matchLabels: {{app: {app}}}}}}}"
        )
    })
}

fn tolerations() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "{key: a, operator: Exists}",
        "{key: node.kubernetes.io/unschedulable, operator: Exists}",
        "{operator: Exists}",
    ])
}

/// A running pod: the values of its mutable fields, and in `fixed` a manifest with placeholders for them.
#[derive(Clone, Debug)]
struct RunningPod {
    app: &'static str,
    cpu: u8,
    fixed: String,
}

impl RunningPod {
    fn manifest(&self) -> String {
        let RunningPod { app, cpu, fixed } = self;
        fixed.replace("APP", app).replace("CPU", &cpu.to_string())
    }
}

fn running() -> impl Strategy<Value = RunningPod> {
    let fixed = (
        select(vec!["default", "far"]),
        select(vec!["n0", "n1", "n2"]),
        required(1),
        select(vec!["", "{hostPort: 80}"]),
    );
    (app(), 0..3_u8, fixed).prop_map(|(app, cpu, (namespace, node, anti_affinity, port))| {
        let container = format!("{{name: c, resources: {{requests: {{cpu: CPU}}}}, ports: [{port}]}}");
        let fixed = format!(
            "{{metadata: {{name: NAME, uid: NAME, namespace: {namespace}, labels: {{app: APP}}}},
               spec: {{nodeName: {node}, affinity: {{podAntiAffinity: {anti_affinity}}}, containers: [{container}]}}}}"
        );
        RunningPod { app, cpu, fixed }
    })
}

/// The pending pod.
#[derive(Clone, Debug)]
struct PendingPod {
    app: &'static str,
    cpu: u8,
    tolerations: &'static str,
    gates: &'static str,
    fixed: String,
}

impl PendingPod {
    fn manifest(&self) -> String {
        let PendingPod { app, cpu, tolerations, gates, fixed } = self;
        let fixed = fixed.replace("APP", app).replace("CPU", &cpu.to_string());
        fixed.replace("TOLERATIONS", tolerations).replace("GATES", gates)
    }
}

fn waiting() -> impl Strategy<Value = PendingPod> {
    let changing = (app(), 0..3_u8, tolerations(), select(vec!["", "", "", "", "{name: quota}"]));
    let fixed = (
        select(vec!["", "", "", "nodeSelector: {disk: ssd}, ", "nodeSelector: {zone: a}, "]),
        select(vec!["", "{hostPort: 80}"]),
        select(vec!["", "", "hostNetwork: true, hostUsers: false, "]),
        required(2),
        required(1),
        rarely(2, constraint()),
    );
    (changing, fixed).prop_map(|((app, cpu, tolerations, gates), (selector, port, features, affinity, anti_affinity, spread))| {
        let container = format!("{{name: c, resources: {{requests: {{cpu: CPU}}}}, ports: [{port}]}}");
        let fixed = format!(
            "{{metadata: {{name: me, uid: me, labels: {{app: APP}}}}, spec: {{{selector}{features}
               tolerations: [TOLERATIONS], schedulingGates: [GATES], containers: [{container}],
               affinity: {{podAffinity: {affinity}, podAntiAffinity: {anti_affinity}}}, topologySpreadConstraints: [{}]}}}}",
            spread.join(", ")
        );
        PendingPod { app, cpu, tolerations, gates, fixed }
    })
}

#[derive(Clone, Debug)]
enum Change {
    Node(u8, Option<String>),
    Pod(u8, Option<RunningPod>),
    PendingPod(&'static str, u8, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0..3_u8, prop::option::weighted(0.8, node())).prop_map(|(at, node)| Change::Node(at, node)),
        4 => (0..4_u8, prop::option::weighted(0.6, running())).prop_map(|(at, pod)| Change::Pod(at, pod)),
        1 => (app(), 0..3_u8, tolerations()).prop_map(|(app, cpu, tolerations)| Change::PendingPod(app, cpu, tolerations)),
    ]
}

/// Generates steps that an API server permits: few fields of a pod can change.
fn steps(mut pending: PendingPod, change: Vec<Change>) -> Vec<Step> {
    let mut pods: [Option<RunningPod>; 4] = [const { None }; 4];
    let pod = |at: usize, pod: Option<&RunningPod>| {
        let name = format!("p{at}");
        let manifest = pod.map(|pod| pod.manifest().replace("NAME", &name));
        Step { resource: EventResource::Pod, name, manifest }
    };
    let mut steps = Vec::new();
    for change in change {
        match change {
            Change::Node(at, node) => {
                let name = format!("n{at}");
                let manifest = node.map(|node| node.replace("NAME", &name));
                if manifest.is_none() {
                    // The pods of the node are deleted first.
                    for (at, slot) in pods.iter_mut().enumerate() {
                        if slot.take_if(|pod| pod.fixed.contains(&format!("nodeName: {name},"))).is_some() {
                            steps.push(pod(at, None));
                        }
                    }
                }
                steps.push(Step { resource: EventResource::Node, name, manifest });
            }
            Change::Pod(at, new) => {
                let at = usize::from(at);
                pods[at] = match (pods[at].take(), new) {
                    (Some(old), Some(new)) => Some(RunningPod { fixed: old.fixed, ..new }),
                    (_, new) => new,
                };
                steps.push(pod(at, pods[at].as_ref()));
            }
            Change::PendingPod(app, cpu, tolerations) => {
                // Tolerations are only added; gates are only removed.
                let tolerations = if pending.tolerations.is_empty() { tolerations } else { pending.tolerations };
                pending =
                    PendingPod { app, cpu: cpu.min(pending.cpu), tolerations, gates: "", fixed: pending.fixed.clone() };
                steps.push(Step {
                    resource: EventResource::Pod,
                    name: "me".to_owned(),
                    manifest: Some(pending.manifest()),
                });
            }
        }
    }
    steps
}

proptest! {
    #[test]
    fn hints_for_nodes_and_pods_are_complete(pending in waiting(), change in prop::collection::vec(change(), 6..20)) {
        let pod = pending.manifest();
        let steps = steps(pending, change);
        let (others, steps) = steps.split_at(4);
        let wakes = wakes(&pod, others, steps, is_known);
        prop_assert!(wakes.is_ok(), "{wakes:#?}");
    }
}
