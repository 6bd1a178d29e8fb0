//! The description of the interface, in the format OpenAPI 3.1.

use serde_json::{Value, json};

use super::problem::CODES;
use super::questions::MAX_REMEDIES;
use crate::explanation;

/// Returns the description.
pub(super) fn description() -> Value {
    let explanation: Value = serde_json::from_str(explanation::SCHEMA).expect("a test writes this JSON");
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "schedc serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Questions about the pods of a cluster, answered by the profiles of this scheduler. \
                            The answers are those of the commands with -o json.",
        },
        "paths": {
            "/v1/check": question("Would the pods of manifests run, and where?", "Check", &object_with(&["summary", "workloads", "running", "waiting", "preempted"])),
            "/v1/explain": question("Why does a pod go to its node, or wait, and what would help?", "Explain", &reference("Explanation")),
            "/v1/capacity": question("How many more pods fit?", "Capacity", &object_with(&["workloads", "pods", "rounds", "nodes", "next", "stillPending"])),
            "/healthz": { "get": { "summary": "Whether the server runs", "responses": { "200": { "description": "It runs" } } } },
            "/openapi.json": { "get": { "summary": "This description", "responses": { "200": { "description": "OpenAPI 3.1" } } } },
        },
        "components": { "schemas": {
            "Manifests": {
                "description": "Pods, workloads and other objects: a text in YAML or JSON, or an array of objects",
                "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "object" } }],
            },
            "Check": object(&["manifests"], json!({ "manifests": reference("Manifests"), "seed": number(0) })),
            "Explain": object(&["pod"], json!({
                "pod": { "type": "string", "description": "NAME or NAMESPACE/NAME of a pod of the cluster" },
                "namespace": { "type": "string" },
                "against": { "type": "string", "description": "a node with which the chosen node is compared" },
                "after": { "type": "boolean", "default": false },
                "allFilters": { "type": "boolean", "default": false },
                "maxRemedies": { "type": "integer", "minimum": 0, "maximum": MAX_REMEDIES, "default": 5 },
                "seed": number(0),
            })),
            "Capacity": object(&["manifests"], json!({
                "manifests": reference("Manifests"),
                "ratio": { "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": 65535 } },
                "max": {
                    "type": "integer", "minimum": 1, "maximum": 10000,
                    "description": "maximum number of pods to add to the cluster and, separately, to each pool; max * (number of pools + 1) may be at most 10000, and the default is the largest such number",
                },
                "poolLabel": { "type": "string" },
                "seed": number(0),
            })),
            "Explanation": explanation,
            "Error": {
                "type": "object", "required": ["error"],
                "properties": { "error": {
                    "type": "object", "required": ["code", "message"],
                    "properties": {
                        "code": { "type": "string", "enum": CODES.iter().map(|(_, code, _)| *code).collect::<Vec<_>>() },
                        "message": { "type": "string" },
                    },
                } },
            },
        } },
    })
}

/// Returns the schema of an answer with keys that are always present.
fn object_with(keys: &[&str]) -> Value {
    json!({ "type": "object", "required": keys })
}

/// Returns the description of the path of a question, with the schemas of the question, of its answer, and of errors.
fn question(summary: &str, schema: &str, answer: &Value) -> Value {
    let mut responses = json!({ "200": {
        "description": "The answer, as docs/output.md describes it",
        "content": { "application/json": { "schema": answer } },
    } });
    for (status, code, meaning) in CODES {
        let status = status.to_string();
        let before = responses[&status]["description"].as_str().map(|text| format!("{text}; ")).unwrap_or_default();
        responses[status] = json!({
            "description": format!("{before}`{code}`: {meaning}"),
            "content": { "application/json": { "schema": reference("Error") } },
        });
    }
    let content = json!({ "application/json": { "schema": reference(schema) } });
    json!({ "post": { "summary": summary, "requestBody": { "required": true, "content": content }, "responses": responses } })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn number(default: u64) -> Value {
    json!({ "type": "integer", "minimum": 0, "default": default })
}
