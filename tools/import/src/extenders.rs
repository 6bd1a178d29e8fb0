//! Extenders: converts kube-scheduler's `Extender` to profiles.
//!
//! Settings that kube-scheduler accepts but ignores are omitted with a warning. Behaviour that kube-scheduler has
//! without a setting becomes an explicit setting, such as `insecure` for HTTPS without a CA. The result passes the same
//! checks as extenders of a profile.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schedc_profile_rules::parse::RawArgs;
use schedc_profile_rules::plan::{PlanExtender, plan_extenders};
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::tree::{RawField, RawNode, RawTable, RawValue};
use schedc_profile_rules::{check_extenders, parse};

use crate::args::{self, shapes};
use crate::effective::Effective;
use crate::messages;
use crate::profile::is_out_of_tree;
use crate::report::Report;
use crate::tree::Node;

const VERBS: [&str; 4] = ["filter-verb", "prioritize-verb", "preempt-verb", "bind-verb"];

/// Converts the extenders of a configuration, in order.
pub(crate) fn translate(extenders: &[Node], report: &mut Report) -> Vec<RawTable> {
    let mut tables = Vec::new();
    let mut read = Vec::new();
    for (index, node) in extenders.iter().enumerate() {
        let errors_before = report.errors.len();
        let Some(mut table) = args::map(node, shapes::EXTENDER, &format!("extenders[{index}]"), false, report) else {
            continue;
        };
        remove_empty(&mut table);
        remove_unused_weight(&mut table, report);
        convert_tls(&mut table, report);
        table.fields.retain(|field| !matches!(&field.value.value, RawValue::Table(table) if table.fields.is_empty()));
        if !has_effect(&table) {
            report.warning(messages::idle_extender(node.span));
            continue;
        }
        if report.errors.len() > errors_before {
            continue;
        }
        let written = RawNode { span: node.span, value: RawValue::Table(table.clone()) };
        read.extend(parse::extender(&written, &mut report.errors));
        tables.push(table);
    }
    report.errors.extend(check_extenders(&read));
    tables
}

/// Returns the extenders of a profile. If neither DefaultPreemption nor an out-of-tree plugin runs at PostFilter,
/// preempt verbs are removed, and so are extenders that have no effect without this verb.
pub(crate) fn of_profile(extenders: &[RawTable], effective: &Effective, report: &mut Report) -> Vec<RawTable> {
    let mut extenders = extenders.to_vec();
    let mut preempting = effective.point(Point::PostFilter).iter().map(|entry| entry.name.as_str());
    if !preempting.any(|name| name == "DefaultPreemption" || is_out_of_tree(name)) {
        for extender in &mut extenders {
            if let Some(verb) = remove(extender, "preempt-verb") {
                report.warning(messages::no_preemption_plugin(verb.key.span));
            }
        }
        extenders.retain(has_effect);
    }
    extenders
}

/// Returns a profile's extenders in call order.
pub(crate) fn planned(extenders: &[RawTable]) -> Vec<PlanExtender> {
    let raw = extenders.iter().filter_map(|table| {
        let span = table.fields.first()?.key.span;
        // Errors were reported.
        parse::extender(&RawNode { span, value: RawValue::Table(table.clone()) }, &mut Vec::new())
    });
    plan_extenders(&raw.collect::<Vec<_>>())
}

/// Returns the weights of extenders with their locations. A weight beyond 64 bits is the maximum.
pub(crate) fn weights(extenders: &[RawTable]) -> impl Iterator<Item = (i64, Span)> {
    extenders.iter().filter_map(|extender| {
        let weight = &extender.get("weight")?.value;
        match &weight.value {
            RawValue::Int(value) => Some((i64::try_from((*value).max(0)).unwrap_or(i64::MAX), weight.span)),
            _ => None,
        }
    })
}

/// Returns the resources that NodeResourcesFit ignores because of extenders.
fn ignored(extenders: &[RawTable]) -> Vec<&str> {
    let resources = extenders.iter().filter_map(|extender| list(extender, "managed-resources")).flatten();
    let tables = resources.filter_map(|resource| match &resource.value {
        RawValue::Table(table) => Some(table),
        _ => None,
    });
    let ignored = tables.filter(|resource| is_true(resource, "ignored-by-scheduler"));
    ignored.filter_map(|resource| text(resource, "name")).collect()
}

/// Removes `ignoredResources` from the arguments of NodeResourcesFit if extenders have ignored resources: in
/// kube-scheduler, the ones of the extenders replace the argument.
pub(crate) fn replace_ignored(args: &mut Vec<RawArgs>, extenders: &[RawTable], report: &mut Report) {
    let ignored = ignored(extenders);
    let fit = args.iter_mut().find(|args| args.plugin.value == "NodeResourcesFit");
    let Some(RawValue::Table(fit)) = fit.filter(|_| !ignored.is_empty()).map(|fit| &mut fit.value.value) else {
        return;
    };
    let Some(replaced) = remove(fit, "ignored-resources") else { return };
    let RawValue::List(names) = &replaced.value.value else { return };
    if names.iter().any(|name| !matches!(&name.value, RawValue::Str(name) if ignored.contains(&name.as_str()))) {
        report.warning(messages::ignored_resources_replaced(replaced.key.span, &ignored));
    }
    if fit.fields.is_empty() {
        args.retain(|args| args.plugin.value != "NodeResourcesFit");
    }
}

/// Removes values without effect: empty texts and lists, `false`, a timeout of 0.
fn remove_empty(table: &mut RawTable) {
    for field in &mut table.fields {
        let nested: Vec<&mut RawTable> = match &mut field.value.value {
            RawValue::Table(table) => vec![table],
            RawValue::List(items) => items
                .iter_mut()
                .filter_map(|item| match &mut item.value {
                    RawValue::Table(table) => Some(table),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        nested.into_iter().for_each(remove_empty);
    }
    table.fields.retain(|field| match &field.value.value {
        RawValue::Str(text) if field.key.value == "http-timeout" => !["0", "0s"].contains(&text.as_str()),
        // A required setting stays, because an empty value is an error.
        RawValue::Str(text) => !text.is_empty() || ["url-prefix", "name"].contains(&field.key.value.as_str()),
        RawValue::Bool(is_set) => *is_set,
        RawValue::List(items) => !items.is_empty(),
        _ => true,
    });
}

fn remove_unused_weight(table: &mut RawTable, report: &mut Report) {
    if table.get("prioritize-verb").is_none()
        && let Some(weight) = remove(table, "weight")
        && weight.value.value != RawValue::Int(0)
    {
        report.warning(messages::extender_weight_unused(weight.key.span));
    }
}

fn has_effect(table: &RawTable) -> bool {
    VERBS.into_iter().any(|verb| table.get(verb).is_some()) || !ignored(std::slice::from_ref(table)).is_empty()
}

fn convert_tls(table: &mut RawTable, report: &mut Report) {
    let is_plain_http = text(table, "url-prefix").is_some_and(|url| url.starts_with("http://"));
    if is_plain_http {
        for key in ["enable-https", "tls-config"] {
            if let Some(unused) = remove(table, key) {
                report.warning(messages::tls_over_plain_http(unused.key.span, &unused.key.value));
            }
        }
        return;
    }
    let https = table.get("enable-https").map(|https| https.key.span);
    let Some(settings) = table.fields.iter_mut().find(|field| field.key.value == "tls-config") else {
        if let Some(at) = https {
            let settings = RawTable { fields: vec![insecure(at, report)] };
            table.fields.push(field("tls-config", at, RawValue::Table(settings)));
        }
        return;
    };
    let RawValue::Table(settings) = &mut settings.value.value else { return };
    decode_pem(settings, report);
    incomplete_client_certificate(settings, report);
    let is_verification_set = ["ca-file", "ca-data", "insecure"].into_iter().any(|key| settings.get(key).is_some());
    if let Some(at) = https.filter(|_| !is_verification_set) {
        settings.fields.push(insecure(at, report));
    }
}

/// Returns the setting for HTTPS without a CA: kube-scheduler verifies no certificate.
fn insecure(at: Span, report: &mut Report) -> RawField {
    report.warning(messages::https_without_ca(at));
    field("insecure", at, RawValue::Bool(true))
}

/// Decodes certificates and keys that are given in base64. They take precedence over files.
fn decode_pem(settings: &mut RawTable, report: &mut Report) {
    for (data, file) in [("cert-data", "cert-file"), ("key-data", "key-file"), ("ca-data", "ca-file")] {
        let Some(field) = settings.fields.iter_mut().find(|field| field.key.value == data) else { continue };
        let RawValue::Str(text) = &mut field.value.value else { continue };
        let bytes: String = text.split_ascii_whitespace().collect();
        match STANDARD.decode(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(decoded) => *text = decoded,
            None => report.error(messages::not_base64(field.value.span, data)),
        }
        if let Some(file) = remove(settings, file) {
            report.warning(messages::data_before_file(file.key.span));
        }
    }
}

/// Removes a certificate without its key, or a key without its certificate, because kube-scheduler does not use it.
fn incomplete_client_certificate(settings: &mut RawTable, report: &mut Report) {
    let halves = [["cert-file", "cert-data"], ["key-file", "key-data"]];
    let given = halves.map(|keys| keys.into_iter().find(|key| settings.get(key).is_some()));
    if let [Some(key), None] | [None, Some(key)] = given
        && let Some(half) = remove(settings, key)
    {
        report.warning(messages::incomplete_client_certificate(half.key.span));
    }
}

fn field(key: &str, span: Span, value: RawValue) -> RawField {
    RawField { key: Spanned { value: key.to_owned(), span }, value: RawNode { span, value } }
}

fn remove(table: &mut RawTable, key: &str) -> Option<RawField> {
    let at = table.fields.iter().position(|field| field.key.value == key)?;
    Some(table.fields.remove(at))
}

fn list<'t>(table: &'t RawTable, key: &str) -> Option<&'t [RawNode]> {
    match &table.get(key)?.value.value {
        RawValue::List(items) => Some(items),
        _ => None,
    }
}

fn text<'t>(table: &'t RawTable, key: &str) -> Option<&'t str> {
    match &table.get(key)?.value.value {
        RawValue::Str(text) => Some(text),
        _ => None,
    }
}

fn is_true(table: &RawTable, key: &str) -> bool {
    table.get(key).is_some_and(|field| field.value.value == RawValue::Bool(true))
}
