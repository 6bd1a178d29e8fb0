//! What was asked, in order.

use std::time::Instant;

use hyper::Version;
use serde_json::{Value, json};

use crate::faults::Fault;
use crate::request::ApiRequest;

/// A request and how it was answered.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// During which scenario: what [`Server::scenario`](crate::Server::scenario) was told last.
    pub scenario: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// Path and query, without time-outs.
    pub path: String,
    /// The status code; 0 if there was no answer since nothing was done. A lost answer counts as one.
    pub code: u16,
    /// The body, without managedFields; of a body that is no JSON nothing.
    pub body: Option<Value>,
    /// Its type.
    pub content_type: String,
    /// The bearer token that it came with: it tells clients apart. Empty: none.
    pub token: String,
    /// Over what it came.
    pub version: Version,
    /// When it was answered.
    pub at: Instant,
    /// What went wrong with it, apart from delays.
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
            path: without_time(&api_request.uri),
            code,
            body,
            content_type: api_request.content_type.clone(),
            token: api_request.token.clone(),
            version,
            at: Instant::now(),
            fault,
        }
    }

    /// Whether it is to change something: anything but reads.
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb)
    }

    /// As a line of a recording: `scenario`, `verb`, `path`, `code` and, if it has one, `body`.
    pub fn to_json(&self) -> Value {
        let mut line = json!({"scenario": self.scenario, "verb": self.verb, "path": self.path, "code": self.code});
        if let Some(body) = &self.body {
            line["body"] = body.clone();
        }
        line
    }
}

/// A path and query without time-outs, which differ from run to run.
fn without_time(uri: &str) -> String {
    let Some((path, query)) = uri.split_once('?') else { return uri.to_owned() };
    let is_time = |part: &&str| part.starts_with("timeout=") || part.starts_with("timeoutSeconds=");
    let rest: Vec<&str> = query.split('&').filter(|part| !is_time(part)).collect();
    if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_no_times() {
        assert_eq!(without_time("/a"), "/a");
        assert_eq!(without_time("/a?timeout=5s"), "/a");
        assert_eq!(without_time("/a?a=b&timeoutSeconds=7&watch=true"), "/a?a=b&watch=true");
    }
}
