//! Errors as JSON.

use std::fmt::Display;

use hyper::StatusCode;
use serde_json::json;

use crate::commands::output;

/// An error that a client receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    /// A word for programs: one of [`CODES`].
    pub(super) code: &'static str,
    /// A sentence for users.
    pub(super) message: String,
}

/// The codes of all errors, with their statuses and meanings.
pub(super) const CODES: [(u16, &str, &str); 14] = [
    (
        400,
        "bad_json",
        "the body ended early, is not JSON, is nested too deeply, or has unknown, missing or wrong fields, such as a `ratio` that does not have exactly one number above 0 for each workload, a `max` of 0 or a `maxRemedies` above 20",
    ),
    (400, "bad_manifests", "the manifests have errors or, for `capacity`, contain no pods or contain a DaemonSet"),
    (403, "wrong_host", "the `Host` header is neither `localhost` nor a loopback address"),
    (404, "unknown_path", "there is no such path"),
    (
        404,
        "unknown_pod",
        "no profile serves the pod or a pod of the manifests; for `explain`, the cluster does not have the pod or the node `against`, several pods have the name, or the pod does not wait for a scheduler",
    ),
    (405, "wrong_method", "the path needs another method, which the header `Allow` names"),
    (408, "slow_request", "the body did not arrive in time"),
    (413, "too_large", "the body is too large"),
    (415, "wrong_type", "the `Content-Type` is not `application/json`"),
    (422, "too_many_pods", "the manifests have too many pods, or `max` is too large"),
    (422, "too_many_pools", "the label has too many values"),
    (500, "failed", "a panic ended the request; the server continues, unless its build aborts after a panic"),
    (
        503,
        "unavailable",
        "too many requests wait, the cluster cannot be read, a plugin cannot start, or the server is stopping",
    ),
    (504, "timeout", "the answer took too long"),
];

impl Problem {
    /// Creates an error with one of [`CODES`].
    pub(super) fn new(code: &'static str, message: impl Display) -> Self {
        let status = CODES.iter().find(|(_, known, _)| *known == code).map_or(500, |(status, ..)| *status);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Problem { status, code, message: output::message(message) }
    }

    /// Returns the body of the response.
    pub(super) fn body(&self) -> String {
        json!({ "error": { "code": self.code, "message": self.message } }).to_string() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn the_documentation_has_the_same_codes() {
        let page = include_str!("../../../../../docs/serve.md");
        let table = page.split("| status | code | meaning |\n|---|---|---|\n").nth(1).expect("a table");
        let table = table.split("\n\n").next().unwrap_or_default().replace("[aborts](#panics)", "aborts");
        let codes = CODES.map(|(status, code, meaning)| format!("| {status} | `{code}` | {meaning} |"));
        assert_eq!(table, codes.join("\n"));
    }
}
