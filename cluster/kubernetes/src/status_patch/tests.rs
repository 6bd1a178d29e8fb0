use schedc_objects::testing::api_pod;
use serde_json::from_str;

use super::*;

/// Returns the patch for a pod with this status, as JSON; `nothing` if there is none.
fn patch(status: &str, wanted: StatusPatch) -> String {
    let pod = api_pod(&format!("{{metadata: {{name: p, generation: 2}}, status: {status}}}"));
    let observed = ObservedStatus::new(&pod, &mut SharedConditions::default());
    let now = "2026-01-01T00:00:09.87Z".parse().unwrap();
    status_patch(&observed, &wanted, now).map_or("nothing".to_owned(), |patch| patch.to_string())
}

fn unschedulable(message: &str) -> Condition {
    Condition { kind: "PodScheduled", status: false, reason: "Unschedulable", message: message.to_owned() }
}

fn nominated(node: &str) -> Option<Option<std::sync::Arc<str>>> {
    Some(Some(node).filter(|node| !node.is_empty()).map(Into::into))
}

/// Each expected patch was created by Kubernetes' own code.
#[test]
fn patches_contain_differences_only() {
    let a = "type: PodScheduled, status: 'False', reason: Unschedulable, message: a, \
             lastTransitionTime: '2026-01-01T00:00:01Z'";
    let a_of = |generation: i64| format!("{{conditions: [{{{a}, observedGeneration: {generation}}}]}}");
    let true_of = |generation: i64| {
        format!("{{conditions: [{{type: PodScheduled, status: 'True', observedGeneration: {generation}}}]}}")
    };
    let gated = "{nominatedNodeName: n1, conditions: [{type: Ready, status: 'False'}, {type: PodScheduled, \
                 status: 'False', reason: SchedulingGated, message: a, lastProbeTime: '2026-01-01T00:00:00Z'}]}";
    let ready = "{conditions: [{type: Ready, status: 'False'}]}";
    let rows = [
        (&*a_of(2), Some(unschedulable("a")), None, "nothing"),
        (
            &a_of(2),
            Some(unschedulable("b")),
            None,
            r#"{"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[{"message":"b","type":"PodScheduled"}]}}"#,
        ),
        (&a_of(1), Some(unschedulable("a")), None, "nothing"),
        (
            &a_of(1),
            Some(unschedulable("a")),
            nominated("n1"),
            r#"{"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[{"observedGeneration":2,"type":"PodScheduled"}],"nominatedNodeName":"n1"}}"#,
        ),
        (&a_of(2), Some(unschedulable("a")), nominated("n1"), r#"{"status":{"nominatedNodeName":"n1"}}"#),
        (
            gated,
            Some(Condition { reason: "SchedulerError", ..unschedulable("") }),
            nominated(""),
            r#"{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"lastProbeTime":null,"message":null,"observedGeneration":2,"reason":"SchedulerError","type":"PodScheduled"}],"nominatedNodeName":null}}"#,
        ),
        (
            &true_of(2),
            Some(unschedulable("b")),
            None,
            r#"{"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[{"lastTransitionTime":"2026-01-01T00:00:09Z","message":"b","reason":"Unschedulable","status":"False","type":"PodScheduled"}]}}"#,
        ),
        (
            ready,
            Some(unschedulable("b")),
            None,
            r#"{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:09Z","message":"b","observedGeneration":2,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}}"#,
        ),
        ("{nominatedNodeName: n1}", None, nominated("n2"), r#"{"status":{"nominatedNodeName":"n2"}}"#),
        ("{nominatedNodeName: n1}", None, nominated(""), r#"{"status":{"nominatedNodeName":null}}"#),
        ("{nominatedNodeName: n1}", None, nominated("n1"), "nothing"),
        ("{}", None, nominated(""), "nothing"),
    ];
    for (status, condition, nominated_node, expected) in rows {
        assert_eq!(patch(status, StatusPatch { condition, nominated_node }), expected, "{status}");
    }
}

#[test]
fn a_missing_generation_sets_the_observed_generation_to_null() {
    let pod = api_pod(
        "{metadata: {name: p}, status: {conditions: [{type: PodScheduled, status: 'True', observedGeneration: 2}]}}",
    );
    let observed = ObservedStatus::new(&pod, &mut SharedConditions::default());
    let wanted = StatusPatch { condition: Some(unschedulable("b")), nominated_node: None };
    let patch = status_patch(&observed, &wanted, "2026-01-01T00:00:09Z".parse().unwrap()).unwrap();
    assert_eq!(patch["status"]["conditions"][0]["observedGeneration"], Value::Null);
    assert!(patch["status"]["conditions"][0].as_object().unwrap().contains_key("observedGeneration"));
}

/// kube-scheduler's recorded patches.
#[test]
fn patches_equal_those_of_kube_scheduler() {
    let recording = include_str!("../../tests/recordings/requests.jsonl");
    let requests = recording.lines().map(|line| from_str::<Value>(line).unwrap());
    let patches: Vec<_> = requests.filter(|request| request["path"].as_str().unwrap().ends_with("/status")).collect();
    assert_eq!(patches.len(), 11);
    for request in patches {
        let recorded = &request["body"];
        let condition = &recorded["status"]["conditions"][0];
        let text = |name: &str| condition[name].as_str().unwrap_or_default();
        let kinds = ["PodScheduled", "DisruptionTarget"];
        let reasons = ["Unschedulable", "PreemptionByScheduler"];
        let wanted = StatusPatch {
            condition: kinds.iter().zip(reasons).find(|(kind, _)| **kind == text("type")).map(|(kind, reason)| {
                Condition { kind, status: text("status") == "True", reason, message: text("message").to_owned() }
            }),
            nominated_node: recorded["status"]["nominatedNodeName"].as_str().map(|node| Some(node.into())),
        };
        // Victims are bound; all other pods are new.
        let is_victim = text("type") == "DisruptionTarget";
        let conditions = if is_victim { "[{type: PodScheduled, status: 'True'}]" } else { "[]" };
        let pod = api_pod(&format!("{{metadata: {{name: p, generation: 1}}, status: {{conditions: {conditions}}}}}"));
        let observed = ObservedStatus::new(&pod, &mut SharedConditions::default());
        let now = condition["lastTransitionTime"].as_str().unwrap_or("2026-01-01T00:00:09Z").parse().unwrap();
        assert_eq!(status_patch(&observed, &wanted, now).as_ref(), Some(recorded));
    }
}
