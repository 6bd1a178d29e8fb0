//! SARIF 2.1.0, the format of findings for code review.

use serde_json::{Value, json};

/// A finding in a file.
pub(super) struct Finding {
    /// The id of a rule.
    pub(super) rule: &'static str,
    /// `error`, `warning` or `note`.
    pub(super) level: &'static str,
    pub(super) message: String,
    /// The file, with the line and the column if they are known. Both count from 1.
    pub(super) place: Option<(String, Option<usize>, Option<usize>)>,
}

/// Returns a log of one run. A rule is an id and its description.
pub(super) fn sarif(rules: &[(&str, &str)], findings: &[Finding]) -> Value {
    let rules: Vec<Value> =
        rules.iter().map(|(id, text)| json!({"id": id, "shortDescription": {"text": text}})).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "schedc", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let Finding { rule, level, message, place } = finding;
    let mut result = json!({"ruleId": rule, "level": level, "message": {"text": message}});
    if let Some((file, line, column)) = place {
        let mut location = json!({"artifactLocation": {"uri": file.replace('\\', "/")}});
        if let Some(line) = line {
            location["region"] = json!({"startLine": line});
            if let Some(column) = column {
                location["region"]["startColumn"] = json!(column);
            }
        }
        result["locations"] = json!([{"physicalLocation": location}]);
    }
    result
}
