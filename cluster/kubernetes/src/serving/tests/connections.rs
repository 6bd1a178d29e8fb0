//! Number, timeouts and shutdown of connections.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::*;

const DEADLINE: Duration = Duration::from_secs(5);
const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Returns whether the peer closes the connection soon.
async fn is_closed(stream: &mut (impl AsyncReadExt + Unpin)) -> bool {
    let mut rest = Vec::new();
    timeout(DEADLINE, stream.read_to_end(&mut rest)).await.is_ok()
}

async fn responds(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin)) -> bool {
    stream.write_all(REQUEST).await.is_ok() && {
        let mut buffer = [0; 1024];
        matches!(stream.read(&mut buffer).await, Ok(length) if buffer[..length].starts_with(b"HTTP/1.1 200"))
    }
}

#[tokio::test]
async fn http2_is_served_unless_disabled() {
    let server = ServerSettings::default().run().await;
    let client = Client { http2: true, ..Client::default() };
    let response = client.request(server.address, "/readyz").await.unwrap();
    assert_eq!((response.version(), response.status().as_u16()), (Version::HTTP_2, 500));
    server.health.set_synced(true);
    assert_eq!(client.get(server.address, "/readyz").await, (200, "ok".to_owned()));

    let serving = flags::Serving { http2: false, ..ServerSettings::default().serving };
    let server = ServerSettings { serving, ..ServerSettings::default() }.run().await;
    assert!(client.connect(server.address).await.is_err(), "client and server have no HTTP version in common");
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn idle_connections_end() {
    let short = Duration::from_millis(50);
    let limits = Limits { idle: short, handshake: short, last: short, ..Limits::default() };
    let server = ServerSettings { limits, ..ServerSettings::default() }.run().await;
    let mut stream = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut stream).await);
    assert!(is_closed(&mut stream).await, "after a request");
    let mut stream = Client::default().connect(server.address).await.unwrap();
    stream.write_all(&REQUEST[..10]).await.unwrap();
    assert!(is_closed(&mut stream).await, "with half a request");
    let mut stream = Client { http2: true, ..Client::default() }.connect(server.address).await.unwrap();
    assert!(is_closed(&mut stream).await, "with no request");
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    assert!(is_closed(&mut stream).await, "before TLS");
}

#[tokio::test]
async fn the_longest_idle_connection_is_displaced() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = ServerSettings { limits, ..ServerSettings::default() }.run().await;
    let mut first = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut first).await);
    sleep(Duration::from_millis(5)).await;
    let mut second = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut second).await);
    let mut third = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut third).await);
    assert!(is_closed(&mut first).await);
    assert!(responds(&mut second).await);
}

#[tokio::test]
async fn headers_have_a_deadline() {
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let server = ServerSettings { limits, ..ServerSettings::default() }.run().await;
    for http2 in [false, true] {
        let mut stream = Client { http2, ..Client::default() }.connect(server.address).await.unwrap();
        assert!(is_closed(&mut stream).await, "with no request");
    }
    let mut slow = Client::default().connect(server.address).await.unwrap();
    let mut idle = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut slow).await && responds(&mut idle).await);
    slow.write_all(&REQUEST[..10]).await.unwrap();
    assert!(is_closed(&mut slow).await, "with half of the next request");
    assert!(responds(&mut idle).await, "a connection may be idle for longer");
}

#[tokio::test]
async fn the_size_of_headers_is_limited() {
    let server = ServerSettings::default().run().await;
    for http2 in [false, true] {
        let client = Client { http2, headers: vec![("x-long", "x".repeat(100 << 10))], ..Client::default() };
        let response = client.request(server.address, "/livez").await;
        assert!(
            response.as_ref().is_err_and(|_| http2) || response.is_ok_and(|response| response.status() == 431),
            "{http2}"
        );
    }
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn the_server_stops() {
    let server = ServerSettings::default().run().await;
    let mut idle = Client::default().connect(server.address).await.unwrap();
    assert!(responds(&mut idle).await);
    server.stop.send_replace(true);
    assert!(is_closed(&mut idle).await);
    timeout(DEADLINE, server.task).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_port_in_use_is_an_error_unless_shared() {
    let server = ServerSettings::default().run().await;
    let again = |share_port| {
        let serving = flags::Serving { port: server.address.port(), share_port, ..ServerSettings::default().serving };
        ServerSettings { serving, ..ServerSettings::default() }
    };
    let error = again(false).bind().await.map(drop).unwrap_err();
    assert!(error.ends_with("is another scheduler running? Choose another port with --secure-port"), "{error}");

    let serving = flags::Serving { share_port: true, ..ServerSettings::default().serving };
    let first = ServerSettings { serving, ..ServerSettings::default() }.run().await;
    let serving = flags::Serving { port: first.address.port(), share_port: true, ..ServerSettings::default().serving };
    assert!(ServerSettings { serving, ..ServerSettings::default() }.bind().await.is_ok());
}

#[tokio::test]
async fn the_unspecified_address_covers_both_families() {
    let serving = flags::Serving { port: 0, ..flags::Serving::default() };
    let server = ServerSettings { serving, ..ServerSettings::default() }.run().await;
    let address = SocketAddr::from(([127, 0, 0, 1], server.address.port()));
    assert_eq!(Client::default().get(address, "/livez").await.0, 200);
}

#[tokio::test]
async fn port_0_serves_nothing() {
    let settings = ServerSettings::default();
    let parts = ServerParts {
        serving: &settings.serving,
        authentication: &settings.authentication,
        authorization: &settings.authorization,
        authentication_client: None::<Http>,
        authorization_client: None,
        health: Health::new(None),
        pages: Pages::new("{}".to_owned(), "[]".to_owned(), BTreeMap::new(), SystemTime::now()),
        endpoints: Arc::new(Names),
    };
    assert!(Server::bind(parts).await.unwrap().is_none());
}
