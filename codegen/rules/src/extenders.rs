//! Checks of extenders: kube-scheduler's `validateExtenders` and `makeTransport`, and errors that would otherwise
//! occur at run time.

mod tls;
mod url;

use crate::diagnostic::Diagnostic;
use crate::format;
use crate::messages;
use crate::parse::{RawExtender, RawManagedResource};
use crate::schema::Format;
use crate::source::Spanned;

/// Checks the extenders of a profile.
pub fn check_extenders(extenders: &[RawExtender]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for extender in extenders {
        if let Some(url) = &extender.url_prefix {
            url::check(url, &mut diagnostics);
        }
        verbs(extender, &mut diagnostics);
        weight(extender, &mut diagnostics);
        timeout(extender, &mut diagnostics);
        tls::check(extender, &mut diagnostics);
    }
    check_single_binder(extenders, &mut diagnostics);
    managed_resources(extenders, &mut diagnostics);
    diagnostics
}

fn verbs(extender: &RawExtender, diagnostics: &mut Vec<Diagnostic>) {
    let verbs = extender.verbs().into_iter().filter_map(|(key, verb)| Some((key, verb?)));
    let mut has_any = false;
    for (key, verb) in verbs {
        has_any = true;
        if verb.value.is_empty() {
            diagnostics.push(messages::empty_verb(key, verb));
        } else if !url::is_path(&verb.value) {
            diagnostics.push(messages::bad_verb(key, verb));
        }
    }
    let ignores = extender.managed_resources.iter().any(|resource| resource.ignored_by_scheduler);
    if !has_any && !ignores && !extender.incomplete {
        diagnostics.push(messages::extender_without_verb(extender.at));
    }
}

fn weight(extender: &RawExtender, diagnostics: &mut Vec<Diagnostic>) {
    match (&extender.prioritize_verb, &extender.weight) {
        (Some(verb), None) if !extender.incomplete => diagnostics.push(messages::extender_needs_weight(verb.span)),
        (Some(_), Some(weight)) if weight.value < 1 => diagnostics.push(messages::extender_weight_too_small(weight)),
        (None, Some(weight)) if !extender.incomplete => diagnostics.push(messages::extender_weight_unused(weight.span)),
        _ => {}
    }
}

fn timeout(extender: &RawExtender, diagnostics: &mut Vec<Diagnostic>) {
    let Some(timeout) = &extender.http_timeout else { return };
    match format::duration(&timeout.value) {
        None => diagnostics.push(messages::argument_format(timeout, "`http-timeout`", Format::Duration)),
        Some(nanoseconds) if nanoseconds < 1.0 => diagnostics.push(messages::extender_timeout_too_small(timeout)),
        Some(_) => {}
    }
}

fn check_single_binder(extenders: &[RawExtender], diagnostics: &mut Vec<Diagnostic>) {
    let mut binders = extenders.iter().filter_map(|extender| extender.bind_verb.as_ref());
    let Some(first) = binders.next() else { return };
    diagnostics.extend(binders.map(|other| messages::second_binder(other.span, first.span)));
}

fn managed_resources(extenders: &[RawExtender], diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: Vec<&Spanned<String>> = Vec::new();
    for RawManagedResource { name, .. } in extenders.iter().flat_map(|extender| &extender.managed_resources) {
        if !format::matches(Format::QualifiedName, &name.value) {
            diagnostics.push(messages::argument_format(name, "a managed resource", Format::QualifiedName));
        } else if !is_extended_resource(&name.value) {
            diagnostics.push(messages::not_an_extended_resource(name));
        }
        match seen.iter().find(|other| other.value == name.value) {
            Some(first) => diagnostics.push(messages::managed_twice(name, first.span)),
            None => seen.push(name),
        }
    }
}

/// Returns whether a qualified name is an extended resource (apimachinery's `IsExtendedResourceName`).
fn is_extended_resource(name: &str) -> bool {
    const QUOTA: &str = "requests.";
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with(QUOTA)
        && format::matches(Format::QualifiedName, &format!("{QUOTA}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_resources_have_a_domain_outside_kubernetes_io() {
        assert!(is_extended_resource("example.com/gpu"));
        for name in ["cpu", "gpu", "kubernetes.io/gpu", "x.kubernetes.io/gpu", "requests.example.com/gpu"] {
            assert!(!is_extended_resource(name), "{name}");
        }
        let long = format!("{}/gpu", "a".repeat(250));
        assert!(!is_extended_resource(&long), "its name in a quota would be too long");
    }
}
