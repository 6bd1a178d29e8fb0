//! The extenders of a profile in call order: ignorable extenders come last (`buildExtenders` in
//! pkg/scheduler/scheduler.go).

use std::time::Duration;

use crate::format::duration;
use crate::parse::{RawExtender, RawTls};
use crate::plan::{Field, ManagedResource, Node, PlanExtender, PlanPlugin, PlanTls, Value};
use crate::source::Spanned;

/// kube-scheduler's `DefaultExtenderTimeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// The plugin that filters by resources.
const FIT: &str = "NodeResourcesFit";
/// The argument of [`FIT`] with the resources that it ignores.
const IGNORED: &str = "ignored-resources";

/// Creates the plans of extenders, in call order.
pub fn plan(raw: &[RawExtender]) -> Vec<PlanExtender> {
    let (ignorable, needed): (Vec<_>, Vec<_>) = raw.iter().map(extender).partition(|extender| extender.ignorable);
    needed.into_iter().chain(ignorable).collect()
}

fn extender(raw: &RawExtender) -> PlanExtender {
    let timeout = raw.http_timeout.as_ref().and_then(|written| duration(&written.value));
    let weight = raw.weight.as_ref().and_then(|weight| i64::try_from(weight.value).ok());
    let resources = raw.managed_resources.iter().map(|resource| ManagedResource {
        name: resource.name.value.clone(),
        ignored_by_scheduler: resource.ignored_by_scheduler,
        at: resource.name.span,
    });
    PlanExtender {
        at: raw.at,
        url_prefix: text(&raw.url_prefix).unwrap_or_default(),
        filter_verb: text(&raw.filter_verb),
        prioritize_verb: text(&raw.prioritize_verb),
        preempt_verb: text(&raw.preempt_verb),
        bind_verb: text(&raw.bind_verb),
        unreserve_verb: text(&raw.unreserve_verb),
        weight: weight.unwrap_or(0),
        enable_https: is_set(&raw.enable_https),
        tls: raw.tls_config.as_ref().map(tls),
        // The check limits the value to 64 bits of nanoseconds; the cast saturates.
        http_timeout: timeout.map_or(DEFAULT_TIMEOUT, |nanoseconds| Duration::from_nanos(nanoseconds as u64)),
        node_cache_capable: is_set(&raw.node_cache_capable),
        managed_resources: resources.collect(),
        ignorable: is_set(&raw.ignorable),
    }
}

fn tls(raw: &RawTls) -> PlanTls {
    PlanTls {
        insecure: is_set(&raw.insecure),
        server_name: text(&raw.server_name),
        cert_file: text(&raw.cert_file),
        key_file: text(&raw.key_file),
        ca_file: text(&raw.ca_file),
        cert_data: text(&raw.cert_data),
        key_data: text(&raw.key_data),
        ca_data: text(&raw.ca_data),
    }
}

fn text(written: &Option<Spanned<String>>) -> Option<String> {
    written.as_ref().map(|written| written.value.clone())
}

fn is_set(written: &Option<Spanned<bool>>) -> bool {
    written.as_ref().is_some_and(|written| written.value)
}

/// Adds the managed resources of extenders that have `ignored-by-scheduler` to the resources that NodeResourcesFit
/// ignores. (kube-scheduler replaces the plugin's list.)
pub(super) fn ignore_resources(extenders: &[PlanExtender], plugins: &mut [PlanPlugin]) {
    let mut ignored = extenders
        .iter()
        .flat_map(|extender| &extender.managed_resources)
        .filter(|resource| resource.ignored_by_scheduler)
        .peekable();
    let (Some(first), Some(fit)) = (ignored.peek(), plugins.iter_mut().find(|plugin| plugin.entry.name == FIT)) else {
        return;
    };
    let new_node = |value| Node { span: first.at, value };
    let args = fit.args.get_or_insert_with(|| new_node(Value::Table(Vec::new())));
    let Value::Table(fields) = &mut args.value else { return };
    if fields.iter().all(|field| field.key.value != IGNORED) {
        let key = Spanned { value: IGNORED.to_owned(), span: first.at };
        fields.push(Field { key, value: new_node(Value::List(Vec::new())) });
    }
    let field = fields.iter_mut().find(|field| field.key.value == IGNORED);
    let Some(Value::List(names)) = field.map(|field| &mut field.value.value) else { return };
    for resource in ignored {
        let name = Value::Str(resource.name.clone());
        if names.iter().all(|other| other.value != name) {
            names.push(Node { span: resource.at, value: name });
        }
    }
}
