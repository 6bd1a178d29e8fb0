//! Authorities, clients and folders for tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use schedc_tls::AcceptAnyCertificate;

/// Folder that is removed at the end of the test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("schedc-serving-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

fn params(subject: &[(DnType, &str)]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, text) in subject {
        params.distinguished_name.push(kind.clone(), *text);
    }
    params
}

impl Authority {
    pub(super) fn new(name: &str) -> Authority {
        let mut params = params(&[(DnType::CommonName, name)]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for this host. Returns the certificate and its key.
    pub(super) fn server(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// Issues a certificate for a user in a group. Returns the certificate and its key.
    pub(super) fn client(&self, name: &str, group: &str) -> (String, String) {
        let mut params = params(&[(DnType::OrganizationName, group), (DnType::CommonName, name)]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// Client. By default it trusts any server, presents no certificate and uses HTTP/1.1.
#[derive(Clone, Default)]
pub(super) struct Client {
    pub(super) trusts: Option<String>,
    pub(super) certificate: Option<(String, String)>,
    pub(super) http2: bool,
    pub(super) only_tls12: bool,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Client {
    pub(super) async fn connect(&self, address: SocketAddr) -> std::io::Result<TlsStream<TcpStream>> {
        let provider = schedc_tls::provider();
        let versions: &[&SupportedProtocolVersion] = if self.only_tls12 { &[&TLS12] } else { &[&TLS13, &TLS12] };
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).unwrap();
        let builder = match &self.trusts {
            None => builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider))),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                    roots.add(certificate.unwrap()).unwrap();
                }
                builder.with_root_certificates(roots)
            }
        };
        let mut config = match &self.certificate {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = CertificateDer::pem_slice_iter(certificate.as_bytes()).map(Result::unwrap).collect();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = if self.http2 { vec![b"h2".to_vec()] } else { vec![b"http/1.1".to_vec()] };
        let stream = TcpStream::connect(address).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
    }

    /// Sends a request on a new connection.
    pub(super) async fn request(&self, address: SocketAddr, path: &str) -> Result<Response<Incoming>, String> {
        let stream = TokioIo::new(self.connect(address).await.map_err(|error| error.to_string())?);
        let mut request = Request::get(format!("https://localhost{path}")).header("host", "localhost");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let response = if self.http2 {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await
        } else {
            let (mut sender, connection) = http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await
        };
        response.map_err(|error| error.to_string())
    }

    /// Returns the status code and the text of the response.
    pub(super) async fn get(&self, address: SocketAddr, path: &str) -> (u16, String) {
        let response = self.request(address, path).await.unwrap();
        let code = response.status().as_u16();
        (code, String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap())
    }
}
