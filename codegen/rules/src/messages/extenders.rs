//! Extenders.

use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};

pub fn single_extender(at: Span) -> Diagnostic {
    Diagnostic::at(at, "`extender` must be a list of tables, not one table", "there can be several")
        .help("write `[[extender]]`, with two brackets")
}

/// Reports a URL without a scheme. `suggestion` is a valid URL.
pub fn url_without_scheme(url: &Spanned<String>, suggestion: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::at(
        url.span,
        format!("`url-prefix` cannot be `{}`", url.value),
        "must begin with `http://` or `https://`",
    );
    match suggestion {
        None => diagnostic,
        Some(suggestion) => {
            diagnostic.suggest(format!("did you mean `{suggestion}`?"), url.span, format!("\"{suggestion}\""))
        }
    }
}

/// Reports an invalid URL. `fault` is the error in the URL.
pub fn bad_url(url: &Spanned<String>, fault: &str) -> Diagnostic {
    Diagnostic::at(url.span, format!("`url-prefix` cannot be called: {fault}"), "not a URL to call")
        .note("a scheme, a host, perhaps a port and a path: `http://gpu-share.kube-system:8888/scheduler`")
}

pub fn empty_verb(key: &str, verb: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(verb.span, format!("`{key}` must not be empty"), "nothing would be called")
        .help(format!("leave `{key}` out if the extender has no such call"))
}

pub fn bad_verb(key: &str, verb: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(verb.span, format!("`{key}` cannot be `{}`", verb.value), "cannot be in the path of a URL")
        .note(format!("the URL of a call is `url-prefix`, `/` and `{key}`"))
}

pub fn extender_without_verb(at: Span) -> Diagnostic {
    Diagnostic::at(at, "an extender without a verb is never called", "does nothing")
        .help("give it `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb` or `unreserve-verb`, or remove it")
}

pub fn extender_needs_weight(verb: Span) -> Diagnostic {
    Diagnostic::at(verb, "an extender with `prioritize-verb` needs `weight`", "add `weight`, the factor of its scores")
        .note("an extender scores nodes from 0 to 10; with weight 1, its scores count as 0 to 100, like those of a plugin")
        .help("add `weight = 1`")
}

pub fn extender_weight_too_small(weight: &Spanned<i128>) -> Diagnostic {
    let title = format!("the weight of an extender must be at least 1, not {}", weight.value);
    Diagnostic::at(weight.span, title, "must be at least 1")
        .help("remove `prioritize-verb` and `weight` to ignore its scores")
}

pub fn extender_weight_unused(weight: Span) -> Diagnostic {
    Diagnostic::at(weight, "`weight` is for extenders with `prioritize-verb` only", "has no effect")
        .help("name the `prioritize-verb`, or remove the weight")
}

pub fn extender_timeout_too_small(timeout: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(timeout.span, "`http-timeout` must be more than 0", "every call would fail")
        .help("without this key, the timeout is 5s, as in kube-scheduler")
}

pub fn second_binder(second: Span, first: Span) -> Diagnostic {
    Diagnostic::at(second, "only one extender of a profile can have `bind-verb`", "another one that binds")
        .secondary(first, "the first one")
        .help("remove one of the two: only one extender can bind a pod")
}

/// Reports a preemption verb in a profile without a preemption plugin. `plugins` is the location where the profile
/// determines its preemption plugins.
pub fn no_preemption_plugin(verb: Span, plugins: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(verb, "`preempt-verb` is never called: no plugin of this profile calls it", "never called");
    let diagnostic =
        if plugins.end > 0 { diagnostic.secondary(plugins, "without DefaultPreemption") } else { diagnostic };
    diagnostic
        .note("kube-scheduler accepts such an extender, and never calls its `preempt-verb`")
        .help("let DefaultPreemption run at `post-filter`, or remove `preempt-verb`")
}

pub fn not_an_extended_resource(name: &Spanned<String>) -> Diagnostic {
    let title = format!("`{}` cannot be managed: it is not an extended resource", name.value);
    Diagnostic::at(name.span, title, "not an extended resource").note(
        "the name of an extended resource, such as `example.com/gpu`, has a domain outside of kubernetes.io and does \
         not begin with `requests.`",
    )
}

pub fn managed_twice(second: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(second.span, format!("`{}` is managed twice", second.value), "again")
        .secondary(first, "first")
        .note("a resource can be named only once in the extenders of a profile")
        .help("remove one of the two")
}

pub fn https_over_plain_http(https: Span, url: &Spanned<String>) -> Diagnostic {
    let encrypted = url.value.replacen("http://", "https://", 1);
    Diagnostic::at(https, "`enable-https` does not make HTTPS of `http://`", "nothing would be encrypted")
        .secondary(url.span, "this scheme decides")
        .suggest("change the URL", url.span, format!("\"{encrypted}\""))
}

pub fn tls_over_plain_http(tls: Span, url: Span) -> Diagnostic {
    Diagnostic::at(tls, "`tls-config` is for `https://` only", "has no effect")
        .secondary(url, "plain HTTP")
        .help("change the URL, or remove `tls-config`")
}

pub fn https_without_ca(https: Span) -> Diagnostic {
    Diagnostic::at(https, "`enable-https` needs a CA in `tls-config`", "no trusted CA")
        .note("without a CA, kube-scheduler trusts any certificate and does not warn")
        .help(
            "add `tls-config = { ca-file = \"..\" }`; or remove `enable-https` to trust the CAs of the system; or set \
             `tls-config = { insecure = true }`",
        )
}

pub fn file_and_data(file_key: &str, file: Span, data_key: &str, data: Span) -> Diagnostic {
    Diagnostic::at(file, format!("`{file_key}` and `{data_key}` exclude each other"), "a file")
        .secondary(data, "and its contents")
        .help("remove one of the two")
}

pub fn not_pem(key: &str, at: Span) -> Diagnostic {
    Diagnostic::at(at, format!("`{key}` must be PEM"), "not PEM").note(
        "text from `-----BEGIN ..-----` to `-----END ..-----`, without the additional base64 of kube-scheduler's files",
    )
}

pub fn empty_tls_setting(key: &str, at: Span) -> Diagnostic {
    Diagnostic::at(at, format!("`{key}` must not be empty"), "nothing").help(format!("leave `{key}` out"))
}

/// Reports a certificate without its key, or the reverse. `missing` is the missing half: `key` or `cert`.
pub fn incomplete_client_certificate(at: Span, missing: &str) -> Diagnostic {
    Diagnostic::at(at, "a client's certificate and its key go together", "the other half is missing")
        .help(format!("add `{missing}-file` or `{missing}-data`"))
}

pub fn insecure_with_ca(insecure: Span, ca: Span) -> Diagnostic {
    Diagnostic::at(insecure, "`insecure` and a CA exclude each other", "checks no certificate")
        .secondary(ca, "would verify the certificate")
        .help("remove `insecure`, unless the network is trusted")
}

pub fn extender_crate_missing(at: Span, package: &str) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("extenders require the crate schedc-extender, which {package} does not depend on"),
        "would be called by schedc-extender",
    )
    .help("add schedc-extender to [dependencies] in Cargo.toml")
}

pub fn extender_crate_off(at: Span, package: &str, feature: &str) -> Diagnostic {
    Diagnostic::at(
        at,
        format!("extenders require the crate schedc-extender, which is left out of this build of {package}"),
        "would be called by schedc-extender",
    )
    .help(format!("build with `--features {feature}`"))
}
