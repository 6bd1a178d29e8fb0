//! TLS: trusted authorities and client certificates.
//!
//! The TLS of `ureq` supports no server name other than the URL's, and does not report what is wrong with a
//! certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme, StreamOwned};
use schedc_bounds::files;
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

use crate::settings::{Pem, Tls};

/// Builds a TLS configuration. `skip_verify`: the server is not verified, unless there is a CA.
pub(crate) fn config(tls: Tls, skip_verify: bool) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let builder = match tls.ca {
        None if tls.insecure || skip_verify => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
        }
        None => builder.with_root_certificates(system_roots()?),
        Some(ca) => builder.with_root_certificates(roots(&read(ca)?, ca)?),
    };
    let config = match (tls.certificate, tls.key) {
        (Some(certificate), Some(key)) => {
            let wrong = |why: String| format!("the client certificate: {why}");
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(certificate)?).collect();
            let chain = chain.map_err(|error| wrong(format!("it is not PEM: {error}")))?;
            let key = PrivateKeyDer::from_pem_slice(&read(key)?)
                .map_err(|_| wrong("its key is not an unencrypted private key in PEM".to_owned()))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| wrong(error.to_string()))?
        }
        (None, None) => builder.with_no_client_auth(),
        _ => return Err("the client certificate: both a certificate and its key are required".to_owned()),
    };
    Ok(Arc::new(config))
}

fn read(pem: Pem) -> Result<Vec<u8>, String> {
    match pem {
        Pem::Text(text) => Ok(text.as_bytes().to_vec()),
        Pem::File(file) => files::read(Path::new(file)).map_err(|reason| format!("{file}: {reason}")),
    }
}

/// Parses trusted certificates.
fn roots(pem: &[u8], source: Pem) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(pem).filter_map(Result::ok));
    match (roots.is_empty(), source) {
        (false, _) => Ok(roots),
        (true, Pem::File(file)) => Err(format!("{file}: it contains no certificate in PEM")),
        (true, Pem::Text(_)) => Err("the CA of the profile: it contains no certificate in PEM".to_owned()),
    }
}

/// Trusted authorities of this machine.
fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match roots.is_empty() {
        false => Ok(roots),
        true => Err("no trusted authority: the extender has no CA, and this machine has none".to_owned()),
    }
}

/// Accepts any certificate.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Adds TLS to connections of `https` URLs.
#[derive(Debug)]
pub(crate) struct TlsConnector(Option<(Arc<ClientConfig>, ServerName<'static>)>);

impl TlsConnector {
    pub(crate) fn new(with: Option<(Arc<ClientConfig>, ServerName<'static>)>) -> Self {
        TlsConnector(with)
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Err(Error::ConnectionFailed) };
        let Some((config, name)) = &self.0 else { return Ok(Some(Either::A(transport))) };
        let mut connection = ClientConnection::new(config.clone(), name.clone()).map_err(broken)?;
        let mut socket = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(TlsTransport { buffers, stream: StreamOwned::new(connection, socket) })))
    }
}

fn broken(error: rustls::Error) -> Error {
    Error::Io(std::io::Error::other(error))
}

/// Connection with TLS.
pub(crate) struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl std::fmt::Debug for TlsTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsTransport").finish_non_exhaustive()
    }
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.get_mut().set_timeout(timeout);
        let output = &self.buffers.output()[..amount];
        std::io::Write::write_all(&mut self.stream, output)?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = std::io::Read::read(&mut self.stream, self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
