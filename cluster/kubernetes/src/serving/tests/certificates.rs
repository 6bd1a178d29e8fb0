//! The server's certificate, and TLS.

use super::*;

/// Returns the certificate chain that a server presents.
async fn shown(address: SocketAddr) -> Vec<rustls::pki_types::CertificateDer<'static>> {
    let stream = Client::default().connect(address).await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap().to_vec()
}

fn with_files(folder: &Folder, (certificate, key): (String, String)) -> flags::Serving {
    let certificate = (folder.put("tls.crt", certificate), folder.put("tls.key", key));
    flags::Serving { certificate: Some(certificate), ..ServerSettings::default().serving }
}

#[tokio::test]
async fn a_given_certificate_is_replaced() {
    let (folder, authority) = (Folder::new(), Authority::new("servers"));
    let serving = with_files(&folder, authority.server());
    let server =
        ServerSettings { serving, refresh: Duration::from_millis(20), ..ServerSettings::default() }.run().await;
    let client = Client { trusts: Some(authority.pem()), ..Client::default() };
    assert_eq!(client.get(server.address, "/livez").await.0, 200);
    let first = shown(server.address).await;

    // An incomplete new certificate is not used.
    let (certificate, key) = authority.server();
    folder.put("tls.crt", &certificate);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(shown(server.address).await, first);
    folder.put("tls.crt", "rubbish");
    sleep(Duration::from_millis(100)).await;
    assert_eq!(shown(server.address).await, first);

    folder.put("tls.crt", &certificate);
    folder.put("tls.key", key);
    until(async || shown(server.address).await != first).await;
    assert_eq!(client.get(server.address, "/livez").await.0, 200);
}

#[tokio::test]
async fn a_self_signed_certificate() {
    let server = ServerSettings::default().run().await;
    let certificates = shown(server.address).await;
    assert_eq!(certificates.len(), 2, "the server's certificate and its authority");
    let name = authenticate::common_name(&certificates[0]).unwrap();
    let (host, time) = name.split_once('@').unwrap();
    assert_eq!((host, time.parse::<u64>().is_ok()), ("localhost", true));
}

#[tokio::test]
async fn a_folder_stores_the_generated_certificate() {
    let folder = Folder::new();
    let certificates = Some(folder.0.join("new"));
    let settings = || {
        let serving = flags::Serving { certificates: certificates.clone(), ..ServerSettings::default().serving };
        ServerSettings { serving, ..ServerSettings::default() }
    };
    let first = settings().run().await;
    let authority = std::fs::read_to_string(folder.0.join("new/kube-scheduler.crt")).unwrap();
    let client = Client { trusts: Some(authority), ..Client::default() };
    assert_eq!(client.get(first.address, "/livez").await.0, 200);
    let second = settings().run().await;
    assert_eq!(client.get(second.address, "/livez").await.0, 200, "the second server uses the same certificate");

    std::fs::remove_file(folder.0.join("new/kube-scheduler.key")).unwrap();
    let error = settings().bind().await.map(drop).unwrap_err();
    assert!(error.contains("exists; remove it"), "{error}");
}

#[tokio::test]
async fn malformed_or_missing_files_are_errors() {
    let folder = Folder::new();
    let authority = Authority::new("servers");
    let problem = async |pair: (String, String)| {
        let settings = ServerSettings { serving: with_files(&folder, pair), ..ServerSettings::default() };
        settings.bind().await.map(drop).unwrap_err()
    };
    let (certificate, key) = authority.server();
    assert!(problem((certificate.clone(), authority.server().1)).await.starts_with("the server's certificate: "));
    assert!(problem((certificate, "rubbish".into())).await.starts_with("the server's certificate: its key: "));
    assert!(problem(("rubbish".into(), key)).await.starts_with("the server's certificate: "));

    let authentication = flags::Authentication { client_ca: Some(PathBuf::from("/not/there")), ..Default::default() };
    let error = ServerSettings { authentication, ..ServerSettings::default() }.bind().await.map(drop).unwrap_err();
    assert!(error.starts_with("--client-ca-file=/not/there: "), "{error}");
    let rubbish = folder.put("ca.crt", "rubbish");
    let authentication = flags::Authentication { client_ca: Some(rubbish), ..Default::default() };
    let error = ServerSettings { authentication, ..ServerSettings::default() }.bind().await.map(drop).unwrap_err();
    assert_eq!(error, "client authorities: they contain no certificate");
}

#[tokio::test]
async fn tls_versions_and_cipher_suites_can_be_restricted() {
    let old = Client { only_tls12: true, ..Client::default() };
    let serve = async |change: fn(&mut flags::Serving)| {
        let mut settings = ServerSettings::default();
        change(&mut settings.serving);
        settings.run().await
    };
    let suite = |stream: tokio_rustls::client::TlsStream<_>| {
        stream.get_ref().1.negotiated_cipher_suite().unwrap().suite().as_str().unwrap()
    };
    let server = serve(|_| {}).await;
    assert!(old.connect(server.address).await.is_ok());
    let server = serve(|serving| serving.tls13_only = true).await;
    assert!(old.connect(server.address).await.is_err());
    assert!(Client::default().connect(server.address).await.is_ok());

    const WANTED: &str = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
    let server = serve(|serving| serving.cipher_suites = vec![WANTED.to_owned()]).await;
    assert_eq!(suite(old.connect(server.address).await.unwrap()), WANTED);
    assert!(suite(Client::default().connect(server.address).await.unwrap()).starts_with("TLS13_"));
}
