//! The plan of an extender.

use std::time::Duration;

use serde_json::{Value, json};

use crate::source::Span;

/// A webhook that a profile calls in addition to its plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanExtender {
    /// Source location.
    pub at: Span,
    /// URL of calls, without the verb: `http://` or `https://`, a host, optionally a port and a path.
    pub url_prefix: String,
    /// The call that filters nodes.
    pub filter_verb: Option<String>,
    /// The call that scores nodes.
    pub prioritize_verb: Option<String>,
    /// The call that filters candidates for preemption.
    pub preempt_verb: Option<String>,
    /// The call that binds.
    pub bind_verb: Option<String>,
    /// The call that reports a reverted decision; kube-scheduler has no such call.
    pub unreserve_verb: Option<String>,
    /// The weight of its scores; at least 1 with [`Self::prioritize_verb`], otherwise 0.
    pub weight: i64,
    /// Whether the extender's certificate is verified against a CA of [`Self::tls`], unless `tls` disables verification.
    pub enable_https: bool,
    /// TLS settings.
    pub tls: Option<PlanTls>,
    /// The timeout of a call; more than 0.
    pub http_timeout: Duration,
    /// Whether calls contain node names instead of nodes.
    pub node_cache_capable: bool,
    /// The extender is called only for pods that request one of these; for all pods if empty.
    pub managed_resources: Vec<ManagedResource>,
    /// Whether a pod is scheduled without the extender if a call fails.
    pub ignorable: bool,
}

/// TLS settings of an extender. The certificate, the key and the CAs are each a file, PEM text, or missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanTls {
    /// Whether the server's certificate is not verified.
    pub insecure: bool,
    /// The expected name in the server's certificate; otherwise the host of the URL.
    pub server_name: Option<String>,
    /// The file of the client's certificate.
    pub cert_file: Option<String>,
    /// The file of the client's key.
    pub key_file: Option<String>,
    /// The file of the CAs for the server's certificate.
    pub ca_file: Option<String>,
    /// The client's certificate.
    pub cert_data: Option<String>,
    /// The client's key.
    pub key_data: Option<String>,
    /// The CAs.
    pub ca_data: Option<String>,
}

/// A resource that an extender manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedResource {
    /// An extended resource.
    pub name: String,
    /// Whether NodeResourcesFit ignores it.
    pub ignored_by_scheduler: bool,
    /// Source location.
    pub at: Span,
}

impl PlanExtender {
    /// Returns JSON with the keys of a profile, without default values.
    pub fn to_json(&self) -> Value {
        let resources = self.managed_resources.iter().map(|resource| {
            present([
                ("name", Some(json!(resource.name))),
                ("ignored-by-scheduler", resource.ignored_by_scheduler.then_some(json!(true))),
            ])
        });
        let resources: Vec<Value> = resources.collect();
        present([
            ("url-prefix", Some(json!(self.url_prefix))),
            ("filter-verb", text(&self.filter_verb)),
            ("prioritize-verb", text(&self.prioritize_verb)),
            ("preempt-verb", text(&self.preempt_verb)),
            ("bind-verb", text(&self.bind_verb)),
            ("unreserve-verb", text(&self.unreserve_verb)),
            ("weight", (self.weight != 0).then_some(json!(self.weight))),
            ("enable-https", self.enable_https.then_some(json!(true))),
            ("tls-config", self.tls.as_ref().map(PlanTls::to_json)),
            ("http-timeout", Some(json!(duration_text(self.http_timeout)))),
            ("node-cache-capable", self.node_cache_capable.then_some(json!(true))),
            ("managed-resources", (!resources.is_empty()).then_some(json!(resources))),
            ("ignorable", self.ignorable.then_some(json!(true))),
        ])
    }

    /// Returns the JSON with `(hidden)` in place of the client's key.
    pub fn redacted_json(&self) -> Value {
        let mut shown = self.clone();
        if let Some(key) = shown.tls.as_mut().and_then(|tls| tls.key_data.as_mut()) {
            "(hidden)".clone_into(key);
        }
        shown.to_json()
    }
}

impl PlanTls {
    fn to_json(&self) -> Value {
        present([
            ("insecure", self.insecure.then_some(json!(true))),
            ("server-name", text(&self.server_name)),
            ("cert-file", text(&self.cert_file)),
            ("key-file", text(&self.key_file)),
            ("ca-file", text(&self.ca_file)),
            ("cert-data", text(&self.cert_data)),
            ("key-data", text(&self.key_data)),
            ("ca-data", text(&self.ca_data)),
        ])
    }
}

fn text(written: &Option<String>) -> Option<Value> {
    written.as_deref().map(Value::from)
}

fn present<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Returns a duration with the largest unit that leaves no fraction: `1500ms`.
fn duration_text(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    match units.into_iter().find(|(_, unit)| nanoseconds.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{name}", nanoseconds / unit),
        None => format!("{nanoseconds}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_one_unit() {
        for (nanoseconds, text) in
            [(5_000_000_000, "5s"), (90_000_000_000, "90s"), (1_500_000_000, "1500ms"), (2_000, "2us"), (1, "1ns")]
        {
            assert_eq!(duration_text(Duration::from_nanos(nanoseconds)), text);
        }
    }
}
