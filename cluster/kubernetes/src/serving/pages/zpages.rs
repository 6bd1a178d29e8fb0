//! `/statusz` and `/flagz`: text for users, and JSON on request.

use std::time::UNIX_EPOCH;

use hyper::header::{ACCEPT, HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, JSON, PATHS, Pages, body, status, text};
use crate::KUBERNETES_VERSION;

/// Component name in kube-scheduler's pages.
const COMPONENT: &str = "kube-scheduler";
const GROUP: &str = "config.k8s.io";
const WARNING: HeaderName = HeaderName::from_static("warning");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    /// JSON in this API version.
    Json(&'static str),
}

impl Pages {
    /// Returns the page `/statusz`: start time, version and paths.
    pub(super) fn statusz(&self, headers: &HeaderMap) -> Answer {
        // The clock may be set to a time before the start.
        let uptime = self.started.elapsed().unwrap_or_default().as_secs();
        let since = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let started =
            i64::try_from(since).ok().and_then(|since| Timestamp::from_second(since).ok()).unwrap_or_default();
        answer("statusz", "Statusz", headers, |form| match form {
            Form::Text => {
                let (hours, minutes, seconds) = (uptime / 3600, uptime / 60 % 60, uptime % 60);
                let started = started.strftime("%a %b %e %H:%M:%S UTC %Y");
                let version = env!("CARGO_PKG_VERSION");
                Value::String(format!(
                    "\nStarted: {started}\nUp: {hours} hr {minutes:02} min {seconds:02} sec\nBinary version: schedc {version}\n\
                     Emulation version: {KUBERNETES_VERSION}\nPaths: {}\n",
                    PATHS.join(" ")
                ))
            }
            Form::Json(_) => json!({
                "startTime": started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                "uptimeSeconds": uptime,
                "goVersion": "",
                "binaryVersion": env!("CARGO_PKG_VERSION"),
                "emulationVersion": KUBERNETES_VERSION,
                "paths": PATHS,
            }),
        })
    }

    /// Returns the page `/flagz`: the command line with defaults.
    pub(super) fn flagz(&self, headers: &HeaderMap) -> Answer {
        answer("flagz", "Flagz", headers, |form| match form {
            Form::Text => Value::String(self.flags.iter().map(|(name, value)| format!("{name}={value}\n")).collect()),
            Form::Json(_) => json!({"flags": self.flags}),
        })
    }
}

/// Renders a page in the requested form. `fields` returns the text, or the fields of the object.
fn answer(path: &str, kind: &str, headers: &HeaderMap, fields: impl FnOnce(Form) -> Value) -> Answer {
    let accepts = headers.get(ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    let Some(form) = form(accepts, kind) else {
        let message = format!(
            "only the following media types are accepted: text/plain, application/json;g={GROUP};v=v1beta1;as={kind}"
        );
        return status(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", &message, None);
    };
    let mut fields = fields(form);
    let Form::Json(version) = form else {
        let head = format!(
            "\n{COMPONENT} {path}\nWarning: this page is for users, and its format may change. Programs should request JSON.\n"
        );
        return text(StatusCode::OK, head + fields.as_str().unwrap_or_default());
    };
    fields["kind"] = kind.into();
    fields["apiVersion"] = format!("{GROUP}/{version}").into();
    fields["metadata"] = json!({"name": COMPONENT});
    let mut answer = body(StatusCode::OK, JSON, fields.to_string());
    if version == "v1alpha1" {
        let warning = HeaderValue::from_static("299 - \"this version is deprecated: request v1beta1\"");
        answer.headers_mut().insert(WARNING, warning);
    }
    answer
}

/// Returns the preferred form that is supported. JSON requires group, version and kind.
fn form(accepts: &str, kind: &str) -> Option<Form> {
    if accepts.trim().is_empty() {
        return Some(Form::Text);
    }
    let mut wanted: Vec<_> = accepts.split(',').map(|clause| clause_of(clause, kind)).collect();
    // The sort is stable: the first of equal weights wins.
    wanted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    wanted.into_iter().filter(|(weight, _)| *weight > 0.0).find_map(|(_, form)| form)
}

/// Returns the weight and form of a clause of `Accept`.
fn clause_of(clause: &str, kind: &str) -> (f32, Option<Form>) {
    let mut parts = clause.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let (mut weight, mut group, mut version, mut named) = (1.0, None, None, None);
    for (key, value) in parts.filter_map(|part| part.split_once('=')) {
        match key.trim() {
            "q" => weight = value.trim().parse().unwrap_or(0.0),
            "g" => group = Some(value.trim()),
            "v" => version = Some(value.trim()),
            "as" => named = Some(value.trim()),
            _ => {}
        }
    }
    let version = match version {
        Some("v1alpha1") => Some("v1alpha1"),
        Some("v1beta1") => Some("v1beta1"),
        _ => None,
    };
    let form = match (media, named) {
        ("text/plain" | "text/*" | "*/*", None) => Some(Form::Text),
        ("application/json" | "application/*" | "*/*", Some(named)) if named == kind && group == Some(GROUP) => {
            version.map(Form::Json)
        }
        _ => None,
    };
    (weight, form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_served_on_request() {
        let json = |version| format!("application/json;v={version};g=config.k8s.io;as=Statusz");
        for (accepts, expected) in [
            ("", Some(Form::Text)),
            ("*/*", Some(Form::Text)),
            ("text/html,text/plain;q=0.5", Some(Form::Text)),
            (&json("v1beta1"), Some(Form::Json("v1beta1"))),
            (&format!("text/plain;q=0.5,{}", json("v1alpha1")), Some(Form::Json("v1alpha1"))),
            (&json("v1"), None),
            ("application/json", None),
            ("application/json;v=v1beta1;g=config.k8s.io;as=Flagz", None),
        ] {
            assert_eq!(form(accepts, "Statusz"), expected, "{accepts}");
        }
    }
}
