//! Misspelt keys, and errors below them.

use expect_test::expect;

use super::check;

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
