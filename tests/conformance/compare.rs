//! Comparison of two results.
//!
//! Everything must be equal, except values that kube-scheduler leaves open: the list of skipped plugins is not
//! compared, the text of an error may be any of the possible ones, and a preemption may have any of the recorded
//! outcomes. Messages of the CEL library are not compared, and consumed capacities are compared by value.

use std::collections::BTreeSet;
use std::fmt;

use schedc_core::quantity::Quantity;
use serde_json::{Map, Value};

/// A difference between two results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Path in the result, such as `nodes.n03.scores.NodeAffinity`.
    pub(crate) place: String,
    pub(crate) expected: Value,
    pub(crate) got: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, got {}", self.place, describe(&self.expected), describe(&self.got))
    }
}

/// Describes the result of a node by plugin, code and reasons, and any other value as JSON.
fn describe(value: &Value) -> String {
    let code = value.get("code").and_then(Value::as_str);
    match (value, code) {
        (Value::Null, _) => "nothing".to_owned(),
        (_, Some("Success")) => "Success".to_owned(),
        (_, Some(code)) => {
            let plugin = value.get("plugin").and_then(Value::as_str).unwrap_or("PreFilter");
            let reasons = value.get("reasons").map(Value::to_string).unwrap_or_default();
            format!("{plugin} {code} {reasons}")
        }
        (other, None) => other.to_string(),
    }
}

/// Returns all differences.
pub(crate) fn differences(expected: &Value, got: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut expected = expected.clone();
    let mut got = got.clone();
    let (preemption, got_preemption) = (take(&mut expected, "preemption"), take(&mut got, "preemption"));
    let (mut nodes, mut got_nodes) = (take(&mut expected, "nodes"), take(&mut got, "nodes"));
    for result in [&mut expected, &mut got] {
        result.get_mut("prefilter").map(|pre_filter| take(pre_filter, "skip"));
    }
    [&mut expected, &mut got, &mut nodes, &mut got_nodes].into_iter().for_each(without_library_texts);
    [&mut expected, &mut got].into_iter().for_each(with_values_of_capacities);
    accept_any_message(&mut expected, &mut got);
    fields("", &expected, &got, &mut found);
    each_field("nodes", &nodes, &got_nodes, &mut found, &mut node);
    preemptions(&preemption, &got_preemption, &mut found);
    found
}

fn take(value: &mut Value, field: &str) -> Value {
    value.as_object_mut().and_then(|fields| fields.remove(field)).unwrap_or_default()
}

/// Writes consumed capacities in one format, because the model has the value of a quantity and not its text.
fn with_values_of_capacities(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(with_values_of_capacities),
        Value::Object(fields) => {
            for (field, value) in fields {
                match value.as_object_mut().filter(|_| field == "consumedCapacity") {
                    Some(capacities) => capacities.values_mut().for_each(with_value_of_quantity),
                    None => with_values_of_capacities(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn with_value_of_quantity(quantity: &mut Value) {
    let parsed = quantity.as_str().map(|text| Quantity::parse(text).expect("a quantity"));
    *quantity = parsed.map(|parsed| parsed.to_string().into()).unwrap_or_default();
}

/// Removes the messages of the CEL library from all texts.
fn without_library_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            for prefix in ["CEL compile error: ", "CEL runtime error: "] {
                if let Some(at) = text.find(prefix) {
                    text.truncate(at + prefix.len());
                }
            }
        }
        Value::Array(values) => {
            values.iter_mut().for_each(without_library_texts);
            values.dedup();
        }
        Value::Object(fields) => fields.values_mut().for_each(without_library_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces the expected message by the actual one, if that is among the possible messages.
fn accept_any_message(expected: &mut Value, got: &mut Value) {
    let texts = take(expected, "messages");
    take(got, "messages");
    if texts.as_array().is_some_and(|texts| texts.contains(&got["message"])) {
        expected["message"] = got["message"].clone();
    }
}

/// Compares the verdict about a node as a whole, and each score separately.
fn node(place: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    let verdict = |node: &Value| {
        let field = |name: &str| node.get(name).map(|value| (name.to_owned(), value.clone()));
        Value::Object(["code", "plugin", "reasons"].into_iter().filter_map(field).collect())
    };
    if verdict(expected) != verdict(got) {
        found.push(Difference { place: place.to_owned(), expected: expected.clone(), got: got.clone() });
        return;
    }
    for part in ["raw", "scores"] {
        let (expected, got) = (expected.get(part).unwrap_or(&Value::Null), got.get(part).unwrap_or(&Value::Null));
        each_field(&format!("{place}.{part}"), expected, got, found, &mut equal);
    }
    equal(&format!("{place}.total"), &expected["total"], &got["total"], found);
}

/// Compares preemptions: each outcome must be among the expected ones, and candidates must be equal. The outcomes for
/// other orders of the pods (`outcomesAnyOrder`) are ignored, because the scenario fixes the order.
fn preemptions(expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    let (mut left, mut right) = (expected.clone(), got.clone());
    let (outcomes, got_outcomes) = (take(&mut left, "outcomes"), take(&mut right, "outcomes"));
    for preemption in [&mut left, &mut right] {
        take(preemption, "outcomesAnyOrder");
    }
    fields("preemption.", &left, &right, found);
    let none = Vec::new();
    let [possible, found_outcomes] = [&outcomes, &got_outcomes].map(|list| list.as_array().unwrap_or(&none));
    let all_possible = found_outcomes.iter().all(|outcome| possible.contains(outcome));
    if !all_possible || found_outcomes.is_empty() != possible.is_empty() {
        found.push(Difference { place: "preemption.outcomes".to_owned(), expected: outcomes, got: got_outcomes });
    }
}

fn fields(prefix: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    match (expected, got) {
        (Value::Object(_), Value::Object(_)) => {
            let names = names(expected, got);
            for name in names {
                equal(&format!("{prefix}{name}"), &expected[&name], &got[&name], found);
            }
        }
        _ => equal(prefix.trim_end_matches('.'), expected, got, found),
    }
}

/// Calls a function for each field that at least one of the objects has.
fn each_field(
    prefix: &str,
    expected: &Value,
    got: &Value,
    found: &mut Vec<Difference>,
    compare: &mut impl FnMut(&str, &Value, &Value, &mut Vec<Difference>),
) {
    for name in names(expected, got) {
        let field_of = |value: &Value| value.get(&name).cloned().unwrap_or_default();
        compare(&format!("{prefix}.{name}"), &field_of(expected), &field_of(got), found);
    }
}

fn names(expected: &Value, got: &Value) -> BTreeSet<String> {
    [expected, got].into_iter().filter_map(Value::as_object).flat_map(Map::keys).cloned().collect()
}

fn equal(place: &str, expected: &Value, got: &Value, found: &mut Vec<Difference>) {
    if expected != got {
        found.push(Difference { place: place.to_owned(), expected: expected.clone(), got: got.clone() });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the result of a pod on n1.
    fn placed() -> Value {
        json!({
            "pod": "default/web",
            "prefilter": {"code": "Success", "skip": ["NodePorts"]},
            "nodes": {
                "n1": {"code": "Success", "scores": {"A": 200, "B": 3}, "raw": {"A": 100, "B": 3}, "total": 203},
                "n2": {"code": "Unschedulable", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]},
            },
            "feasible": ["n1"], "best": ["n1"], "chosen": "n1", "message": null, "preemption": null,
        })
    }

    /// Returns the result of a pod with two possible preemptions.
    fn preempting() -> Value {
        json!({
            "pod": "default/web",
            "preemption": {
                "code": "Success", "nominating": "set",
                "outcomes": [{"node": "n1", "victims": ["default/a"]}, {"node": "n2", "victims": ["default/b"]}],
                "outcomesAnyOrder": [{"node": "n1", "victims": ["default/c"]}],
                "candidates": [{"node": "n1", "victims": ["default/a"], "pdbViolations": 0}],
            },
        })
    }

    fn check(expected: Value, change: impl FnOnce(&mut Value), differences: &[&str]) {
        let mut got = expected.clone();
        change(&mut got);
        let found: Vec<String> = super::differences(&expected, &got).iter().map(ToString::to_string).collect();
        assert_eq!(found, differences);
    }

    #[test]
    fn equal_results_agree() {
        check(placed(), |_| {}, &[]);
        check(preempting(), |_| {}, &[]);
    }

    #[test]
    fn score_differences_name_node_and_plugin() {
        check(
            placed(),
            |got| {
                got["nodes"]["n1"]["scores"]["A"] = 300.into();
                got["nodes"]["n1"]["total"] = 303.into();
            },
            &["nodes.n1.scores.A: expected 200, got 300", "nodes.n1.total: expected 203, got 303"],
        );
        check(
            placed(),
            |got| drop(take(&mut got["nodes"]["n1"]["raw"], "B")),
            &["nodes.n1.raw.B: expected 3, got nothing"],
        );
    }

    #[test]
    fn verdict_differences_show_the_whole_verdict() {
        check(
            placed(),
            |got| got["nodes"]["n2"]["reasons"] = json!(["Too many pods"]),
            &[
                r#"nodes.n2: expected NodeResourcesFit Unschedulable ["Insufficient cpu"], got NodeResourcesFit Unschedulable ["Too many pods"]"#,
            ],
        );
        check(
            placed(),
            |got| {
                got["nodes"]["n2"] = json!({"code": "Success", "total": 7});
                got["feasible"] = json!(["n1", "n2"]);
            },
            &[
                r#"feasible: expected ["n1"], got ["n1","n2"]"#,
                r#"nodes.n2: expected NodeResourcesFit Unschedulable ["Insufficient cpu"], got Success"#,
            ],
        );
    }

    #[test]
    fn surplus_and_missing_nodes_and_fields_are_differences() {
        check(
            placed(),
            |got| got["nodes"]["n3"] = json!({"code": "Success"}),
            &["nodes.n3: expected nothing, got Success"],
        );
        check(
            placed(),
            |got| got["chosenBy"] = "nominated".into(),
            &[r#"chosenBy: expected nothing, got "nominated""#],
        );
        check(placed(), |got| got["prefilter"] = Value::Null, &["prefilter: expected Success, got nothing"]);
    }

    #[test]
    fn skipped_plugins_are_informational() {
        check(placed(), |got| got["prefilter"]["skip"] = json!(["Other"]), &[]);
    }

    #[test]
    fn any_possible_first_message_is_accepted() {
        let expected = json!({"message": "a", "messages": ["a", "b"], "reason": "SchedulerError"});
        check(expected.clone(), |got| got["message"] = "b".into(), &[]);
        check(expected, |got| got["message"] = "c".into(), &[r#"message: expected "a", got "c""#]);
        check(json!({"message": "a"}), |got| got["message"] = "b".into(), &[r#"message: expected "a", got "b""#]);
    }

    #[test]
    fn texts_of_the_expression_library_are_not_compared() {
        let expected = json!({"message": "running plugin: CEL compile error: ERROR: <input>:1:1"});
        check(expected.clone(), |got| got["message"] = "running plugin: CEL compile error: no".into(), &[]);
        check(
            expected,
            |got| got["message"] = "running plugin: CEL runtime error: no".into(),
            &[r#"message: expected "running plugin: CEL compile error: ", got "running plugin: CEL runtime error: ""#],
        );
    }

    #[test]
    fn any_listed_preemption_outcome_is_accepted() {
        let outcomes = |outcomes: Value| move |got: &mut Value| got["preemption"]["outcomes"] = outcomes;
        check(preempting(), outcomes(json!([{"node": "n2", "victims": ["default/b"]}])), &[]);
        let expected = r#"preemption.outcomes: expected [{"node":"n1","victims":["default/a"]},{"node":"n2","victims":["default/b"]}]"#;
        check(preempting(), outcomes(json!([])), &[&format!("{expected}, got []")]);
        check(
            preempting(),
            outcomes(json!([{"node": "n1", "victims": ["default/c"]}])),
            &[&format!(r#"{expected}, got [{{"node":"n1","victims":["default/c"]}}]"#)],
        );
    }

    #[test]
    fn candidates_and_nominations_of_a_preemption_must_be_the_same() {
        check(
            preempting(),
            |got| got["preemption"]["candidates"][0]["pdbViolations"] = 1.into(),
            &[
                r#"preemption.candidates: expected [{"node":"n1","pdbViolations":0,"victims":["default/a"]}], got [{"node":"n1","pdbViolations":1,"victims":["default/a"]}]"#,
            ],
        );
        check(
            preempting(),
            |got| got["preemption"]["nominating"] = "keep".into(),
            &[r#"preemption.nominating: expected "set", got "keep""#],
        );
    }
}
