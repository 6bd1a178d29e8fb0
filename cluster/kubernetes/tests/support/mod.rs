//! Helpers for tests at a fake API server.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use schedc_fake_apiserver::Server;
use schedc_kubernetes::transport::{
    ApiRequest, ApiResponse, Format, Http, RequestClass, StreamingTransport, Transport, TransportError,
};

/// Transport whose clock runs faster than the real time, by the factor in the second field. This shortens tests.
#[derive(Clone)]
pub(crate) struct Fast(Http, u32);

impl Fast {
    /// Creates a transport to this server.
    pub(crate) fn to(server: &Server, times: u32) -> Fast {
        server.enable_protobuf(schedc_objects::decode::encode);
        let tls = server.authority().map(|authority| {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let builder = rustls::ClientConfig::builder_with_provider(provider);
            builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth()
        });
        Fast(Http::new(&server.url().parse().unwrap(), tls), times)
    }

    /// Sets a token, by which the server can identify these requests.
    pub(crate) fn set_token(&self, token: &str) {
        self.0.set_authorization(Some(format!("Bearer {token}").parse().unwrap()));
    }
}

impl Transport for Fast {
    fn call(
        &self,
        class: RequestClass,
        call: ApiRequest,
    ) -> impl Future<Output = Result<ApiResponse, TransportError>> + Send {
        self.0.call(class, call)
    }
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.0.sleep(time / self.1)
    }
    fn now(&self) -> Timestamp {
        self.0.now()
    }
    fn clock(&self) -> Duration {
        self.0.clock() * self.1
    }
}

impl StreamingTransport for Fast {
    type Chunks = <Http as StreamingTransport>::Chunks;

    fn open(
        &self,
        path: String,
        format: Format,
    ) -> impl Future<Output = Result<Result<Self::Chunks, ApiResponse>, TransportError>> + Send {
        self.0.open(path, format)
    }
}
