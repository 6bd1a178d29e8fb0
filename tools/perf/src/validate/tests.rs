use expect_test::{Expect, expect};
use schedc_core::intern::Interner;
use schedc_core::model::Uid;
use schedc_core::scheduler::Change;
use schedc_objects::testing;

use super::*;

/// A validator that receives a cluster from short manifests. Each pod is received before and after its binding.
struct ValidatorTest {
    names: Interner,
    validator: Validator,
}

impl ValidatorTest {
    fn nodes(yaml: &[&str]) -> ValidatorTest {
        let mut test = ValidatorTest { names: Interner::default(), validator: Validator::default() };
        for yaml in yaml {
            let node = Change::Node(testing::node(yaml, &mut test.names));
            test.validator.observe(&node, &test.names);
        }
        test
    }

    fn object(mut self, yaml: &str) -> ValidatorTest {
        let object = Change::Object(testing::object(yaml, &mut self.names));
        self.validator.observe(&object, &self.names);
        self
    }

    /// Creates a pod and binds it to a node.
    fn bind(mut self, name: &str, labels: &str, spec: &str, node: &str) -> ValidatorTest {
        let head = format!("metadata: {{name: {name}, namespace: default, uid: {name}, labels: {{{labels}}}}}");
        let pods = [format!("{head}\nspec: {{{spec}}}"), format!("{head}\nspec: {{nodeName: {node}, {spec}}}")];
        for yaml in pods {
            let pod = Change::Pod(testing::pod(&yaml, &mut self.names));
            self.validator.observe(&pod, &self.names);
        }
        self
    }

    fn delete(mut self, name: &str) -> ValidatorTest {
        self.validator.observe(&Change::PodDeleted(Uid(name.into())), &self.names);
        self
    }

    fn check(self, expected: Expect) {
        let lines: Vec<String> = self.validator.violations().iter().map(|violation| format!("{violation}\n")).collect();
        expected.assert_eq(&lines.concat());
    }
}

fn requests(amount: &str) -> String {
    format!("containers: [{{name: a, resources: {{requests: {{{amount}}}}}}}]")
}

const NODE: &str =
    "{metadata: {name: n1, labels: {zone: a, host: n1}}, status: {allocatable: {cpu: 2, memory: 2Gi, pods: 3}}}";
const OTHER: &str =
    "{metadata: {name: n2, labels: {zone: b, host: n2}}, status: {allocatable: {cpu: 2, memory: 2Gi, pods: 3}}}";

#[test]
fn a_node_is_not_filled_beyond_its_allocatable() {
    ValidatorTest::nodes(&[NODE])
        .bind("a", "", &requests("cpu: 1500m"), "n1")
        .bind("b", "", &requests("cpu: 500m"), "n1")
        .bind("c", "", &requests("memory: 3Gi, cpu: 1m"), "n1")
        .bind("d", "", "", "n1")
        .delete("a")
        .bind("e", "", &requests("cpu: 1"), "n1")
        .bind("f", "", "", "n3")
        .check(expect![[r#"
            pod default/c on node n1: NodeResourcesFit: milli-cpu: 1 requested, 2000 of 2000 used
            pod default/c on node n1: NodeResourcesFit: memory: 3221225472 requested, 0 of 2147483648 used
            pod default/d on node n1: NodeResourcesFit: pods: 1 requested, 3 of 3 used
            pod default/e on node n1: NodeResourcesFit: pods: 1 requested, 3 of 3 used
            pod default/f on node n3: the node does not exist
        "#]]);
}

#[test]
fn node_requirements_are_checked() {
    let tainted = "{metadata: {name: t}, spec: {taints: [{key: k, effect: NoSchedule}, {key: l, effect: PreferNoSchedule}]}, status: {allocatable: {pods: 9}}}";
    let closed = "{metadata: {name: c}, spec: {unschedulable: true}, status: {allocatable: {pods: 9}}}";
    let affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}, {matchFields: [{key: metadata.name, operator: In, values: [t]}]}]}}}";
    let tolerations =
        "tolerations: [{key: k, operator: Exists}, {key: node.kubernetes.io/unschedulable, operator: Exists}]";
    let port =
        |ip: &str| format!("containers: [{{name: a, ports: [{{containerPort: 80, hostPort: 80, hostIP: '{ip}'}}]}}]");
    ValidatorTest::nodes(&[NODE, OTHER, tainted, closed])
        .bind("a", "", "", "t")
        .bind("b", "", tolerations, "t")
        .bind("c", "", "", "c")
        .bind("d", "", tolerations, "c")
        .bind("e", "", affinity, "n1")
        .bind("f", "", affinity, "n2")
        .bind("g", "", "nodeSelector: {zone: b}", "n1")
        .bind("h", "", &port("10.0.0.1"), "n2")
        .bind("i", "", &port("10.0.0.2"), "n2")
        .delete("f")
        .bind("j", "", &port(""), "n2")
        .bind("k", "", "schedulingGates: [{name: g}]", "n1")
        .check(expect![[r#"
            pod default/a on node t: TaintToleration: the node has a taint that the pod does not tolerate
            pod default/c on node c: NodeUnschedulable: the node is unschedulable
            pod default/e on node n1: NodeAffinity: the pod does not select the node
            pod default/g on node n1: NodeAffinity: the pod does not select the node
            pod default/j on node n2: NodePorts: port 80 is in use
            pod default/k on node n1: SchedulingGates: the pod has scheduling gates
        "#]]);
}

#[test]
fn pod_affinity_and_anti_affinity_are_checked() {
    let together = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: a}}}]}}";
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: b}}}]}}";
    let nowhere = "{metadata: {name: n3}, status: {allocatable: {pods: 9}}}";
    let (node, other) = (NODE.replace("pods: 3", "pods: 9"), OTHER.replace("pods: 3", "pods: 9"));
    ValidatorTest::nodes(&[&node, &other, nowhere])
        .bind("stranger", "app: c", together, "n2")
        .bind("first", "app: a", together, "n1")
        .bind("second", "app: a", together, "n1")
        .bind("third", "app: a", together, "n2")
        .bind("fourth", "app: a", together, "n3")
        .bind("b", "app: b", apart, "n2")
        .bind("b2", "app: b", apart, "n2")
        .bind("b3", "app: b", apart, "n3")
        .delete("b")
        .delete("b2")
        .bind("a", "app: a", apart, "n2")
        .bind("b4", "app: b", "", "n2")
        .check(expect![[r#"
            pod default/stranger on node n2: InterPodAffinity: zone=b has no pod that matches the pod's affinity
            pod default/third on node n2: InterPodAffinity: zone=b has no pod that matches the pod's affinity
            pod default/fourth on node n3: InterPodAffinity: the node has no label zone
            pod default/b2 on node n2: InterPodAffinity: host=n2 has a pod that matches the pod's anti-affinity
            pod default/b2 on node n2: InterPodAffinity: host=n2 has a pod whose anti-affinity matches the pod
            pod default/b4 on node n2: InterPodAffinity: host=n2 has a pod whose anti-affinity matches the pod
        "#]]);
}

#[test]
fn namespaces_are_selected_by_their_labels() {
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {matchLabels: {team: x}}, labelSelector: {}}]}}";
    let test = ValidatorTest::nodes(&[NODE]).bind("a", "", "", "n1").bind("b", "", apart, "n1");
    let test = test.object("{kind: Namespace, metadata: {name: default, labels: {team: x}}}");
    test.bind("c", "", "", "n1").check(expect![[r#"
        pod default/c on node n1: InterPodAffinity: zone=a has a pod whose anti-affinity matches the pod
    "#]]);
}

#[test]
fn domains_stay_within_the_skew() {
    let spread = |more: &str| {
        format!(
            "topologySpreadConstraints: [{{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: a}}}}{more}}}]"
        )
    };
    let soft = spread("").replace("DoNotSchedule", "ScheduleAnyway");
    ValidatorTest::nodes(&[NODE, OTHER])
        .bind("a", "app: a", &spread(""), "n1")
        .bind("b", "app: a", &spread(""), "n1")
        .bind("c", "app: a", &spread(""), "n2")
        .delete("b")
        .bind("d", "app: a", &spread(""), "n2")
        .bind("e", "app: a", &soft, "n2")
        .bind("f", "app: a", &spread(", minDomains: 3"), "n1")
        .delete("e")
        .bind("g", "app: a", &format!("nodeSelector: {{zone: b}}, {}", spread("")), "n2")
        .check(expect![[r#"
            pod default/b on node n1: PodTopologySpread: zone=a has 1 pods, the minimum is 0, and the maximum skew is 1
            pod default/f on node n1: PodTopologySpread: zone=a has 1 pods, the minimum is 0, and the maximum skew is 1
        "#]]);
}

#[test]
fn volumes_are_reachable_and_not_in_use() {
    let claims = "volumes: [{name: v, persistentVolumeClaim: {claimName: c1}}]";
    let other = "volumes: [{name: v, persistentVolumeClaim: {claimName: c2}}]";
    let lost = "volumes: [{name: v, persistentVolumeClaim: {claimName: c3}}]";
    let unbound = "volumes: [{name: v, persistentVolumeClaim: {claimName: c4}}]";
    let claim = |name: &str, mode: &str, volume: &str| {
        format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: {name}, namespace: default, uid: {name}, annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}}}, spec: {{accessModes: [{mode}], volumeName: {volume}}}}}"
        )
    };
    let volume = |name: &str, zone: &str| {
        format!(
            "{{kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{accessModes: [ReadWriteOnce], capacity: {{storage: 1Gi}}, csi: {{driver: d, volumeHandle: {name}}}, nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: zone, operator: In, values: [{zone}]}}]}}]}}}}}}}}"
        )
    };
    ValidatorTest::nodes(&[NODE, OTHER])
        .object(
            "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: n1, allocatable: {count: 1}}]}}",
        )
        .object(&claim("c1", "ReadWriteOncePod", "v1"))
        .object(&claim("c2", "ReadWriteOnce", "v2"))
        .object(&claim("c4", "ReadWriteOnce", "v4"))
        .object(&volume("v1", "a"))
        .object(&volume("v2", "a"))
        .bind("a", "", claims, "n1")
        .bind("b", "", claims, "n1")
        .bind("c", "", other, "n1")
        .bind("d", "", other, "n2")
        .bind("e", "", lost, "n2")
        .bind("f", "", unbound, "n2")
        .check(expect![[r#"
            pod default/b on node n1: VolumeRestrictions: claim c1 is for one pod, and another pod uses it
            pod default/c on node n1: NodeVolumeLimits: d: 1 of 1 volumes are attached
            pod default/d on node n2: VolumeBinding: the node cannot reach volume v2
            pod default/e on node n2: VolumeBinding: claim c3 does not exist
            pod default/f on node n2: VolumeBinding: claim c4 has no volume
        "#]]);
}

#[test]
fn only_the_rules_of_a_profile_are_checked() {
    let mut test = ValidatorTest::nodes(&[]);
    test.validator = Validator::with_plugins(["NodeAffinity"]);
    let node = Change::Node(testing::node(NODE, &mut test.names));
    test.validator.observe(&node, &test.names);
    let test = test.bind("a", "", &format!("nodeSelector: {{zone: b}}, {}", requests("cpu: 3")), "n1");
    assert_eq!(test.validator.checked(), 1);
    test.check(expect![[r#"
        pod default/a on node n1: NodeAffinity: the pod does not select the node
    "#]]);
}

#[test]
fn devices_serve_extended_resources_of_their_classes() {
    let class = |resource: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: gpu}}\nspec: {{extendedResourceName: {resource}}}"
        )
    };
    let gpu = "containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]";
    let node = "{metadata: {name: n1}, status: {allocatable: {pods: 9}}}";
    let violations = |resource: &str| {
        let test = ValidatorTest::nodes(&[node]).object(&class(resource)).bind("p", "", gpu, "n1");
        test.validator.violations().len()
    };
    assert_eq!((violations("example.com/gpu"), violations("example.com/nic")), (0, 1));
}

#[test]
fn claims_are_allocated_and_reserved_and_devices_are_held_once() {
    let claim = |name: &str, device: &str, pod: &str, node: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}, namespace: default, uid: {name}}}
spec: {{}}
status:
  reservedFor: [{{resource: pods, name: {pod}, uid: {pod}}}]
  allocation:
    nodeSelector: {{nodeSelectorTerms: [{{matchFields: [{{key: metadata.name, operator: In, values: [{node}]}}]}}]}}
    devices: {{results: [{{request: r, driver: d, pool: p, device: {device}}}]}}"
        )
    };
    let spec =
        |claim: &str| format!("containers: [{{name: c}}], resourceClaims: [{{name: c, resourceClaimName: {claim}}}]");
    let nodes = ["{metadata: {name: n1}, status: {allocatable: {pods: 9}}}"];
    let test = ValidatorTest::nodes(&nodes)
        .object(&claim("good", "a", "p", "n1"))
        .object(&claim("same", "a", "q", "n1"))
        .object(&claim("other", "b", "elsewhere", "m1"))
        .bind("p", "", &spec("missing"), "n1")
        .bind("q", "", &spec("same"), "n1")
        .bind("r", "", &spec("other"), "n1");
    let found: Vec<String> =
        test.validator.violations().iter().map(|violation| violation.description.clone()).collect();
    let expected = [
        "claim missing is not allocated",
        "claim same has device a, which another claim holds",
        "claim other is not reserved for the pod",
        "claim other has devices of another node",
    ];
    assert_eq!(found, expected);
}
