//! Errors as JSON.

use std::fmt::Display;

use hyper::StatusCode;
use serde_json::json;

use crate::commands::output;

/// An error that a client receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    /// A word for programs; `openapi` lists them.
    pub(super) code: &'static str,
    /// A sentence for users.
    pub(super) message: String,
}

/// The codes of all errors, with their statuses and meanings.
pub(super) const CODES: [(u16, &str, &str); 14] = [
    (400, "bad_json", "the body is not JSON, is nested too deeply, or has unknown or missing fields"),
    (400, "bad_manifests", "the manifests have errors"),
    (403, "wrong_host", "the Host header is not localhost or a loopback address"),
    (404, "unknown_path", "there is no such path"),
    (404, "unknown_pod", "the cluster has no such pod, node or profile"),
    (405, "wrong_method", "the path needs another method"),
    (408, "slow_request", "the body did not arrive in time"),
    (413, "too_large", "the body is too large"),
    (415, "wrong_type", "the Content-Type is not application/json"),
    (422, "too_many_pods", "the manifests have too many pods"),
    (422, "too_many_pools", "the label divides the nodes into too many pools"),
    (500, "failed", "a panic ended the request; the server continues"),
    (503, "unavailable", "too many requests wait, or the cluster cannot be read"),
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
