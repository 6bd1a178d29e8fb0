//! TLS: trusted authorities and client certificates.
//!
//! This module replaces the TLS of `ureq`, which supports no server name other than the URL's, and does not report the
//! error in a certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use schedc_bounds::files;
use schedc_tls::{Authorities, Identity, TlsError, client_config};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

use crate::settings::{Pem, Tls};

/// Builds a TLS configuration. `skip_verify`: the server is not verified, unless there is a CA.
pub(crate) fn config(tls: Tls, skip_verify: bool) -> Result<Arc<ClientConfig>, String> {
    let ca = tls.ca.map(read).transpose()?;
    let authorities = match &ca {
        None if tls.insecure || skip_verify => Authorities::AcceptAny,
        None => Authorities::System,
        Some(ca) => Authorities::Pem(ca),
    };
    let pair = match (tls.certificate, tls.key) {
        (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
        (None, None) => None,
        _ => return Err("the client certificate: both a certificate and its key are required".to_owned()),
    };
    let identity = pair.as_ref().map(|(chain, key)| Identity { chain, key });
    let config = client_config(authorities, identity).map_err(|error| match (error, tls.ca) {
        (TlsError::NoSystemAuthority, _) => {
            "no trusted authority: the extender has no CA, and this machine has none".to_owned()
        }
        (error @ TlsError::NoAuthority, Some(Pem::File(file))) => format!("{file}: {error}"),
        (error @ TlsError::NoAuthority, _) => format!("the CA of the profile: {error}"),
        (error, _) => error.to_string(),
    })?;
    Ok(Arc::new(config))
}

fn read(pem: Pem) -> Result<Vec<u8>, String> {
    match pem {
        Pem::Text(text) => Ok(text.as_bytes().to_vec()),
        Pem::File(file) => files::read(Path::new(file)).map_err(|reason| format!("{file}: {reason}")),
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
        let mut connection = ClientConnection::new(config.clone(), name.clone()).map_err(tls_error)?;
        let mut socket = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(TlsTransport { buffers, stream: StreamOwned::new(connection, socket) })))
    }
}

fn tls_error(error: rustls::Error) -> Error {
    Error::Io(std::io::Error::other(error))
}

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
