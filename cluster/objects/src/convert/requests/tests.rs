use crate::testing::pod;

use super::*;

/// Checks the requests of a pod. Containers need no name and no image here.
fn check(spec_and_status: &str, requests: (i64, i64), fit_score: (i64, i64), used: (i64, i64), non_zero: (i64, i64)) {
    let pod = pod(spec_and_status, &mut Interner::default());
    let of = |r: &Resources| (r.milli_cpu, r.memory);
    assert_eq!(of(&pod.spec.requests), requests, "requests of {spec_and_status}");
    assert_eq!(of(&pod.spec.fit_score_requests), fit_score, "fit_score_requests of {spec_and_status}");
    assert_eq!(of(&pod.usage.requests), used, "usage of {spec_and_status}");
    assert_eq!(of(&pod.spec.balance_requests), used, "balance_requests of {spec_and_status}");
    assert_eq!((pod.usage.non_zero.milli_cpu, pod.usage.non_zero.memory), non_zero, "non_zero of {spec_and_status}");
}

/// Checks a pod to which no default, no pod-level request and no resize applies. All its amounts are equal.
fn check_plain(spec: &str, all: (i64, i64)) {
    check(spec, all, all, all, all);
}

#[test]
fn containers_add_up_and_are_rounded_once() {
    check_plain(
        "spec: {containers: [
            {resources: {requests: {cpu: 0.5m, memory: '0.5'}}},
            {resources: {requests: {cpu: 0.5m, memory: '0.5'}}}]}",
        (1, 1),
    );
    check_plain("spec: {containers: [{resources: {requests: {cpu: 2, memory: 1Gi}}}]}", (2000, 1 << 30));
}

#[test]
fn missing_requests_have_a_default_for_scoring_only() {
    check("spec: {containers: [{}, {}]}", (0, 0), (200, 2 * DEFAULT_MEMORY), (0, 0), (200, 2 * DEFAULT_MEMORY));
    check(
        "spec: {containers: [{resources: {requests: {cpu: 0}}}, {resources: {requests: {memory: 1}}}]}",
        (0, 1),
        (100, DEFAULT_MEMORY + 1),
        (0, 1),
        (100, DEFAULT_MEMORY + 1),
    );
    // Conversion ignores limits. Only the API server's defaults copy limits to missing requests.
    check(
        "spec: {containers: [{resources: {limits: {cpu: 1, memory: 1Gi}}}]}",
        (0, 0),
        (100, DEFAULT_MEMORY),
        (0, 0),
        (100, DEFAULT_MEMORY),
    );
}

#[test]
fn init_containers_count_by_their_peak() {
    check_plain(
        "spec:
          initContainers: [
            {resources: {requests: {cpu: 3, memory: 1}}},
            {resources: {requests: {cpu: 1, memory: 5}}}]
          containers: [{resources: {requests: {cpu: 2, memory: 2}}}]",
        (3000, 5),
    );
}

#[test]
fn restartable_init_containers_are_added() {
    check_plain(
        "spec:
          initContainers: [
            {resources: {requests: {cpu: 1, memory: 1}}, restartPolicy: Always},
            {resources: {requests: {cpu: 2, memory: 1}}},
            {resources: {requests: {cpu: 1, memory: 1}}, restartPolicy: Always}]
          containers: [{resources: {requests: {cpu: 500m, memory: 1}}}]",
        (3000, 3),
    );
}

#[test]
fn overhead_is_added_last() {
    check_plain(
        "spec: {overhead: {cpu: 250m, memory: 1}, containers: [{resources: {requests: {cpu: 1, memory: 1}}}]}",
        (1250, 2),
    );
}

#[test]
fn pod_level_requests_replace_the_sum_of_containers() {
    check(
        "spec:
          resources: {requests: {cpu: 3, example.com/gpu: 7}}
          overhead: {cpu: 1m}
          containers: [{resources: {requests: {cpu: 1, memory: 1}}}]",
        (3001, 1),
        (1001, 1),
        (3001, 1),
        (3001, 1),
    );
    // `non_zero` has a default only for resources without any request. `fit_score_requests` ignores pod-level requests.
    check(
        "spec: {resources: {requests: {cpu: 3}}, containers: [{}, {}]}",
        (3000, 0),
        (200, 2 * DEFAULT_MEMORY),
        (3000, 0),
        (3000, 2 * DEFAULT_MEMORY),
    );
    // Pod-level requests that list no supported resource are ignored.
    check(
        "spec: {resources: {requests: {example.com/gpu: 3}}, containers: [{}]}",
        (0, 0),
        (100, DEFAULT_MEMORY),
        (0, 0),
        (100, DEFAULT_MEMORY),
    );
}

#[test]
fn a_resize_in_progress_counts() {
    let resized = |condition: &str| {
        format!(
            "spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1, memory: 1}}}}}}]}}
status:
  conditions: [{condition}]
  containerStatuses:
  - {{name: c, ready: true, restartCount: 0, image: x, imageID: x,
      resources: {{requests: {{cpu: 700m, memory: 5}}}}, allocatedResources: {{cpu: 800m, memory: 1}}}}"
        )
    };
    let spec = (1000, 1);
    check(&resized(""), spec, spec, (1000, 5), (1000, 5));
    let infeasible = "{type: PodResizePending, status: 'True', reason: Infeasible}";
    check(&resized(infeasible), spec, spec, (800, 5), (800, 5));
    let deferred = "{type: PodResizePending, status: 'True', reason: Deferred}";
    check(&resized(deferred), spec, spec, (1000, 5), (1000, 5));
}

#[test]
fn only_restartable_init_containers_are_resized() {
    let with_policy = |policy: &str| {
        format!(
            "spec:
  initContainers: [{{name: i, {policy} resources: {{requests: {{cpu: 1, memory: 1}}}}}}]
  containers: [{{name: c, resources: {{requests: {{cpu: 1, memory: 1}}}}}}]
status:
  initContainerStatuses:
  - {{name: i, ready: true, restartCount: 0, image: x, imageID: x, resources: {{requests: {{cpu: 4}}}}}}"
        )
    };
    check_plain(&with_policy(""), (1000, 1));
    check(&with_policy("restartPolicy: Always,"), (2000, 2), (2000, 2), (5000, 2), (5000, 2));
}

#[test]
fn pod_level_requests_are_resized_too() {
    check(
        "spec: {resources: {requests: {cpu: 1, memory: 1}}, containers: [{}]}
status: {resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 1500m, memory: 3}}",
        (1000, 1),
        (100, DEFAULT_MEMORY),
        (2000, 3),
        (2000, 3),
    );
}

#[test]
fn extended_resources_and_huge_pages_are_scalars() {
    let mut interner = Interner::default();
    let pod = pod(
        "spec: {containers: [{resources: {requests:
            {example.com/gpu: 1, hugepages-2Mi: 4Mi, gpu: 5, ephemeral-storage: 1k, example.com/none: 0}}}]}",
        &mut interner,
    );
    let requests = &pod.spec.requests;
    assert_eq!(requests.ephemeral_storage, 1000);
    let mut scalars: Vec<_> = requests.scalars.iter().map(|&(name, n)| (interner.resolve(name), n)).collect();
    scalars.sort_unstable();
    assert_eq!(scalars, [("example.com/gpu", 1), ("example.com/none", 0), ("hugepages-2Mi", 4 << 20)]);
    assert_eq!(pod.spec.fit_score_requests.scalars, requests.scalars);
}

#[test]
fn negative_amounts_are_kept() {
    let pod = pod("spec: {containers: [{resources: {requests: {cpu: -1, memory: -5}}}]}", &mut Interner::default());
    assert_eq!((pod.spec.requests.milli_cpu, pod.spec.requests.memory), (-1000, -5));
    assert_eq!((pod.usage.requests.milli_cpu, pod.usage.requests.memory), (-1000, -5));
}
