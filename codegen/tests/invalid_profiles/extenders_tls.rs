//! TLS settings of extenders.

use expect_test::{Expect, expect};

use super::check;
use super::extenders::check_one;

/// Checks an extender with an HTTPS URL that is valid except for these lines.
fn check_tls(lines: &str, expect: Expect) {
    check(&format!("[[extender]]\nurl-prefix = \"https://localhost\"\nfilter-verb = \"filter\"\n{lines}\n"), expect);
}

#[test]
fn https_of_a_plain_url() {
    check_one(
        "filter-verb = \"filter\"\nenable-https = true\ntls-config = { ca-file = \"ca.pem\" }",
        expect![[r#"
        error: `enable-https` does not make HTTPS of `http://`
         --> profiles/p.toml:4:16
          |
        2 | url-prefix = "http://localhost:8888"
          |              ----------------------- this scheme decides
        3 | filter-verb = "filter"
        4 | enable-https = true
          |                ^^^^ nothing would be encrypted
          |
        help: change the URL
          |
        2 | url-prefix = "https://localhost:8888"
          |                   +

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn tls_settings_of_a_plain_url() {
    check_one(
        "filter-verb = \"filter\"\ntls-config = { server-name = \"gpu\" }",
        expect![[r#"
        error: `tls-config` is for `https://` only
         --> profiles/p.toml:4:1
          |
        2 | url-prefix = "http://localhost:8888"
          |              ----------------------- plain HTTP
        3 | filter-verb = "filter"
        4 | tls-config = { server-name = "gpu" }
          | ^^^^^^^^^^ has no effect
          |
          = help: change the URL, or remove `tls-config`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn https_without_a_ca() {
    check_tls(
        "enable-https = true\ntls-config = { server-name = \"gpu\" }",
        expect![[r#"
        error: `enable-https` needs a CA in `tls-config`
         --> profiles/p.toml:4:16
          |
        4 | enable-https = true
          |                ^^^^ no trusted CA
          |
          = note: without a CA, kube-scheduler trusts any certificate and does not warn
          = help: add `tls-config = { ca-file = ".." }`; or remove `enable-https` to trust the CAs of the system; or set `tls-config = { insecure = true }`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn insecure_with_a_ca() {
    check_tls(
        "tls-config = { insecure = true, ca-file = \"ca.pem\" }",
        expect![[r#"
        error: `insecure` and a CA exclude each other
         --> profiles/p.toml:4:27
          |
        4 | tls-config = { insecure = true, ca-file = "ca.pem" }
          |                           ^^^^            -------- would verify the certificate
          |                           |
          |                           checks no certificate
          |
          = help: remove `insecure`, unless the network is trusted

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn incomplete_client_certificate() {
    check_tls(
        "tls-config = { cert-file = \"tls.crt\" }",
        expect![[r#"
        error: a client's certificate and its key go together
         --> profiles/p.toml:4:28
          |
        4 | tls-config = { cert-file = "tls.crt" }
          |                            ^^^^^^^^^ the other half is missing
          |
          = help: add `key-file` or `key-data`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn a_file_and_its_contents() {
    check_tls(
        "tls-config = { ca-file = \"ca.pem\", ca-data = \"-----BEGIN X-----\\n-----END X-----\" }",
        expect![[r#"
        error: `ca-file` and `ca-data` exclude each other
         --> profiles/p.toml:4:26
          |
        4 | tls-config = { ca-file = "ca.pem", ca-data = "-----BEGIN X-----\n-----END X-----" }
          |                          ^^^^^^^^ a file     ------------------------------------ and its contents
          |
          = help: remove one of the two

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn contents_that_are_not_pem() {
    check_tls(
        "tls-config = { ca-data = \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\", server-name = \"\" }",
        expect![[r#"
        error: `ca-data` must be PEM
         --> profiles/p.toml:4:26
          |
        4 | tls-config = { ca-data = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t", server-name = "" }
          |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not PEM
          |
          = note: text from `-----BEGIN ..-----` to `-----END ..-----`, without the additional base64 of kube-scheduler's files

        error: `server-name` must not be empty
         --> profiles/p.toml:4:80
          |
        4 | tls-config = { ca-data = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t", server-name = "" }
          |                                                                                ^^ nothing
          |
          = help: leave `server-name` out

        error: 2 errors in profiles/p.toml
    "#]],
    );
}
