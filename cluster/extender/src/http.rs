//! How extenders are asked: HTTP/1.1 on connections that stay open, with a deadline for all of a call.

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

/// An answer may be as long as the question times this, since it may repeat all nodes, and a bit for reasons.
const NODES_FACTOR: u64 = 4;
const REASONS_ALLOWANCE: u64 = 16 << 20;

/// The way to an extender. Several threads may use it at a time.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    timeout: Duration,
}

impl Client {
    /// To the server of a URL. `skip_verify`: its certificate is not checked, unless there is a CA.
    ///
    /// # Errors
    /// The URL is none, or certificates cannot be read.
    pub(crate) fn new(url: &str, tls: Tls, skip_verify: bool, timeout: Duration) -> Result<Client, String> {
        let uri: Uri = url.parse().map_err(|error| format!("it is not a URL: {error}"))?;
        let Some(host) = uri.host() else { return Err("it is not a URL with a host".to_owned()) };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let tls_config = match uri.scheme_str() {
            Some("http") => None,
            Some("https") => {
                let name = tls.server_name.unwrap_or(bare);
                let name =
                    ServerName::try_from(name.to_owned()).map_err(|_| format!("`{name}` is no name of a host"))?;
                Some((tls::config(tls, skip_verify)?, name))
            }
            _ => return Err("it is not a URL of http or https".to_owned()),
        };
        // Go asks no proxy for this machine either.
        let is_here = bare == "localhost" || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .proxy(if is_here { None } else { Proxy::try_from_env() })
            .user_agent(concat!("schedc/", env!("CARGO_PKG_VERSION")))
            .accept(AutoHeaderValue::None)
            .accept_encoding(AutoHeaderValue::None)
            .build();
        let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default());
        let connector = connector.chain(TlsConnector::new(tls_config));
        Ok(Client { agent: Agent::with_parts(config, connector, DefaultResolver::default()), timeout })
    }

    /// Asks for a JSON answer to JSON.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn post(&self, url: &str, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let asked = self.agent.post(url).header("content-type", "application/json").send(body);
        let mut answer = asked.map_err(|error| self.failure(error))?;
        if answer.status() != 200 {
            return Err(CallError::Status(answer.status().as_u16()));
        }
        let longest = NODES_FACTOR * body.len() as u64 + REASONS_ALLOWANCE;
        let answer = answer.body_mut().with_config().limit(longest).read_to_vec();
        answer.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: Error) -> CallError {
        CallError::Other(match error {
            Error::Timeout(_) => format!("it took longer than {:?}", self.timeout),
            Error::HostNotFound => "there is no such host".to_owned(),
            Error::ConnectionFailed => "it cannot be reached".to_owned(),
            Error::BodyExceedsLimit(limit) => format!("its answer is longer than {limit} bytes"),
            Error::Io(error) => io_message(&error),
            other => other.to_string(),
        })
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// Another status code than 200.
    Status(u16),
    /// Something else.
    Other(String),
}

fn io_message(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            format!("it closed the connection before it had answered ({error})")
        }
        _ => error.to_string(),
    }
}
