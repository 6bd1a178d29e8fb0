//! Connections by kubeconfigs, and the effect of changed files.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use schedc_fake_apiserver::{Fault, FaultRule, Server};
use serde_json::{Value, from_str, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::transport::{ApiRequest, ApiResponse, RequestClass, Transport, TransportError, Verb};

/// Folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("schedc-connect-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

async fn get(http: &Http) -> Result<ApiResponse, TransportError> {
    http.call(RequestClass::Write, ApiRequest { verb: Verb::Get, path: "/version".to_owned(), body: Bytes::new() })
        .await
}

/// Returns a kubeconfig for a server, with changes to cluster and user.
fn kubeconfig(server: &Server, change: impl FnOnce(&mut Value, &mut Value)) -> String {
    let mut config: Value = from_str(&server.kubeconfig()).unwrap();
    let (mut cluster, mut user) = (config["clusters"][0]["cluster"].take(), config["users"][0]["user"].take());
    change(&mut cluster, &mut user);
    config["clusters"][0]["cluster"] = cluster;
    config["users"][0]["user"] = user;
    config.to_string()
}

async fn open(folder: &Folder, config: String) -> (Http, CredentialRefresher) {
    Target::new(Some(&folder.write("config", config)), None).unwrap().http().await.unwrap()
}

/// Refreshes credentials with this interval in milliseconds instead of a minute.
fn start(refresher: CredentialRefresher, each: u64) -> tokio::task::JoinHandle<()> {
    tokio::spawn(refresher.run_with_intervals(Duration::from_millis(each), Duration::from_millis(1)))
}

/// Waits until `ask` returns the expected value.
async fn until<T: PartialEq + fmt::Debug>(expected: T, ask: impl AsyncFn() -> T) {
    for _ in 0..1000 {
        if ask().await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(ask().await, expected);
}

#[tokio::test]
async fn with_and_without_tls() {
    let folder = Folder::new("plain");
    for server in [Server::start(), Server::start_tls()] {
        let (http, _refresher) = open(&folder, server.kubeconfig_with_token("secret")).await;
        assert_eq!(get(&http).await.unwrap().code, 200);
        assert_eq!(server.requests().last().unwrap().token, "secret");
    }
}

#[tokio::test]
async fn server_certificates_are_verified() {
    let folder = Folder::new("trust");
    let (server, other) = (Server::start_tls(), Server::start_tls());
    let check = async |change: fn(&mut Value, &Server), expected: Option<&str>| {
        let config = kubeconfig(&server, |cluster, _| change(cluster, &other));
        let (http, _refresher) = open(&folder, config).await;
        match (expected, get(&http).await) {
            (None, response) => assert_eq!(response.unwrap().code, 200),
            (Some(why), Err(TransportError::NotSent(text))) => assert!(text.contains(why), "{text}"),
            (Some(_), response) => panic!("{response:?}"),
        }
    };
    check(|_, _| {}, None).await;
    check(|cluster, _| cluster["tls-server-name"] = "localhost".into(), None).await;
    check(|cluster, _| cluster["tls-server-name"] = "elsewhere".into(), Some("not valid for name")).await;
    let others = |cluster: &mut Value, other: &Server| {
        let config: Value = from_str(&other.kubeconfig()).unwrap();
        cluster["certificate-authority-data"] = config["clusters"][0]["cluster"]["certificate-authority-data"].clone();
    };
    check(others, Some("invalid peer certificate")).await;
    let unverified = |cluster: &mut Value, _: &Server| {
        *cluster = json!({"server": cluster["server"], "insecure-skip-tls-verify": true});
    };
    check(unverified, None).await;
}

#[tokio::test]
async fn a_pod_and_its_service_account() {
    let folder = Folder::new("pod");
    let server = Server::start_tls();
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let env = |name: &str| match name {
        "KUBERNETES_SERVICE_HOST" => Some("127.0.0.1".to_owned()),
        _ => Some(port.clone()),
    };
    let error = in_cluster::target(env, &folder.0).unwrap().http().await.map(|_| ()).unwrap_err().to_string();
    let file = folder.0.join("ca.crt");
    let expected = format!("the authority of this pod's service account in {}", file.display());
    assert!(error.starts_with(&expected), "{error}");
    folder.write("ca.crt", server.authority().unwrap());
    folder.write("token", "of-the-pod\n");
    let (http, _refresher) = in_cluster::target(env, &folder.0).unwrap().http().await.unwrap();
    assert_eq!(get(&http).await.unwrap().code, 200);
    assert_eq!(server.requests().last().unwrap().token, "of-the-pod");
    let elsewhere = in_cluster::target(|_| None, &folder.0).unwrap_err().to_string();
    assert!(elsewhere.starts_with("no API server: neither --kubeconfig nor --master is given"), "{elsewhere}");
}

#[tokio::test]
async fn a_changed_token_is_used() {
    let folder = Folder::new("token");
    let server = Server::start();
    folder.write("token", "first\n");
    let (http, refresher) = open(&folder, kubeconfig(&server, |_, user| user["tokenFile"] = "token".into())).await;
    let last_token = async || {
        get(&http).await.unwrap();
        server.requests().last().unwrap().token.clone()
    };
    let refreshing = start(refresher, 10);
    assert_eq!(last_token().await, "first");
    folder.write("token", "second\n");
    until("second".to_owned(), last_token).await;
    // Unreadable files change nothing.
    fs::remove_file(folder.0.join("token")).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(last_token().await, "second");
    refreshing.abort();
}

#[tokio::test]
async fn unauthorized_responses_cause_a_reread_of_files() {
    let folder = Folder::new("unknown");
    let server = Server::start();
    folder.write("token", "first");
    let (http, refresher) = open(&folder, kubeconfig(&server, |_, user| user["tokenFile"] = "token".into())).await;
    let refreshing = start(refresher, 3_600_000);
    folder.write("token", "second");
    assert_eq!(get(&http).await.unwrap().code, 200);
    server.rule(FaultRule::new(Fault::Respond(401, None)).token("first"));
    until(200, async || get(&http).await.unwrap().code).await;
    assert_eq!(server.requests().last().unwrap().token, "second");
    refreshing.abort();
}

/// Returns a kubeconfig user with a script as credential plugin.
fn plugin(script: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script], "env": null,
        "interactiveMode": "IfAvailable", "provideClusterInfo": true, "installHint": "It comes with the cloud.",
    }})
}

#[tokio::test]
async fn a_credential_plugin_provides_a_token() {
    let folder = Folder::new("plugin");
    let server = Server::start_tls();
    // The plugin counts its runs; its first token has expired.
    let count = folder.0.join("count");
    let script = format!(
        r#"echo "$KUBERNETES_EXEC_INFO" > {info}; echo >> {count}; n=$(wc -l < {count});
        [ $n = 1 ] && until='"2020-01-01T00:00:00Z"' || until=null
        echo '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
              "status":{{"token":"token-'$n'","expirationTimestamp":'$until'}}}}'"#,
        info = folder.0.join("info").display(),
        count = count.display(),
    );
    let (http, refresher) = open(&folder, kubeconfig(&server, |_, user| *user = plugin(&script))).await;
    let last_token = async || {
        get(&http).await.unwrap();
        server.requests().last().unwrap().token.clone()
    };
    assert_eq!(last_token().await, "token-1");
    let info: Value = from_str(&fs::read_to_string(folder.0.join("info")).unwrap()).unwrap();
    assert_eq!((&info["kind"], &info["spec"]["interactive"]), (&json!("ExecCredential"), &json!(false)));
    assert_eq!(info["spec"]["cluster"]["server"], server.url());
    let refreshing = start(refresher, 5);
    until("token-2".to_owned(), last_token).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(last_token().await, "token-2", "it does not expire");
    refreshing.abort();
}

#[tokio::test]
async fn failures_of_credential_plugins_are_errors() {
    let folder = Folder::new("plugins");
    let server = Server::start_tls();
    let check = async |script: &str, expected: &str| {
        let path = folder.write("config", kubeconfig(&server, |_, user| *user = plugin(script)));
        let error = Target::new(Some(&path), None).unwrap().http().await.map(|_| ()).unwrap_err().to_string();
        let prefix = format!("kubeconfig {}: `users[fake].user.exec`: /bin/sh: ", path.display());
        assert_eq!(error.strip_prefix(&prefix), Some(expected), "{error}");
    };
    check("echo no such profile >&2; exit 3", "it ended with exit status: 3: no such profile").await;
    check("echo '{'", "its output is not an ExecCredential: line 2, column 0").await;
    check("cat /dev/zero", "it printed more than 10 MiB, the maximum").await;
    let printed = |version: &str, status: &str| {
        format!(r#"echo '{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/{version}"{status}}}'"#)
    };
    check(
        &printed("v1beta1", ""),
        "its output has kind `ExecCredential` and version `client.authentication.k8s.io/v1beta1`, but `apiVersion` in the \
         kubeconfig requires ExecCredential of client.authentication.k8s.io/v1",
    )
    .await;
    check(&printed("v1", ""), "it printed no `status`").await;
    check(&printed("v1", r#","status":{}"#), "it printed neither a token nor a certificate").await;
    let half = printed("v1", r#","status":{"clientKeyData":"a"}"#);
    check(&half, "it printed only one of certificate and key; both are required").await;
}

#[tokio::test]
async fn a_missing_plugin_is_an_error_with_its_install_hint() {
    let folder = Folder::new("absent");
    let absent = |_: &mut Value, user: &mut Value| {
        *user = plugin("");
        user["exec"]["command"] = "bin/absent".into();
    };
    let path = folder.write("config", kubeconfig(&Server::start(), absent));
    let error = Target::new(Some(&path), None).unwrap().http().await.map(|_| ()).unwrap_err().to_string();
    let command = folder.0.join("bin/absent");
    let expected = format!(
        "kubeconfig {}: `users[fake].user.exec`: {}: it cannot be run: No such file or directory (os error 2); It comes \
         with the cloud.",
        path.display(),
        command.display()
    );
    assert_eq!(error, expected);
}

/// Server that requests client certificates, and records them.
struct TlsServer {
    url: String,
    authority: String,
    certificates: Arc<Mutex<Vec<Vec<u8>>>>,
}

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn issuer() -> Issuer {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "an authority for tests");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Issues a certificate. Returns certificate and key in PEM, and the certificate in DER.
fn issue(issuer: &Issuer, name: &str) -> (String, String, Vec<u8>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, issuer).unwrap();
    (certificate.pem(), key.serialize_pem(), certificate.der().to_vec())
}

impl TlsServer {
    async fn new(issuer: &Issuer) -> TlsServer {
        let (_, key, certificate) = issue(issuer, "127.0.0.1");
        let provider = schedc_tls::provider();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(issuer.der().clone()).unwrap();
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
        let key = <PrivateKeyDer<'_> as rustls::pki_types::pem::PemObject>::from_pem_slice(key.as_bytes()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(clients)
            .with_single_cert(vec![certificate.into()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let (acceptor, certificates) = (TlsAcceptor::from(Arc::new(config)), Arc::new(Mutex::new(Vec::new())));
        let received = certificates.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let received = received.clone();
                tokio::spawn(async move {
                    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
                    let mut buffer = [0; 4096];
                    // A request fits into one read.
                    while stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {
                        received.lock().unwrap().push(shown.clone());
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
                    }
                });
            }
        });
        TlsServer { url, authority: issuer.pem(), certificates }
    }

    fn kubeconfig(&self, user: Value) -> String {
        json!({
            "current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": {"server": self.url, "certificate-authority": "ca.crt"}}],
            "users": [{"name": "a", "user": user}],
        })
        .to_string()
    }

    /// Sends a request, and returns the client certificate that the server received with it.
    async fn presented(&self, http: &Http) -> Vec<u8> {
        assert_eq!(get(http).await.map(|response| response.code), Ok(200));
        self.certificates.lock().unwrap().last().unwrap().clone()
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_used() {
    let folder = Folder::new("certificate");
    let issuer = issuer();
    let server = TlsServer::new(&issuer).await;
    let (certificate, key, first) = issue(&issuer, "first");
    folder.write("ca.crt", &server.authority);
    folder.write("client.crt", certificate);
    folder.write("client.key", key);
    let user = json!({"client-certificate": "client.crt", "client-key": "client.key"});
    let (http, refresher) = open(&folder, server.kubeconfig(user)).await;
    assert_eq!(server.presented(&http).await, first);
    let refreshing = start(refresher, 10);
    let (certificate, key, second) = issue(&issuer, "second");
    folder.write("client.crt", certificate);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.presented(&http).await, first, "the new key is not written yet");
    folder.write("client.key", key);
    until(second, async || server.presented(&http).await).await;
    refreshing.abort();
}

#[tokio::test]
async fn a_certificate_of_a_plugin() {
    let folder = Folder::new("issued");
    let issuer = issuer();
    let server = TlsServer::new(&issuer).await;
    let (certificate, key, shown) = issue(&issuer, "issued");
    folder.write("ca.crt", &server.authority);
    let credential = json!({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "status": {"clientCertificateData": certificate, "clientKeyData": key},
    });
    let path = folder.write("credential", credential.to_string());
    let (http, _refresher) = open(&folder, server.kubeconfig(plugin(&format!("cat {}", path.display())))).await;
    assert_eq!(server.presented(&http).await, shown);
}

#[tokio::test]
async fn malformed_certificates_are_errors() {
    let folder = Folder::new("none");
    let issuer = issuer();
    let server = TlsServer::new(&issuer).await;
    let (certificate, key, _) = issue(&issuer, "a");
    let (_, other, _) = issue(&issuer, "b");
    let check = async |authority: &str, certificate: &str, key: &str, expected: &str| {
        folder.write("ca.crt", authority);
        folder.write("client.crt", certificate);
        folder.write("client.key", key);
        let user = json!({"client-certificate": "client.crt", "client-key": "client.key"});
        let path = folder.write("config", server.kubeconfig(user));
        let error = Target::new(Some(&path), None).unwrap().http().await.map(|_| ()).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    };
    check("", &certificate, &key, "ca.crt: it contains no certificate in PEM").await;
    check(&server.authority, "", &key, "the client certificate: it contains no `BEGIN CERTIFICATE`").await;
    check(&server.authority, &certificate, "", "its key is not an unencrypted private key in PEM").await;
    check(&server.authority, &certificate, &other, "the client certificate: keys may not be consistent: KeyMismatch")
        .await;
}
