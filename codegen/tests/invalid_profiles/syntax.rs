//! TOML, keys and kinds of values.

use expect_test::expect;

use super::{check, errors};

#[test]
fn toml_that_cannot_be_read() {
    check(
        r#"scheduler-name = edge
percentage-of-nodes-to-score = = 3

[plugins]
filter = ["NodeName", "NodePorts"
score = ["ImageLocality"]
"#,
        expect![[r#"
            error: a string is written in quotes, `edge` is not
             --> profiles/p.toml:1:18
              |
            1 | scheduler-name = edge
              |                  ^^^^ not a value
              |
            help: put it in quotes
              |
            1 - scheduler-name = edge
            1 + scheduler-name = "edge"
              |

            error: extra `=`
             --> profiles/p.toml:2:32
              |
            2 | percentage-of-nodes-to-score = = 3
              |                                ^ expected nothing

            error: missing comma between array elements
             --> profiles/p.toml:6:1
              |
            6 | score = ["ImageLocality"]
              | ^ expected `,`
              |
              = note: perhaps a bracket before this location is not closed

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_key_that_is_written_twice() {
    check(
        r#"scheduler-name = "a"
scheduler-name = "b"
"#,
        expect![[r#"
            error: `scheduler-name` is written twice
             --> profiles/p.toml:2:1
              |
            2 | scheduler-name = "b"
              | ^^^^^^^^^^^^^^ a table has each key once

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn unknown_keys() {
    check(
        r#"schedulerName = "edge"
parallelism = 16

[plugins]
filter = { enable = ["NodeName"] }
score = [{ name = "ImageLocality", wieght = 2 }]
"#,
        expect![[r#"
            error: unknown key `schedulerName`
             --> profiles/p.toml:1:1
              |
            1 | schedulerName = "edge"
              | ^^^^^^^^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`
            help: did you mean `scheduler-name`?
              |
            1 - schedulerName = "edge"
            1 + scheduler-name = "edge"
              |

            error: unknown key `parallelism`
             --> profiles/p.toml:2:1
              |
            2 | parallelism = 16
              | ^^^^^^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`

            error: unknown key `enable`
             --> profiles/p.toml:5:12
              |
            5 | filter = { enable = ["NodeName"] }
              |            ^^^^^^ not a key of `plugins.filter`
              |
              = note: `plugins.filter` has `enabled` and `disabled`
            help: did you mean `enabled`?
              |
            5 | filter = { enabled = ["NodeName"] }
              |                  +

            error: unknown key `wieght`
             --> profiles/p.toml:6:36
              |
            6 | score = [{ name = "ImageLocality", wieght = 2 }]
              |                                    ^^^^^^ not a key of a plugin entry
              |
              = note: a plugin entry has `name` and `weight`
            help: did you mean `weight`?
              |
            6 - score = [{ name = "ImageLocality", wieght = 2 }]
            6 + score = [{ name = "ImageLocality", weight = 2 }]
              |

            error: 4 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn an_unknown_extension_point() {
    check(
        r#"[plugins]
prefilter = ["NodePorts"]
placement-score = []
"#,
        expect![[r#"
            error: unknown extension point `prefilter`
             --> profiles/p.toml:2:1
              |
            2 | prefilter = ["NodePorts"]
              | ^^^^^^^^^ no plugin can run here
              |
              = note: extension points are `multi-point`, `pre-enqueue`, `queue-sort`, `pre-filter`, `filter`, `post-filter`, `pre-score`, `score`, `reserve`, `permit`, `pre-bind`, `bind` and `post-bind`
            help: did you mean `pre-filter`?
              |
            2 | pre-filter = ["NodePorts"]
              |    +

            error: unknown extension point `placement-score`
             --> profiles/p.toml:3:1
              |
            3 | placement-score = []
              | ^^^^^^^^^^^^^^^ no plugin can run here
              |
              = note: extension points are `multi-point`, `pre-enqueue`, `queue-sort`, `pre-filter`, `filter`, `post-filter`, `pre-score`, `score`, `reserve`, `permit`, `pre-bind`, `bind` and `post-bind`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn values_of_the_wrong_kind() {
    check(
        r#"scheduler-name = 7
percentage-of-nodes-to-score = "all"
crates = "my-plugins"

[plugins]
filter = "NodeName"
score = ["ImageLocality", 3]
pre-score = { enabled = "NodeAffinity" }
post-filter = { disabled = [{ name = "DefaultPreemption" }] }

[args]
NodeResourcesFit = "MostAllocated"
"#,
        expect![[r#"
            error: `scheduler-name` must be a string, not an integer
             --> profiles/p.toml:1:18
              |
            1 | scheduler-name = 7
              |                  ^ expected a string

            error: `percentage-of-nodes-to-score` must be an integer, not a string
             --> profiles/p.toml:2:32
              |
            2 | percentage-of-nodes-to-score = "all"
              |                                ^^^^^ expected an integer

            error: `crates` must be a list of crate names, not a string
             --> profiles/p.toml:3:10
              |
            3 | crates = "my-plugins"
              |          ^^^^^^^^^^^^ expected a list of crate names

            error: `filter` must be a list of plugins or a table of `enabled` and `disabled`, not a string
             --> profiles/p.toml:6:10
              |
            6 | filter = "NodeName"
              |          ^^^^^^^^^^ expected a list of plugins or a table of `enabled` and `disabled`

            error: a plugin must be a name or `{ name = "..", weight = .. }`, not an integer
             --> profiles/p.toml:7:27
              |
            7 | score = ["ImageLocality", 3]
              |                           ^ expected a name or `{ name = "..", weight = .. }`

            error: `enabled` must be a list of plugins, not a string
             --> profiles/p.toml:8:25
              |
            8 | pre-score = { enabled = "NodeAffinity" }
              |                         ^^^^^^^^^^^^^^ expected a list of plugins

            error: an element of `disabled` must be a string, not a table
             --> profiles/p.toml:9:29
              |
            9 | post-filter = { disabled = [{ name = "DefaultPreemption" }] }
              |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a string

            error: `args.NodeResourcesFit` must be a table, not a string
              --> profiles/p.toml:12:20
               |
            12 | NodeResourcesFit = "MostAllocated"
               |                    ^^^^^^^^^^^^^^^ expected a table

            error: 8 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_entry_without_a_name() {
    check(
        r#"[plugins]
score = [{ weight = 3 }]
"#,
        expect![[r#"
            error: a plugin entry needs `name`
             --> profiles/p.toml:2:10
              |
            2 | score = [{ weight = 3 }]
              |          ^^^^^^^^^^^^^^ `name` is missing

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn weights_are_integers() {
    check(
        r#"[plugins]
score = [{ name = "ImageLocality", weight = 1.5 }]
"#,
        expect![[r#"
            error: `weight` must be an integer, not a float
             --> profiles/p.toml:2:45
              |
            2 | score = [{ name = "ImageLocality", weight = 1.5 }]
              |                                             ^^^ expected an integer

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn configurations_of_kube_scheduler_are_not_profiles() {
    let error = |text: &str| errors(&[("config.yaml", text)], &[]).one_lines().join("\n");
    check(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: a\n",
        expect![[r#"
            error: profiles/p.toml is a KubeSchedulerConfiguration of kube-scheduler, not a profile
             --> profiles/p.toml:2:7
              |
            2 | kind: KubeSchedulerConfiguration
              |       ^^^^^^^^^^^^^^^^^^^^^^^^^^ profiles are TOML
              |
              = help: `schedc import profiles/p.toml` prints the same configuration as a profile

            error: 1 error in profiles/p.toml
        "#]],
    );
    let expected =
        "is a KubeSchedulerConfiguration of kube-scheduler, not a profile; `schedc import config.yaml` prints";
    for text in [
        r#"{"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}"#,
        r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}"#,
        "kind: ConfigMap\ndata:\n  config.yaml: |\n    kind: 'KubeSchedulerConfiguration'\n",
    ] {
        let error = error(text);
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let policy = "kind: Policy\napiVersion: v1\npredicates:\n- name: PodFitsHostPorts\n";
    assert!(error(policy).contains("config.yaml is a Policy of kube-scheduler, not a profile"));
    // Other YAML, and TOML that contains the word.
    for text in ["kind: Pod\n", "kind: KubeSchedulerConfigurationList\n", "# kind: KubeSchedulerConfiguration\na = 1\n"]
    {
        assert!(!error(text).contains("schedc import"), "{text}");
    }
}
