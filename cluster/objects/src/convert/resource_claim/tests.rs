use std::cell::RefCell;
use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use schedc_core::intern::{Interner, Resolve, SharedTexts, Symbol};
use schedc_core::model::{
    AllocationNodes, DeviceNodeSelector, DeviceNodes, Object, QualifiedName, ResourceClaim, ResourceSlice,
};

use crate::testing::{api_object, object, pod};

/// Converts a claim with this spec and status.
fn claim(spec: &str, status: &str, interner: &mut Interner) -> ResourceClaim {
    let yaml = format!("kind: ResourceClaim\nmetadata: {{name: c, uid: u}}\nspec: {spec}\nstatus: {status}");
    match object(&yaml, interner) {
        Object::ResourceClaim(claim) => ResourceClaim::clone(&claim),
        other => panic!("{other:?}"),
    }
}

const SPEC: &str = "
  devices:
    requests:
    - name: r
      exactly: {deviceClassName: c, selectors: [{cel: {expression: 'true'}}], allocationMode: ExactCount, count: 2,
        adminAccess: true, tolerations: [{key: k, operator: Exists, effect: None, tolerationSeconds: 3}],
        capacity: {requests: {a/b: '1'}}}
    - name: s
      firstAvailable: [{name: t, deviceClassName: c, allocationMode: All}, {name: u, deviceClassName: d, count: 3}]
    constraints: [{requests: [r, s/t], matchAttribute: a/b}, {distinctAttribute: c/d}]
    config: [{requests: [s], opaque: {driver: d, parameters: {z: 1, a: [x]}}}]";

const ALLOCATION: &str = "
    allocationTimestamp: '2026-01-02T03:04:05Z'
    nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a, b]}, {key: gpu, operator: Exists}]}]}
    devices:
      config: [{source: FromClass, requests: [r], opaque: {driver: d, parameters: {any: [thing, 1]}}}]
      results: [{request: s/t, driver: d, pool: p, device: e, adminAccess: true, shareID: i, bindingConditions: [b],
        bindingFailureConditions: [f], consumedCapacity: {memory: 5k},
        tolerations: [{key: k, operator: Equal, value: v, effect: NoExecute}]}]";

#[test]
fn specs_and_allocations_can_be_written_again() {
    let mut interner = Interner::default();
    let status = format!("\n  reservedFor: [{{resource: pods, name: p, uid: u}}]\n  allocation:{ALLOCATION}");
    let written = claim(SPEC, &status, &mut interner);
    let yaml = format!("kind: ResourceClaim\nmetadata: {{name: c}}\nspec: {SPEC}\nstatus: {status}");
    let original = api_object(&yaml).to_json().unwrap();
    assert_eq!(written.spec.to_json(&interner), original["spec"]);
    let allocation = written.status.allocation.as_ref().unwrap();
    let texts = SharedTexts::new(allocation.symbols(), &interner);
    let allocation = allocation.to_json(&texts);
    assert_eq!(allocation, original["status"]["allocation"]);
    let reserved: Vec<_> = written.status.reserved_for.iter().map(|consumer| consumer.to_json(&interner)).collect();
    assert_eq!(reserved, *original["status"]["reservedFor"].as_array().unwrap());
}

/// Records which symbols are resolved.
struct RecordedTexts<'a> {
    interner: &'a Interner,
    read: RefCell<BTreeSet<Symbol>>,
}

impl Resolve for RecordedTexts<'_> {
    fn resolve(&self, symbol: Symbol) -> &str {
        self.read.borrow_mut().insert(symbol);
        self.interner.resolve(symbol)
    }
}

#[test]
fn the_symbols_of_an_allocation_are_those_of_its_json() {
    let check = |allocation: &str| {
        let mut interner = Interner::default();
        let written = claim("{}", &format!("{{allocation: {allocation}}}"), &mut interner);
        let allocation = written.status.allocation.as_ref().unwrap();
        let texts = RecordedTexts { interner: &interner, read: RefCell::default() };
        let json = allocation.to_json(&texts);
        let text = |symbols: BTreeSet<Symbol>| symbols.into_iter().map(|it| interner.resolve(it)).collect::<Vec<_>>();
        assert_eq!(text(allocation.symbols().into_iter().collect()), text(texts.read.take()), "{json}");
    };
    check("{}");
    // All texts differ: otherwise, a missing symbol would not be found if another one has the same text.
    check(
        "{nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}]},
          devices: {
            config: [{source: FromClass, requests: [q], opaque: {driver: w, parameters: {}}},
              {source: other-source, requests: [m/l]}],
            results: [{request: s/t, driver: d, pool: p, device: e, shareID: i, bindingConditions: [b, c],
              bindingFailureConditions: [f], consumedCapacity: {domain/memory: 5k, plain: 1}, tolerations: [
              {key: k, operator: Equal, value: v, effect: NoExecute},
              {key: j, operator: other-operator, effect: other-effect}]}, {request: r, driver: x, pool: pool-2, device: z}]}}",
    );
    check(
        "{nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: NotIn, values: [node-1]}],
          matchExpressions: [{key: zone, operator: In, values: [a, b]}]}, {matchExpressions: [{key: k, operator: Exists}]}]}}",
    );
}

#[test]
fn claims_of_a_template_have_equal_specs() {
    let mut interner = Interner::default();
    let (one, other) = (claim(SPEC, "{}", &mut interner), claim(SPEC, "{}", &mut interner));
    assert_eq!(one.spec, other.spec);
    let changed = claim(&SPEC.replace("count: 2", "count: 1"), "{}", &mut interner);
    assert_ne!(one.spec, changed.spec);
}

#[test]
fn any_change_of_the_status_is_found() {
    let mut interner = Interner::default();
    let device = |fields: &str| format!("\n  devices: [{{driver: d, pool: p, device: e, {fields}}}]");
    let condition = |fields: &str| {
        device(&format!(
            "conditions: [{{type: Ready, reason: r, message: m, lastTransitionTime: '2026-01-01T00:00:00Z', {fields}}}]"
        ))
    };
    let statuses = [
        "{}".to_owned(),
        device(""),
        device("data: {a: 1}"),
        device("networkData: {ips: [1.2.3.4/8]}"),
        condition("status: 'True'"),
        condition("status: 'False'"),
        condition("status: Unknown"),
        condition("status: 'True', observedGeneration: 2"),
        "{reservedFor: [{resource: pods, name: p, uid: u}]}".to_owned(),
        "{allocation: {}}".to_owned(),
    ];
    let statuses = statuses.map(|status| claim("{}", &status, &mut interner).status);
    for (i, status) in statuses.iter().enumerate() {
        for (j, other) in statuses.iter().enumerate() {
            assert_eq!(status == other, i == j, "{i} {j}");
        }
    }
}

#[test]
fn an_allocation_for_one_node_has_its_name() {
    let mut interner = Interner::default();
    let nodes = |selector: &str, interner: &mut Interner| {
        let status = format!("{{allocation: {{nodeSelector: {{nodeSelectorTerms: [{selector}]}}}}}}");
        let allocation = claim("{}", &status, interner).status.allocation.unwrap();
        allocation.nodes.clone().unwrap()
    };
    let named = nodes("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}", &mut interner);
    assert_eq!(named, AllocationNodes::Node(interner.intern("n1")));
    for other in [
        "{matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}",
        "{matchFields: [{key: metadata.uid, operator: In, values: [n1]}]}",
        "{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}",
        "{matchExpressions: [{key: a, operator: Exists}], matchFields: [{key: metadata.name, operator: In, values: [n1]}]}",
        "{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}, {matchExpressions: [{key: a, operator: Exists}]}",
    ] {
        assert!(matches!(nodes(other, &mut interner), AllocationNodes::Selector(_)), "{other}");
    }
}

fn slice(spec: &str, interner: &mut Interner) -> ResourceSlice {
    let yaml = format!("kind: ResourceSlice\nmetadata: {{name: s}}\nspec: {{driver: d, pool: {{name: p}}, {spec}}}");
    match object(&yaml, interner) {
        Object::ResourceSlice(slice) => ResourceSlice::clone(&slice),
        other => panic!("{other:?}"),
    }
}

#[test]
fn selectors_of_devices_are_merged_without_repetition() {
    let mut interner = Interner::default();
    let mut nodes = |selector: &str| {
        let spec = format!("nodeSelector: {{nodeSelectorTerms: [{selector}]}}");
        slice(&spec, &mut interner).nodes
    };
    let (zone, gpu) = ("{key: zone, operator: In, values: [a]}", "{key: gpu, operator: Gt, values: ['1']}");
    let selectors = [format!("{{matchExpressions: [{zone}]}}"), format!("{{matchExpressions: [{gpu}, {zone}]}}")]
        .map(|it| nodes(&it));
    let all = nodes(&format!("{{matchExpressions: [{zone}, {gpu}]}}"));
    let merged = DeviceNodeSelector::merge(selectors.iter().filter_map(|it: &DeviceNodes| it.selector.as_deref()));
    assert_eq!(Some(&merged), all.selector.as_deref());
    let wrong = nodes("{matchExpressions: [{key: zone, operator: Within}]}");
    assert!(wrong.selector.unwrap().parsed.is_err());
}

#[test]
fn names_may_have_domains() {
    let mut interner = Interner::default();
    for text in ["a", "gpu.example.com/model", "a/b/c"] {
        assert_eq!(QualifiedName::parse(text, &mut interner).display(&interner).to_string(), text);
    }
    let (with, without) = (QualifiedName::parse("d/a", &mut interner), QualifiedName::parse("a", &mut interner));
    assert_eq!((with.name, without.domain), (without.name, None));
}

/// Checks the requests of containers for extended resources.
fn check_requests(spec: &str, expected: Expect) {
    let mut interner = Interner::default();
    let pod = pod(&format!("metadata: {{name: p}}\nspec: {spec}"), &mut interner);
    let lines = pod.spec.device_requests.iter().map(|request| {
        let [resource, container, name] =
            [request.resource, request.container_name, request.name].map(|symbol| interner.resolve(symbol));
        let life = if request.is_short_lived { "short" } else { "long" };
        format!("{resource} {}: {container} {} {life} {name}\n", request.count, request.container)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn containers_request_extended_resources_by_name() {
    check_requests(
        "
  initContainers:
  - {name: setup, resources: {requests: {b.com/x: 3, a.com/x: 1, cpu: 1}}}
  - {name: log, restartPolicy: Always, resources: {requests: {b.com/x: 1}}}
  containers:
  - {name: main, resources: {requests: {memory: 1Gi, b.com/x: 2, a.com/x: 0, deviceclass.resource.kubernetes.io/gpu: 1}}}
  - {name: side, resources: {requests: {hugepages-2Mi: 2Mi, b.com/x: 1500m}}}
",
        expect![[r#"
            a.com/x 1: setup 0 short container-0-request-0
            b.com/x 3: setup 0 short container-0-request-1
            b.com/x 1: log 1 long container-1-request-0
            b.com/x 2: main 2 long container-2-request-1
            deviceclass.resource.kubernetes.io/gpu 1: main 2 long container-2-request-2
        "#]],
    );
}
