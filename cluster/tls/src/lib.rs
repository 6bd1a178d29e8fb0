//! TLS of clients: trusted authorities, client certificates, and the cryptography that clients and servers share.
//!
//! Clients of API servers and of extenders accept the same certificates.

mod accept_any;
mod identity;

use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

pub use accept_any::AcceptAnyCertificate;

/// Authorities that the certificate of a server is verified against.
#[derive(Clone, Copy, Debug)]
pub enum Authorities<'a> {
    /// Trusted authorities of this machine; `SSL_CERT_FILE` and `SSL_CERT_DIR` locate them, as in Go.
    System,
    /// Only these, as PEM. Unreadable certificates are skipped.
    Pem(&'a [u8]),
    /// No verification.
    AcceptAny,
}

/// Client certificate chain and private key, as PEM.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The certificate, followed by intermediate certificates.
    pub chain: &'a [u8],
    /// The unencrypted private key.
    pub key: &'a [u8],
}

/// Reason why no TLS configuration can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// This machine has no trusted authority.
    NoSystemAuthority,
    /// The PEM of [`Authorities::Pem`] has no readable certificate.
    NoAuthority,
    /// The [`Identity`] cannot be used.
    Identity(String),
    /// The cryptography does not support the TLS versions.
    Versions(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::NoSystemAuthority => f.write_str("this machine has no trusted authority"),
            TlsError::NoAuthority => f.write_str("it contains no certificate in PEM"),
            TlsError::Identity(reason) => write!(f, "the client certificate: {reason}"),
            TlsError::Versions(reason) => write!(f, "TLS: {reason}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// Returns ring's cipher suites, key exchanges and signatures for TLS 1.2 and 1.3.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Builds the TLS configuration of a client.
///
/// # Errors
/// Returns an error if no authority is found, or the identity cannot be used.
pub fn client_config(authorities: Authorities<'_>, identity: Option<Identity<'_>>) -> Result<ClientConfig, TlsError> {
    let provider = provider();
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Versions(error.to_string()))?;
    let builder = match authorities {
        Authorities::System => {
            let found = rustls_native_certs::load_native_certs().certs;
            builder.with_root_certificates(roots(found).ok_or(TlsError::NoSystemAuthority)?)
        }
        Authorities::Pem(pem) => {
            let found = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect();
            builder.with_root_certificates(roots(found).ok_or(TlsError::NoAuthority)?)
        }
        Authorities::AcceptAny => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider.clone())))
        }
    };
    match identity {
        Some(identity) => {
            let resolver = identity::resolver(identity, &provider).map_err(TlsError::Identity)?;
            Ok(builder.with_client_cert_resolver(Arc::new(resolver)))
        }
        None => Ok(builder.with_no_client_auth()),
    }
}

/// Returns a store of these authorities, or `None` if no certificate can be parsed.
fn roots(certificates: Vec<CertificateDer<'_>>) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    (!roots.is_empty()).then_some(roots)
}
