//! Certificate authorities for clients and request-header proxies, from files or from the cluster.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{DistinguishedName, RootCertStore};
use schedc_bounds::files;
use serde_json::Value;

use crate::flags;
use crate::transport::{ApiRequest, RequestClass, StatusError, Transport, Verb};

/// ConfigMap in which kube-apiserver publishes its authorities.
const CONFIG_MAP: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// Trusted authorities.
#[derive(Debug, Default)]
pub(super) struct ClientAuthorities {
    pub(super) clients: Option<Authority>,
    /// Request-header proxies, which may name the user of a request.
    pub(super) proxies: Option<Proxies>,
}

/// Request-header proxies, with the headers that they use.
#[derive(Debug)]
pub(super) struct Proxies {
    pub(super) authority: Authority,
    pub(super) headers: Headers,
}

/// Authority that must have signed a certificate.
#[derive(Debug)]
pub(super) struct Authority {
    pub(super) verifier: Arc<dyn ClientCertVerifier>,
    subjects: Vec<DistinguishedName>,
}

/// Headers of request-header proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Headers {
    /// Accepted common names of proxies; empty: any.
    pub(super) names: Vec<String>,
    pub(super) user: Vec<String>,
    pub(super) uid: Vec<String>,
    pub(super) group: Vec<String>,
    pub(super) extra: Vec<String>,
}

impl ClientAuthorities {
    pub(super) fn new(authority_config: &AuthorityConfig) -> Result<Self, String> {
        let clients = Authority::new(&authority_config.clients).map_err(|why| format!("client authorities: {why}"))?;
        let proxies = Authority::new(&authority_config.proxies)
            .map_err(|why| format!("request-header proxy authorities: {why}"))?;
        let proxies = proxies.map(|authority| Proxies { authority, headers: authority_config.headers.clone() });
        Ok(ClientAuthorities { clients, proxies })
    }

    /// Returns the subjects of all authorities, as a hint for clients.
    pub(super) fn subjects(&self) -> Vec<DistinguishedName> {
        let proxies = self.proxies.iter().map(|proxies| &proxies.authority);
        self.clients.iter().chain(proxies).flat_map(|authority| authority.subjects.iter().cloned()).collect()
    }
}

impl Authority {
    /// Parses PEM certificates. Returns `None` if there are none.
    fn new(pem: &[u8]) -> Result<Option<Self>, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if roots.is_empty() {
            return match pem.trim_ascii().is_empty() {
                true => Ok(None),
                false => Err("they contain no certificate".to_owned()),
            };
        }
        let subjects = roots.subjects();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), schedc_tls::provider()).build();
        Ok(Some(Authority { verifier: verifier.map_err(|error| error.to_string())?, subjects }))
    }
}

/// Authorities as the files or the cluster contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AuthorityConfig {
    clients: Vec<u8>,
    proxies: Vec<u8>,
    headers: Headers,
}

#[derive(Debug)]
pub(super) struct AuthoritySources<T> {
    flags: flags::Authentication,
    /// API server, if a lookup is needed.
    cluster: Option<T>,
}

impl<T: Transport> AuthoritySources<T> {
    pub(super) fn new(flags: &flags::Authentication, transport: Option<T>) -> Self {
        let is_configured = flags.client_ca.is_some() && flags.proxy_ca.is_some();
        let cluster = transport.filter(|_| !flags.skip_lookup && !is_configured);
        AuthoritySources { flags: flags.clone(), cluster }
    }

    /// Returns whether clients may present certificates.
    pub(super) fn accept_certificates(&self) -> bool {
        self.cluster.is_some() || self.flags.client_ca.is_some() || self.flags.proxy_ca.is_some()
    }

    /// Reads the files. Values that the cluster provides stay empty.
    pub(super) fn read_files(&self) -> Result<AuthorityConfig, String> {
        let flags = &self.flags;
        let read = |flag: &str, path: &Option<PathBuf>| match path {
            Some(path) => files::read(path).map_err(|why| format!("--{flag}={}: {why}", path.display())),
            None => Ok(Vec::new()),
        };
        let headers = match flags.proxy_ca.is_some() {
            false => Headers::default(),
            true => Headers {
                names: flags.proxy_names.clone(),
                user: flags.user_headers.clone(),
                uid: flags.uid_headers.clone(),
                group: flags.group_headers.clone(),
                extra: flags.extra_headers.clone(),
            },
        };
        Ok(AuthorityConfig {
            clients: read("client-ca-file", &flags.client_ca)?,
            proxies: read("requestheader-client-ca-file", &flags.proxy_ca)?,
            headers,
        })
    }

    /// Looks up in the cluster the values that no file provides. They stay empty if the ConfigMap does not exist.
    pub(super) async fn look_up(&self, authority_config: &mut AuthorityConfig) -> Result<(), String> {
        let Some(transport) = &self.cluster else { return Ok(()) };
        let in_context = |why: String| format!("looking up authorities in {CONFIG_MAP}: {why}");
        let call = ApiRequest { verb: Verb::Get, path: CONFIG_MAP.to_owned(), body: Bytes::new() };
        let answer =
            transport.call(RequestClass::Review, call).await.map_err(|error| in_context(error.into_message()))?;
        if answer.code == 404 {
            return Ok(());
        }
        if !answer.is_success() {
            let role = "the role extension-apiserver-authentication-reader in kube-system allows it";
            let cure = if answer.code == 403 { format!(" ({role})") } else { String::new() };
            return Err(in_context(format!("{}{cure}", StatusError::new(&answer).message)));
        }
        let map: Value = serde_json::from_slice(&answer.body).map_err(|error| in_context(error.to_string()))?;
        self.apply_config_map(&map["data"], authority_config).map_err(in_context)
    }

    fn apply_config_map(&self, data: &Value, authority_config: &mut AuthorityConfig) -> Result<(), String> {
        let text = |key: &str| data[key].as_str().unwrap_or_default();
        let texts = |key: &str| match text(key) {
            "" => Ok(Vec::new()),
            list => serde_json::from_str(list).map_err(|error| format!("{key}: {error}")),
        };
        if self.flags.client_ca.is_none() {
            authority_config.clients = text("client-ca-file").into();
        }
        if self.flags.proxy_ca.is_none() {
            authority_config.headers = Headers {
                names: texts("requestheader-allowed-names")?,
                user: texts("requestheader-username-headers")?,
                uid: texts("requestheader-uid-headers")?,
                group: texts("requestheader-group-headers")?,
                extra: texts("requestheader-extra-headers-prefix")?,
            };
            authority_config.proxies = text("requestheader-client-ca-file").into();
        }
        Ok(())
    }
}
