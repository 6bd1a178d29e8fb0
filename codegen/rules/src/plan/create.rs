//! The extenders of a profile in call order: ignorable extenders come last (`buildExtenders` in
//! pkg/scheduler/scheduler.go).

use std::time::Duration;

use super::{ManagedResource, PlanExtender, PlanTls};
use crate::format::duration;
use crate::parse::{RawExtender, RawTls};
use crate::source::Spanned;

/// kube-scheduler's `DefaultExtenderTimeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Creates the plans of extenders, in call order.
pub fn plan_extenders(raw: &[RawExtender]) -> Vec<PlanExtender> {
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
