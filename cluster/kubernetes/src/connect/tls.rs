//! TLS: trusted authorities and client certificates.

use rustls::ClientConfig;
use schedc_tls::{Authorities, Identity, TlsError, client_config};

use super::ConnectError;
use super::user::Source;

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
    /// Reads the authority's current certificates, as PEM; `None` without a configured authority.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, ConnectError> {
        match self {
            Trust::Authority(source) => source.read().map(Some),
            Trust::System | Trust::InsecureSkipVerify => Ok(None),
        }
    }

    /// Returns whether the authority is a file, which may change.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Trust::Authority(source) if source.is_file())
    }

    /// Builds a TLS configuration from the authority that was read, and from a certificate with its key.
    pub(super) fn tls(
        &self,
        authority: Option<&[u8]>,
        certificate: Option<&(Vec<u8>, Vec<u8>)>,
    ) -> Result<ClientConfig, ConnectError> {
        let authorities = match self {
            Trust::System => Authorities::System,
            Trust::Authority(_) => Authorities::Pem(authority.unwrap_or_default()),
            Trust::InsecureSkipVerify => Authorities::AcceptAny,
        };
        let identity = certificate.map(|(chain, key)| Identity { chain, key });
        client_config(authorities, identity).map_err(|error| match (error, self) {
            (TlsError::NoSystemAuthority, _) => ConnectError::new(
                "no trusted authority: `certificate-authority` of the API server is not set, and this machine has no \
                 certificates; set `certificate-authority` in the kubeconfig",
            ),
            (error @ TlsError::NoAuthority, Trust::Authority(source)) => {
                ConnectError::new(format!("{source}: {error}"))
            }
            (error, _) => ConnectError::new(error.to_string()),
        })
    }
}
