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
              = note: a bracket that was opened before this may not be closed

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_key_twice() {
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
fn errors_below_unknown_keys() {
    check(
        r#"[plugin]
pre-fliter = ["NodePort"]
multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }

[args.NodeResourceFit]
scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }

[[extenders]]
url = "localhost"
filter-verb = ""
tls-configs = { ca-files = 5 }
"#,
        expect![[r#"
            error: unknown key `plugin`
             --> profiles/p.toml:1:2
              |
            1 | [plugin]
              |  ^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`
            help: did you mean `plugins`?
              |
            1 | [plugins]
              |        +

            error: unknown extension point `pre-fliter`
             --> profiles/p.toml:2:1
              |
            2 | pre-fliter = ["NodePort"]
              | ^^^^^^^^^^ no plugin can run here
              |
              = note: extension points are `multi-point`, `pre-enqueue`, `queue-sort`, `pre-filter`, `filter`, `post-filter`, `pre-score`, `score`, `reserve`, `permit`, `pre-bind`, `bind` and `post-bind`
            help: did you mean `pre-filter`?
              |
            2 - pre-fliter = ["NodePort"]
            2 + pre-filter = ["NodePort"]
              |

            error: no plugin is called `NodePort`
             --> profiles/p.toml:2:15
              |
            2 | pre-fliter = ["NodePort"]
              |               ^^^^^^^^^^ not in any catalog of this profile
              |
              = note: plugins of `pre-filter` are `DynamicResources`, `InterPodAffinity`, `NodeAffinity`, `NodeDeclaredFeatures`, `NodePorts`, `NodeResourcesFit`, `NodeVolumeLimits`, `PodTopologySpread`, `VolumeBinding`, `VolumeRestrictions` and `VolumeZone`
            help: did you mean `NodePorts`?
              |
            2 | pre-fliter = ["NodePorts"]
              |                        +

            error: unknown extension point `multipoint`
             --> profiles/p.toml:3:1
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              | ^^^^^^^^^^ no plugin can run here
              |
              = note: extension points are `multi-point`, `pre-enqueue`, `queue-sort`, `pre-filter`, `filter`, `post-filter`, `pre-score`, `score`, `reserve`, `permit`, `pre-bind`, `bind` and `post-bind`
            help: did you mean `multi-point`?
              |
            3 | multi-point = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |      +

            error: unknown key `enable`
             --> profiles/p.toml:3:16
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                ^^^^^^ not a key of `plugins.multipoint`
              |
              = note: `plugins.multipoint` has `enabled` and `disabled`
            help: did you mean `enabled`?
              |
            3 | multipoint = { enabled = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                      +

            error: no plugin is called `NodeNam`
             --> profiles/p.toml:3:26
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                          ^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `NodeName`?
              |
            3 | multipoint = { enable = ["NodeName", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                                  +

            error: unknown key `nam`
             --> profiles/p.toml:3:39
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                                       ^^^ not a key of a plugin entry
              |
              = note: a plugin entry has `name` and `weight`
            help: did you mean `name`?
              |
            3 | multipoint = { enable = ["NodeNam", { name = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                                          +

            error: the weight of `NodeAffinity` must be at least 1, not 0
             --> profiles/p.toml:3:70
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                                                                      ^ must be at least 1
              |
              = help: to leave `NodeAffinity` out, disable it at `score`

            error: an element of `disabled` must be a string, not an integer
             --> profiles/p.toml:3:88
              |
            3 | multipoint = { enable = ["NodeNam", { nam = "NodeAffinity", weight = 0 }], disabled = [3] }
              |                                                                                        ^ expected a string

            error: no plugin is called `NodeResourceFit`
             --> profiles/p.toml:5:7
              |
            5 | [args.NodeResourceFit]
              |       ^^^^^^^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `NodeResourcesFit`?
              |
            5 | [args.NodeResourcesFit]
              |                   +

            error: NodeResourcesFit has no argument `scoring-strategie`
             --> profiles/p.toml:6:1
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              | ^^^^^^^^^^^^^^^^^ unknown argument
              |
              = note: known here: `ignored-resources`, `ignored-resource-groups` and `scoring-strategy`
            help: did you mean `scoring-strategy`?
              |
            6 - scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
            6 + scoring-strategy = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |

            error: `scoring-strategie` of NodeResourcesFit has no argument `typ`
             --> profiles/p.toml:6:23
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                       ^^^ unknown argument
              |
              = note: known here: `type`, `resources` and `requested-to-capacity-ratio`
            help: did you mean `type`?
              |
            6 | scoring-strategie = { type = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                          +

            error: `scoring-strategie.typ` of NodeResourcesFit cannot be `MostAllocatd`
             --> profiles/p.toml:6:29
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                             ^^^^^^^^^^^^^^ expected `LeastAllocated`, `MostAllocated` or `RequestedToCapacityRatio`
              |
            help: did you mean `MostAllocated`?
              |
            6 | scoring-strategie = { typ = "MostAllocated", resource = [{ name = "cpu", wieght = 0 }] }
              |                                         +

            error: `scoring-strategie` of NodeResourcesFit has no argument `resource`
             --> profiles/p.toml:6:45
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                                             ^^^^^^^^ unknown argument
              |
              = note: known here: `type`, `resources` and `requested-to-capacity-ratio`
            help: did you mean `resources`?
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resources = [{ name = "cpu", wieght = 0 }] }
              |                                                     +

            error: `scoring-strategie.resource[0]` of NodeResourcesFit has no argument `wieght`
             --> profiles/p.toml:6:73
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                                                                         ^^^^^^ unknown argument
              |
              = note: known here: `name` and `weight`
            help: did you mean `weight`?
              |
            6 - scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
            6 + scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", weight = 0 }] }
              |

            error: `scoring-strategie.resource[0].wieght` of NodeResourcesFit must be in 1..=100, not 0
             --> profiles/p.toml:6:82
              |
            6 | scoring-strategie = { typ = "MostAllocatd", resource = [{ name = "cpu", wieght = 0 }] }
              |                                                                                  ^ out of range

            error: an extender needs `url-prefix`
             --> profiles/p.toml:8:1
              |
            8 | [[extenders]]
              | ^^^^^^^^^^^^^ `url-prefix` is missing

            error: unknown key `extenders`
             --> profiles/p.toml:8:3
              |
            8 | [[extenders]]
              |   ^^^^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`
            help: did you mean `extender`?
              |
            8 - [[extenders]]
            8 + [[extender]]
              |

            error: unknown key `url`
             --> profiles/p.toml:9:1
              |
            9 | url = "localhost"
              | ^^^ not a key of an extender
              |
              = note: an extender has `url-prefix`, `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb`, `unreserve-verb`, `weight`, `enable-https`, `tls-config`, `http-timeout`, `node-cache-capable`, `managed-resources` and `ignorable`

            error: `filter-verb` must not be empty
              --> profiles/p.toml:10:15
               |
            10 | filter-verb = ""
               |               ^^ nothing would be called
               |
               = help: leave `filter-verb` out if the extender has no such call

            error: unknown key `tls-configs`
              --> profiles/p.toml:11:1
               |
            11 | tls-configs = { ca-files = 5 }
               | ^^^^^^^^^^^ not a key of an extender
               |
               = note: an extender has `url-prefix`, `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb`, `unreserve-verb`, `weight`, `enable-https`, `tls-config`, `http-timeout`, `node-cache-capable`, `managed-resources` and `ignorable`
            help: did you mean `tls-config`?
               |
            11 - tls-configs = { ca-files = 5 }
            11 + tls-config = { ca-files = 5 }
               |

            error: unknown key `ca-files`
              --> profiles/p.toml:11:17
               |
            11 | tls-configs = { ca-files = 5 }
               |                 ^^^^^^^^ not a key of `tls-config`
               |
               = note: `tls-config` has `insecure`, `server-name`, `cert-file`, `key-file`, `ca-file`, `cert-data`, `key-data` and `ca-data`
            help: did you mean `ca-file`?
               |
            11 - tls-configs = { ca-files = 5 }
            11 + tls-configs = { ca-file = 5 }
               |

            error: `ca-file` must be a string, not an integer
              --> profiles/p.toml:11:28
               |
            11 | tls-configs = { ca-files = 5 }
               |                            ^ expected a string

            error: 23 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_misspelt_key_beside_the_right_one_is_not_read() {
    check(
        r#"schedulerName = 5
scheduler-name = "edge"
scheduler_name = 6
"#,
        expect![[r#"
            error: unknown key `schedulerName`
             --> profiles/p.toml:1:1
              |
            1 | schedulerName = 5
              | ^^^^^^^^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`
            help: did you mean `scheduler-name`?
              |
            1 - schedulerName = 5
            1 + scheduler-name = 5
              |

            error: unknown key `scheduler_name`
             --> profiles/p.toml:3:1
              |
            3 | scheduler_name = 6
              | ^^^^^^^^^^^^^^ not a key of a profile
              |
              = note: a profile has `scheduler-name`, `percentage-of-nodes-to-score`, `pod-initial-backoff-seconds`, `pod-max-backoff-seconds`, `crates`, `plugins`, `args`, `extender` and `budget`
            help: did you mean `scheduler-name`?
              |
            3 - scheduler_name = 6
            3 + scheduler-name = 6
              |

            error: 2 errors in profiles/p.toml
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
    // Other YAML, and TOML that has the word.
    for text in ["kind: Pod\n", "kind: KubeSchedulerConfigurationList\n", "# kind: KubeSchedulerConfiguration\na = 1\n"]
    {
        assert!(!error(text).contains("schedc import"), "{text}");
    }
}
