//! The TLS implementation that clients and the server share.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// Cipher suites, key exchanges and signatures: ring's, for TLS 1.2 and 1.3.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
