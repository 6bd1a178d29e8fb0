//! Extenders.

use expect_test::{Expect, expect};

use super::{check_errors, check_remarks, shown};
use crate::import;

/// Compares the extenders of the profile for a configuration.
fn check(rest: &str, expect: Expect) {
    let import = import("c.yaml", &format!("{}{rest}", super::HEAD));
    assert!(import.profiles.is_ok(), "{}", shown(&import));
    let toml = &import.profile(None).unwrap().1.toml;
    expect.assert_eq(toml.split_once("\n\n").map_or("", |(_, rest)| rest));
}

pub(super) const ALL: &str = "extenders:
- urlPrefix: http://labels:8888/x/
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 5
  httpTimeout: 1.5s
  ignorable: true
- urlPrefix: https://gpu-share.kube-system
  filterVerb: filter
  preemptVerb: preempt
  bindVerb: bind
  enableHTTPS: true
  nodeCacheCapable: true
  tlsConfig: {serverName: gpu-share, caFile: /etc/ca.pem, certFile: /etc/tls.crt, keyFile: /etc/tls.key}
  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: example.com/slice}]
";

#[test]
fn all_extender_fields_are_converted() {
    check(
        ALL,
        expect![[r##"
        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [[extender]]
        url-prefix = "http://labels:8888/x/"
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
        enable-https = true
        node-cache-capable = true
        managed-resources = [
            { name = "example.com/gpu", ignored-by-scheduler = true },
            { name = "example.com/slice" },
        ]

        [extender.tls-config]
        server-name = "gpu-share"
        ca-file = "/etc/ca.pem"
        cert-file = "/etc/tls.crt"
        key-file = "/etc/tls.key"
    "##]],
    );
}

#[test]
fn each_profile_has_the_extenders() {
    let profiles = "profiles: [{schedulerName: a}, {schedulerName: b}]\n";
    let import = import("c.yaml", &format!("{}{ALL}{profiles}", super::HEAD));
    for profile in import.profiles.unwrap() {
        assert_eq!(profile.toml.matches("[[extender]]").count(), 2);
        let urls: Vec<_> = profile.summary.extenders.iter().map(|extender| extender["url-prefix"].clone()).collect();
        assert_eq!(urls, ["https://gpu-share.kube-system", "http://labels:8888/x/"]);
    }
}

#[test]
fn bytes_are_written_as_text() {
    let ca = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmFiYwotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";
    check(
        &format!(
            "extenders: [{{urlPrefix: 'https://a', filterVerb: f, enableHTTPS: true, tlsConfig: {{caData: {ca}, caFile: /x}}}}]\n"
        ),
        expect![[r##"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [[extender]]
            url-prefix = "https://a"
            filter-verb = "f"
            enable-https = true
            tls-config = { ca-data = """
            -----BEGIN CERTIFICATE-----
            abc
            -----END CERTIFICATE-----
            """ }
        "##]],
    );
    check_errors(
        "extenders: [{urlPrefix: 'https://a', filterVerb: f, tlsConfig: {caData: '***'}}]\n",
        expect!["c.yaml:3:73: `caData` must be PEM in base64"],
    );
}

#[test]
fn empty_settings_are_omitted() {
    check(
        "extenders: [{urlPrefix: 'https://a', filterVerb: f, bindVerb: '', weight: 0, httpTimeout: 0s, ignorable: false, \
         tlsConfig: {certFile: '', insecure: false}, managedResources: [], nodeCacheCapable: null}]\n",
        expect![[r##"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [[extender]]
            url-prefix = "https://a"
            filter-verb = "f"
        "##]],
    );
}

#[test]
fn settings_that_kube_scheduler_ignores_are_omitted() {
    let rest = "extenders:
- {urlPrefix: 'http://a', filterVerb: f, weight: 3, enableHTTPS: true, tlsConfig: {caFile: /x}}
- {urlPrefix: 'https://b', filterVerb: f, tlsConfig: {certFile: /x}}
- {urlPrefix: 'https://c', filterVerb: f, enableHTTPS: true}
- {urlPrefix: 'http://d', managedResources: [{name: example.com/d}]}
- {urlPrefix: 'http://e', managedResources: [{name: example.com/e, ignoredByScheduler: true}]}
profiles:
- pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/x]}}]
";
    check_remarks(
        rest,
        expect![[r#"
        c.yaml:4:42: this weight is left out: the extender has no `prioritizeVerb`, so it gives no scores
        c.yaml:4:53: `enableHTTPS` is left out: the URL begins with http://, so kube-scheduler uses plain HTTP; write https:// in `urlPrefix` if the extender supports it
        c.yaml:4:72: `tlsConfig` is left out: the URL begins with http://, so kube-scheduler uses plain HTTP; write https:// in `urlPrefix` if the extender supports it
        c.yaml:5:55: this is left out: a client's certificate and its key have an effect only together
        c.yaml:6:43: `enableHTTPS` without a CA: kube-scheduler accepts any certificate, and the profile makes it explicit: `insecure = true`; give the CA as `caFile` in `tlsConfig`
        c.yaml:7:3: this extender is left out: it has no verb, so kube-scheduler never calls it
        c.yaml:10:50: these `ignoredResources` have no effect: kube-scheduler ignores those of the extenders in their place, which are `example.com/e`"#]],
    );
    check(
        rest,
        expect![[r##"
            # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
            percentage-of-nodes-to-score = 0

            [[extender]]
            url-prefix = "http://a"
            filter-verb = "f"

            [[extender]]
            url-prefix = "https://b"
            filter-verb = "f"

            [[extender]]
            url-prefix = "https://c"
            filter-verb = "f"
            enable-https = true
            tls-config = { insecure = true }

            [[extender]]
            url-prefix = "http://e"
            managed-resources = [{ name = "example.com/e", ignored-by-scheduler = true }]
        "##]],
    );
}

#[test]
fn settings_that_kube_scheduler_refuses_are_errors() {
    check_errors(
        "extenders:
- {urlPrefix: 'http://a', prioritizeVerb: p, bindVerb: b, managedResources: [{name: cpu}]}
- {urlPrefix: 'http://b', prioritizeVerb: p, weight: -1, bindVerb: b, managedResources: [{name: example.com/x}]}
- {urlPrefix: 'http://c', filterVerb: f, managedResources: [{name: example.com/x}]}
- {urlPrefix: 'https://d', filterVerb: f, tlsConfig: {insecure: true, caFile: /x}}
",
        expect![[r#"
            c.yaml:4:43: an extender with `prioritize-verb` needs `weight`; add `weight = 1`
            c.yaml:4:85: `cpu` cannot be managed: it is not an extended resource
            c.yaml:5:54: the weight of an extender must be at least 1, not -1; remove `prioritize-verb` and `weight` to ignore its scores
            c.yaml:5:68: only one extender of a profile can have `bind-verb`; remove one of the two: only one extender can bind a pod
            c.yaml:6:68: `example.com/x` is managed twice; remove one of the two
            c.yaml:7:65: `insecure` and a CA exclude each other; remove `insecure`, unless the network is trusted"#]],
    );
    check_errors(
        "extenders: [{urlPrefix: 'http://a', filterVerb: f, httpTimeout: 5, weight: x, nope: 1, tlsConfig: []}]\n",
        expect![[r#"
            c.yaml:3:65: `extenders[0].httpTimeout` must be a string, not a whole number; put it in quotes
            c.yaml:3:76: `extenders[0].weight` must be a whole number, not a string
            c.yaml:3:79: unknown field `nope`
            c.yaml:3:99: `extenders[0].tlsConfig` must be a map of fields, not a list"#]],
    );
}

#[test]
fn extenders_that_cannot_be_called_are_errors() {
    check_errors(
        "extenders: [{filterVerb: f}, {urlPrefix: '', filterVerb: f}, {urlPrefix: localhost, filterVerb: f}, \
         {urlPrefix: 'http://u:p@a', filterVerb: f}, {urlPrefix: 'http://a', filterVerb: 'a b', httpTimeout: -5s}]\n",
        expect![[r#"
            c.yaml:3:13: an extender needs `url-prefix`
            c.yaml:3:42: `url-prefix` cannot be ``
            c.yaml:3:74: `url-prefix` cannot be `localhost`; did you mean `http://localhost`?
            c.yaml:3:113: `url-prefix` cannot be called: a profile must not contain a name and a password
            c.yaml:3:181: `filter-verb` cannot be `a b`
            c.yaml:3:201: `http-timeout` cannot be `-5s`"#]],
    );
}

#[test]
fn preempt_verbs_without_a_preemption_plugin_are_omitted() {
    let rest = "extenders:
- {urlPrefix: 'http://a', filterVerb: f, preemptVerb: p}
- {urlPrefix: 'http://b', preemptVerb: p}
profiles:
- plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}
";
    check_remarks(
        rest,
        expect![[r#"
        c.yaml:4:42: this verb is left out: DefaultPreemption, which calls it, does not run in this profile
        c.yaml:5:27: this verb is left out: DefaultPreemption, which calls it, does not run in this profile"#]],
    );
    check(
        rest,
        expect![[r##"
        # kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.
        percentage-of-nodes-to-score = 0

        [plugins]
        post-filter = { disabled = ["DefaultPreemption"] }

        [[extender]]
        url-prefix = "http://a"
        filter-verb = "f"
    "##]],
    );
}

#[test]
fn weights_of_extenders_cannot_overflow() {
    check_errors(
        "extenders: [{urlPrefix: 'http://a', prioritizeVerb: p, weight: 9223372036854775807}]\n",
        expect![
            "c.yaml:3:64: the weighted sum of scores could overflow; only the proportions of weights matter: use smaller ones"
        ],
    );
}
