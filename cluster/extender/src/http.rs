//! HTTP/1.1 client with persistent connections and a deadline for each call.

use std::io;
use std::time::Duration;

use rustls::pki_types::ServerName;
use ureq::config::AutoHeaderValue;
use ureq::http::Uri;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};
use ureq::{Agent, Error, Proxy};

use crate::settings::Tls;
use crate::tls::{self, TlsConnector};

/// Factor from the length of a request to the maximum length of its response, which may repeat all nodes.
const NODES_FACTOR: u64 = 4;
/// Bytes that a response may have in addition, for reasons of rejections.
const REASONS_ALLOWANCE: u64 = 16 << 20;

/// HTTP client of one extender, usable from several threads.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    timeout: Duration,
}

impl Client {
    /// Creates a client for the server of a URL. `skip_verify`: the server's certificate is not verified, unless there
    /// is a CA.
    ///
    /// # Errors
    /// The URL or a TLS setting is invalid, or a certificate or key cannot be read.
    pub(crate) fn new(url: &str, tls: Tls, skip_verify: bool, timeout: Duration) -> Result<Client, String> {
        let uri: Uri = url.parse().map_err(|error| format!("it is not a URL: {error}"))?;
        let Some(host) = uri.host() else { return Err("it is not a URL with a host".to_owned()) };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let tls_config = match uri.scheme_str() {
            Some("http") => None,
            Some("https") => {
                let name = tls.server_name.unwrap_or(bare);
                let name = ServerName::try_from(name.to_owned()).map_err(|_| format!("`{name}` is not a host name"))?;
                Some((tls::config(tls, skip_verify)?, name))
            }
            _ => return Err("it is not a URL of http or https".to_owned()),
        };
        // Like Go, use no proxy for loopback addresses.
        let is_loopback_host =
            bare == "localhost" || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .proxy(if is_loopback_host { None } else { Proxy::try_from_env() })
            .user_agent(concat!("schedc/", env!("CARGO_PKG_VERSION")))
            .accept(AutoHeaderValue::None)
            .accept_encoding(AutoHeaderValue::None)
            .build();
        let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default());
        let connector = connector.chain(TlsConnector::new(tls_config));
        Ok(Client { agent: Agent::with_parts(config, connector, DefaultResolver::default()), timeout })
    }

    /// Posts JSON and returns the body of the response.
    ///
    /// # Errors
    /// The call failed, the status code is not 200, or the response is too long.
    pub(crate) fn post(&self, url: &str, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let result = self.agent.post(url).header("content-type", "application/json").send(body);
        let mut response = result.map_err(|error| self.failure(error))?;
        if response.status() != 200 {
            return Err(CallError::Status(response.status().as_u16()));
        }
        let max_length = NODES_FACTOR * body.len() as u64 + REASONS_ALLOWANCE;
        let response = response.body_mut().with_config().limit(max_length).read_to_vec();
        response.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: Error) -> CallError {
        CallError::Other(match error {
            Error::Timeout(_) => format!("it took longer than {:?}", self.timeout),
            Error::HostNotFound => "the host does not exist".to_owned(),
            Error::ConnectionFailed => "it cannot be reached".to_owned(),
            Error::BodyExceedsLimit(limit) => format!("its response is longer than {limit} bytes"),
            Error::Io(error) => io_message(&error),
            other => other.to_string(),
        })
    }
}

/// Reason that a call failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// Status code other than 200.
    Status(u16),
    /// Any other error.
    Other(String),
}

fn io_message(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            format!("it closed the connection before it responded ({error})")
        }
        _ => error.to_string(),
    }
}
