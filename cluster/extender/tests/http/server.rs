//! Extender for tests: a small HTTP server with configurable responses, which records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// Response of the server.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// JSON with status code 200.
    Json(String),
    /// Status code, with a short body that is not JSON.
    Code(u16),
    /// Literal bytes, after which the connection ends.
    Raw(String),
    /// Delayed response.
    Late(Duration, Box<Reply>),
    /// Response without end.
    Endless,
}

/// Server. It ends with the test's process.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server that responds by path and body.
    pub(crate) fn start(reply: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Server {
        Server::with_tls(None, reply)
    }

    /// Starts a server that responds by path and body, with TLS if `tls` is set.
    pub(crate) fn with_tls(
        tls: Option<Arc<ServerConfig>>,
        reply: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("it works in a test");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}/x", listener.local_addr().expect("it works in a test"));
        let (requests, connections) = (Arc::<Mutex<_>>::default(), Arc::<AtomicUsize>::default());
        let (reply, recorded, counted) = (Arc::new(reply), requests.clone(), connections.clone());
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::Relaxed);
                let (reply, recorded, tls) = (reply.clone(), recorded.clone(), tls.clone());
                thread::spawn(move || match tls {
                    None => serve(socket, &*reply, &recorded),
                    Some(tls) => {
                        let session = ServerConnection::new(tls).expect("it works in a test");
                        serve(StreamOwned::<ServerConnection, TcpStream>::new(session, socket), &*reply, &recorded);
                    }
                });
            }
        });
        Server { url, requests, connections }
    }

    /// Returns the paths and bodies of the requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.requests.lock().expect("it works in a test"))
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn serve(socket: impl Read + Write, reply: &dyn Fn(&str, &Value) -> Reply, requests: &Mutex<Vec<(String, Value)>>) {
    let mut socket = BufReader::new(socket);
    while let Some((path, body)) = request(&mut socket) {
        let mut reply = reply(&path, &body);
        requests.lock().expect("it works in a test").push((path, body));
        if let Reply::Late(time, then) = reply {
            thread::sleep(time);
            reply = *then;
        }
        // A write fails if the client has closed the connection.
        let is_over = match reply {
            Reply::Json(json) => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                    json.len()
                );
                socket.get_mut().write_all((head + &json).as_bytes()).is_err()
            }
            Reply::Code(code) => {
                let answer = format!("HTTP/1.1 {code} Sorry\r\nLocation: /y\r\nContent-Length: 4\r\n\r\nnope");
                socket.get_mut().write_all(answer.as_bytes()).is_err()
            }
            Reply::Raw(text) => {
                let _ = socket.get_mut().write_all(text.as_bytes());
                true
            }
            Reply::Endless => {
                let _ = socket.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
                while socket.get_mut().write_all(&[b' '; 1 << 16]).is_ok() {}
                true
            }
            Reply::Late(..) => true,
        };
        if is_over || socket.get_mut().flush().is_err() {
            return;
        }
    }
}

fn request(socket: &mut impl BufRead) -> Option<(String, Value)> {
    let mut line = String::new();
    socket.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    assert!(line.starts_with("POST "), "{line}");
    let mut length = 0;
    loop {
        let mut header = String::new();
        socket.read_line(&mut header).ok()?;
        let header = header.trim_end().to_ascii_lowercase();
        match header.split_once(": ") {
            None => break,
            Some(("content-length", value)) => length = value.parse().ok()?,
            Some(("content-type", value)) => assert_eq!(value, "application/json"),
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).expect("it works in a test")))
}
