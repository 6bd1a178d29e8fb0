//! TLS: versions, cipher suites, and who may show a certificate.

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
use crate::{crypto, flags};

/// What is offered to clients. `clients`: whose certificates they may show; `None`: they need not show any.
pub(super) fn config(
    serving: &flags::Serving,
    pair: &CertificatePair,
    clients: Option<Vec<DistinguishedName>>,
) -> Result<ServerConfig, String> {
    let mut provider = crypto::provider();
    if !serving.cipher_suites.is_empty() {
        // As in Go, those of TLS 1.3 are not chosen from.
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
    // Who comes again keeps the connection; what is not remembered takes no room.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Lets clients show any certificate whose key they have. Who vouches for it is asked with each request, since a caller whom
/// nobody vouches for may still have a token, or ask for what anybody may.
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
