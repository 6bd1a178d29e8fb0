//! TLS settings of an extender. Two of the errors are silent in kube-scheduler: HTTPS without a CA does not
//! authenticate the server, and TLS settings have no effect on plain HTTP.

use super::url;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::parse::{RawExtender, RawTls};
use crate::source::Spanned;

pub(super) fn check(extender: &RawExtender, diagnostics: &mut Vec<Diagnostic>) {
    let plain = extender.url_prefix.as_ref().filter(|url| url.value.starts_with(url::HTTP));
    let https = extender.enable_https.as_ref().filter(|https| https.value);
    if let (Some(url), Some(https)) = (plain, https) {
        diagnostics.push(messages::https_over_plain_http(https.span, url));
    } else if let (Some(url), Some(tls)) = (plain, &extender.tls_config) {
        diagnostics.push(messages::tls_over_plain_http(tls.at, url.span));
    }
    if let Some(tls) = &extender.tls_config {
        settings(tls, diagnostics);
    }
    let has_ca_or_is_insecure =
        |tls: &RawTls| tls.ca_file.is_some() || tls.ca_data.is_some() || insecure_flag(tls).is_some();
    if let Some(https) = https.filter(|_| !extender.incomplete && plain.is_none())
        && !extender.tls_config.as_ref().is_some_and(has_ca_or_is_insecure)
    {
        diagnostics.push(messages::https_without_ca(https.span));
    }
}

fn insecure_flag(tls: &RawTls) -> Option<&Spanned<bool>> {
    tls.insecure.as_ref().filter(|insecure| insecure.value)
}

fn settings(tls: &RawTls, diagnostics: &mut Vec<Diagnostic>) {
    let pairs = [
        ("cert-file", &tls.cert_file, "cert-data", &tls.cert_data),
        ("key-file", &tls.key_file, "key-data", &tls.key_data),
        ("ca-file", &tls.ca_file, "ca-data", &tls.ca_data),
    ];
    for (file_key, file, data_key, data) in pairs {
        if let (Some(file), Some(data)) = (file, data) {
            diagnostics.push(messages::file_and_data(file_key, file.span, data_key, data.span));
        }
        if let Some(data) = data.as_ref().filter(|data| !data.value.is_empty() && !is_pem(&data.value)) {
            diagnostics.push(messages::not_pem(data_key, data.span));
        }
    }
    let texts = pairs.into_iter().flat_map(|(file_key, file, data_key, data)| [(file_key, file), (data_key, data)]);
    for (key, text) in texts.chain([("server-name", &tls.server_name)]) {
        if let Some(text) = text.as_ref().filter(|text| text.value.is_empty()) {
            diagnostics.push(messages::empty_tls_setting(key, text.span));
        }
    }
    let (certificate, key) =
        (tls.cert_file.as_ref().or(tls.cert_data.as_ref()), tls.key_file.as_ref().or(tls.key_data.as_ref()));
    match (certificate, key) {
        (Some(certificate), None) => diagnostics.push(messages::incomplete_client_certificate(certificate.span, "key")),
        (None, Some(key)) => diagnostics.push(messages::incomplete_client_certificate(key.span, "cert")),
        _ => {}
    }
    if let (Some(insecure), Some(ca)) = (insecure_flag(tls), tls.ca_file.as_ref().or(tls.ca_data.as_ref())) {
        diagnostics.push(messages::insecure_with_ca(insecure.span, ca.span));
    }
}

/// Returns whether a text contains the first and last line of a PEM block. Other content is not checked.
fn is_pem(text: &str) -> bool {
    text.contains("-----BEGIN ") && text.contains("-----END ")
}
