//! TLS: trusted authorities and client certificates.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, DigitallySignedStruct, Error, InconsistentKeys, RootCertStore, SignatureScheme};

use super::ConnectError;
use super::credentials::Source;
use crate::crypto;

/// Authorities that the server's certificate is verified against.
pub(super) enum Trust {
    /// Trusted authorities of this machine.
    System,
    /// Only these authorities.
    Authority(Source),
    /// No verification: `insecure-skip-tls-verify`.
    InsecureSkipVerify,
}

impl Trust {
    /// Reads the authority's current certificates, as PEM.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, ConnectError> {
        match self {
            Trust::Authority(source) => source.read().map(Some),
            Trust::System | Trust::InsecureSkipVerify => Ok(None),
        }
    }

    /// Whether the authority is a file, which may change.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Trust::Authority(source) if source.is_file())
    }

    /// Builds a TLS configuration from the authority that was read, and from a certificate with its key.
    pub(super) fn tls(
        &self,
        authority: Option<&[u8]>,
        certificate: Option<&(Vec<u8>, Vec<u8>)>,
    ) -> Result<ClientConfig, ConnectError> {
        let provider = crypto::provider();
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| ConnectError::new(format!("TLS: {error}")))?;
        let builder = match self {
            Trust::System => builder.with_root_certificates(system_roots()?),
            Trust::Authority(source) => {
                builder.with_root_certificates(roots(authority.unwrap_or_default(), &source.to_string())?)
            }
            Trust::InsecureSkipVerify => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
            }
        };
        let Some((certificate, key)) = certificate else { return Ok(builder.with_no_client_auth()) };
        let wrong = |why: &dyn std::fmt::Display| ConnectError::new(format!("the client certificate: {why}"));
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.map_err(|error| wrong(&format!("it is not PEM: {error}")))?;
        if chain.is_empty() {
            return Err(wrong(&"it contains no `BEGIN CERTIFICATE`"));
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| wrong(&"its key is not an unencrypted private key in PEM"))?;
        let key = builder.crypto_provider().key_provider.load_private_key(key).map_err(|error| wrong(&error))?;
        let pair = CertifiedKey::new(chain, key);
        check_key(&pair).map_err(|error| wrong(&error))?;
        Ok(builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(pair))))
    }
}

/// Checks that certificate and key match, if the key reports its public half.
fn check_key(pair: &CertifiedKey) -> Result<(), Error> {
    match pair.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(()),
        // rustls parses X.509 version 3 only, but sends any certificate. `openssl x509 -req` without extensions writes
        // version 1.
        Err(error @ Error::InvalidCertificate(_)) => match pair.key.public_key() {
            Some(key) if pair.cert.first().is_some_and(|it| it.windows(key.len()).any(|part| part == &*key)) => Ok(()),
            _ => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Parses trusted certificates. Unreadable ones are skipped; an error is returned if none remains.
fn roots(pem: &[u8], what: &str) -> Result<RootCertStore, ConnectError> {
    let mut roots = RootCertStore::empty();
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect();
    roots.add_parsable_certificates(certificates);
    match roots.is_empty() {
        false => Ok(roots),
        true => Err(ConnectError::new(format!("{what}: it contains no certificate in PEM"))),
    }
}

/// Trusted authorities of this machine; `SSL_CERT_FILE` and `SSL_CERT_DIR` locate them, as in Go.
fn system_roots() -> Result<RootCertStore, ConnectError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        false => Ok(roots),
        true => Err(ConnectError::new(
            "no trusted authority: neither a `certificate-authority` for the API server nor certificates of this machine; set \
             `certificate-authority` in the kubeconfig",
        )),
    }
}

/// Accepts any certificate.
#[derive(Debug)]
pub(crate) struct AcceptAnyCertificate(pub(crate) Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
