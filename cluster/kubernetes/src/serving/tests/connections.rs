//! Number, timeouts and shutdown of connections.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::*;

const DEADLINE: Duration = Duration::from_secs(5);
const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Returns whether the peer closes the connection soon.
async fn ends(stream: &mut (impl AsyncReadExt + Unpin)) -> bool {
    let mut rest = Vec::new();
    timeout(DEADLINE, stream.read_to_end(&mut rest)).await.is_ok()
}

async fn answers(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin)) -> bool {
    stream.write_all(REQUEST).await.is_ok() && {
        let mut buffer = [0; 1024];
        matches!(stream.read(&mut buffer).await, Ok(length) if buffer[..length].starts_with(b"HTTP/1.1 200"))
    }
}

#[tokio::test]
async fn both_versions_of_http() {
    let server = Wanted::default().run().await;
    let client = Client { http2: true, ..Client::default() };
    let answer = client.ask(server.address, "/readyz").await.unwrap();
    assert_eq!((answer.version(), answer.status().as_u16()), (Version::HTTP_2, 500));
    server.health.set_synced(true);
    assert_eq!(client.get(server.address, "/readyz").await, (200, "ok".to_owned()));

    let serving = flags::Serving { http2: false, ..Wanted::default().serving };
    let server = Wanted { serving, ..Wanted::default() }.run().await;
    assert!(client.connect(server.address).await.is_err(), "they agree on no version");
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn idle_connections_end() {
    let short = Duration::from_millis(50);
    let limits = Limits { idle: short, handshake: short, last: short, ..Limits::default() };
    let server = Wanted { limits, ..Wanted::default() }.run().await;
    let mut stream = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut stream).await);
    assert!(ends(&mut stream).await, "after a request");
    let mut stream = Client::default().connect(server.address).await.unwrap();
    stream.write_all(&REQUEST[..10]).await.unwrap();
    assert!(ends(&mut stream).await, "with half a request");
    let mut stream = Client { http2: true, ..Client::default() }.connect(server.address).await.unwrap();
    assert!(ends(&mut stream).await, "with no request");
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    assert!(ends(&mut stream).await, "before TLS");
}

#[tokio::test]
async fn the_longest_idle_connection_is_displaced() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = Wanted { limits, ..Wanted::default() }.run().await;
    let mut first = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut first).await);
    sleep(Duration::from_millis(5)).await;
    let mut second = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut second).await);
    let mut third = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut third).await);
    assert!(ends(&mut first).await);
    assert!(answers(&mut second).await);
}

#[tokio::test]
async fn headers_have_a_deadline() {
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let server = Wanted { limits, ..Wanted::default() }.run().await;
    for http2 in [false, true] {
        let mut stream = Client { http2, ..Client::default() }.connect(server.address).await.unwrap();
        assert!(ends(&mut stream).await, "with no request");
    }
    let mut slow = Client::default().connect(server.address).await.unwrap();
    let mut idle = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut slow).await && answers(&mut idle).await);
    slow.write_all(&REQUEST[..10]).await.unwrap();
    assert!(ends(&mut slow).await, "with half of the next request");
    assert!(answers(&mut idle).await, "a connection may be idle for longer");
}

#[tokio::test]
async fn headers_have_an_end() {
    let server = Wanted::default().run().await;
    for http2 in [false, true] {
        let client = Client { http2, headers: vec![("x-long", "x".repeat(100 << 10))], ..Client::default() };
        let answer = client.ask(server.address, "/livez").await;
        assert!(answer.as_ref().is_err_and(|_| http2) || answer.is_ok_and(|answer| answer.status() == 431), "{http2}");
    }
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn the_server_stops() {
    let server = Wanted::default().run().await;
    let mut idle = Client::default().connect(server.address).await.unwrap();
    assert!(answers(&mut idle).await);
    server.stop.send_replace(true);
    assert!(ends(&mut idle).await);
    timeout(DEADLINE, server.task).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken() {
    let server = Wanted::default().run().await;
    let again = |share_port| {
        let serving = flags::Serving { port: server.address.port(), share_port, ..Wanted::default().serving };
        Wanted { serving, ..Wanted::default() }
    };
    let error = again(false).bind().await.map(drop).unwrap_err();
    assert!(error.ends_with("is another scheduler running? Choose another port with --secure-port"), "{error}");

    let serving = flags::Serving { share_port: true, ..Wanted::default().serving };
    let first = Wanted { serving, ..Wanted::default() }.run().await;
    let serving = flags::Serving { port: first.address.port(), share_port: true, ..Wanted::default().serving };
    assert!(Wanted { serving, ..Wanted::default() }.bind().await.is_ok());
}

#[tokio::test]
async fn the_unspecified_address_covers_both_families() {
    let serving = flags::Serving { port: 0, ..flags::Serving::default() };
    let server = Wanted { serving, ..Wanted::default() }.run().await;
    let address = SocketAddr::from(([127, 0, 0, 1], server.address.port()));
    assert_eq!(Client::default().get(address, "/livez").await.0, 200);
}

#[tokio::test]
async fn port_0_serves_nothing() {
    let wanted = Wanted::default();
    let parts = ServerParts {
        serving: &wanted.serving,
        authentication: &wanted.authentication,
        authorization: &wanted.authorization,
        authenticates: None::<Http>,
        authorizes: None,
        health: Health::new(None),
        pages: Pages::new("{}".to_owned(), "[]".to_owned(), BTreeMap::new(), SystemTime::now()),
        endpoints: Arc::new(Names),
    };
    assert!(Server::bind(parts).await.unwrap().is_none());
}
