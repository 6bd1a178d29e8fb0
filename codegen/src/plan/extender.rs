//! An extender, decided.

use std::time::Duration;

use serde_json::{Value, json};

use crate::source::Span;

/// A webhook that a profile asks besides its plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanExtender {
    /// Where the profile has it.
    pub at: Span,
    /// What calls are sent to, before the verb: `http://` or `https://`, a host, perhaps a port and a path.
    pub url_prefix: String,
    /// The call that takes nodes out.
    pub filter_verb: Option<String>,
    /// The call that scores nodes.
    pub prioritize_verb: Option<String>,
    /// The call that looks through candidates for preemption.
    pub preempt_verb: Option<String>,
    /// The call that binds.
    pub bind_verb: Option<String>,
    /// The call that tells of a decision that was undone; kube-scheduler has none like it.
    pub unreserve_verb: Option<String>,
    /// How much its scores count; at least 1 if it has [`Self::prioritize_verb`], else 0.
    pub weight: i64,
    /// Its certificate is checked against a CA of [`Self::tls`], or not at all if that says so.
    pub enable_https: bool,
    /// How it is reached by TLS.
    pub tls: Option<PlanTls>,
    /// How long a call may take; more than 0.
    pub http_timeout: Duration,
    /// Nodes are named to it, and not sent.
    pub node_cache_capable: bool,
    /// It is asked about pods that want one of these alone; about all if there are none.
    pub managed_resources: Vec<ManagedResource>,
    /// A pod is scheduled without it if it fails.
    pub ignorable: bool,
}

/// How an extender is reached by TLS. Each of the three is a file, or PEM text, or not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanTls {
    /// The server's certificate is not checked.
    pub insecure: bool,
    /// The name that the server's certificate must carry; else that of the URL.
    pub server_name: Option<String>,
    /// The file of the client's certificate.
    pub cert_file: Option<String>,
    /// The file of the client's key.
    pub key_file: Option<String>,
    /// The file of the CAs that the server's certificate must come from.
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
    /// NodeResourcesFit does not look at it.
    pub ignored_by_scheduler: bool,
    /// Where it is named.
    pub at: Span,
}

impl PlanExtender {
    /// As JSON, by the keys of a profile; what says no more than its absence is left out.
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

    /// The same, for everybody to see: without the client's key.
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

/// A duration with the largest unit that leaves no fraction: `1500ms`.
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
