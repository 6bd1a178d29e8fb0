//! Configurations that kube-scheduler refuses for other reasons than plugins and their arguments.

use expect_test::expect;

use super::{check, check_errors, shown};
use crate::import;

#[test]
fn errors_show_their_location() {
    check(
        "profiles:\n- schedulerName: a\n  plugin:\n    score: {}\n- schedulerName: a\n  percentageOfNodesToScore: 101\n",
        expect![[r#"
            error: unknown field `plugin`
             --> c.yaml:5:3
              |
            5 |   plugin:
              |   ^^^^^^ not a field of `profiles[0]`
              |
              = note: `profiles[0]` has `schedulerName`, `percentageOfNodesToScore`, `plugins` and `pluginConfig`
            help: did you mean `plugins`?
              |
            5 |   plugins:
              |         +

            error: two profiles have the schedulerName `a`
             --> c.yaml:7:18
              |
            4 | - schedulerName: a
              |                  - first used
            ...
            7 | - schedulerName: a
              |                  ^ used again

            error: `percentageOfNodesToScore` must be 0 to 100, not 101
             --> c.yaml:8:29
              |
            8 |   percentageOfNodesToScore: 101
              |                             ^^^ out of range

            error: 3 errors in c.yaml
        "#]],
    );
}

#[test]
fn documents_that_are_no_configuration_are_errors() {
    for (text, expect) in [
        (
            "",
            expect![[r#"
            error: there is no KubeSchedulerConfiguration: the input is empty
             --> c.yaml:1:1
              |
            1 |
              | ^

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "# nothing\n",
            expect![[r#"
            error: there is no KubeSchedulerConfiguration: the input is empty
             --> c.yaml:1:1
              |
            1 | # nothing
              | ^

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "just text",
            expect![[r#"
            error: this is a string, not a KubeSchedulerConfiguration
             --> c.yaml:1:1
              |
            1 | just text
              | ^^^^^^^^^ expected fields

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "- a\n",
            expect![[r#"
            error: this is a list, not a KubeSchedulerConfiguration
             --> c.yaml:1:1
              |
            1 | - a
              | ^ expected fields

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "a: 1\n",
            expect![[r#"
            error: `kind` is missing
             --> c.yaml:1:1
              |
            1 | a: 1
              | ^ unknown kind of file
              |
              = help: add `kind: KubeSchedulerConfiguration`

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "kind: KubeSchedulerConfiguration\n",
            expect![[r#"
            error: `apiVersion` is missing
             --> c.yaml:1:1
              |
            1 | kind: KubeSchedulerConfiguration
              | ^ unknown kind of file
              |
              = help: add `apiVersion: kubescheduler.config.k8s.io/v1`

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "kind: ConfigMap\napiVersion: v1\n",
            expect![[r#"
            error: this is a ConfigMap, not a KubeSchedulerConfiguration
             --> c.yaml:1:7
              |
            1 | kind: ConfigMap
              |       ^^^^^^^^^ expected `KubeSchedulerConfiguration`
              |
              = help: import the configuration in its `data`: kubectl get -o jsonpath prints it alone

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3\n",
            expect![[r#"
                error: apiVersion `kubescheduler.config.k8s.io/v1beta3` is not supported
                 --> c.yaml:2:13
                  |
                2 | apiVersion: kubescheduler.config.k8s.io/v1beta3
                  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `kubescheduler.config.k8s.io/v1`
                  |
                  = note: kube-scheduler 1.36 reads no older version either
                  = help: run `schedc import` to convert it to a profile, and `schedc export` to convert the profile to a configuration

                error: 1 error in c.yaml
            "#]],
        ),
        (
            "kind: KubeSchedulerConfiguration\napiVersion: v1\n",
            expect![[r#"
            error: apiVersion `v1` is not supported
             --> c.yaml:2:13
              |
            2 | apiVersion: v1
              |             ^^ expected `kubescheduler.config.k8s.io/v1`

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "kind: [\n",
            expect![[r#"
            error: this is neither YAML nor JSON: unclosed bracket '['
             --> c.yaml:1:7
              |
            1 | kind: [
              |       ^

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "kind: *x\n",
            expect![[r#"
            error: this is neither YAML nor JSON: reference to unknown value
             --> c.yaml:1:7
              |
            1 | kind: *x
              |       ^

            error: 1 error in c.yaml
        "#]],
        ),
        (
            "{\"kind\": \"KubeSchedulerConfiguration\", }}",
            expect![[r#"
            error: this is neither YAML nor JSON: misplaced bracket
             --> c.yaml:1:41
              |
            1 | {"kind": "KubeSchedulerConfiguration", }}
              |                                         ^

            error: 1 error in c.yaml
        "#]],
        ),
    ] {
        expect.assert_eq(&shown(&import("c.yaml", text)));
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    check_errors(
        "percentageOfNodesToScore: -1\n",
        expect!["c.yaml:3:27: `percentageOfNodesToScore` must be 0 to 100, not -1"],
    );
    check_errors(
        "podInitialBackoffSeconds: 0\npodMaxBackoffSeconds: 10000000000\n",
        expect![[r#"
        c.yaml:3:27: `podInitialBackoffSeconds` must be 1 to 9223372036, not 0
        c.yaml:4:23: `podMaxBackoffSeconds` must be 1 to 9223372036, not 10000000000"#]],
    );
    check_errors(
        "podInitialBackoffSeconds: 20\n",
        expect![[
            r#"c.yaml:3:27: the longest backoff, 10 s, is shorter than the first, 20 s; `podMaxBackoffSeconds` (default 10) must be at least `podInitialBackoffSeconds` (default 1)"#
        ]],
    );
    check_errors(
        "podMaxBackoffSeconds: 3\npodInitialBackoffSeconds: 4\n",
        expect![[
            r#"c.yaml:3:23: the longest backoff, 3 s, is shorter than the first, 4 s; `podMaxBackoffSeconds` (default 10) must be at least `podInitialBackoffSeconds` (default 1)"#
        ]],
    );
    check_errors("parallelism: 0\n", expect!["c.yaml:3:14: `parallelism` must be greater than 0, not 0"]);
    check_errors(
        "parallelism: 1.5\nenableProfiling: 1\n",
        expect![[r#"
        c.yaml:3:14: `parallelism` must be a whole number, not a number with a fraction
        c.yaml:4:18: `enableProfiling` must be true or false, not a whole number"#]],
    );
}

#[test]
fn unknown_and_malformed_fields_are_errors() {
    check_errors(
        "Profiles: []\nmetadata: {}\nleaderElection: {leaderElected: true}\nextenders: [{urlPrefix: x, verb: y}]\n",
        expect![[r#"
            c.yaml:3:1: unknown field `Profiles`; did you mean `profiles`?
            c.yaml:4:1: unknown field `metadata`
            c.yaml:5:18: unknown field `leaderElected`; did you mean `leaderElect`?
            c.yaml:6:28: unknown field `verb`"#]],
    );
    check_errors(
        "profiles: []\nprofiles: [{}]\n",
        expect!["c.yaml:4:1: `profiles` is written twice; remove one of the two"],
    );
    check_errors("profiles: {}\n", expect!["c.yaml:3:11: `profiles` must be a list, not a map of fields"]);
    check_errors("profiles: [a]\n", expect!["c.yaml:3:12: `profiles[0]` must be a map of fields, not a string"]);
    check_errors(
        "profiles: [{plugins: {filters: {}, score: [NodeName], filter: {enabled: [NodeName, {weight: 1}]}}}]\n",
        expect![[r#"
        c.yaml:3:23: unknown field `filters`; did you mean `filter`?
        c.yaml:3:43: `profiles[0].plugins.score` must be a map of fields, not a list
        c.yaml:3:74: a plugin must be a map of fields, not a string; give it as `name`
        c.yaml:3:84: `profiles[0].plugins.filter.enabled[1]` needs a `name`"#]],
    );
    check_errors(
        "profiles: [{pluginConfig: [{args: {}}, {name: 1}]}]\n",
        expect![[r#"
        c.yaml:3:28: `profiles[0].pluginConfig[0]` needs a `name`
        c.yaml:3:47: `profiles[0].pluginConfig[1].name` must be a string, not a whole number; put it in quotes"#]],
    );
}

#[test]
fn invalid_scheduler_names_are_errors() {
    check_errors(
        "profiles: [{schedulerName: ''}]\n",
        expect!["c.yaml:3:28: `schedulerName` must not be empty; for the default, leave the field out"],
    );
    check_errors(
        "profiles: [{schedulerName: a}, {}]\n",
        expect!["c.yaml:3:32: each of several profiles needs a `schedulerName`"],
    );
    check_errors(
        "profiles: [{schedulerName: My Scheduler}]\n",
        expect!["c.yaml:3:28: `My Scheduler` is not a scheduler name for schedc"],
    );
    check_errors(
        "profiles: [{schedulerName: ../x}]\n",
        expect!["c.yaml:3:28: `../x` is not a scheduler name for schedc"],
    );
}

#[test]
fn all_profiles_share_a_queue() {
    check_errors(
        "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}]\n",
        expect!["c.yaml:3:61: all profiles must have the same queue order"],
    );
    check_errors(
        "profiles:\n- {schedulerName: a}\n- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: Mine}], disabled: [{name: '*'}]}}\n",
        expect!["c.yaml:6:13: all profiles must have the same queue order"],
    );
}
