use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

/// Returns a kubeconfig with one cluster and one user, given in YAML.
fn config(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\npreferences: {{}}\n\
         contexts:\n- name: elsewhere\n  context: {{cluster: none, user: none}}\n\
         - name: here\n  context: {{cluster: c, user: u, namespace: n}}\n\
         clusters:\n- name: c\n  cluster: {cluster}\nusers:\n- name: u\n  user: {user}\n"
    )
}

fn read(text: &str, master: Option<&str>) -> Result<Target, ConnectError> {
    Kubeconfig::parse(Path::new("/etc/kubernetes/scheduler.conf"), text)?.target(master)
}

fn check_error(text: &str, expected: Expect) {
    let error = read(text, None).expect_err("it is wrong").to_string();
    expected.assert_eq(error.strip_prefix("kubeconfig /etc/kubernetes/scheduler.conf: ").unwrap_or(&error));
}

const CLUSTER: &str = "{server: 'https://10.0.0.1:6443'}";

#[test]
fn the_kubeconfig_of_kubeadm() {
    let data = STANDARD.encode("pem");
    let cluster = format!("{{certificate-authority-data: {data}, server: 'https://10.0.0.1:6443'}}");
    let user = format!("{{client-certificate-data: {data}, client-key-data: {data}}}");
    let target = read(&config(&cluster, &user), None).unwrap();
    assert_eq!(target.server(), "https://10.0.0.1:6443/");
    assert_eq!(target.trust.read().unwrap().as_deref(), Some(&b"pem"[..]));
    assert_eq!(target.user.read().unwrap().certificate, Some((b"pem".to_vec(), b"pem".to_vec())));
    assert!(!target.user.has_files());
}

#[test]
fn paths_are_relative_to_the_file() {
    let user = "{client-certificate: pki/a.crt, client-key: /pki/a.key}";
    let target = read(&config("{server: 'https://a', certificate-authority: ca.crt}", user), None).unwrap();
    let (certificate, key) = target.user.certificate.as_ref().unwrap();
    let path = |source: &Source| source.to_string().split(" in ").nth(1).unwrap().to_owned();
    assert_eq!((path(certificate), path(key)), ("/etc/kubernetes/pki/a.crt".to_owned(), "/pki/a.key".to_owned()));
    assert!(target.user.has_files() && target.trust.is_file());
    assert_eq!(
        target.trust.read().unwrap_err().to_string(),
        "kubeconfig /etc/kubernetes/scheduler.conf: `clusters[c].cluster.certificate-authority` in \
         /etc/kubernetes/ca.crt: the file cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn master_overrides_the_server() {
    let cluster = "{server: 'https://10.0.0.1:6443', tls-server-name: apiserver.example}";
    let text = config(cluster, "{token: t}");
    assert!(read(&text, None).unwrap().server_name.is_some());
    let target = read(&text, Some("https://127.0.0.1:7443")).unwrap();
    assert_eq!((target.server().to_string().as_str(), target.server_name), ("https://127.0.0.1:7443/", None));
    assert_eq!(read("{}", Some("localhost:8080")).unwrap().server(), "http://localhost:8080/");
}

#[test]
fn user_credentials() {
    let authorization = |cluster: &str, user: &str| {
        let credentials = read(&config(cluster, user), None).unwrap().user.read().unwrap();
        credentials.authorization.map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(authorization(CLUSTER, "{token: secret}").as_deref(), Some("Bearer secret"));
    assert_eq!(authorization(CLUSTER, "{username: me, password: pass}").as_deref(), Some("Basic bWU6cGFzcw=="));
    assert_eq!(authorization(CLUSTER, "{}"), None);
    // The file does not exist, so the inline token is used.
    assert_eq!(authorization(CLUSTER, "{token: old, tokenFile: absent}").as_deref(), Some("Bearer old"));
    // The connection is not encrypted, so the token is not sent.
    assert_eq!(authorization("{server: 'http://10.0.0.1'}", "{token: secret}"), None);
    assert_eq!(authorization("{server: 'http://127.0.0.1'}", "{token: secret}").as_deref(), Some("Bearer secret"));
}

#[test]
fn cluster_info_for_plugins() {
    let cluster: Cluster = serde_json::from_value(json!({
        "server": "https://a", "tls-server-name": "b",
        "extensions": [{"name": "x"}, {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "c"}}],
    }))
    .unwrap();
    let authority = Source::inline(b"pem".to_vec(), String::new());
    let expected = json!({
        "server": "https://a", "tls-server-name": "b", "certificate-authority-data": "cGVt", "config": {"audience": "c"},
    });
    assert_eq!(cluster_info(&cluster, "https://a/", &Trust::Authority(authority)).unwrap(), expected);
}

#[test]
fn endless_files_are_errors() {
    let cluster = "{server: 'https://a', certificate-authority: /dev/zero}";
    let check = |result: Result<(), ConnectError>, expected: Expect| {
        expected.assert_eq(&result.unwrap_err().to_string());
    };
    check(
        read(&config(cluster, "{}"), None).unwrap().trust.read().map(drop),
        expect![
            "kubeconfig /etc/kubernetes/scheduler.conf: `clusters[c].cluster.certificate-authority` in /dev/zero: this is a device; a regular file is required"
        ],
    );
    let user = |user: &str| read(&config(CLUSTER, user), None).unwrap().user.read().map(drop);
    check(
        user("{tokenFile: /dev/zero}"),
        expect![
            "kubeconfig /etc/kubernetes/scheduler.conf: `users[u].user.tokenFile` in /dev/zero: this is a device; a regular file is required"
        ],
    );
    check(
        user("{client-certificate: /dev/zero, client-key: /dev/zero}"),
        expect![
            "kubeconfig /etc/kubernetes/scheduler.conf: `users[u].user.client-certificate` in /dev/zero: this is a device; a regular file is required"
        ],
    );
    check(
        Target::from_kubeconfig(Path::new("/dev/zero"), None).map(drop),
        expect![
            "kubeconfig /dev/zero: this is a device; a regular file is required; name another with --kubeconfig, or with `clientConnection.kubeconfig` in the file of --config"
        ],
    );
}

#[test]
fn contexts_without_cluster_or_user() {
    check_error("{}", expect!["`current-context`: it is missing, and the file has no contexts"]);
    check_error(
        "{contexts: [{name: a}, {name: b}]}",
        expect!["`current-context`: it is missing; set it to one of a, b"],
    );
    check_error("{current-context: a}", expect!["`current-context`: `contexts` has no entry `a`"]);
    check_error("{current-context: a, contexts: [{name: a}]}", expect!["`contexts`: `a` has a name and no content"]);
    let twice = "{current-context: a, contexts: [{name: a, context: {}}, {name: a, context: {}}]}";
    check_error(twice, expect!["`contexts`: `a` occurs twice"]);
    let none = "{current-context: a, contexts: [{name: a, context: {cluster: b}}]}";
    check_error(none, expect!["`contexts[a].context.user`: it is missing"]);
    let none = "{current-context: a, contexts: [{name: a, context: {cluster: b, user: c}}]}";
    check_error(none, expect!["`contexts[a].context.cluster`: `clusters` has no entry `b`"]);
}

#[test]
fn files_of_other_kinds_are_errors() {
    check_error("profiles: [", expect!["this is not a kubeconfig: unclosed bracket '[' at line 1, column 11"]);
    check_error(
        "{kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1}",
        expect![
            "`kind`: this is a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1; a kubeconfig is a Config of v1"
        ],
    );
    check_error(
        "users: [{name: a, user: {token: [geheim]}}]",
        expect!["this is not a kubeconfig: expected string scalar at line 1, column 33"],
    );
}

#[test]
fn unsupported_cluster_fields() {
    let check = |cluster: &str, expected: Expect| check_error(&config(cluster, "{}"), expected);
    check(
        "{proxy-url: 'http://p'}",
        expect![
            "`clusters[c].cluster.proxy-url`: http://p: schedc does not support proxies; remove this field and make `server` reachable directly"
        ],
    );
    check(
        "{certificate-authority-data: '?'}",
        expect!["`clusters[c].cluster.certificate-authority-data`: this is not base64: Invalid symbol 63, offset 0."],
    );
    check(
        "{certificate-authority-data: cGVt, certificate-authority: a}",
        expect!["`clusters[c].cluster.certificate-authority-data`: a file is set, too; remove one of the two"],
    );
    check(
        "{certificate-authority: a, insecure-skip-tls-verify: true}",
        expect![
            "`clusters[c].cluster.insecure-skip-tls-verify`: it cannot be `true` with a certificate authority; remove one of the two"
        ],
    );
    check("{certificate-authority: a}", expect!["`clusters[c].cluster.server`: it is missing"]);
    check(
        "{server: 'ftp://a'}",
        expect!["`clusters[c].cluster.server`: ftp://a: the scheme of an API server is `http` or `https`, not `ftp`"],
    );
    check(
        "{server: 'https://127.0.0.1:99999'}",
        expect![
            "`clusters[c].cluster.server`: https://127.0.0.1:99999: the port after `:` is not a number from 1 to 65535"
        ],
    );
    check(
        "{server: 'https://me:secret@a'}",
        expect![
            "`clusters[c].cluster.server`: https://...@a: an address with a user or a password is not supported: leave them out; `users` of a kubeconfig has `username` and `password`, tokens and certificates"
        ],
    );
    check(
        "{server: 'https://a/?token=secret'}",
        expect![
            "`clusters[c].cluster.server`: https://a/...: a query or a fragment (after `?` or `#`) has no meaning here; leave it out"
        ],
    );
    check(
        "{proxy-url: 'http://me:secret@p'}",
        expect![
            "`clusters[c].cluster.proxy-url`: http://...@p: schedc does not support proxies; remove this field and make `server` reachable directly"
        ],
    );
    check("{server: a, tls-server-name: 'a b'}", expect!["`clusters[c].cluster.tls-server-name`: invalid dns name"]);
}

#[test]
fn unsupported_user_fields() {
    let check = |user: &str, expected: Expect| check_error(&config(CLUSTER, user), expected);
    check(
        "{client-certificate: a}",
        expect!["`users[u].user.client-key`: a client certificate needs `client-key` or `client-key-data`"],
    );
    check("{token: a, username: b}", expect!["`users[u].user.username`: a token is set, too; remove one of the two"]);
    check(
        "{as: boss}",
        expect!["`users[u].user.as`: schedc does not impersonate users; name a user with the required permissions"],
    );
    check(
        "{auth-provider: {name: gcp}}",
        expect![
            "`users[u].user.auth-provider`: Kubernetes no longer supports auth providers; use a credential plugin: `exec`"
        ],
    );
    check(
        "{exec: {apiVersion: client.authentication.k8s.io/v1}}",
        expect!["`users[u].user.exec`: `command` is missing"],
    );
    check(
        "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: a}}",
        expect![
            "`users[u].user.exec`: `apiVersion` is `client.authentication.k8s.io/v1alpha1`; client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1 are known"
        ],
    );
    let always = "{apiVersion: client.authentication.k8s.io/v1, command: a, interactiveMode: Always}";
    check(
        &format!("{{exec: {always}}}"),
        expect![
            "`users[u].user.exec`: `interactiveMode` is `Always`, but schedc runs without a terminal; set it to `Never`"
        ],
    );
}
