//! Authentication and authorization of clients.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use schedc_fake_apiserver::{Fault, FaultRule, Server as ApiServer};

use super::*;

fn client_of(server: &ApiServer) -> Option<Http> {
    Some(Http::new(&server.url().parse().unwrap(), None))
}

fn token(token: &str) -> Client {
    Client { headers: vec![("authorization", format!("Bearer {token}"))], ..Client::default() }
}

fn reviews(server: &ApiServer) -> usize {
    server.count_requests(|request| request.path.ends_with("reviews"))
}

#[tokio::test]
async fn anonymous_callers_see_health_only() {
    let server = ServerSettings::default().run().await;
    let anonymous = Client::default();
    assert_eq!(anonymous.get(server.address, "/livez").await, (200, "ok".to_owned()));
    let (code, body) = anonymous.get(server.address, "/metrics").await;
    assert_eq!(code, 403);
    assert!(body.contains(r#"forbidden: User \"system:anonymous\" cannot get path \"/metrics\""#), "{body}");
    // Without an API server, tokens are ignored.
    assert_eq!(token("secret").get(server.address, "/metrics").await.0, 403);
}

#[tokio::test]
async fn a_valid_token_is_authenticated_and_authorized() {
    let api = ApiServer::start();
    api.token("secret", "joe", &["readers"]);
    api.allow("joe", "get", "/metrics");
    let server = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    let before = reviews(&api);
    for _ in 0..3 {
        assert_eq!(token("secret").get(server.address, "/metrics").await, (200, "# metrics\n".to_owned()));
    }
    assert_eq!(reviews(&api) - before, 2, "results of reviews are cached");
    let (code, body) = token("secret").get(server.address, "/configz").await;
    assert_eq!(code, 403);
    assert!(body.contains(r#"User \"joe\" cannot get path \"/configz\""#), "{body}");

    let (code, body) = token("other").get(server.address, "/livez").await;
    assert_eq!((code, body.contains("Unauthorized")), (401, true), "invalid tokens are refused everywhere");
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn invalid_tokens_are_cached() {
    let api = ApiServer::start();
    let server = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    for _ in 0..5 {
        assert_eq!(token("other").get(server.address, "/livez").await.0, 401);
    }
    assert_eq!(reviews(&api), 1);
}

/// Failed reviews are limited for each address; other paths and valid tokens still work.
#[tokio::test]
async fn callers_with_invalid_tokens_cannot_flood_the_api_server() {
    let api = ApiServer::start();
    api.token("secret", "joe", &[]);
    api.allow("joe", "get", "/metrics");
    let server = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    assert_eq!(token("secret").get(server.address, "/metrics").await.0, 200);
    let request = async |number: usize| token(&format!("t{number}")).get(server.address, "/metrics").await.0;
    let codes = join_all((0..70).map(request)).await;
    let limited = codes.iter().filter(|code| **code == 429).count();
    assert!(limited > 0 && codes.iter().all(|code| [401, 429].contains(code)), "{codes:?}");
    assert_eq!(reviews(&api), 2 + codes.len() - limited);
    assert_eq!(token("secret").get(server.address, "/metrics").await.0, 200);
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
}

/// Starts an API server that accepts connections and never responds. Returns its client, and the number of connections:
/// with HTTP/1.1, this is the number of waiting requests.
async fn silent() -> (Http, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(&format!("http://{}", listener.local_addr().unwrap()).parse().unwrap(), None);
    let waiting = Arc::new(AtomicUsize::new(0));
    let count = waiting.clone();
    tokio::spawn(async move {
        let mut streams = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            streams.push(stream);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (http, waiting)
}

#[tokio::test]
async fn callers_waiting_for_reviews_do_not_block_others() {
    for (connections, reviews) in [(6, 4), (4, 4)] {
        let (http, waiting) = silent().await;
        let limits = Limits { connections, reviews, ..Limits::default() };
        let authentication = flags::Authentication { skip_lookup: true, ..Default::default() };
        let server =
            ServerSettings { server: Some(http), authentication, limits, ..ServerSettings::default() }.run().await;
        let request = |number: usize| {
            tokio::spawn(async move { token(&format!("t{number}")).request(server.address, "/metrics").await })
        };
        let _requests: Vec<_> = (0..reviews).map(request).collect();
        until(async || waiting.load(Ordering::Relaxed) == reviews).await;
        // A further client is refused instead of waiting.
        if connections > reviews {
            assert_eq!(token("more").get(server.address, "/metrics").await.0, 429);
        }
        for _ in 0..2 * connections {
            assert_eq!(Client::default().get(server.address, "/livez").await, (200, "ok".to_owned()));
        }
    }
}

#[tokio::test]
async fn requests_for_reviews() {
    let api = ApiServer::start();
    api.token("secret", "joe", &["readers"]);
    let server = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    token("secret").get(server.address, "/metrics").await;
    let requests: Vec<_> = api.requests().into_iter().filter(|request| request.path.ends_with("reviews")).collect();
    assert_eq!(
        requests.iter().map(|request| &*request.path).collect::<Vec<_>>(),
        ["/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authorization.k8s.io/v1/subjectaccessreviews"]
    );
    let spec = &requests[1].body.as_ref().unwrap()["spec"];
    let expected = json!({
        "user": "joe", "groups": ["readers", "system:authenticated"],
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    });
    assert_eq!(*spec, expected);
}

#[tokio::test]
async fn reviews_are_retried_and_then_fail() {
    let api = ApiServer::start();
    api.token("secret", "joe", &[]);
    api.allow("joe", "get", "/metrics");
    let server = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    api.rule(FaultRule::new(Fault::Respond(500, None)).path("*/tokenreviews").times(1));
    assert_eq!(token("secret").get(server.address, "/metrics").await.0, 200);

    api.rule(FaultRule::new(Fault::Respond(403, None)).path("*/subjectaccessreviews"));
    let (code, body) = token("secret").get(server.address, "/configz").await;
    assert_eq!(code, 500);
    assert!(body.starts_with("Internal Server Error: \"/configz\": asking whether \"joe\" may get"), "{body}");
}

#[tokio::test]
async fn a_certificate_authenticates_its_subject() {
    let (folder, authority) = (Folder::new(), Authority::new("clients"));
    let authentication =
        flags::Authentication { client_ca: Some(folder.put("ca.crt", authority.pem())), ..Default::default() };
    let server = ServerSettings { authentication, ..ServerSettings::default() }.run().await;
    let client = |authority: &Authority, group| Client {
        certificate: Some(authority.client("admin", group)),
        ..Client::default()
    };
    let masters = "system:masters";
    for http2 in [false, true] {
        let admin = Client { http2, ..client(&authority, masters) };
        assert_eq!(admin.get(server.address, "/metrics/slis").await, (200, "# slis\n".to_owned()));
    }
    let old = Client { only_tls12: true, ..client(&authority, masters) };
    assert_eq!(old.get(server.address, "/metrics").await.0, 200);
    let (code, body) = client(&authority, "others").get(server.address, "/metrics").await;
    assert_eq!(code, 403);
    assert!(body.contains(r#"User \"admin\""#), "{body}");

    // A client without a certificate is anonymous.
    assert_eq!(Client::default().get(server.address, "/livez").await.0, 200);
    // The authority of this certificate has the same name, but another key.
    let impostor = Authority::new("clients");
    assert_eq!(client(&impostor, masters).get(server.address, "/livez").await.0, 401);
}

#[tokio::test]
async fn a_proxy_names_the_user() {
    let (folder, proxies, clients) = (Folder::new(), Authority::new("proxies"), Authority::new("clients"));
    let api = ApiServer::start();
    api.allow("joe", "get", "/metrics");
    let authentication = flags::Authentication {
        client_ca: Some(folder.put("clients.crt", clients.pem())),
        proxy_ca: Some(folder.put("proxies.crt", proxies.pem())),
        proxy_names: vec!["front".to_owned()],
        ..Default::default()
    };
    let server = ServerSettings { authentication, server: client_of(&api), ..ServerSettings::default() }.run().await;
    let headers = vec![
        ("X-Remote-User", "joe".to_owned()),
        ("X-Remote-Group", "a".to_owned()),
        ("X-Remote-Group", "b".to_owned()),
        ("X-Remote-Extra-scopes%2fx", "y".to_owned()),
    ];
    let client = |certificate| Client { certificate: Some(certificate), headers: headers.clone(), ..Client::default() };
    assert_eq!(client(proxies.client("front", "")).get(server.address, "/metrics").await.0, 200);
    let review = api.requests().into_iter().rfind(|request| request.path.ends_with("reviews")).unwrap().body.unwrap();
    let expected = json!({
        "user": "joe", "groups": ["a", "b", "system:authenticated"], "extra": {"scopes/x": ["y"]},
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    });
    assert_eq!(review["spec"], expected);

    assert_eq!(client(proxies.client("other", "")).get(server.address, "/livez").await.0, 401);
    // A client is authenticated by its certificate, regardless of its headers.
    let (code, body) = client(clients.client("eve", "")).get(server.address, "/metrics").await;
    assert_eq!((code, body.contains(r#"User \"eve\""#)), (403, true), "{body}");
    assert_eq!(Client { headers, ..Client::default() }.get(server.address, "/metrics").await.0, 403);
}

#[tokio::test]
async fn authorities_come_from_the_cluster() {
    let (api, clients, proxies) = (ApiServer::start(), Authority::new("clients"), Authority::new("proxies"));
    let map = |clients: &Authority| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
            "data": {
                "client-ca-file": clients.pem(),
                "requestheader-client-ca-file": proxies.pem(),
                "requestheader-allowed-names": "[\"front\"]",
                "requestheader-username-headers": "[\"X-Remote-User\"]",
                "requestheader-group-headers": "[\"X-Remote-Group\"]",
                "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
            },
        })
    };
    api.create(map(&clients));
    let server =
        ServerSettings { server: client_of(&api), refresh: Duration::from_millis(20), ..ServerSettings::default() }
            .run()
            .await;
    let admin = Client { certificate: Some(clients.client("admin", "system:masters")), ..Client::default() };
    until(async || admin.get(server.address, "/metrics").await.0 == 200).await;
    let headers = vec![("x-remote-user", "joe".to_owned()), ("x-remote-group", "system:masters".to_owned())];
    let proxy = Client { certificate: Some(proxies.client("front", "")), headers, ..Client::default() };
    assert_eq!(proxy.get(server.address, "/metrics").await.0, 200);

    // Another authority for clients replaces the first one.
    let others = Authority::new("others");
    api.apply(map(&others));
    let other = Client { certificate: Some(others.client("admin", "system:masters")), ..Client::default() };
    until(async || other.get(server.address, "/metrics").await.0 == 200).await;
    assert_ne!(admin.get(server.address, "/metrics").await.0, 200);
}

#[tokio::test]
async fn a_cluster_without_authorities() {
    let api = ApiServer::start();
    api.rule(FaultRule::new(Fault::Respond(403, None)).path("*/configmaps/*"));
    let tolerant = ServerSettings { server: client_of(&api), ..ServerSettings::default() }.run().await;
    assert_eq!(Client::default().get(tolerant.address, "/livez").await.0, 200);

    let authentication = flags::Authentication { tolerate_lookup_failure: false, ..Default::default() };
    let strict = ServerSettings { server: client_of(&api), authentication, ..ServerSettings::default() };
    let error = strict.bind().await.map(drop).unwrap_err();
    assert!(error.ends_with("; set --authentication-tolerate-lookup-failure=true to start without it"), "{error}");
    assert!(error.contains("the role extension-apiserver-authentication-reader in kube-system allows it"), "{error}");

    let authentication =
        flags::Authentication { skip_lookup: true, tolerate_lookup_failure: false, ..Default::default() };
    assert!(
        ServerSettings { server: client_of(&api), authentication, ..ServerSettings::default() }.bind().await.is_ok()
    );
}
