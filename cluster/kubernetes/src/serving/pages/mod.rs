//! Pages of the server.

mod checks;
mod zpages;

use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;
use form_urlencoded::parse;
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use hyper::http::request::Parts as Head;
use hyper::{Method, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::health::Health;

/// Media type of metrics in Prometheus' text format.
const METRICS_CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Pages that change while the scheduler runs, in Prometheus' text format.
pub trait Endpoints: Send + Sync + 'static {
    /// Returns the page `/metrics`.
    fn metrics(&self) -> BoxFuture<'_, String>;
    /// Returns the page `/metrics/resources`, which is requested only while this replica leads.
    fn resources(&self) -> BoxFuture<'_, String>;
    /// Returns the page `/metrics/slis`.
    fn slis(&self) -> BoxFuture<'_, String>;
    /// Records a check: its name, the name of its path, such as `readyz`, and whether it passed.
    fn checked(&self, _check: &'static str, _path: &'static str, _passed: bool) {}
}

/// Metrics without content.
impl Endpoints for () {
    fn metrics(&self) -> BoxFuture<'_, String> {
        Box::pin(async { String::new() })
    }
    fn resources(&self) -> BoxFuture<'_, String> {
        Box::pin(async { String::new() })
    }
    fn slis(&self) -> BoxFuture<'_, String> {
        Box::pin(async { String::new() })
    }
}

/// Pages that do not change while the scheduler runs.
#[derive(Clone, Debug)]
pub struct Pages {
    configz: Bytes,
    profiles: Bytes,
    flags: BTreeMap<String, String>,
    started: SystemTime,
}

impl Pages {
    /// Creates the pages. `configz` is the JSON of `/configz`: configurations by name. `profiles` is the JSON of the
    /// compiled profiles. `flags` contains values by flag name. `started` is the start time of the scheduler.
    pub fn new(configz: String, profiles: String, flags: BTreeMap<String, String>, started: SystemTime) -> Self {
        Pages { configz: configz.into(), profiles: profiles.into(), flags, started }
    }

    /// Responds to an authorized request.
    pub(super) async fn answer(&self, request: &Head, health: &Health, endpoints: &dyn Endpoints) -> Answer {
        let path = request.uri.path();
        if let Some(answer) = checks::answer(path, request.uri.query(), health, endpoints) {
            return answer;
        }
        match path {
            "/metrics" | "/metrics/slis" if request.method == Method::DELETE => text(
                StatusCode::METHOD_NOT_ALLOWED,
                "metrics count from the start of the process and cannot be reset\n",
            ),
            "/metrics" => metrics(endpoints.metrics().await),
            "/metrics/slis" => metrics(endpoints.slis().await),
            // A replica on standby may have no pods.
            "/metrics/resources" if !health.is_leading() => metrics(String::new()),
            "/metrics/resources" => metrics(endpoints.resources().await),
            "/configz" => body(StatusCode::OK, JSON, self.configz.clone()),
            "/profiles" => body(StatusCode::OK, JSON, self.profiles.clone()),
            "/statusz" => self.statusz(&request.headers),
            "/flagz" => self.flagz(&request.headers),
            _ if path == "/debug/pprof" || path.starts_with("/debug/pprof/") => text(
                StatusCode::NOT_FOUND,
                "there is no Go runtime here to profile; use perf or a similar tool on the host\n",
            ),
            _ if path == "/debug/flags" || path.starts_with("/debug/flags/") => {
                text(StatusCode::NOT_FOUND, "flags cannot be changed while the scheduler runs; restart it with -v\n")
            }
            _ => text(StatusCode::NOT_FOUND, "404 page not found\n"),
        }
    }
}

pub(super) type Answer = Response<Full<Bytes>>;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

fn body(code: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::from(body.into()));
    *answer.status_mut() = code;
    let headers: [(HeaderName, &'static str); 3] =
        [(CACHE_CONTROL, "no-cache, private"), (CONTENT_TYPE, kind), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    for (name, value) in headers {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn text(code: StatusCode, text: impl Into<String>) -> Answer {
    body(code, TEXT, text.into())
}

fn metrics(text: String) -> Answer {
    body(StatusCode::OK, METRICS_CONTENT_TYPE, text)
}

/// Kubernetes' `Status`, with its order of fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: Value,
    status: &'a str,
    message: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    code: u16,
}

fn status(code: StatusCode, reason: &str, message: &str, details: Option<Value>) -> Answer {
    let (kind, api_version, metadata, status) = ("Status", "v1", json!({}), "Failure");
    let status = Status { kind, api_version, metadata, status, message, reason, details, code: code.as_u16() };
    // Serialization cannot fail.
    let mut written = serde_json::to_vec(&status).unwrap_or_default();
    written.push(b'\n');
    body(code, JSON, written)
}

/// Returns the response to invalid credentials.
pub(super) fn unauthorized() -> Answer {
    status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized", None)
}

/// Returns the response at the limit of reviews; the client should retry after a second.
pub(super) fn too_many_requests() -> Answer {
    let message = "too many reviews are waiting or have failed; retry later";
    let mut answer = status(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message, None);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// Returns the response to a request that authorization denied.
pub(super) fn forbidden(user: &str, verb: &str, path: &str, reason: &str) -> Answer {
    let message = escape_html(&format!("User {user:?} cannot {verb} path {path:?}"));
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    status(StatusCode::FORBIDDEN, "Forbidden", &format!("forbidden: {message}{reason}"), Some(json!({})))
}

/// Returns the response after an error of the authorization.
pub(super) fn internal_error(path: &str, why: &str) -> Answer {
    let message = format!("Internal Server Error: {path:?}: {why}");
    text(StatusCode::INTERNAL_SERVER_ERROR, escape_html(&message) + "\n")
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn parameters(query: Option<&str>) -> impl Iterator<Item = (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)> {
    parse(query.unwrap_or_default().as_bytes())
}

/// Paths of pages that `/statusz` lists, without subpaths.
const PATHS: [&str; 8] = ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/profiles", "/readyz", "/statusz"];

#[cfg(test)]
mod tests;
