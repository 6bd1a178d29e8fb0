//! Credentials that requests present.

use hyper::header::HeaderValue;
use k8s_openapi::jiff::Timestamp;

use super::ConnectError;

/// Credentials that requests present.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Credentials {
    pub(super) authorization: Option<HeaderValue>,
    /// Certificate and its key, as PEM.
    pub(super) certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Expiry, if known.
    pub(super) until: Option<Timestamp>,
}

pub(super) fn bearer(token: &str, label: &str) -> Result<HeaderValue, ConnectError> {
    match token.trim() {
        "" => Err(ConnectError::new(format!("{label} is empty"))),
        token => secret(format!("Bearer {token}")).ok_or_else(|| {
            ConnectError::new(format!("{label} is not a token: it contains characters that a header cannot contain"))
        }),
    }
}

/// Returns a header that is neither printed nor stored in HTTP/2 header tables.
pub(super) fn secret(text: String) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
