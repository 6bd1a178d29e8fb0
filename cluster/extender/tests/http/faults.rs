//! Failing extenders.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use schedc_extender::Extender;

use crate::cluster::{Cluster, EXTENDER};
use crate::server::{Reply, Server};

/// Checks the error of a filter call with this response. In `expected`, `URL` stands for the server's URL. Also checks
/// that an ignorable extender is skipped, and that prioritize adds no scores.
fn check(reply: Reply, expected: Expect) {
    let server = Server::start(move |_, _| reply.clone());
    let error = Cluster::new(EXTENDER, &server.url).filter().expect_err("it fails");
    expected.assert_eq(&error.replace(&server.url, "URL"));
    let ignorable = Cluster::new(Extender { ignorable: true, ..EXTENDER }, &server.url);
    assert_eq!(ignorable.filter(), Ok(("abc".into(), vec![])), "it may be ignored");
    assert_eq!(Cluster::new(EXTENDER, &server.url).prioritize(), [0; 3], "errors of prioritize are ignored");
}

#[test]
fn malformed_responses_are_errors_of_filter() {
    check(Reply::Code(500), expect!["failed filter with extender at URL URL/filter, code 500"]);
    check(Reply::Code(404), expect!["failed filter with extender at URL URL/filter, code 404"]);
    check(Reply::Code(307), expect!["failed filter with extender at URL URL/filter, code 307"]);
    check(
        Reply::Json("<html>".into()),
        expect!["extender URL: filter: its response cannot be read: expected value at line 1 column 1"],
    );
    check(Reply::Json(String::new()), expect!["extender URL: filter: its response is empty"]);
    check(
        Reply::Json(r#"{"NodeNames":{}}"#.into()),
        expect![
            "extender URL: filter: its response cannot be read: invalid type: map, expected a sequence at line 1 column 13"
        ],
    );
    check(Reply::Json(r#"{"Error":"out of GPUs"}"#.into()), expect!["out of GPUs"]);
}

#[test]
fn responses_with_unknown_nodes_are_errors() {
    check(
        Reply::Json(r#"{"NodeNames":["a","z"]}"#.into()),
        expect![[r#"extender "URL" returned node "z", which was not in the request"#]],
    );
}

#[test]
fn cut_connections_are_errors() {
    check(
        Reply::Raw(String::new()),
        expect!["extender URL: filter: it closed the connection before it responded (Peer disconnected)"],
    );
    check(
        Reply::Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Node".into()),
        expect!["extender URL: filter: it closed the connection before it responded (Peer disconnected)"],
    );
    check(
        Reply::Raw("what?\r\n\r\n".into()),
        expect!["extender URL: filter: protocol: http parse fail: invalid HTTP version"],
    );
}

#[test]
fn a_response_with_an_invalid_score_adds_no_scores() {
    for score in ["11", "-1", "1.5", "\"1\""] {
        let response = format!(r#"[{{"Host":"a","Score":10}},{{"Host":"b","Score":{score}}}]"#);
        let server = Server::start(move |_, _| Reply::Json(response.clone()));
        assert_eq!(Cluster::new(EXTENDER, &server.url).prioritize(), [0; 3], "{score}");
    }
}

#[test]
fn an_endless_response_is_cut_off() {
    let patient = Extender { http_timeout: Duration::from_secs(20), ..EXTENDER };
    let server = Server::start(|_, _| Reply::Endless);
    let error = Cluster::new(patient, &server.url).filter().expect_err("it is too long");
    assert!(error.contains("its response is longer than 167"), "{error}");
}

#[test]
fn a_slow_extender_times_out() {
    let response = || Box::new(Reply::Json(r#"{"NodeNames":["a"]}"#.into()));
    let server = Server::start(move |_, _| Reply::Late(Duration::from_secs(5), response()));
    let start = Instant::now();
    let error = Cluster::new(EXTENDER, &server.url).filter().expect_err("it is late");
    assert_eq!(error, format!("extender {}: filter: it took longer than 500ms", server.url));
    assert!(start.elapsed() < Duration::from_secs(2));
    // A server that never accepts the connection causes the same error.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = Cluster::new(EXTENDER, &format!("http://{}", silent.local_addr().unwrap()))
        .filter()
        .expect_err("the server is silent");
    assert!(error.ends_with("it took longer than 500ms"), "{error}");
}

#[test]
fn an_unreachable_extender_is_an_error() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Cluster::new(EXTENDER, &format!("http://{closed}")).filter().expect_err("the port is closed");
    assert_eq!(error, format!("extender http://{closed}: filter: connection refused"));
    let error = Cluster::new(EXTENDER, "http://extender.invalid").filter().expect_err("no such host");
    assert!(error.starts_with("extender http://extender.invalid: filter: "), "{error}");
}

#[test]
fn connections_are_reused_and_replaced() {
    let response = || Reply::Json(r#"{"NodeNames":["a"]}"#.to_owned());
    let server = Server::start(move |_, _| response());
    let cluster = Cluster::new(EXTENDER, &server.url);
    for _ in 0..5 {
        assert_eq!(cluster.filter().unwrap().0, "a");
    }
    assert_eq!(server.connections(), 1);
    // The server closes the connection after each response, without a header that announces it.
    let body = r#"{"NodeNames":["a"]}"#;
    let raw = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = Server::start(move |_, _| Reply::Raw(raw.clone()));
    let cluster = Cluster::new(EXTENDER, &server.url);
    for _ in 0..5 {
        assert_eq!(cluster.filter().unwrap().0, "a");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.connections(), 5);
}

#[test]
fn missing_originals_are_errors() {
    let mut cluster = Cluster::new(EXTENDER, "http://127.0.0.1:1");
    let other = schedc_core::model::Uid("other".into());
    cluster.pod = schedc_core::model::Pod { uid: other, ..(*cluster.pod).clone() }.into();
    assert_eq!(cluster.filter().unwrap_err(), "pod n/web cannot be sent: its original is not stored");
}
