//! Plugins at extension points.

use expect_test::expect;

use super::check;

#[test]
fn an_unknown_plugin() {
    check(
        r#"[plugins]
filter = ["NodeResourceFit", "GpuShare"]
"#,
        expect![[r#"
            error: no plugin is called `NodeResourceFit`
             --> profiles/p.toml:2:11
              |
            2 | filter = ["NodeResourceFit", "GpuShare"]
              |           ^^^^^^^^^^^^^^^^^ not in any catalog of this profile
              |
              = note: plugins of `filter` are `DynamicResources`, `InterPodAffinity`, `NodeAffinity`, `NodeDeclaredFeatures`, `NodeName`, `NodePorts`, `NodeResourcesFit`, `NodeUnschedulable`, `NodeVolumeLimits`, `PodTopologySpread`, `TaintToleration`, `VolumeBinding`, `VolumeRestrictions` and `VolumeZone`
            help: did you mean `NodeResourcesFit`?
              |
            2 | filter = ["NodeResourcesFit", "GpuShare"]
              |                        +

            error: no plugin is called `GpuShare`
             --> profiles/p.toml:2:30
              |
            2 | filter = ["NodeResourceFit", "GpuShare"]
              |                              ^^^^^^^^^^ not in any catalog of this profile
              |
              = note: plugins of `filter` are `DynamicResources`, `InterPodAffinity`, `NodeAffinity`, `NodeDeclaredFeatures`, `NodeName`, `NodePorts`, `NodeResourcesFit`, `NodeUnschedulable`, `NodeVolumeLimits`, `PodTopologySpread`, `TaintToleration`, `VolumeBinding`, `VolumeRestrictions` and `VolumeZone`
              = help: if another crate has it, name the crate: `crates = ["my-plugins"]`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn an_unknown_plugin_at_multi_point() {
    check(
        r#"[plugins]
multi-point = { enabled = ["nodename", "Coscheduling"] }
"#,
        expect![[r#"
            error: no plugin is called `nodename`
             --> profiles/p.toml:2:28
              |
            2 | multi-point = { enabled = ["nodename", "Coscheduling"] }
              |                            ^^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `NodeName`?
              |
            2 - multi-point = { enabled = ["nodename", "Coscheduling"] }
            2 + multi-point = { enabled = ["NodeName", "Coscheduling"] }
              |

            error: no plugin is called `Coscheduling`
             --> profiles/p.toml:2:40
              |
            2 | multi-point = { enabled = ["nodename", "Coscheduling"] }
              |                                        ^^^^^^^^^^^^^^ not in any catalog of this profile
              |
              = help: if another crate has it, name the crate: `crates = ["my-plugins"]`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_planned_plugin() {
    check(
        r#"[plugins]
filter = { enabled = ["PodGroupPodsCount"] }

[args.GangScheduling]
timeout = 40
"#,
        expect![[r#"
            error: `PodGroupPodsCount` is a kube-scheduler plugin that schedc does not have yet
             --> profiles/p.toml:2:23
              |
            2 | filter = { enabled = ["PodGroupPodsCount"] }
              |                       ^^^^^^^^^^^^^^^^^^^ not available
              |
              = help: leave it out, or name a crate in `crates` that has a plugin like it

            error: `GangScheduling` is a kube-scheduler plugin that schedc does not have yet
             --> profiles/p.toml:4:7
              |
            4 | [args.GangScheduling]
              |       ^^^^^^^^^^^^^^ not available
              |
              = help: leave it out, or name a crate in `crates` that has a plugin like it

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_at_a_point_that_it_does_not_implement() {
    check(
        r#"[plugins]
filter = ["NodeName", "ImageLocality"]
"#,
        expect![[r#"
            error: `ImageLocality` is not a filter plugin
             --> profiles/p.toml:2:23
              |
            2 | filter = ["NodeName", "ImageLocality"]
              |                       ^^^^^^^^^^^^^^^ nothing to run at `filter`
              |
              = note: ImageLocality runs at `score`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn star_is_not_a_plugin() {
    check(
        r#"[plugins]
score = { enabled = ["*"] }
"#,
        expect![[r#"
            error: `*` cannot be enabled at `score`
             --> profiles/p.toml:2:22
              |
            2 | score = { enabled = ["*"] }
              |                      ^^^ not a plugin
              |
              = note: `*` means all plugins, but only in `disabled`
              = help: name the plugins that should run, in their order

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn no_queue_sort() {
    check(
        r#"[plugins]
queue-sort = []
"#,
        expect![[r#"
            error: this profile has no queue-sort plugin
             --> profiles/p.toml:2:1
              |
            2 | queue-sort = []
              | ^^^^^^^^^^ leaves the queue without an order
              |
              = help: enable one, for example `PrioritySort`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn no_queue_sort_in_multi_point() {
    check(
        r#"[plugins]
multi-point = ["NodeName", "DefaultBinder"]
"#,
        expect![[r#"
            error: this profile has no queue-sort plugin
             --> profiles/p.toml:2:1
              |
            2 | multi-point = ["NodeName", "DefaultBinder"]
              | ^^^^^^^^^^^ leaves the queue without an order
              |
              = help: enable one, for example `PrioritySort`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn no_bind() {
    check(
        r#"[plugins]
bind = { disabled = ["DefaultBinder"] }
"#,
        expect![[r#"
            error: this profile has no bind plugin
             --> profiles/p.toml:2:1
              |
            2 | bind = { disabled = ["DefaultBinder"] }
              | ^^^^ leaves no plugin to bind pods
              |
              = help: enable one, for example `DefaultBinder`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_profile_without_plugins() {
    check(
        r#"[plugins]
multi-point = []
"#,
        expect![[r#"
            error: this profile has no queue-sort plugin
             --> profiles/p.toml:2:1
              |
            2 | multi-point = []
              | ^^^^^^^^^^^ leaves the queue without an order
              |
              = help: enable one, for example `PrioritySort`

            error: this profile has no bind plugin
             --> profiles/p.toml:2:1
              |
            2 | multi-point = []
              | ^^^^^^^^^^^ leaves no plugin to bind pods
              |
              = help: enable one, for example `DefaultBinder`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn follow_up_errors_are_not_reported() {
    check(
        r#"[plugins]
multi-point = ["PrioritySrt", "DefaultBnder"]
"#,
        expect![[r#"
            error: no plugin is called `PrioritySrt`
             --> profiles/p.toml:2:16
              |
            2 | multi-point = ["PrioritySrt", "DefaultBnder"]
              |                ^^^^^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `PrioritySort`?
              |
            2 | multi-point = ["PrioritySort", "DefaultBnder"]
              |                          +

            error: no plugin is called `DefaultBnder`
             --> profiles/p.toml:2:31
              |
            2 | multi-point = ["PrioritySrt", "DefaultBnder"]
              |                               ^^^^^^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `DefaultBinder`?
              |
            2 | multi-point = ["PrioritySrt", "DefaultBinder"]
              |                                        +

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_twice_in_one_list() {
    check(
        r#"[plugins]
filter = ["NodeName", "NodePorts", "NodeName"]
"#,
        expect![[r#"
            error: `NodeName` is enabled twice at `filter`
             --> profiles/p.toml:2:36
              |
            2 | filter = ["NodeName", "NodePorts", "NodeName"]
              |           ---------- first enabled ^^^^^^^^^^ enabled again
              |
              = help: remove one of the two

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_twice_in_multi_point() {
    check(
        r#"[plugins]
multi-point = { enabled = [
    "NodeName",
    { name = "NodeAffinity", weight = 5 },
    "NodeAffinity",
] }
"#,
        expect![[r#"
            error: `NodeAffinity` is enabled twice at `multi-point`
             --> profiles/p.toml:5:5
              |
            4 |     { name = "NodeAffinity", weight = 5 },
              |              -------------- first enabled
            5 |     "NodeAffinity",
              |     ^^^^^^^^^^^^^^ enabled again
              |
              = help: remove one of the two

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn disabled_twice() {
    check(
        r#"[plugins]
filter = { disabled = ["NodeName", "NodeName"] }
"#,
        expect![[r#"
            error: `NodeName` is disabled twice at `filter`
             --> profiles/p.toml:2:36
              |
            2 | filter = { disabled = ["NodeName", "NodeName"] }
              |                        ----------  ^^^^^^^^^^ disabled again
              |                        |
              |                        first disabled
              |
              = help: remove one of the two

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_typo_in_disabled() {
    check(
        r#"[plugins]
filter = { disabled = ["NodePort"] }
multi-point = { disabled = ["DefaultPremption"] }
"#,
        expect![[r#"
            error: `NodePort` cannot be disabled at `filter`: no plugin has this name
             --> profiles/p.toml:2:24
              |
            2 | filter = { disabled = ["NodePort"] }
              |                        ^^^^^^^^^^ disables nothing
              |
            help: did you mean `NodePorts`?
              |
            2 | filter = { disabled = ["NodePorts"] }
              |                                 +

            error: `DefaultPremption` cannot be disabled at `multi-point`: no plugin has this name
             --> profiles/p.toml:3:29
              |
            3 | multi-point = { disabled = ["DefaultPremption"] }
              |                             ^^^^^^^^^^^^^^^^^^ disables nothing
              |
            help: did you mean `DefaultPreemption`?
              |
            3 | multi-point = { disabled = ["DefaultPreemption"] }
              |                                        +

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn disabled_but_never_enabled() {
    check(
        r#"[plugins]
multi-point = ["PrioritySort", "NodeName", "DefaultBinder"]
filter = { enabled = ["NodePorts"], disabled = ["NodePorts"] }
post-filter = { disabled = ["NodeName"] }
"#,
        expect![[r#"
            error: `NodePorts` is not enabled at `filter` in the first place
             --> profiles/p.toml:3:49
              |
            3 | filter = { enabled = ["NodePorts"], disabled = ["NodePorts"] }
              |                                                 ^^^^^^^^^^^ disables nothing
              |
              = note: enabled there by default: `NodeName`
              = help: remove it from `disabled`

            error: `NodeName` cannot be disabled at `post-filter`: it never runs there
             --> profiles/p.toml:4:29
              |
            4 | post-filter = { disabled = ["NodeName"] }
              |                             ^^^^^^^^^^ disables nothing
              |
              = note: NodeName runs at `filter`

            error: 2 errors in profiles/p.toml
        "#]],
    );
}
