//! Every remedy is sufficient and minimal, and the first one is the one that an operator would name.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use k8s_openapi::api::resource::v1::{DeviceToleration, ExactDeviceRequest};
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::random::Random;
use schedc_objects::{AnyObject, Manifests, Objects, Options as LoadOptions, SourceLocation, Sourced};

use super::kinds::spread::RelaxSpread;
use super::remedy::Remedy;
use super::{Combination, Edit, Remedies};
use crate::cluster::Routes;
use crate::explanation::{Explanation, Options, explain};
use default_profile::with_edge::Profiles;

/// Annotation of a test pod with the expected reason.
const REASON: &str = "reason";
/// Annotation of a test pod with the expected first remedy; `-` if there is none.
const REMEDY: &str = "remedy";

/// The reasons for which the default profile rejects a pending pod. An entry has the texts that identify a reason.
/// Reasons about the following objects are left out:
///
/// - the node name, which the API server sets, and the added affinity, which arguments set;
/// - missing volumes that VolumeBinding reports, because VolumeZone rejects these pods first;
/// - claims of ephemeral volumes, which a controller creates;
/// - devices that fail during binding.
const REASONS: [&[&str]; 37] = [
    &["no nodes available to schedule pods"],
    &["waiting for scheduling gates"],
    &["were unschedulable"],
    &["untolerated taint(s)"],
    &["didn't match Pod's node affinity/selector"],
    &["didn't satisfy plugin(s) [NodeAffinity]"],
    &["pod affinity terms conflict"],
    &["didn't have free ports"],
    &["Insufficient cpu"],
    &["Insufficient memory"],
    &["Insufficient ephemeral-storage"],
    &["Insufficient example.com/gpu"],
    &["Too many pods"],
    &["had no available disk"],
    &["ReadWriteOncePod access mode already in-use"],
    &["exceed max volume count"],
    &["persistentvolumeclaim", "not found"],
    &["bound to non-existent persistentvolume"],
    &["persistentvolumeclaim", "is being deleted"],
    &["unbound immediate PersistentVolumeClaims"],
    &["didn't find available persistent volumes to bind"],
    &["didn't match PersistentVolume's node affinity"],
    &["did not have enough free storage"],
    &["had no available volume zone"],
    &["persistentvolume \"", "not found"],
    &["didn't match pod topology spread constraints"],
    &["missing required label"],
    &["didn't match pod affinity rules"],
    &["didn't match pod anti-affinity rules"],
    &["didn't satisfy existing pods anti-affinity rules"],
    &["could not find ResourceClaim"],
    &["ResourceClaim not created yet"],
    &["resourceclaim", "is being deleted"],
    &["device class", "does not exist"],
    &["cannot allocate all claims"],
    &["resourceclaim not available on the node"],
    &["didn't match Pod's required features"],
];

fn explanation(objects: &Objects, subject: usize, max_remedies: usize) -> Explanation {
    let bundle = AnyBundle::of::<Profiles>();
    let routes = Routes::to(bundle.profiles, "default").unwrap();
    let options = Options {
        routes,
        profile: 0,
        seed: 0,
        after: false,
        all_filters: false,
        against: None,
        max_remedies,
        extenders: Overrides::NONE,
    };
    explain(&bundle, objects.clone(), subject, options).unwrap().expect("a pending pod")
}

fn remedies(objects: &Objects, subject: usize) -> Remedies {
    explanation(objects, subject, 20).remedies.unwrap_or_default()
}

fn objects(text: &str) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the best nodes for the pod after changes of objects, in a new cluster.
fn best_after(objects: &Objects, subject: usize, edits: &[Edit]) -> Vec<String> {
    let pod = objects.pods[subject].object.clone();
    let mut objects = objects.clone();
    for Edit { key, after, .. } in edits {
        let is_edited = |object: &AnyObject| {
            object.kind() == key.kind && object.namespace() == &*key.namespace && object.name() == &*key.name
        };
        objects.nodes.retain(|node| !is_edited(&node.object.clone().into()));
        objects.pods.retain(|pod| !is_edited(&pod.object.clone().into()));
        objects.others.retain(|other| !is_edited(&other.object));
        let Some(after) = after else { continue };
        let mut after = AnyObject::clone(after);
        after.metadata_mut().resource_version = None;
        let place = SourceLocation { file: "change".into(), line: 1, item: None };
        match after {
            AnyObject::Node(node) => objects.nodes.push(Sourced { object: *node, place }),
            AnyObject::Pod(pod) => objects.pods.push(Sourced { object: *pod, place }),
            object => objects.others.push(Sourced { object, place }),
        }
    }
    let is_subject = |other: &Sourced<ApiPod>| other.object.metadata.name == pod.metadata.name;
    let subject = objects.pods.iter().position(is_subject).expect("the pod");
    explanation(&objects, subject, 0).best
}

/// Verifies a remedy in a new cluster, and that no part of it suffices.
fn check(objects: &Objects, subject: usize, remedy: &Combination) {
    let texts: Vec<&str> = remedy.changes.iter().map(|change| change.text.as_str()).collect();
    let texts = texts.join(", and ");
    let best = best_after(objects, subject, &remedy.edits);
    assert!(best.contains(&remedy.node), "{texts}: {} is not one of {best:?}", remedy.node);
    for at in 0..remedy.edits.len() {
        // The edits of one change belong together, for example a node and its devices. Only evictions are independent.
        let is_eviction = |edit: &Edit| edit.after.is_none() && edit.key.kind == "Pod";
        // An eviction that releases claims has several edits. These belong together, too.
        let has_claims = remedy.edits.iter().any(|edit| edit.key.kind == "ResourceClaim");
        let is_priority = remedy.changes.iter().any(|change| matches!(change.remedy, Remedy::RaisePriority(_)));
        if is_eviction(&remedy.edits[at]) && !is_priority && !has_claims {
            let mut fewer = remedy.edits.clone();
            fewer.remove(at);
            assert!(best_after(objects, subject, &fewer).is_empty(), "{texts} without change {at}");
        }
    }
}

/// Returns the manifests of all cases.
fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remedies/cases");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    paths
}

fn annotation<'a>(pod: &'a ApiPod, name: &str) -> Option<&'a str> {
    Some(pod.metadata.annotations.as_ref()?.get(name)?.as_str())
}

#[test]
fn the_first_remedy_is_the_one_that_an_operator_would_name() {
    let (mut wrong, mut count) = (String::new(), [0; REASONS.len()]);
    for path in cases() {
        let objects = Objects::load([&path], LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        for (subject, pod) in objects.pods.iter().enumerate() {
            let Some((reason, expected)) = annotation(&pod.object, REASON).zip(annotation(&pod.object, REMEDY)) else {
                continue;
            };
            for (cases, texts) in count.iter_mut().zip(REASONS) {
                *cases += usize::from(texts.iter().all(|text| reason.contains(text)));
            }
            let name = format!("{} of {}", pod.object.metadata.name.as_deref().unwrap_or_default(), path.display());
            let explanation = explanation(&objects, subject, 20);
            let message = explanation.message.unwrap_or_default();
            if !message.contains(reason) {
                let _ = writeln!(wrong, "{name}: {message}");
            }
            let remedies = explanation.remedies.unwrap_or_default();
            remedies.found.iter().for_each(|remedy| check(&objects, subject, remedy));
            let texts = |remedy: &Combination| {
                let texts: Vec<&str> = remedy.changes.iter().map(|change| change.text.as_str()).collect();
                texts.join(", and ")
            };
            let first = remedies.found.first().map_or_else(|| "-".to_owned(), texts);
            if first != expected {
                let all: Vec<String> = remedies.found.iter().map(texts).collect();
                let _ = writeln!(wrong, "{name}: expected `{expected}`\n    found {}", all.join("\n          "));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let too_few: Vec<_> = count.iter().zip(REASONS).filter(|(count, _)| **count < 3).collect();
    assert!(too_few.is_empty(), "fewer than three cases: {too_few:?}");
}

/// Returns the texts of those remedies of the last pod that consist of one change of this kind.
fn single_changes(text: &str, is_kind: fn(&Remedy) -> bool) -> Vec<String> {
    let objects = objects(text);
    let remedies = remedies(&objects, objects.pods.len() - 1).found.into_iter();
    let changes = remedies.filter_map(|remedy| <[_; 1]>::try_from(remedy.changes).ok());
    changes.filter(|[change]| is_kind(&change.remedy)).map(|[change]| change.text).collect()
}

#[test]
fn changes_of_other_resources_or_taints_are_other_remedies() {
    let node = |name: &str, taint: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}\n\
             spec: {{{taint}}}\nstatus: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 9}}}}\n---\n"
        )
    };
    let pod = |name: &str, place: &str, requests: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n\
             spec: {{{place}containers: [{{name: c, image: i, resources: {{requests: {{{requests}}}}}}}]}}\n---\n"
        )
    };
    let full = [
        node("a", ""),
        node("b", ""),
        node("c", ""),
        pod("on-a", "nodeName: a, ", "cpu: 3"),
        pod("on-b", "nodeName: b, ", "memory: 7Gi"),
        pod("on-c", "nodeName: c, ", "memory: 7Gi"),
        pod("pending", "", "cpu: 2, memory: 2Gi"),
    ];
    let freed = single_changes(&full.concat(), |remedy| matches!(remedy, Remedy::FreeCapacity(_)));
    assert_eq!(freed, ["free 1 of cpu on node a", "free 1Gi of memory on node b"]);
    let taint = |key: &str| format!("taints: [{{key: {key}, effect: NoSchedule}}]");
    let tainted = [
        node("a", &taint("first")),
        node("b", &taint("second")),
        node("c", &taint("first")),
        pod("pending", "", "cpu: 1"),
    ];
    let removed = single_changes(&tainted.concat(), |remedy| matches!(remedy, Remedy::RemoveTaints(_)));
    assert_eq!(
        removed,
        ["remove the taint first:NoSchedule from node a", "remove the taint second:NoSchedule from node b"]
    );
}

/// Returns a random cluster with a pending pod that often does not fit. The cluster has few nodes with small amounts of
/// resources, and pods on them.
fn random_cluster(random: &mut Random) -> String {
    let mut text = String::new();
    let nodes = 1 + random.below(3);
    for node in 0..nodes {
        let (cpu, pods, zone) = (1 + random.below(8), 1 + random.below(4), random.below(2));
        let cordon = if random.below(4) == 0 { "unschedulable: true" } else { "" };
        let taint = if random.below(4) == 0 { ", taints: [{key: t, effect: NoSchedule}]" } else { "" };
        let _ = write!(
            text,
            "apiVersion: v1\nkind: Node\nmetadata: {{name: n{node}, labels: {{kubernetes.io/hostname: n{node}, zone: z{zone}}}}}\n\
             spec: {{{}}}\nstatus: {{allocatable: {{cpu: {cpu}m, memory: 1Gi, pods: {pods}}}}}\n---\n",
            format!("{cordon}{taint}").trim_start_matches(", ")
        );
        for pod in 0..random.below(3) {
            let cpu = 1 + random.below(4);
            let _ = write!(
                text,
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{node}-{pod}, labels: {{app: web}}}}\n\
                 spec: {{nodeName: n{node}, containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}m}}}}}}]}}\n---\n"
            );
        }
    }
    let spread = "topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, \
                  labelSelector: {matchLabels: {app: web}}}], ";
    let (spread, cpu) = (if random.below(2) == 0 { spread } else { "" }, 1 + random.below(12));
    let _ = write!(
        text,
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: pending, labels: {{app: web}}}}\n\
         spec: {{{spread}containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}m}}}}}}]}}\n"
    );
    text
}

/// Verifies that no smaller `maxSkew` suffices.
fn check_skew(objects: &Objects, subject: usize, to: i32) {
    for skew in 1..to {
        let mut objects = objects.clone();
        let spec = objects.pods[subject].object.spec.as_mut().unwrap();
        spec.topology_spread_constraints.as_mut().unwrap()[0].max_skew = skew;
        assert_eq!(explanation(&objects, subject, 0).node, None, "{skew} below {to}");
    }
}

/// Returns the objects with another cpu request of the pod.
fn with_request(objects: &Objects, subject: usize, millicores: i64) -> Objects {
    let mut objects = objects.clone();
    let spec = objects.pods[subject].object.spec.as_mut().unwrap();
    let requests = spec.containers[0].resources.as_mut().unwrap().requests.as_mut().unwrap();
    requests.get_mut("cpu").unwrap().0 = format!("{millicores}m");
    objects
}

/// Returns the number of pods with remedies to check.
fn number_of(pods: usize) -> usize {
    if slow_tests::is_enabled() { pods } else { pods / 4 }
}

#[test]
fn remedies_of_random_clusters_are_sufficient_and_minimal() {
    let (mut random, mut pods) = (Random::new(7), 0);
    while pods < number_of(40) {
        let text = random_cluster(&mut random);
        let objects = objects(&text);
        let subject = objects.pods.len() - 1;
        let remedies = remedies(&objects, subject);
        pods += usize::from(!remedies.found.is_empty());
        for remedy in &remedies.found {
            check(&objects, subject, remedy);
            if let [only] = &remedy.changes[..]
                && let Remedy::RelaxSpread(RelaxSpread { to: Some(to), .. }) = only.remedy
            {
                check_skew(&objects, subject, to);
            }
            if let [only] = &remedy.changes[..]
                && let Remedy::LowerRequest(_) = only.remedy
            {
                // All values above the printed one are tried.
                let number = |text: &str| text.trim_end_matches('m').parse::<i64>().unwrap();
                let (_, values) = only.text.split_once(" from ").unwrap();
                let (from, to) = values.split_once(" to ").unwrap();
                let highest = (1..number(from)).rev();
                let mut sufficient = highest.filter(|request| {
                    explanation(&with_request(&objects, subject, *request), subject, 0).node.is_some()
                });
                assert_eq!(sufficient.next(), Some(number(to)), "{text}");
            }
        }
    }
}

/// Returns a random cluster of nodes with devices, and a pod with a claim that the devices often cannot serve.
fn random_devices(random: &mut Random) -> String {
    let class = |name: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: {name}}}\n\
             spec: {{selectors: [{{cel: {{expression: 'device.driver == \"{name}.example.com\"'}}}}]}}\n---\n"
        )
    };
    let mut text = class("gpu") + &class("nic");
    for node in 0..1 + random.below(3) {
        let _ = write!(
            text,
            "apiVersion: v1\nkind: Node\nmetadata: {{name: n{node}}}\nstatus: {{allocatable: {{cpu: 4, pods: 9}}}}\n---\n"
        );
        let device = |at: usize, random: &mut Random| {
            let mut taints = Vec::new();
            for key in ["hot", "old"] {
                if random.below(3) == 0 {
                    taints.push(format!("{{key: {key}, effect: NoSchedule}}"));
                }
            }
            let (model, taints) = (random.below(2), taints.join(", "));
            format!("{{name: d{at}, attributes: {{model: {{string: m{model}}}}}, taints: [{taints}]}}")
        };
        let devices: Vec<String> = (0..random.below(4)).map(|at| device(at, random)).collect();
        let _ = write!(
            text,
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: n{node}}}\n\
             spec: {{driver: gpu.example.com, nodeName: n{node}, pool: {{name: n{node}, generation: 1, resourceSliceCount: 1}}, \
             devices: [{}]}}\n---\n",
            devices.join(", ")
        );
    }
    let class = ["gpu", "gpu", "gpu", "nic", "gpus"][random.below(5)];
    let selector = match random.below(3) {
        0 => "selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].model == \"m1\"'}}], ",
        _ => "",
    };
    let count = 1 + random.below(4);
    let _ = write!(
        text,
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: claim}}\n\
         spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: {class}, {selector}allocationMode: ExactCount, count: {count}}}}}]}}}}\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {{name: pending}}\n\
         spec: {{resourceClaims: [{{name: c, resourceClaimName: claim}}], containers: [{{name: c, image: i, resources: {{claims: [{{name: c}}]}}}}]}}\n"
    );
    text
}

/// Returns whether the pod has a node after a change of the request of its claim.
fn fits_with(objects: &Objects, subject: usize, change: impl Fn(&mut ExactDeviceRequest)) -> bool {
    let mut objects = objects.clone();
    for other in &mut objects.others {
        if let AnyObject::ResourceClaim(claim) = &mut other.object {
            let requests = claim.spec.devices.as_mut().and_then(|devices| devices.requests.as_mut());
            requests.into_iter().flatten().filter_map(|request| request.exactly.as_mut()).for_each(&change);
        }
    }
    explanation(&objects, subject, 0).node.is_some()
}

#[test]
fn remedies_of_random_claims_are_sufficient_and_minimal() {
    let (mut random, mut pods, mut kinds) = (Random::new(11), 0, HashSet::new());
    while pods < number_of(60) {
        let text = random_devices(&mut random);
        let objects = objects(&text);
        let subject = objects.pods.len() - 1;
        let remedies = remedies(&objects, subject);
        pods += usize::from(!remedies.found.is_empty());
        for remedy in &remedies.found {
            check(&objects, subject, remedy);
            let [only] = &remedy.changes[..] else { continue };
            kinds.insert(std::mem::discriminant(&only.remedy));
            match &only.remedy {
                Remedy::LowerDeviceCount(lower) => {
                    let fits = |count: &i64| fits_with(&objects, subject, |request| request.count = Some(*count));
                    assert_eq!((1..lower.from).rev().find(fits), Some(lower.to), "{text}");
                }
                Remedy::TolerateDevices(tolerate) => {
                    // Every smaller set of these taints is tried.
                    for kept in 0..(1 << tolerate.taints.len()) - 1 {
                        let taints = tolerate.taints.iter().enumerate().filter(|(at, _)| kept & (1 << at) != 0);
                        let tolerations: Vec<DeviceToleration> = taints
                            .map(|(_, taint)| DeviceToleration {
                                key: Some(taint.key.clone()),
                                operator: Some("Exists".to_owned()),
                                ..DeviceToleration::default()
                            })
                            .collect();
                        let fits = |request: &mut ExactDeviceRequest| request.tolerations = Some(tolerations.clone());
                        assert!(!fits_with(&objects, subject, fits), "{} is more than necessary: {text}", only.text);
                    }
                }
                _ => {}
            }
        }
        // The search finds what brute force finds for one request.
        let has = |is_kind: fn(&Remedy) -> bool| {
            remedies.found.iter().any(|found| found.changes.len() == 1 && is_kind(&found.changes[0].remedy))
        };
        let is_stuck = explanation(&objects, subject, 0).node.is_none();
        if is_stuck && fits_with(&objects, subject, |request| request.count = Some(1)) {
            assert!(has(|remedy| matches!(remedy, Remedy::LowerDeviceCount(_))), "{text}");
        }
        if is_stuck && fits_with(&objects, subject, |request| request.selectors = None) {
            assert!(has(|remedy| matches!(remedy, Remedy::RemoveDeviceSelector(_))), "{text}");
        }
    }
    assert!(kinds.len() >= 4, "classes, counts, selectors and taints occur: {}", kinds.len());
}

#[test]
fn a_remedy_for_a_generated_claim_names_its_template() {
    let text = "
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: 1, pods: 9}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec: {driver: gpu.example.com, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}, devices: [{name: d}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: pair}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 2}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: pending}
spec:
  resourceClaims: [{name: c, resourceClaimTemplateName: pair}]
  containers: [{name: c, image: i, resources: {claims: [{name: c}]}}]
";
    let remedies = remedies(&objects(text), 0);
    assert_eq!(
        remedies.found[0].changes[0].text,
        "lower the count in request r of ResourceClaimTemplate pair from 2 to 1 (create the template and the pod again)"
    );
}

#[test]
fn a_raised_priority_is_that_of_a_preemption_within_budgets() {
    let text = "
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: 1, pods: 9}}
---
apiVersion: v1
kind: Pod
metadata: {name: low}
spec: {nodeName: a, priority: 5, priorityClassName: five, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pending}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: five}
value: 5
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: nine}
value: 9
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: ninety}
value: 90
";
    let objects = objects(text);
    let remedies = remedies(&objects, 1);
    let texts: Vec<&str> =
        remedies.found.iter().flat_map(|found| &found.changes).map(|change| change.text.as_str()).collect();
    expect![[r#"
        add a node like a
        use priority class nine (9), which preempts default/low
        free 1 of cpu on node a
        evict default/low from node a"#]]
    .assert_eq(&texts.join("\n"));
}

#[test]
fn the_search_of_a_large_cluster_ends_at_its_limit() {
    let mut text = String::new();
    for node in 0..600 {
        let _ = write!(
            text,
            "apiVersion: v1\nkind: Node\nmetadata: {{name: n{node}}}\n\
             spec: {{unschedulable: true, taints: [{{key: t{node}, effect: NoSchedule}}]}}\n\
             status: {{allocatable: {{cpu: 1, pods: 9}}}}\n---\n"
        );
    }
    text += "apiVersion: v1\nkind: Pod\nmetadata: {name: pending}\nspec: {nodeSelector: {a: b}, containers: [{name: c, image: i}]}\n";
    let objects = objects(&text);
    let remedies = remedies(&objects, 0);
    assert!(remedies.found.is_empty(), "{remedies:?}");
    assert!(remedies.trials < 8000, "{}", remedies.trials);
}
