//! Client of a server with HTTP/2 over TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::join_all;
use h2::server::{SendResponse, handshake};
use h2::{Reason, RecvStream};
use hyper::{Request, Response};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::transport::{
    ApiRequest, ApiResponse, Chunks, Format, Http, RequestClass, StreamingTransport, Transport, TransportError, Verb,
};
use schedc_tls::AcceptAnyCertificate;
use schedc_tls::provider;

type ReceivedRequest = (Request<RecvStream>, SendResponse<Bytes>);

/// Starts a server that responds with `answer`, which returns `false` to end the connection. Returns a client and the
/// number of connections.
async fn serves(answer: impl Fn(ReceivedRequest) -> bool + Clone + Send + 'static) -> (Http, Arc<AtomicUsize>) {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let chain = vec![CertificateDer::from(cert)];
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let builder = rustls::ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let mut tls = builder.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            let (acceptor, answer) = (acceptor.clone(), answer.clone());
            tokio::spawn(async move {
                let mut connection = handshake(acceptor.accept(tcp).await.unwrap()).await.unwrap();
                while let Some(Ok(request)) = connection.accept().await {
                    if !answer(request) {
                        return;
                    }
                }
            });
        }
    });
    let builder = rustls::ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let tls = builder.unwrap().dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider())));
    (Http::new(&format!("https://{address}").parse().unwrap(), Some(tls.with_no_client_auth())), connections)
}

fn echoes((request, mut respond): ReceivedRequest) -> bool {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    let text = format!("{} {}", request.method(), request.uri());
    let (first, second) = text.split_at(4);
    stream.send_data(Bytes::copy_from_slice(first.as_bytes()), false).unwrap();
    stream.send_data(Bytes::copy_from_slice(second.as_bytes()), true).unwrap();
    true
}

fn get(path: &str) -> ApiRequest {
    ApiRequest { verb: Verb::Get, path: path.to_owned(), body: Bytes::new() }
}

fn text(answer: Result<ApiResponse, TransportError>) -> String {
    String::from_utf8(answer.unwrap().body.to_vec()).unwrap()
}

#[tokio::test]
async fn requests_share_one_connection() {
    let (http, connections) = serves(echoes).await;
    let paths: Vec<_> = (0..50).map(|number| format!("/{number}")).collect();
    let answers = join_all(paths.iter().map(|path| http.call(RequestClass::Bind, get(path)))).await;
    for (path, answer) in paths.iter().zip(answers) {
        let text = text(answer);
        assert!(text.starts_with("GET https://127.0.0.1:") && text.ends_with(path), "{text}");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    // The connection of leases is independent of the others.
    http.call(RequestClass::Lease, get("/")).await.unwrap();
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_closed_connection_is_replaced() {
    let (http, connections) = serves(|request| request.0.uri().path() != "/end" && echoes(request)).await;
    for round in 1..=3 {
        assert!(text(http.call(RequestClass::Write, get("/a")).await).ends_with("/a"));
        assert_eq!(connections.load(Ordering::Relaxed), round);
        // Requests in flight on a closed connection may have been executed.
        let error = http.call(RequestClass::Write, get("/end")).await;
        assert!(matches!(error, Err(TransportError::Lost(_))), "{error:?}");
    }
}

#[tokio::test]
async fn a_request_on_a_refused_stream_counts_as_not_sent() {
    let (http, _) = serves(|(_, mut respond)| {
        respond.send_reset(Reason::REFUSED_STREAM);
        true
    })
    .await;
    let error = http.call(RequestClass::Bind, get("/")).await;
    assert!(matches!(error, Err(TransportError::NotSent(_))), "{error:?}");
}

#[tokio::test]
async fn an_unread_response_does_not_block_others() {
    let (http, _) = serves(|(request, mut respond)| {
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        let length = if request.uri().path() == "/long" { 1 << 20 } else { 1 };
        stream.send_data(vec![b'x'; length].into(), true).unwrap();
        true
    })
    .await;
    let mut long = http.open("/long".to_owned(), Format::Json).await.unwrap().unwrap();
    assert_eq!(text(http.call(RequestClass::Watch, get("/short")).await), "x");
    let mut length = 0;
    while let Some(chunk) = long.next().await {
        length += chunk.unwrap().len();
    }
    assert_eq!(length, 1 << 20);
}
