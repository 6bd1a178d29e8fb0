//! Audit log of requests.

use std::time::Instant;

use hyper::Version;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::request::ApiRequest;

/// A request with its result.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The scenario at the time of the request; see [`Server::scenario`](crate::Server::scenario).
    pub scenario: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; `other` for other HTTP
    /// methods.
    pub verb: &'static str,
    /// Path and query, without timeouts.
    pub path: String,
    /// The status code of the response, even if the response is lost; 0 if the connection is closed before the request
    /// is processed.
    pub code: u16,
    /// The body without managedFields; `None` if it is missing or not JSON.
    pub body: Option<Value>,
    /// Content type of the body.
    pub content_type: String,
    /// The bearer token, which identifies the client. Empty if missing.
    pub token: String,
    /// HTTP version.
    pub version: Version,
    /// Time of the response.
    pub at: Instant,
    /// The injected fault, except delays.
    pub fault: Option<Fault>,
}

impl RecordedRequest {
    pub(crate) fn new(
        scenario: &str,
        api_request: &ApiRequest,
        code: u16,
        version: Version,
        fault: Option<Fault>,
    ) -> Self {
        let mut body = api_request.body.clone();
        if let Some(metadata) = body.as_mut().and_then(|body| body.get_mut("metadata")).and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        RecordedRequest {
            scenario: scenario.to_owned(),
            verb: api_request.verb,
            path: without_timeouts(&api_request.uri),
            code,
            body,
            content_type: api_request.content_type.clone(),
            token: api_request.token.clone(),
            version,
            at: Instant::now(),
            fault,
        }
    }

    /// Returns whether the request is a write: its verb is not `get`, `list` or `watch`.
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb)
    }

    /// Returns a line of a recording: `scenario`, `verb`, `path`, `code`, and `body` if present.
    pub fn to_json(&self) -> Value {
        let mut line = json!({"scenario": self.scenario, "verb": self.verb, "path": self.path, "code": self.code});
        if let Some(body) = &self.body {
            line["body"] = body.clone();
        }
        line
    }
}

/// Removes timeouts, which differ between runs, from a path and query.
fn without_timeouts(uri: &str) -> String {
    let Some((path, query)) = uri.split_once('?') else { return uri.to_owned() };
    let is_time = |part: &&str| part.starts_with("timeout=") || part.starts_with("timeoutSeconds=");
    let rest: Vec<&str> = query.split('&').filter(|part| !is_time(part)).collect();
    if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_removed_from_paths() {
        assert_eq!(without_timeouts("/a"), "/a");
        assert_eq!(without_timeouts("/a?timeout=5s"), "/a");
        assert_eq!(without_timeouts("/a?a=b&timeoutSeconds=7&watch=true"), "/a?a=b&watch=true");
    }
}
