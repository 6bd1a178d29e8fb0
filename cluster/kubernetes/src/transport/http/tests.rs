use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Starts a server that accepts one connection for each element of `answers`, and writes the element as the response.
/// Returns a client and the task that collects the requests.
async fn serves(answers: Vec<&'static str>) -> (Http, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            requests.push(request(&mut stream).await);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        requests
    });
    (Http::new(&format!("http://{address}").parse().unwrap(), None), requests)
}

async fn request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await.unwrap();
        text += std::str::from_utf8(&buffer[..length]).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let expected = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        if body.len() == expected.parse::<usize>().unwrap() {
            return text;
        }
    }
}

fn patch() -> ApiRequest {
    ApiRequest { verb: Verb::StrategicPatch, path: "/api/v1/a?b=c".to_owned(), body: Bytes::from_static(b"{}") }
}

#[tokio::test]
async fn a_request_and_its_response() {
    let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
    let (http, requests) = serves(vec![busy]).await;
    http.set_authorization(Some(HeaderValue::from_static("Bearer secret")));
    let answer = http.call(RequestClass::Write, patch()).await;
    let retry_after = Some(Duration::from_secs(3));
    assert_eq!(answer, Ok(ApiResponse { code: 429, retry_after, body: "busy".into() }));
    let request = requests.await.unwrap().remove(0);
    for part in [
        "PATCH /api/v1/a?b=c HTTP/1.1\r\n",
        "content-type: application/strategic-merge-patch+json\r\n",
        "authorization: Bearer secret\r\n",
        "accept: application/json\r\n",
        "user-agent: schedc/",
        "\r\n\r\n{}",
    ] {
        assert!(request.contains(part), "{part} in {request}");
    }
}

#[tokio::test]
async fn a_request_without_a_connection_counts_as_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let http = Http::new(&format!("http://{address}").parse().unwrap(), None);
    let error = http.call(RequestClass::Bind, patch()).await;
    assert!(matches!(&error, Err(TransportError::NotSent(why)) if why.contains("onnection refused")), "{error:?}");
}

#[tokio::test]
async fn a_closed_connection_loses_the_response() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
    let (http, requests) = serves(vec!["", half]).await;
    for _ in 0..2 {
        let error = http.call(RequestClass::Bind, patch()).await;
        assert!(matches!(error, Err(TransportError::Lost(_))), "{error:?}");
    }
    assert_eq!(requests.await.unwrap().len(), 2, "each was sent once");
}

#[tokio::test]
async fn a_chunked_response() {
    let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n4\r\n two\r\n0\r\n\r\n";
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n";
    let gone = "HTTP/1.1 410 Gone\r\ncontent-length: 3\r\n\r\nold";
    let (http, requests) = serves(vec![chunks, cut, gone]).await;
    let read = async || {
        let mut chunks = http.open("/watch".to_owned(), Format::Json).await.unwrap().map_err(|answer| answer.code)?;
        let mut text = String::new();
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(bytes) => text += std::str::from_utf8(&bytes).unwrap(),
                Err(_) => text += "|",
            }
            if text.ends_with('|') {
                break;
            }
        }
        Ok(text)
    };
    assert_eq!(read().await, Ok("one two".to_owned()));
    assert_eq!(read().await, Ok("one|".to_owned()));
    assert_eq!(read().await, Err(410));
    assert_eq!(requests.await.unwrap().len(), 3);
}
