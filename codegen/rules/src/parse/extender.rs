//! `[[extender]]` as written: a webhook in addition to the plugins.

use crate::diagnostic::Diagnostic;
use crate::fields::{self, Fields};
use crate::messages;
use crate::source::{Span, Spanned};
use crate::tree::{RawNode, RawTable, RawValue};

/// An extender as written.
#[derive(Clone, Debug)]
pub struct RawExtender {
    /// Start of the extender.
    pub at: Span,
    /// `url-prefix`.
    pub url_prefix: Option<Spanned<String>>,
    /// `filter-verb`.
    pub filter_verb: Option<Spanned<String>>,
    /// `prioritize-verb`.
    pub prioritize_verb: Option<Spanned<String>>,
    /// `preempt-verb`.
    pub preempt_verb: Option<Spanned<String>>,
    /// `bind-verb`.
    pub bind_verb: Option<Spanned<String>>,
    /// `unreserve-verb`.
    pub unreserve_verb: Option<Spanned<String>>,
    /// `weight`.
    pub weight: Option<Spanned<i128>>,
    /// `enable-https`.
    pub enable_https: Option<Spanned<bool>>,
    /// `tls-config`.
    pub tls_config: Option<RawTls>,
    /// `http-timeout`.
    pub http_timeout: Option<Spanned<String>>,
    /// `node-cache-capable`.
    pub node_cache_capable: Option<Spanned<bool>>,
    /// `managed-resources`.
    pub managed_resources: Vec<RawManagedResource>,
    /// `ignorable`.
    pub ignorable: Option<Spanned<bool>>,
    /// Whether part of the extender was invalid, and reported.
    pub incomplete: bool,
}

impl RawExtender {
    /// Returns its verbs, each with its key.
    pub fn verbs(&self) -> [(&'static str, Option<&Spanned<String>>); 5] {
        let [filter, prioritize, preempt, bind, unreserve] = VERBS;
        [
            (filter, self.filter_verb.as_ref()),
            (prioritize, self.prioritize_verb.as_ref()),
            (preempt, self.preempt_verb.as_ref()),
            (bind, self.bind_verb.as_ref()),
            (unreserve, self.unreserve_verb.as_ref()),
        ]
    }
}

/// `tls-config` as written.
#[derive(Clone, Debug)]
pub struct RawTls {
    /// Location of the key.
    pub at: Span,
    /// `insecure`.
    pub insecure: Option<Spanned<bool>>,
    /// `server-name`.
    pub server_name: Option<Spanned<String>>,
    /// `cert-file`.
    pub cert_file: Option<Spanned<String>>,
    /// `key-file`.
    pub key_file: Option<Spanned<String>>,
    /// `ca-file`.
    pub ca_file: Option<Spanned<String>>,
    /// `cert-data`.
    pub cert_data: Option<Spanned<String>>,
    /// `key-data`.
    pub key_data: Option<Spanned<String>>,
    /// `ca-data`.
    pub ca_data: Option<Spanned<String>>,
}

/// An element of `managed-resources` as written.
#[derive(Clone, Debug)]
pub struct RawManagedResource {
    /// `name`.
    pub name: Spanned<String>,
    /// `ignored-by-scheduler`.
    pub ignored_by_scheduler: bool,
}

/// Keys of the verbs.
pub const VERBS: [&str; 5] = ["filter-verb", "prioritize-verb", "preempt-verb", "bind-verb", "unreserve-verb"];

const URL: &str = "url-prefix";

/// Keys of an extender.
pub const EXTENDER_KEYS: [&str; 13] = [
    URL,
    VERBS[0],
    VERBS[1],
    VERBS[2],
    VERBS[3],
    VERBS[4],
    "weight",
    "enable-https",
    "tls-config",
    "http-timeout",
    "node-cache-capable",
    "managed-resources",
    "ignorable",
];

/// Keys of `tls-config`.
pub const TLS_KEYS: [&str; 8] =
    ["insecure", "server-name", "cert-file", "key-file", "ca-file", "cert-data", "key-data", "ca-data"];

/// Reads the elements of `extender`.
pub fn extenders(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Vec<RawExtender> {
    match &node.value {
        RawValue::List(items) => items.iter().filter_map(|item| extender(item, diagnostics)).collect(),
        RawValue::Table(_) => {
            diagnostics.push(messages::single_extender(node.span));
            Vec::new()
        }
        other => {
            diagnostics.push(messages::wrong_kind(node.span, "`extender`", "a list of tables", other.kind()));
            Vec::new()
        }
    }
}

/// Reads one extender. Returns `None` after reporting a value that is no table.
pub fn extender(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Option<RawExtender> {
    let found_before = diagnostics.len();
    let table = fields::table(node, "an extender", diagnostics)?;
    let mut fields = Fields::new(table, "an extender", node.span, &EXTENDER_KEYS, diagnostics);
    let [filter_verb, prioritize_verb, preempt_verb, bind_verb, unreserve_verb] = VERBS.map(|key| fields.string(key));
    let url_prefix = fields.required_string(URL);
    let weight = fields.integer("weight");
    let enable_https = fields.boolean("enable-https");
    let http_timeout = fields.string("http-timeout");
    let node_cache_capable = fields.boolean("node-cache-capable");
    let ignorable = fields.boolean("ignorable");
    let resources = fields.list("managed-resources", "tables with `name`");
    let tls_at = fields.get("tls-config").map(|field| field.key.span);
    let tls = fields.table("tls-config");
    let managed_resources = resources.iter().filter_map(|item| managed_resource(item, fields.diagnostics())).collect();
    let tls_config = tls.zip(tls_at).map(|((table, _), at)| tls_config(table, at, fields.diagnostics()));
    Some(RawExtender {
        at: node.span,
        url_prefix,
        filter_verb,
        prioritize_verb,
        preempt_verb,
        bind_verb,
        unreserve_verb,
        weight,
        enable_https,
        tls_config,
        http_timeout,
        node_cache_capable,
        managed_resources,
        ignorable,
        incomplete: diagnostics.len() > found_before,
    })
}

fn tls_config(table: &RawTable, at: Span, diagnostics: &mut Vec<Diagnostic>) -> RawTls {
    let mut fields = Fields::new(table, "`tls-config`", at, &TLS_KEYS, diagnostics);
    RawTls {
        at,
        insecure: fields.boolean("insecure"),
        server_name: fields.string("server-name"),
        cert_file: fields.string("cert-file"),
        key_file: fields.string("key-file"),
        ca_file: fields.string("ca-file"),
        cert_data: fields.string("cert-data"),
        key_data: fields.string("key-data"),
        ca_data: fields.string("ca-data"),
    }
}

fn managed_resource(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Option<RawManagedResource> {
    let table = fields::table(node, "an element of `managed-resources`", diagnostics)?;
    let mut fields =
        Fields::new(table, "a managed resource", node.span, &["name", "ignored-by-scheduler"], diagnostics);
    let ignored_by_scheduler = fields.boolean("ignored-by-scheduler").is_some_and(|ignored| ignored.value);
    fields.required_string("name").map(|name| RawManagedResource { name, ignored_by_scheduler })
}
