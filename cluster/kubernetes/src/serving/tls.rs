//! TLS of the server: versions, cipher suites and client certificates.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::NoServerSessionStorage;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, ProtocolVersion, ServerConfig, SignatureScheme, version,
};

use super::certificate::CertificatePair;
use crate::flags;

/// Builds the TLS configuration. `clients`: subjects of accepted authorities, or `None` if no certificate is requested.
pub(super) fn config(
    serving: &flags::Serving,
    pair: &CertificatePair,
    clients: Option<Vec<DistinguishedName>>,
) -> Result<ServerConfig, String> {
    let mut provider = schedc_tls::provider();
    if !serving.cipher_suites.is_empty() {
        // As in Go, the suites of TLS 1.3 are always offered.
        Arc::make_mut(&mut provider).cipher_suites.retain(|suite| {
            let name = suite.suite().as_str().unwrap_or_default();
            suite.version().version == ProtocolVersion::TLSv1_3
                || serving.cipher_suites.iter().any(|wanted| wanted == name)
        });
    }
    let algorithms = provider.signature_verification_algorithms;
    let versions: &[_] = if serving.tls13_only { &[&version::TLS13] } else { &[&version::TLS13, &version::TLS12] };
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions);
    let builder = builder.map_err(|error| format!("--tls-cipher-suites and --tls-min-version: {error}"))?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(subjects) => builder.with_client_cert_verifier(Arc::new(AnyCertificate { subjects, algorithms })),
    };

    let in_context = |why: String| format!("the server's certificate: {why}");
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pair.certificate).collect();
    let chain = chain.map_err(|error| in_context(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(&pair.key).map_err(|error| in_context(format!("its key: {error}")))?;
    let mut config = builder.with_single_cert(chain, key).map_err(|error| in_context(error.to_string()))?;
    config.alpn_protocols =
        if serving.http2 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { vec![b"http/1.1".to_vec()] };
    // Clients keep connections open, so sessions are not cached, which saves memory.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Accepts any client certificate if the client has its key. Authorities are checked for each request, since an
/// untrusted client may have a token, or may request an always-allowed path.
#[derive(Debug)]
struct AnyCertificate {
    subjects: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
