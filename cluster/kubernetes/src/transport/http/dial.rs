//! TCP and TLS connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::Scheme;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// TCP connect timeout for one address. The kernel repeats a lost SYN after 1 and 3 seconds; later repetitions are too
/// rare to notice soon that a server is back.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Read buffer size. Without the buffer, TLS reads 4 KiB at a time, but responses and changes arrive in bursts.
const READ_BUFFER: usize = 32 << 10;

/// Address and TLS configuration of a server.
pub(super) struct Server {
    host: Box<str>,
    port: u16,
    /// `None`: plain TCP.
    tls: Option<(TlsConnector, Option<ServerName<'static>>)>,
}

/// Open connection.
pub(super) struct Stream {
    pub(super) io: Box<dyn Io>,
    /// Whether TLS negotiated HTTP/2.
    pub(super) is_http2: bool,
}

/// Byte stream below HTTP. As a trait object, it lets the layers above be compiled once.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

impl Server {
    /// Creates a server entry. `name`: name in the certificate, if it differs from the address.
    pub(super) fn new(base: &Uri, mut tls: rustls::ClientConfig, name: Option<ServerName<'static>>) -> Self {
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let host = base.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_tls = base.scheme() == Some(&Scheme::HTTPS);
        let name = || name.or_else(|| ServerName::try_from(host.to_owned()).ok());
        Server {
            host: host.into(),
            port: base.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            tls: is_tls.then(|| (TlsConnector::from(Arc::new(tls)), name())),
        }
    }

    /// Connects to the first of the host's addresses that accepts.
    pub(super) async fn dial(&self) -> io::Result<Stream> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
        for address in lookup_host((&*self.host, self.port)).await? {
            match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(tcp)) => {
                    return timeout(TLS_TIMEOUT, self.connect_tls(tcp))
                        .await
                        .unwrap_or_else(|_| Err(timeout_error(TLS_TIMEOUT)));
                }
                Ok(Err(error)) => failure = error,
                Err(_) => failure = timeout_error(CONNECT_TIMEOUT),
            }
        }
        Err(failure)
    }

    async fn connect_tls(&self, tcp: TcpStream) -> io::Result<Stream> {
        tcp.set_nodelay(true)?;
        let Some((tls, name)) = &self.tls else { return Ok(Stream { io: Box::new(tcp), is_http2: false }) };
        let name = name.clone().ok_or_else(|| io::Error::other("the server name is not valid for a certificate"))?;
        let stream = tls.connect(name, BufReader::with_capacity(READ_BUFFER, tcp)).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Stream { io: Box::new(stream), is_http2 })
    }
}

fn timeout_error(time: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("no response within {} seconds", time.as_secs()))
}
