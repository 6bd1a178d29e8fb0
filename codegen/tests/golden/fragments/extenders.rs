//! Extenders.

use expect_test::expect;

use super::{check, code};

const PROFILE: &str = r#"
[plugins]
multi-point = ["PrioritySort", "NodeResourcesFit", "DefaultPreemption", "DefaultBinder"]

[[extender]]
url-prefix = "http://localhost:8888/labels"
filter-verb = "filter"
prioritize-verb = "prioritize"
weight = 5
http-timeout = "1.5s"
ignorable = true

[[extender]]
url-prefix = "https://gpu-share.kube-system"
filter-verb = "filter"
preempt-verb = "preempt"
bind-verb = "bind"
unreserve-verb = "unreserve"
enable-https = true
node-cache-capable = true
managed-resources = [{ name = "example.com/gpu", ignored-by-scheduler = true }, { name = "example.com/slice" }]

[extender.tls-config]
server-name = "gpu-share"
ca-file = "/etc/gpu-share/ca.pem"
cert-file = "/etc/gpu-share/tls.crt"
key-data = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n"
"#;

#[test]
fn ignorable_extenders_come_last() {
    let code = code(PROFILE);
    let constant = &code[code.find("/// Extenders in call order").unwrap()..];
    let constant = constant[..constant.find("\n\n").unwrap()].replace("\n    ", "\n");
    expect![[r#"
        /// Extenders in call order:
        ///
        /// 1. `https://gpu-share.kube-system`, profiles/mine.toml:14:1
        /// 2. `http://localhost:8888/labels`, profiles/mine.toml:6:1
        pub const EXTENDERS: [Extender; 2] = [
            Extender {
                url_prefix: "https://gpu-share.kube-system",
                filter_verb: Some("filter"),
                prioritize_verb: None,
                preempt_verb: Some("preempt"),
                bind_verb: Some("bind"),
                unreserve_verb: Some("unreserve"),
                weight: 0,
                enable_https: true,
                tls: Some(Tls {
                    insecure: false,
                    server_name: Some("gpu-share"),
                    ca: Some(Pem::File("/etc/gpu-share/ca.pem")),
                    certificate: Some(Pem::File("/etc/gpu-share/tls.crt")),
                    key: Some(
                        Pem::Text(
                            "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n",
                        ),
                    ),
                }),
                http_timeout: Duration::from_secs(5),
                node_cache_capable: true,
                managed_resources: &[
                    ManagedResource {
                        name: "example.com/gpu",
                        ignored_by_scheduler: true,
                    },
                    ManagedResource {
                        name: "example.com/slice",
                        ignored_by_scheduler: false,
                    },
                ],
                ignorable: false,
            },
            Extender {
                url_prefix: "http://localhost:8888/labels",
                filter_verb: Some("filter"),
                prioritize_verb: Some("prioritize"),
                preempt_verb: None,
                bind_verb: None,
                unreserve_verb: None,
                weight: 5,
                enable_https: false,
                tls: None,
                http_timeout: Duration::from_nanos(1500000000),
                node_cache_capable: false,
                managed_resources: &[],
                ignorable: true,
            },
        ];"#]]
    .assert_eq(&constant);
}

#[test]
fn managed_resources_are_ignored_by_node_resources_fit() {
    check(
        PROFILE,
        "pub const NODE_RESOURCES_FIT",
        &expect![[r#"
        pub const NODE_RESOURCES_FIT: <NodeResourcesFit as Plugin>::Args = <NodeResourcesFit as Plugin>::Args::decode(
            &at(
                22,
                31,
                Value::Table(
                    &[
                        (
                            "ignored-resources",
                            at(
                                22,
                                31,
                                Value::List(&[at(22, 31, Value::Str("example.com/gpu"))]),
                            ),
                        ),
                    ],
                ),
            ),
        );"#]],
    );
    let with_args =
        format!("{PROFILE}\n[args.NodeResourcesFit]\nignored-resources = [\"example.com/a\", \"example.com/gpu\"]\n");
    check(
        &with_args,
        "pub const NODE_RESOURCES_FIT",
        &expect![[r#"
        pub const NODE_RESOURCES_FIT: <NodeResourcesFit as Plugin>::Args = <NodeResourcesFit as Plugin>::Args::decode(
            &at(
                30,
                1,
                Value::Table(
                    &[
                        (
                            "ignored-resources",
                            at(
                                31,
                                21,
                                Value::List(
                                    &[
                                        at(31, 22, Value::Str("example.com/a")),
                                        at(31, 39, Value::Str("example.com/gpu")),
                                    ],
                                ),
                            ),
                        ),
                    ],
                ),
            ),
        );"#]],
    );
}

#[test]
fn the_pipeline_contains_extenders() {
    let code = code(PROFILE);
    for line in [
        "use ::schedc_extender::{Extender, HttpExtenders, ManagedResource, Pem, Tls};",
        "pub extenders: HttpExtenders,",
        "extenders: HttpExtenders::new(&EXTENDERS),",
        "type Extenders = HttpExtenders;",
        "&self.extenders",
        "const ORIGINALS: RequiredOriginals = originals(&mine::EXTENDERS);",
    ] {
        assert!(code.contains(line), "{line}");
    }
}

#[test]
fn extender_information_hides_the_client_key() {
    let code = code(PROFILE);
    let info = &code[code.find("extenders: &[").unwrap()..];
    let info = &info[..info.find("\n            ],\n").unwrap()];
    assert!(!info.contains("secret"));
    expect![[r#"
        extenders: &[
            "{\"bind-verb\":\"bind\",\"enable-https\":true,\"filter-verb\":\"filter\",\"http-timeout\":\"5s\",\"managed-resources\":[{\"ignored-by-scheduler\":true,\"name\":\"example.com/gpu\"},{\"name\":\"example.com/slice\"}],\"node-cache-capable\":true,\"preempt-verb\":\"preempt\",\"tls-config\":{\"ca-file\":\"/etc/gpu-share/ca.pem\",\"cert-file\":\"/etc/gpu-share/tls.crt\",\"key-data\":\"(hidden)\",\"server-name\":\"gpu-share\"},\"unreserve-verb\":\"unreserve\",\"url-prefix\":\"https://gpu-share.kube-system\"}",
            "{\"filter-verb\":\"filter\",\"http-timeout\":\"1500ms\",\"ignorable\":true,\"prioritize-verb\":\"prioritize\",\"url-prefix\":\"http://localhost:8888/labels\",\"weight\":5}","#]].assert_eq(&info.replace("\n            ", "\n"));
}

#[test]
fn a_profile_without_extenders_has_no_extender_code() {
    let code = code("");
    assert!(!code.contains("schedc_extender") && !code.contains("ORIGINALS"));
}
