//! Pods, nodes and priority classes that API servers reject.

use expect_test::expect;

use super::{CLASSES, check_refused, with_spec};
use crate::manifests::Manifests;
use crate::{Objects, Options};

#[test]
fn every_object_needs_a_name_even_without_defaults() {
    let text = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c}]}}";
    for api_server_defaults in [true, false] {
        let manifests = Manifests::parse("pods.yaml", text).unwrap_or_else(|error| panic!("{error}"));
        let error = Objects::new(manifests, Options { api_server_defaults, ..Options::default() }).unwrap_err();
        expect!["pods.yaml:1: Pod without a name: metadata.name: is missing; every object needs a name"]
            .assert_eq(&error.to_string());
    }
}

#[test]
fn names_and_labels_must_be_right() {
    check_refused(
        &with_spec("").replace("name: a", "name: My_Pod"),
        expect![
            "pods.yaml:1: Pod default/My_Pod: metadata.name: `My_Pod`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
        ],
    );
    check_refused(
        &with_spec("").replace("name: a}", "name: a, labels: {a b: '-'}}"),
        expect![[r#"
            pods.yaml:1: Pod default/a: metadata.labels: `a b`: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:1: Pod default/a: metadata.labels[a b]: `-`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#]],
    );
}

#[test]
fn containers_must_be_right() {
    check_refused(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}",
        expect!["pods.yaml:1: Pod default/a: spec.containers: is empty; a pod needs a container"],
    );
    check_refused(
        &with_spec("initContainers: [{name: c}, {image: x}]"),
        expect![[r#"
        pods.yaml:1: Pod default/a: spec.initContainers[1].name: is missing; every container needs a name
        pods.yaml:1: Pod default/a: spec.containers[0].name: is `c`, but another container has the same name"#]],
    );
    check_refused(
        &with_spec("").replace(
            "{name: c}",
            "{name: c, resources: {requests: {cpu: -1, gpu: 1, example.com/gpu: 500m, memory: 2}, limits: {memory: 1}}}",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.containers[0].resources.requests[cpu]: is -1, but must not be negative
            pods.yaml:1: Pod default/a: spec.containers[0].resources.requests[example.com/gpu]: is 500m, but an extended resource must be a whole number
            pods.yaml:1: Pod default/a: spec.containers[0].resources.requests[gpu]: is not a container resource (those are cpu, memory, ephemeral-storage, hugepages-..., and names with a domain such as example.com/gpu)
            pods.yaml:1: Pod default/a: spec.containers[0].resources.requests[memory]: is 2, but must not be more than the limit of 1"#]],
    );
    check_refused(
        &with_spec("").replace("{name: c}", "{name: c, ports: [{containerPort: 0, hostPort: 70000, protocol: tcp}]}"),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.containers[0].ports[0].containerPort: is 0, but must be from 1 to 65535
            pods.yaml:1: Pod default/a: spec.containers[0].ports[0].hostPort: is 70000, but must be from 1 to 65535
            pods.yaml:1: Pod default/a: spec.containers[0].ports[0].protocol: is `tcp`, but must be one of `TCP`, `UDP`, `SCTP`"#]],
    );
}

#[test]
fn policies_and_phases_must_be_right() {
    check_refused(
        &with_spec("initContainers: [{name: a, restartPolicy: always}, {name: b, restartPolicy: OnFailure}]"),
        expect![
            "pods.yaml:1: Pod default/a: spec.initContainers[0].restartPolicy: is `always`, but must be one of `Always`, `OnFailure`, `Never`"
        ],
    );
    check_refused(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}, status: {phase: succeeded}}",
        expect![
            "pods.yaml:1: Pod default/a: status.phase: is `succeeded`, but must be one of `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`"
        ],
    );
}

#[test]
fn resource_claims_of_pods_must_be_right() {
    check_refused(
        &with_spec(
            "resourceClaims: [{name: a, resourceClaimName: x}, {name: a, resourceClaimTemplateName: x}, {name: b},
                {name: c, resourceClaimName: x, resourceClaimTemplateName: x}, {resourceClaimName: x}]",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.resourceClaims[1].name: is `a`, but another claim has the same name
            pods.yaml:1: Pod default/a: spec.resourceClaims[2]: must have either a `resourceClaimName` or a `resourceClaimTemplateName`
            pods.yaml:2: Pod default/a: spec.resourceClaims[3]: must have either a `resourceClaimName` or a `resourceClaimTemplateName`
            pods.yaml:2: Pod default/a: spec.resourceClaims[4].name: is missing; every claim of a pod needs a name"#]],
    );
    check_refused(
        &with_spec("resourceClaims: [{name: gpu, resourceClaimName: x}]")
            .replace("{name: c}", "{name: c, resources: {claims: [{name: gpu}, {name: gpus}]}}"),
        expect![
            "pods.yaml:1: Pod default/a: spec.containers[0].resources.claims[1].name: is `gpus`, but there is no claim with this name in spec.resourceClaims"
        ],
    );
}

#[test]
fn tolerations_and_taints_must_be_right() {
    check_refused(
        &with_spec(
            "tolerations: [{key: a, operator: In}, {value: x}, {key: a, operator: Exists, value: b},
                {key: a, effect: Never}, {key: a, tolerationSeconds: 5, effect: NoSchedule}]",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.tolerations[0].operator: is `In`, but must be one of `Equal`, `Exists`
            pods.yaml:1: Pod default/a: spec.tolerations[1].operator: must be `Exists` where there is no key
            pods.yaml:1: Pod default/a: spec.tolerations[2].value: must be left out where the operator is `Exists`
            pods.yaml:2: Pod default/a: spec.tolerations[3].effect: is `Never`, but must be one of `NoSchedule`, `PreferNoSchedule`, `NoExecute`
            pods.yaml:2: Pod default/a: spec.tolerations[4].effect: must be `NoExecute` where there are tolerationSeconds"#]],
    );
    check_refused(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: -1}}, spec: {taints: [
            {key: a, effect: NoSchedule}, {key: a, value: x, effect: NoSchedule}, {key: b, effect: ''}]}}",
        expect![[r#"
            pods.yaml:1: Node n1: status.allocatable[cpu]: is -1, but must not be negative
            pods.yaml:2: Node n1: spec.taints[1]: is a second taint with this key and effect; remove one of them
            pods.yaml:2: Node n1: spec.taints[2].effect: is ``, but must be one of `NoSchedule`, `PreferNoSchedule`, `NoExecute`"#]],
    );
}

#[test]
fn selectors_must_be_right() {
    check_refused(
        &with_spec(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: zone, operator: Near}, {key: zone, operator: In},
                    {key: zone, operator: Exists, values: [a]}, {key: zone, operator: Gt, values: ['1', '2']},
                    {key: '', operator: In, values: ['?']}]},
                {matchFields: [{key: metadata.uid, operator: Exists}]}]}}}",
        ),
        expect![[r#"
            pods.yaml:2: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: is `Near`, but must be one of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
            pods.yaml:2: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: must have a value when the operator is In
            pods.yaml:3: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: must be left out when the operator is Exists
            pods.yaml:3: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].values: must be a list of one value when the operator is Gt
            pods.yaml:4: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].key: ``: name part must be non-empty
            pods.yaml:4: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].values[0]: `?`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:5: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].key: is `metadata.uid`, but must be `metadata.name`
            pods.yaml:5: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].operator: is `Exists`, but must be one of `In`, `NotIn`
            pods.yaml:5: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].values: must be a list of one value"#]],
    );
    check_refused(
        &with_spec(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []},
                preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: is empty; add a term, or remove the whole selector
            pods.yaml:2: Pod default/a: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: is 0, but must be from 1 to 100"#]],
    );
    check_refused(
        &with_spec(
            "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
                {labelSelector: {matchExpressions: [{key: app, operator: Gt, values: ['1']}]}, matchLabelKeys: ['/']}]},
              podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
                {weight: 101, podAffinityTerm: {topologyKey: zone, matchLabelKeys: [app]}}]}}",
        ),
        expect![[r#"
            pods.yaml:2: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: is missing
            pods.yaml:2: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].operator: is `Gt`, but must be one of `In`, `NotIn`, `Exists`, `DoesNotExist`
            pods.yaml:2: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: `/`: prefix part must be non-empty
            pods.yaml:4: Pod default/a: spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: is 101, but must be from 1 to 100
            pods.yaml:4: Pod default/a: spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.matchLabelKeys: can only be used with a labelSelector"#]],
    );
    check_refused(
        &with_spec(
            "topologySpreadConstraints: [{maxSkew: 0, topologyKey: '', whenUnsatisfiable: Sometimes},
                {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2, nodeTaintsPolicy: Maybe},
                {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.topologySpreadConstraints[0].maxSkew: is 0, but must be 1 or more
            pods.yaml:1: Pod default/a: spec.topologySpreadConstraints[0].topologyKey: is missing
            pods.yaml:1: Pod default/a: spec.topologySpreadConstraints[0].whenUnsatisfiable: is `Sometimes`, but must be one of `DoNotSchedule`, `ScheduleAnyway`
            pods.yaml:2: Pod default/a: spec.topologySpreadConstraints[1].minDomains: can only be used when whenUnsatisfiable is DoNotSchedule
            pods.yaml:2: Pod default/a: spec.topologySpreadConstraints[1].nodeTaintsPolicy: is `Maybe`, but must be one of `Honor`, `Ignore`
            pods.yaml:3: Pod default/a: spec.topologySpreadConstraints[2]: is a second constraint with this topologyKey and whenUnsatisfiable; remove one of them"#]],
    );
}

#[test]
fn placement_must_be_right() {
    check_refused(
        &with_spec(
            "nodeName: n_1, schedulingGates: [{name: a}, {name: a}], preemptionPolicy: Often, nodeSelector: {a: '!'}",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.preemptionPolicy: is `Often`, but must be one of `PreemptLowerPriority`, `Never`
            pods.yaml:1: Pod default/a: spec.nodeName: `n_1`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
            pods.yaml:1: Pod default/a: spec.nodeSelector[a]: `!`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:1: Pod default/a: spec.schedulingGates[1].name: `a` is a duplicate; remove one of them
            pods.yaml:1: Pod default/a: spec.nodeName: must be left out as long as there are schedulingGates"#]],
    );
}

#[test]
fn label_keys_and_selectors_must_not_overlap() {
    let text = with_spec(
        "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
            {topologyKey: zone, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [app, team],
                mismatchLabelKeys: [team], namespaces: [Shop]}]}},
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
            labelSelector: {matchExpressions: [{key: team, operator: Exists}]}, matchLabelKeys: [team]}]",
    );
    check_refused(
        &text.replace("name: a}", "name: a, labels: {app: web, team: x}}"),
        expect![[r#"
            pods.yaml:5: Pod default/a: spec.topologySpreadConstraints[0].matchLabelKeys[0]: `team` is in the labelSelector too; remove one of them
            pods.yaml:3: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces[0]: `Shop`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
            pods.yaml:2: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: `app` is in the labelSelector too; remove one of them
            pods.yaml:2: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[1]: `team` is among the mismatchLabelKeys too; remove one of them"#]],
    );
}

#[test]
fn volumes_must_be_right() {
    check_refused(
        &with_spec(
            "volumes: [{name: a, persistentVolumeClaim: {claimName: ''}}, {name: a, ephemeral: {}}, {emptyDir: {}}]",
        ),
        expect![[r#"
            pods.yaml:1: Pod default/a: spec.volumes[0].persistentVolumeClaim.claimName: is missing
            pods.yaml:1: Pod default/a: spec.volumes[1].name: is `a`, but another volume has the same name
            pods.yaml:1: Pod default/a: spec.volumes[1].ephemeral.volumeClaimTemplate: is missing
            pods.yaml:1: Pod default/a: spec.volumes[2].name: is missing; every volume needs a name"#]],
    );
}

#[test]
fn priority_classes_must_be_right() {
    check_refused(
        &with_spec("priorityClassName: gone"),
        expect![
            "pods.yaml:1: Pod default/a: spec.priorityClassName: is `gone`, but there is no such PriorityClass; add it, or set spec.priority"
        ],
    );
    check_refused(
        &format!("{CLASSES}{}", with_spec("priorityClassName: high, priority: 5")),
        expect![
            "pods.yaml:5: Pod default/a: spec.priority: is 5, but its PriorityClass `high` has 100; leave spec.priority out"
        ],
    );
    let class = |rest: &str| format!("{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, {rest}}}");
    check_refused(
        &class("metadata: {name: huge}, value: 2000000000"),
        expect!["pods.yaml:1: PriorityClass huge: value: is 2000000000, but must not be more than 1000000000"],
    );
    check_refused(
        &class("metadata: {name: system-mine}, value: 1"),
        expect![
            "pods.yaml:1: PriorityClass system-mine: metadata.name: may not begin with `system-`, which is reserved for built-in classes"
        ],
    );
    check_refused(
        &class("metadata: {name: system-node-critical}, value: 1"),
        expect!["pods.yaml:1: PriorityClass system-node-critical: value: is 1, but the built-in class has 2000001000"],
    );
    check_refused(
        &class("metadata: {name: system-node-critical}, value: 2000001000, globalDefault: true"),
        expect![
            "pods.yaml:1: PriorityClass system-node-critical: globalDefault: is true, but the built-in class is not the default"
        ],
    );
    check_refused(
        &format!(
            "{CLASSES}{}",
            class("metadata: {name: other}, value: 1, globalDefault: true, preemptionPolicy: Often")
        ),
        expect![[r#"
            pods.yaml:5: PriorityClass other: preemptionPolicy: is `Often`, but must be one of `PreemptLowerPriority`, `Never`
            pods.yaml:5: PriorityClass other: globalDefault: is true, but `batch` is the default already"#]],
    );
}
