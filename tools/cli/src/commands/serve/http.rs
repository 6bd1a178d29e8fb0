//! Connections and requests, within limits of their number, size and time.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::openapi;
use super::problem::Problem;
use super::questions::Question;
use super::{Job, Limits};
use crate::commands::failure::Failure;
use crate::commands::output;
use crate::commands::signals;

/// Maximum number of connections; further ones wait in the queue of the operating system.
const MAX_CONNECTIONS: usize = 64;
/// Maximum size of the headers of a request.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Maximum time for the headers of a request. It also applies to each further request on a connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the port.
pub(super) fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let open = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    open().map_err(|error: std::io::Error| Failure::new(format_args!("cannot listen on {address}: {error}")))
}

/// Returns the address of a port.
fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(|error| Failure::new(format_args!("cannot read the address of the port: {error}")))
}

/// Prints the address, and serves until a signal arrives. Ends the process; never returns.
pub(super) fn serve(listener: TcpListener, jobs: mpsc::Sender<Job>, limits: Limits, is_loopback: bool) {
    let server = Arc::new(Server { jobs, limits, is_loopback });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(server.accept(listener)),
        Err(error) => Err(Failure::new(format_args!("cannot start the runtime: {error}"))),
    };
    // The process does not wait for the main thread, which may compute an answer for a long time.
    match result {
        Ok(()) => std::process::exit(0),
        Err(failure) => {
            failure.report();
            std::process::exit(1);
        }
    }
}

struct Server {
    jobs: mpsc::Sender<Job>,
    limits: Limits,
    /// Whether only programs on this machine can reach the server.
    is_loopback: bool,
}

impl Server {
    async fn accept(self: Arc<Self>, listener: TcpListener) -> Result<(), Failure> {
        let mut stop = signals::stop()?;
        // The address is printed only now: a program that reads it may connect, or stop the server with a signal.
        output::print_text(&format!("listening on http://{}\n", address(&listener)?))?;
        let listener = tokio::net::TcpListener::from_std(listener)
            .map_err(|error| Failure::new(format_args!("cannot listen: {error}")))?;
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let next = async {
                let permit = connections.clone().acquire_owned().await;
                (permit, listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                next = next => next,
                _ = stop.wait_for(|stop| *stop) => return Ok(()),
            };
            match accepted {
                Ok((stream, _)) => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        server.serve_connection(stream).await;
                        drop(permit);
                    });
                }
                // Too many open files, for example: the client may try again.
                Err(error) => {
                    output::warning(format_args!("cannot accept a connection: {error}"));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    async fn serve_connection(self: Arc<Self>, stream: TcpStream) {
        let server = self.clone();
        let service = service_fn(move |request| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.respond(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(MAX_HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        // Errors of a connection are ignored. The time limit disconnects a client that does not read its response.
        tokio::pin!(connection);
        if timeout(10 * self.limits.time, connection.as_mut()).await.is_err() {
            // The current request is still answered. For further requests, the client opens another connection.
            connection.as_mut().graceful_shutdown();
            let _ended = timeout(HEADER_TIMEOUT + self.limits.time, connection).await;
        }
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let allowed = match request.uri().path() {
            "/v1/check" | "/v1/explain" | "/v1/capacity" => Method::POST,
            _ => Method::GET,
        };
        match self.answer(request, &allowed).await {
            Ok(text) => response(StatusCode::OK, text),
            Err(problem) => {
                let mut response = response(problem.status, problem.body());
                let headers = response.headers_mut();
                if problem.status == StatusCode::METHOD_NOT_ALLOWED
                    && let Ok(value) = HeaderValue::from_str(allowed.as_str())
                {
                    headers.insert(ALLOW, value);
                }
                // The rest of a refused body is not read.
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>, allowed: &Method) -> Result<String, Problem> {
        let deadline = Instant::now() + self.limits.time;
        self.check_host(&request)?;
        let path = request.uri().path().to_owned();
        let is_known =
            matches!(path.as_str(), "/v1/check" | "/v1/explain" | "/v1/capacity" | "/openapi.json" | "/healthz");
        if !is_known {
            return Err(Problem::new("unknown_path", "there is no such path; GET /openapi.json lists all"));
        }
        if request.method() != allowed {
            return Err(Problem::new("wrong_method", format_args!("{path} needs {allowed}")));
        }
        match path.as_str() {
            "/openapi.json" => return Ok(format!("{:#}\n", openapi::description())),
            "/healthz" => return Ok("{\"status\":\"ok\"}\n".to_owned()),
            _ => {}
        }
        // Browsers do not let pages of other sites send this type without permission (CORS).
        let content_type =
            request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        if !content_type.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new("wrong_type", "the Content-Type must be application/json"));
        }
        let body = self.body(request, deadline).await?;
        let question = Question::parse(&path, &body)?;
        let (answer, pending_answer) = oneshot::channel();
        if self.jobs.try_send(Job { question, answer }).is_err() {
            return Err(Problem::new("unavailable", "too many requests wait for their answers; try again later"));
        }
        let seconds = self.limits.time.as_secs();
        match timeout_at(deadline, pending_answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Problem::new("unavailable", "the server is stopping")),
            Err(_) => Err(Problem::new("timeout", format_args!("there is no answer after {seconds} seconds"))),
        }
    }

    /// Refuses requests of web pages whose host name was made to resolve to a loopback address (DNS rebinding). A server that
    /// other machines can reach accepts every host name.
    fn check_host(&self, request: &Request<Incoming>) -> Result<(), Problem> {
        // A header that is not text names no local host.
        let host = request.headers().get(HOST).map_or("", |host| host.to_str().unwrap_or("?"));
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let is_local = name.eq_ignore_ascii_case("localhost")
            || name.is_empty()
            || address.is_ok_and(|address| address.is_loopback());
        match !self.is_loopback || is_local {
            true => Ok(()),
            false => Err(Problem::new("wrong_host", "the Host header must be localhost or a loopback address")),
        }
    }

    async fn body(&self, request: Request<Incoming>, deadline: Instant) -> Result<Bytes, Problem> {
        let limit = self.limits.body;
        let too_large = || Problem::new("too_large", format_args!("the body may have {limit} bytes (--max-body)"));
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        match timeout_at(deadline, Limited::new(request.into_body(), limit).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(error)) => Err(Problem::new("bad_json", format_args!("the body ended early: {error}"))),
            Err(_) => Err(Problem::new("slow_request", "the body did not arrive in time")),
        }
    }
}

fn response(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
