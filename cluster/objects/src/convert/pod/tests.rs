use schedc_core::events::{EventPod, pod_updated};
use schedc_core::model::LabelsExt;

use super::*;
use crate::testing::pod;

#[test]
fn identity_and_node_of_a_pod_are_converted() {
    let mut interner = Interner::default();
    let web = pod(
        "
        metadata:
          name: web
          namespace: shop
          uid: 9a7f
          labels: {app: web}
          creationTimestamp: 2026-01-01T00:00:01Z
          deletionTimestamp: 2026-01-01T00:00:02Z
        spec: {nodeName: n1, schedulerName: schedc, priority: 7, preemptionPolicy: Never, nodeSelector: {zone: a}}
        status: {nominatedNodeName: n2, startTime: 2026-01-01T00:00:03.5Z}
        ",
        &mut interner,
    );
    assert_eq!((&*web.uid.0, &*web.name, interner.resolve(web.spec.namespace)), ("9a7f", "web", "shop"));
    let second = 1_767_225_600_000_000_000 + 1_000_000_000;
    assert_eq!((web.created, web.started), (Some(second), Some(second + 2_500_000_000)));
    assert!(web.deleting);
    assert_eq!(web.nominated_node, interner.get("n2"));
    let spec = &web.spec;
    assert_eq!((spec.node_name, spec.scheduler_name), (interner.get("n1"), interner.get("schedc").unwrap()));
    assert_eq!((spec.priority, spec.preemption_policy), (7, PreemptionPolicy::Never));
    assert_eq!(spec.labels.value(interner.get("app").unwrap()), interner.get("web"));
    assert_eq!(spec.node_selector.value(interner.get("zone").unwrap()), interner.get("a"));
}

#[test]
fn only_pods_that_preemption_deletes_are_preempted() {
    let mut interner = Interner::default();
    let mut check = |metadata: &str, conditions: &str, preempted: bool| {
        let pod = pod(&format!("metadata: {{{metadata}}}\nstatus: {{conditions: [{conditions}]}}"), &mut interner);
        assert_eq!(pod.preempted, preempted, "{metadata} {conditions}");
    };
    let deleted = "deletionTimestamp: 2026-01-01T00:00:02Z";
    let by_scheduler = "{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}";
    check(deleted, by_scheduler, true);
    check(deleted, &format!("{{type: Ready, status: 'False'}}, {by_scheduler}"), true);
    check("", by_scheduler, false);
    check(deleted, "", false);
    check(deleted, "{type: DisruptionTarget, status: 'False', reason: PreemptionByScheduler}", false);
    check(deleted, "{type: DisruptionTarget, status: 'True', reason: EvictionByEvictionAPI}", false);
    check(deleted, &format!("{{type: DisruptionTarget, status: 'True'}}, {by_scheduler}"), false);
}

#[test]
fn missing_and_empty_fields_of_a_pod_are_equal() {
    let mut interner = Interner::default();
    let empty = pod("metadata: {name: a}", &mut interner);
    assert_eq!((&*empty.uid.0, interner.resolve(empty.spec.namespace)), ("default/a", "default"));
    assert_eq!((empty.spec.node_name, empty.nominated_node, empty.created), (None, None, None));
    assert_eq!(empty.spec.containers, 0);
    let unnamed = pod("spec: {nodeName: ''}\nstatus: {nominatedNodeName: ''}", &mut interner);
    assert_eq!((unnamed.spec.node_name, unnamed.nominated_node), (None, None));
}

#[test]
fn pods_of_one_template_have_equal_specs() {
    let mut interner = Interner::default();
    let [a, b] = ["a", "b"]
        .map(|name| pod(&format!("metadata: {{name: {name}}}\nspec: {{containers: [{{image: web}}]}}"), &mut interner));
    assert_eq!(a.spec, b.spec);
    assert_ne!(a.uid, b.uid);
}

#[test]
fn tolerations_with_unknown_operators_never_match() {
    let mut interner = Interner::default();
    let pod = pod(
        "spec: {tolerations: [
            {key: a, value: x, effect: NoSchedule},
            {operator: Exists},
            {key: a, operator: Gt, value: '5'},
            {key: '', operator: Equal, effect: ''}]}",
        &mut interner,
    );
    let a = interner.get("a");
    let operators: Vec<_> = pod.spec.tolerations.iter().map(|t| (t.key, t.operator)).collect();
    use TolerationOperator::{Equal, Exists, Never};
    assert_eq!(operators, [(a, Equal), (None, Exists), (a, Never), (None, Equal)]);
    assert_eq!(pod.spec.tolerations[3].effect, None);
    assert_eq!(pod.spec.tolerations[3].value, Symbol::EMPTY);
}

#[test]
fn restartable_init_containers_have_host_ports() {
    let mut interner = Interner::default();
    let pod = pod(
        "
        spec:
          initContainers:
          - {ports: [{containerPort: 1, hostPort: 1000}]}
          - {ports: [{containerPort: 1, hostPort: 53, protocol: UDP}], restartPolicy: Always}
          containers:
          - ports:
            - {containerPort: 80, hostPort: 8080, hostIP: 10.0.0.1}
            - {containerPort: 80}
            - {containerPort: 80, hostPort: 0}
          - ports:
            - {containerPort: 81, hostPort: 8080, protocol: TCP}
            - {containerPort: 82, hostPort: 8080}
            - {containerPort: 82, hostPort: 9, protocol: QUIC}
        ",
        &mut interner,
    );
    let ports: Vec<_> = pod.spec.host_ports.iter().map(|p| (interner.resolve(p.ip), p.protocol, p.port)).collect();
    let quic = Protocol::Other(interner.get("QUIC").unwrap());
    let mut expected = [
        ("0.0.0.0", Protocol::Tcp, 8080),
        ("0.0.0.0", Protocol::Udp, 53),
        ("0.0.0.0", quic, 9),
        ("10.0.0.1", Protocol::Tcp, 8080),
    ];
    expected.sort_unstable_by_key(|port| (interner.get(port.0), port.1, port.2));
    assert_eq!(ports, expected);
}

#[test]
fn image_names_are_completed() {
    let mut interner = Interner::default();
    let pod = pod(
        "
        spec:
          initContainers: [{image: 'busybox:1'}]
          containers:
          - {image: nginx}
          - {image: 'registry:5000/nginx'}
          - {image: 'nginx@sha256:abc'}
          - {image: nginx}
          - {}
          volumes:
          - {name: data, image: {reference: models/llm}}
          - {name: tmp, emptyDir: {}}
        ",
        &mut interner,
    );
    let images: Vec<_> = pod.spec.images.iter().map(|&image| interner.resolve(image)).collect();
    assert_eq!(
        images,
        [
            "busybox:1",
            "nginx:latest",
            "registry:5000/nginx:latest",
            "nginx@sha256:abc",
            "nginx:latest",
            ":latest",
            "models/llm:latest"
        ]
    );
    assert_eq!(pod.spec.containers, 6);
}

#[test]
fn invalid_node_affinity_terms_are_dropped_or_kept_as_errors() {
    let mut interner = Interner::default();
    let pod = pod(
        "
        spec:
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                - matchExpressions: [{key: zone, operator: In, values: [a, b]}]
                - matchExpressions: [{key: zone, operator: Beside, values: [c]}]
                - {}
              preferredDuringSchedulingIgnoredDuringExecution:
              - {weight: 5, preference: {matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}}
              - {weight: 6, preference: {matchExpressions: [{key: zone, operator: In, values: ['a b']}]}}
          schedulingGates: [{name: example.com/quota}]
        ",
        &mut interner,
    );
    let required = pod.spec.required_node_affinity.get().unwrap();
    assert_eq!(required.terms.len(), 1);
    let preferred = &pod.spec.preferred_node_affinity;
    assert!(preferred[0].term.is_ok());
    let error = preferred[1].term.as_ref().unwrap_err();
    let start = r#"[1].matchExpressions[0].values[0][zone]: Invalid value: "a b": a valid label must be"#;
    assert!(error.starts_with(start), "{error}");
    assert_eq!(*pod.spec.scheduling_gates, [interner.get("example.com/quota").unwrap()]);
}

#[test]
fn missing_and_empty_required_affinity_differ() {
    let mut interner = Interner::default();
    assert_eq!(pod("spec: {affinity: {nodeAffinity: {}}}", &mut interner).spec.required_node_affinity.get(), None);
    let empty = "spec: {affinity: {nodeAffinity:
        {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}";
    let selector = pod(empty, &mut interner).spec.required_node_affinity.get().cloned();
    assert_eq!(selector.map(|selector| selector.terms.len()), Some(0));
}

#[test]
fn each_changed_aspect_of_a_pod_is_an_event() {
    let mut interner = Interner::default();
    let mut check = |old: &str, new: &str, expected: &str| {
        let [old, new] = [old, new].map(|yaml| pod(yaml, &mut interner));
        let events = pod_updated(EventPod::new(&old), EventPod::new(&new));
        let events: Vec<_> = events.iter().map(ToString::to_string).collect();
        assert_eq!(events.join(" "), expected, "{old:?} {new:?}");
    };
    check("{}", "{}", "UnschedulablePodUpdate");
    check("spec: {nodeName: n1}", "spec: {nodeName: n1}", "AssignedPodUpdate");
    check("{}", "metadata: {labels: {a: b}}", "UnschedulablePodUpdatePodLabel");
    let gated = "spec: {schedulingGates: [{name: a}, {name: b}]}";
    check(gated, "spec: {schedulingGates: [{name: b}]}", "UnschedulablePodUpdate");
    check(gated, "{}", "UnschedulablePodUpdatePodSchedulingGatesEliminated");
    let tolerates = |key: &str| format!("spec: {{tolerations: [{{key: {key}}}]}}");
    check(&tolerates("a"), &tolerates("b"), "UnschedulablePodUpdate");
    check("{}", &tolerates("a"), "UnschedulablePodUpdatePodToleration");
    let pod_with_requests =
        |requests: &str| format!("spec: {{containers: [{{name: a, resources: {{requests: {{{requests}}}}}}}]}}");
    check(&pod_with_requests("cpu: 1"), &pod_with_requests("cpu: 2"), "UnschedulablePodUpdate");
    check(&pod_with_requests("cpu: 2"), &pod_with_requests("cpu: 1"), "UnschedulablePodUpdatePodScaleDown");
    check(&pod_with_requests("example.com/gpu: 0"), &pod_with_requests("cpu: 1"), "UnschedulablePodUpdatePodScaleDown");
    let claims = |names: &str| format!("status: {{resourceClaimStatuses: [{names}]}}");
    let generated = "UnschedulablePodUpdatePodGeneratedResourceClaim";
    check("{}", &claims("{name: a}"), generated);
    check(&claims("{name: a}"), &claims("{name: a, resourceClaimName: b}"), generated);
    check(&claims(""), "{}", "UnschedulablePodUpdate");
    check(
        &tolerates("a"),
        "metadata: {labels: {a: b}}",
        "UnschedulablePodUpdatePodLabel UnschedulablePodUpdatePodToleration",
    );
}
