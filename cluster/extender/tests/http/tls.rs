//! Extenders with TLS.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use schedc_extender::{Extender, Pem, Tls};

use crate::cluster::{Cluster, EXTENDER};
use crate::server::{Reply, Server};

/// Self-signed certificate with its key, as PEM.
struct Identity {
    key: PrivateKeyDer<'static>,
    certificate: rcgen::Certificate,
    pem: &'static str,
    key_pem: &'static str,
}

fn identity(name: &str) -> Identity {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec![name.to_owned()]).expect("it works in a test");
    Identity {
        key: PrivateKeyDer::try_from(signing_key.serialize_der()).expect("it works in a test"),
        pem: cert.pem().leak(),
        key_pem: signing_key.serialize_pem().leak(),
        certificate: cert,
    }
}

/// Starts an extender with a certificate. If `client` is set, clients must present that certificate.
fn server(own: &Identity, client: Option<&Identity>) -> Server {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("it works in a test");
    let builder = match client {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(client.certificate.der().clone()).expect("it works in a test");
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                .build()
                .expect("it works in a test");
            builder.with_client_cert_verifier(verifier)
        }
    };
    let config =
        builder.with_single_cert(vec![own.certificate.der().clone()], own.key.clone_key()).expect("it works in a test");
    Server::with_tls(Some(Arc::new(config)), |_, _| Reply::Json(r#"{"NodeNames":["b"]}"#.to_owned()))
}

fn filter(server: &Server, tls: Option<Tls>, enable_https: bool) -> Result<String, String> {
    let extender = Extender { tls, enable_https, http_timeout: Duration::from_secs(5), ..EXTENDER };
    let cluster = Cluster::with(vec![(extender, &*server.url)])?;
    cluster.filter()?;
    // Again on the same connection.
    cluster.filter().map(|(left, _)| left)
}

#[test]
fn a_certificate_is_checked_by_the_ca_and_the_name() {
    let own = identity("extender.test");
    let server = server(&own, None);
    let ca = Some(Pem::Text(own.pem));
    let named = Tls { ca, server_name: Some("extender.test"), ..Tls::default() };
    assert_eq!(filter(&server, Some(named), true).as_deref(), Ok("b"));
    assert_eq!(server.connections(), 1);
    let unnamed = filter(&server, Some(Tls { ca, ..Tls::default() }), true).unwrap_err();
    assert!(unnamed.contains("certificate not valid for name"), "{unnamed}");
    let other = identity("extender.test");
    let other = filter(&server, Some(Tls { ca: Some(Pem::Text(other.pem)), ..named }), true).unwrap_err();
    assert!(other.contains("invalid peer certificate"), "{other}");
}

#[test]
fn insecure_tls_accepts_any_certificate() {
    let server = server(&identity("extender.test"), None);
    assert_eq!(filter(&server, Some(Tls { insecure: true, ..Tls::default() }), false).as_deref(), Ok("b"));
    assert_eq!(filter(&server, None, true).as_deref(), Ok("b"), "kube-scheduler's enableHTTPS without a CA");
    let checked = filter(&server, None, false).unwrap_err();
    assert!(checked.contains("invalid peer certificate") || checked.contains("no trusted authority"), "{checked}");
}

#[test]
fn a_client_certificate_is_presented() {
    let (own, client) = (identity("extender.test"), identity("scheduler.test"));
    let server = server(&own, Some(&client));
    let named = Tls { ca: Some(Pem::Text(own.pem)), server_name: Some("extender.test"), ..Tls::default() };
    let shown = Tls { certificate: Some(Pem::Text(client.pem)), key: Some(Pem::Text(client.key_pem)), ..named };
    assert_eq!(filter(&server, Some(shown), true).as_deref(), Ok("b"));
    assert!(filter(&server, Some(named), true).is_err(), "no client certificate is presented");
}

#[test]
fn invalid_certificates_are_reported_at_startup() {
    let (own, other) = (identity("a"), identity("b"));
    let url = "https://127.0.0.1:1";
    let error = |tls| {
        let extender = Extender { tls: Some(tls), ..EXTENDER };
        Cluster::with(vec![(extender, url)]).err().unwrap_or_default()
    };
    let missing = error(Tls { ca: Some(Pem::File("/nowhere/ca.pem")), ..Tls::default() });
    assert!(missing.starts_with("extender https://127.0.0.1:1: /nowhere/ca.pem: "), "{missing}");
    // This file has no end.
    let endless = error(Tls { ca: Some(Pem::File("/dev/zero")), ..Tls::default() });
    assert_eq!(endless, "extender https://127.0.0.1:1: /dev/zero: this is a device; a regular file is required");
    let empty = error(Tls { ca: Some(Pem::Text("-----BEGIN -----END ")), ..Tls::default() });
    assert!(empty.contains("it contains no certificate"), "{empty}");
    let pair = |certificate, key| Tls {
        certificate: Some(Pem::Text(certificate)),
        key: Some(Pem::Text(key)),
        ..Tls::default()
    };
    let ca = Some(Pem::Text(own.pem));
    let mixed = error(Tls { ca, ..pair(own.pem, other.key_pem) });
    assert!(mixed.contains("the client certificate: "), "{mixed}");
    let no_key = error(Tls { ca, ..pair(own.pem, own.pem) });
    assert!(no_key.contains("its key is not an unencrypted private key"), "{no_key}");
}
