//! Extenders.

use expect_test::{Expect, expect};

use super::check;

/// Checks an extender that is valid except for these lines.
pub(super) fn check_one(lines: &str, expect: Expect) {
    check(&format!("[[extender]]\nurl-prefix = \"http://localhost:8888\"\n{lines}\n"), expect);
}

#[test]
fn one_table_instead_of_a_list() {
    check(
        "[extender]\nurl-prefix = \"http://localhost\"\n",
        expect![[r#"
        error: `extender` must be a list of tables, not one table
         --> profiles/p.toml:1:1
          |
        1 | [extender]
          | ^^^^^^^^^^ there can be several
          |
          = help: write `[[extender]]`, with two brackets

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn extenders_that_are_no_tables() {
    check(
        "extender = [\"http://localhost\"]\n",
        expect![[r#"
        error: an extender must be a table, not a string
         --> profiles/p.toml:1:13
          |
        1 | extender = ["http://localhost"]
          |             ^^^^^^^^^^^^^^^^^^ expected a table

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn unknown_keys_and_values_of_the_wrong_kind() {
    check_one(
        "filterVerb = \"filter\"\nweight = \"1\"\nignorable = 1\nmanaged-resources = [\"example.com/gpu\"]\ntls-config = \"ca.pem\"",
        expect![[r#"
            error: unknown key `filterVerb`
             --> profiles/p.toml:3:1
              |
            3 | filterVerb = "filter"
              | ^^^^^^^^^^ not a key of an extender
              |
              = note: an extender has `url-prefix`, `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb`, `unreserve-verb`, `weight`, `enable-https`, `tls-config`, `http-timeout`, `node-cache-capable`, `managed-resources` and `ignorable`
            help: did you mean `filter-verb`?
              |
            3 - filterVerb = "filter"
            3 + filter-verb = "filter"
              |

            error: `weight` must be an integer, not a string
             --> profiles/p.toml:4:10
              |
            4 | weight = "1"
              |          ^^^ expected an integer

            error: `ignorable` must be `true` or `false`, not an integer
             --> profiles/p.toml:5:13
              |
            5 | ignorable = 1
              |             ^ expected `true` or `false`

            error: an element of `managed-resources` must be a table, not a string
             --> profiles/p.toml:6:22
              |
            6 | managed-resources = ["example.com/gpu"]
              |                      ^^^^^^^^^^^^^^^^^ expected a table

            error: `tls-config` must be a table, not a string
             --> profiles/p.toml:7:14
              |
            7 | tls-config = "ca.pem"
              |              ^^^^^^^^ expected a table

            error: 5 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn an_extender_without_a_url() {
    check(
        "[[extender]]\nfilter-verb = \"filter\"\n",
        expect![[r#"
        error: an extender needs `url-prefix`
         --> profiles/p.toml:1:1
          |
        1 | [[extender]]
          | ^^^^^^^^^^^^ `url-prefix` is missing

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn url_without_scheme() {
    check(
        "[[extender]]\nurl-prefix = \"localhost:8888\"\nfilter-verb = \"filter\"\n",
        expect![[r#"
        error: `url-prefix` cannot be `localhost:8888`
         --> profiles/p.toml:2:14
          |
        2 | url-prefix = "localhost:8888"
          |              ^^^^^^^^^^^^^^^^ must begin with `http://` or `https://`
          |
        help: did you mean `http://localhost:8888`?
          |
        2 | url-prefix = "http://localhost:8888"
          |               +++++++

        error: 1 error in profiles/p.toml
    "#]],
    );
    check(
        "[[extender]]\nurl-prefix = \"unix:///run/extender\"\nfilter-verb = \"filter\"\n",
        expect![[r#"
        error: `url-prefix` cannot be `unix:///run/extender`
         --> profiles/p.toml:2:14
          |
        2 | url-prefix = "unix:///run/extender"
          |              ^^^^^^^^^^^^^^^^^^^^^^ must begin with `http://` or `https://`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn url_that_cannot_be_called() {
    check(
        "[[extender]]\nurl-prefix = \"http://localhost:88888\"\nfilter-verb = \"filter\"\n",
        expect![[r#"
        error: `url-prefix` cannot be called: `88888` is not a port
         --> profiles/p.toml:2:14
          |
        2 | url-prefix = "http://localhost:88888"
          |              ^^^^^^^^^^^^^^^^^^^^^^^^ not a URL to call
          |
          = note: a scheme, a host, perhaps a port and a path: `http://gpu-share.kube-system:8888/scheduler`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn url_with_a_password() {
    check(
        "[[extender]]\nurl-prefix = \"http://admin:secret@localhost\"\nfilter-verb = \"filter\"\n",
        expect![[r#"
        error: `url-prefix` cannot be called: a profile must not contain a name and a password
         --> profiles/p.toml:2:14
          |
        2 | url-prefix = "http://admin:secret@localhost"
          |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not a URL to call
          |
          = note: a scheme, a host, perhaps a port and a path: `http://gpu-share.kube-system:8888/scheduler`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn an_extender_without_verbs() {
    check_one(
        "ignorable = true",
        expect![[r#"
        error: an extender without a verb is never called
         --> profiles/p.toml:1:1
          |
        1 | [[extender]]
          | ^^^^^^^^^^^^ does nothing
          |
          = help: give it `filter-verb`, `prioritize-verb`, `preempt-verb`, `bind-verb` or `unreserve-verb`, or remove it

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn verbs_that_cannot_be_called() {
    check_one(
        "filter-verb = \"\"\nbind-verb = \"bind me\"",
        expect![[r#"
        error: `filter-verb` must not be empty
         --> profiles/p.toml:3:15
          |
        3 | filter-verb = ""
          |               ^^ nothing would be called
          |
          = help: leave `filter-verb` out if the extender has no such call

        error: `bind-verb` cannot be `bind me`
         --> profiles/p.toml:4:13
          |
        4 | bind-verb = "bind me"
          |             ^^^^^^^^^ cannot be in the path of a URL
          |
          = note: the URL of a call is `url-prefix`, `/` and `bind-verb`

        error: 2 errors in profiles/p.toml
    "#]],
    );
}

#[test]
fn scores_without_weight() {
    check_one(
        "prioritize-verb = \"prioritize\"",
        expect![[r#"
        error: an extender with `prioritize-verb` needs `weight`
         --> profiles/p.toml:3:19
          |
        3 | prioritize-verb = "prioritize"
          |                   ^^^^^^^^^^^^ add `weight`, the factor of its scores
          |
          = note: an extender scores nodes from 0 to 10; with weight 1, its scores count as 0 to 100, like those of a plugin
          = help: add `weight = 1`

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn weight_that_is_too_small() {
    check_one(
        "prioritize-verb = \"prioritize\"\nweight = 0",
        expect![[r#"
        error: the weight of an extender must be at least 1, not 0
         --> profiles/p.toml:4:10
          |
        4 | weight = 0
          |          ^ must be at least 1
          |
          = help: remove `prioritize-verb` and `weight` to ignore its scores

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn weight_of_an_extender_that_does_not_score() {
    check_one(
        "filter-verb = \"filter\"\nweight = 5",
        expect![[r#"
        error: `weight` is for extenders with `prioritize-verb` only
         --> profiles/p.toml:4:10
          |
        4 | weight = 5
          |          ^ has no effect
          |
          = help: name the `prioritize-verb`, or remove the weight

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn weights_of_extenders_count_among_all_weights() {
    check_one(
        "prioritize-verb = \"prioritize\"\nweight = 92233720368547758",
        expect![[r#"
        error: the weighted sum of scores could overflow
         --> profiles/p.toml:4:10
          |
        4 | weight = 92233720368547758
          |          ^^^^^^^^^^^^^^^^^ weight of an extender
          |
          = note: 100 times the sum of all weights must fit a signed 64-bit integer
          = help: only the proportions of weights matter: use smaller ones

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn two_binders() {
    check_one(
        "bind-verb = \"bind\"\n\n[[extender]]\nurl-prefix = \"http://other\"\nbind-verb = \"bind\"",
        expect![[r#"
        error: only one extender of a profile can have `bind-verb`
         --> profiles/p.toml:7:13
          |
        3 | bind-verb = "bind"
          |             ------ the first one
        ...
        7 | bind-verb = "bind"
          |             ^^^^^^ another one that binds
          |
          = help: remove one of the two: only one extender can bind a pod

        error: 1 error in profiles/p.toml
    "#]],
    );
}

#[test]
fn preempt_verb_without_a_preemption_plugin() {
    check_one(
        "preempt-verb = \"preempt\"\n\n[plugins]\npost-filter = { disabled = [\"DefaultPreemption\"] }",
        expect![[r#"
            error: `preempt-verb` is never called: no plugin of this profile calls it
             --> profiles/p.toml:3:16
              |
            3 | preempt-verb = "preempt"
              |                ^^^^^^^^^ never called
            ...
            6 | post-filter = { disabled = ["DefaultPreemption"] }
              | ----------- without DefaultPreemption
              |
              = note: kube-scheduler accepts such an extender, and never calls its `preempt-verb`
              = help: let DefaultPreemption run at `post-filter`, or remove `preempt-verb`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn resources_that_cannot_be_managed() {
    check_one(
        "filter-verb = \"filter\"\nmanaged-resources = [\n    { name = \"cpu\" },\n    { name = \"example.com/\" },\n    \
         { name = \"requests.example.com/gpu\" },\n    { ignored-by-scheduler = true },\n]",
        expect![[r#"
            error: `cpu` cannot be managed: it is not an extended resource
             --> profiles/p.toml:5:14
              |
            5 |     { name = "cpu" },
              |              ^^^^^ not an extended resource
              |
              = note: the name of an extended resource, such as `example.com/gpu`, has a domain outside of kubernetes.io and does not begin with `requests.`

            error: a managed resource cannot be `example.com/`
             --> profiles/p.toml:6:14
              |
            6 |     { name = "example.com/" },
              |              ^^^^^^^^^^^^^^ not a qualified name
              |
              = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `requests.example.com/gpu` cannot be managed: it is not an extended resource
             --> profiles/p.toml:7:14
              |
            7 |     { name = "requests.example.com/gpu" },
              |              ^^^^^^^^^^^^^^^^^^^^^^^^^^ not an extended resource
              |
              = note: the name of an extended resource, such as `example.com/gpu`, has a domain outside of kubernetes.io and does not begin with `requests.`

            error: a managed resource needs `name`
             --> profiles/p.toml:8:5
              |
            8 |     { ignored-by-scheduler = true },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `name` is missing

            error: 4 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_resource_that_two_extenders_manage() {
    check_one(
        "filter-verb = \"filter\"\nmanaged-resources = [{ name = \"example.com/gpu\" }]\n\n[[extender]]\n\
         url-prefix = \"http://other\"\nmanaged-resources = [{ name = \"example.com/gpu\", ignored-by-scheduler = true }]",
        expect![[r#"
            error: `example.com/gpu` is managed twice
             --> profiles/p.toml:8:31
              |
            4 | managed-resources = [{ name = "example.com/gpu" }]
              |                               ----------------- first
            ...
            8 | managed-resources = [{ name = "example.com/gpu", ignored-by-scheduler = true }]
              |                               ^^^^^^^^^^^^^^^^^ again
              |
              = note: a resource can be named only once in the extenders of a profile
              = help: remove one of the two

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn invalid_timeouts() {
    check_one(
        "filter-verb = \"filter\"\nhttp-timeout = \"5\"",
        expect![[r#"
        error: `http-timeout` cannot be `5`
         --> profiles/p.toml:4:16
          |
        4 | http-timeout = "5"
          |                ^^^ not a duration
          |
          = note: numbers, each with its unit, like `10s`, `1m30s` or `500ms`

        error: 1 error in profiles/p.toml
    "#]],
    );
    check_one(
        "filter-verb = \"filter\"\nhttp-timeout = \"0s\"",
        expect![[r#"
        error: `http-timeout` must be more than 0
         --> profiles/p.toml:4:16
          |
        4 | http-timeout = "0s"
          |                ^^^^ every call would fail
          |
          = help: without this key, the timeout is 5s, as in kube-scheduler

        error: 1 error in profiles/p.toml
    "#]],
    );
}
