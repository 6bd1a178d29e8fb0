//! Extenders.

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::source::Span;

pub(crate) fn idle_extender(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this extender is left out: it has no verb, so kube-scheduler never calls it", "does nothing")
}

pub(crate) fn extender_weight_unused(at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        "this weight is left out: the extender has no `prioritizeVerb`, so it gives no scores",
        "no effect",
    )
}

/// Reports TLS settings without effect. `key` is the setting, as in a profile.
pub(crate) fn tls_over_plain_http(at: Span, key: &str) -> Diagnostic {
    let key = if key == "tls-config" { "tlsConfig" } else { "enableHTTPS" };
    let title = format!("`{key}` is left out: the URL begins with http://, so kube-scheduler uses plain HTTP");
    Diagnostic::at(at, title, "no effect").help("write https:// in `urlPrefix` if the extender supports it")
}

pub(crate) fn https_without_ca(at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        "`enableHTTPS` without a CA: kube-scheduler accepts any certificate, and the profile makes it explicit: `insecure = true`",
        "checks nothing",
    )
    .help("give the CA as `caFile` in `tlsConfig`")
}

/// Reports a value that is not base64. `key` is the setting, as in a profile.
pub(crate) fn not_base64(at: Span, key: &str) -> Diagnostic {
    let key = key.replace("-data", "Data");
    Diagnostic::at(at, format!("`{key}` must be PEM in base64"), "not text in base64")
}

pub(crate) fn data_before_file(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this file is left out: the data of the same field takes precedence", "no effect")
}

pub(crate) fn incomplete_client_certificate(at: Span) -> Diagnostic {
    Diagnostic::at(at, "this is left out: a client's certificate and its key have an effect only together", "no effect")
}

pub(crate) fn no_preemption_plugin(at: Span) -> Diagnostic {
    Diagnostic::at(
        at,
        "this verb is left out: DefaultPreemption, which calls it, does not run in this profile",
        "never called",
    )
}

pub(crate) fn ignored_resources_replaced(at: Span, names: &[&str]) -> Diagnostic {
    let title = format!(
        "these `ignoredResources` have no effect: kube-scheduler ignores those of the extenders in their place, which are {}",
        super::quoted(names)
    );
    Diagnostic::at(at, title, "no effect")
}
