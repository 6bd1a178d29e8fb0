//! Errors in catalogs of plugin crates, and in their declarations of arguments.

use expect_test::expect;

use super::check_with_crates;

#[test]
fn invalid_catalog_contents() {
    check_with_crates(
        r#"crates = ["mine"]

[plugins]
filter = { enabled = ["Mine"] }
"#,
        &[(
            "mine",
            Some(
                r#"crate = "my-plugins"
default = ["Mine"]

[columns]
node-gpus = "my plugins"
node-info = "my_plugins::Info"

[[plugin]]
name = "Mine"
path = "my_plugins::Mine"
points = ["filter", "fliter", "filter"]
columns = ["node-gpu", "node-labels"]
indexes = ["image-node"]
default-weight = 2
colums = []

[[plugin]]
name = "An other"
points = ["score"]
default-weight = 0

[[plugin]]
path = "my_plugins::X"
"#,
            ),
        )],
        expect![[r#"
            error: `my-plugins` is not the Rust name of a crate
             --> mine/schedc.toml:1:9
              |
            1 | crate = "my-plugins"
              |         ^^^^^^^^^^^^ not an identifier
              |
            help: Rust paths name crates with underscores
              |
            1 - crate = "my-plugins"
            1 + crate = "my_plugins"
              |

            error: unknown key `default`
             --> mine/schedc.toml:2:1
              |
            2 | default = ["Mine"]
              | ^^^^^^^ not a key of a catalog
              |
              = note: a catalog has `crate`, `kinds`, `columns`, `indexes` and `plugin`

            error: `my plugins` is not a Rust path
             --> mine/schedc.toml:5:13
              |
            5 | node-gpus = "my plugins"
              |             ^^^^^^^^^^^^ expected a path such as `my_crate::Type`

            error: `node-info` cannot be declared
             --> mine/schedc.toml:6:1
              |
            6 | node-info = "my_plugins::Info"
              | ^^^^^^^^^ schedc has this column already
              |
              = help: choose another name

            error: unknown extension point `fliter`
              --> mine/schedc.toml:11:21
               |
            11 | points = ["filter", "fliter", "filter"]
               |                     ^^^^^^^^ no plugin can run here
               |
               = note: extension points are `pre-enqueue`, `queue-sort`, `pre-filter`, `filter`, `post-filter`, `pre-score`, `score`, `reserve`, `permit`, `pre-bind`, `bind` and `post-bind`
            help: did you mean `filter`?
               |
            11 - points = ["filter", "fliter", "filter"]
            11 + points = ["filter", "filter", "filter"]
               |

            error: extension point `filter` is listed twice
              --> mine/schedc.toml:11:31
               |
            11 | points = ["filter", "fliter", "filter"]
               |           -------- first      ^^^^^^^^ second

            error: unknown column `node-gpu`
              --> mine/schedc.toml:12:12
               |
            12 | columns = ["node-gpu", "node-labels"]
               |            ^^^^^^^^^^ not declared
               |
               = note: this catalog can name `node-gpus`, `node-resources`, `node-taints`, `node-labels`, `node-name`, `node-ports`, `node-disks`, `node-features`, `node-images`, `node-info` and `node-index`
            help: did you mean `node-gpus`?
               |
            12 | columns = ["node-gpus", "node-labels"]
               |                     +

            error: unknown index `image-node`
              --> mine/schedc.toml:13:12
               |
            13 | indexes = ["image-node"]
               |            ^^^^^^^^^^^^ not declared
               |
               = note: this catalog can name `attached-volumes`, `device-classes`, `resource-claims`, `resource-slices`, `image-nodes`, `disruption-budgets`, `volumes`, `topology`, `selector-counts`, `workload-selectors` and `affinity-terms`
            help: did you mean `image-nodes`?
               |
            13 | indexes = ["image-nodes"]
               |                       +

            error: `default-weight` is only for plugins of `score`
              --> mine/schedc.toml:14:1
               |
            14 | default-weight = 2
               | ^^^^^^^^^^^^^^ no effect
               |
               = note: `points` does not list `score`

            error: unknown key `colums`
              --> mine/schedc.toml:15:1
               |
            15 | colums = []
               | ^^^^^^ not a key of a plugin
               |
               = note: a plugin has `name`, `path`, `points`, `columns`, `indexes`, `reads`, `default-weight`, `normalizes`, `prepares-score`, `enqueue-extensions`, `watches`, `writes`, `description` and `args`
            help: did you mean `columns`?
               |
            15 | columns = []
               |      +

            error: a plugin needs `path`
              --> mine/schedc.toml:17:1
               |
            17 | [[plugin]]
               | ^^^^^^^^^^ `path` is missing

            error: `An other` cannot be the name of a plugin
              --> mine/schedc.toml:18:8
               |
            18 | name = "An other"
               |        ^^^^^^^^^^ not an identifier
               |
               = note: generated code has a field of this name

            error: a default weight must be at least 1 and fit 64 bits
              --> mine/schedc.toml:20:18
               |
            20 | default-weight = 0
               |                  ^ out of range

            error: a plugin needs `name`
              --> mine/schedc.toml:22:1
               |
            22 | [[plugin]]
               | ^^^^^^^^^^ `name` is missing

            error: a plugin needs `points`
              --> mine/schedc.toml:22:1
               |
            22 | [[plugin]]
               | ^^^^^^^^^^ `points` is missing

            error: 15 errors in mine/schedc.toml
        "#]],
    );
}

#[test]
fn a_catalog_that_is_not_toml() {
    check_with_crates(
        r#"crates = ["mine"]

[plugins]
filter = { enabled = ["Mine"] }
"#,
        &[(
            "mine",
            Some(
                r#"crate = mine
"#,
            ),
        )],
        expect![[r#"
            error: a string is written in quotes, `mine` is not
             --> mine/schedc.toml:1:9
              |
            1 | crate = mine
              |         ^^^^ not a value
              |
            help: put it in quotes
              |
            1 - crate = mine
            1 + crate = "mine"
              |

            error: 1 error in mine/schedc.toml
        "#]],
    );
}

#[test]
fn a_schema_that_cannot_be_read() {
    check_with_crates(
        r#"crates = ["mine"]
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "A"
path = "mine::A"
points = ["filter"]
args = { type = "tabel" }

[[plugin]]
name = "B"
path = "mine::B"
points = ["filter"]
args = { type = "boolean" }
"#,
            ),
        )],
        expect![[r#"
            error: this argument schema cannot be read
             --> mine/schedc.toml:7:8
              |
            7 | args = { type = "tabel" }
              |        ^^^^^^^^^^^^^^^^^^ unknown variant `tabel`, expected one of `table`, `integer`, `string`, `boolean`, `enum`, `list`

            error: the arguments of a plugin are a table
              --> mine/schedc.toml:13:8
               |
            13 | args = { type = "boolean" }
               |        ^^^^^^^^^^^^^^^^^^^^ expected `type = "table"`

            error: 2 errors in mine/schedc.toml
        "#]],
    );
}

#[test]
fn arguments_of_a_crate_with_a_schema() {
    check_with_crates(
        r#"crates = ["mine"]

[plugins]
filter = { enabled = ["Mine"] }

[args.Mine]
gpus = 0
tags = ["a", "b", "a"]
levels = [1, 3, 2, 4, 5]
strict = "yes"
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "Mine"
path = "mine::Mine"
points = ["filter"]

[plugin.args]
type = "table"
fields = [
    { name = "gpus", required = true, schema = { type = "integer", min = 1 } },
    { name = "tags", schema = { type = "list", of = { type = "string" }, unique = "" } },
    { name = "levels", schema = { type = "list", of = { type = "integer" }, max = 4, increasing = "" } },
    { name = "strict", schema = { type = "boolean" } },
    { name = "node", required = true, doc = "the node to prefer", schema = { type = "string" } },
]
"#,
            ),
        )],
        expect![[r#"
            error: Mine needs `node`
             --> profiles/p.toml:6:1
              |
            6 | [args.Mine]
              | ^^^^^^^^^^^ `node` is missing
              |
              = note: `node`: the node to prefer

            error: `gpus` of Mine must be at least 1, not 0
             --> profiles/p.toml:7:8
              |
            7 | gpus = 0
              |        ^ out of range

            error: `tags` of Mine has `a` twice
             --> profiles/p.toml:8:19
              |
            8 | tags = ["a", "b", "a"]
              |         --- first ^^^ again

            error: `levels` of Mine takes at most 4 elements, and has 5
             --> profiles/p.toml:9:10
              |
            9 | levels = [1, 3, 2, 4, 5]
              |          ^^^^^^^^^^^^^^^ too long

            error: `levels` of Mine must increase, but 2 follows 3
             --> profiles/p.toml:9:17
              |
            9 | levels = [1, 3, 2, 4, 5]
              |              -  ^ not more than the one before
              |              |
              |              the one before

            error: `strict` of Mine must be `true` or `false`, not a string
              --> profiles/p.toml:10:10
               |
            10 | strict = "yes"
               |          ^^^^^ expected `true` or `false`

            error: 6 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn arguments_of_a_crate_without_a_schema() {
    check_with_crates(
        r#"crates = ["mine"]

[plugins]
filter = { enabled = ["Mine"] }

[args.Mine]
anything = [{ goes = true, but = 1.5 }, 2026-01-01]
large = 9223372036854775808
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "Mine"
path = "mine::Mine"
points = ["filter"]
"#,
            ),
        )],
        expect![[r#"
            error: an argument of Mine cannot be a float
             --> profiles/p.toml:7:34
              |
            7 | anything = [{ goes = true, but = 1.5 }, 2026-01-01]
              |                                  ^^^ cannot be passed to a plugin
              |
              = note: arguments are made of booleans, integers of 64 bits, strings, lists and tables

            error: an argument of Mine cannot be a date or time
             --> profiles/p.toml:7:41
              |
            7 | anything = [{ goes = true, but = 1.5 }, 2026-01-01]
              |                                         ^^^^^^^^^^ cannot be passed to a plugin
              |
              = note: arguments are made of booleans, integers of 64 bits, strings, lists and tables

            error: an argument of Mine cannot be an integer of more than 64 bits
             --> profiles/p.toml:8:9
              |
            8 | large = 9223372036854775808
              |         ^^^^^^^^^^^^^^^^^^^ cannot be passed to a plugin
              |
              = note: arguments are made of booleans, integers of 64 bits, strings, lists and tables

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_that_reads_one_that_does_not_run() {
    check_with_crates(
        r#"crates = ["mine"]

[plugins]
multi-point = ["PrioritySort", "Mine", "DefaultBinder"]
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "Mine"
path = "mine::Mine"
points = ["score"]
reads = ["NodeResourcesFit"]
"#,
            ),
        )],
        expect![[r#"
            error: `Mine` reads the state of `NodeResourcesFit`, which this profile does not run
             --> profiles/p.toml:4:32
              |
            4 | multi-point = ["PrioritySort", "Mine", "DefaultBinder"]
              |                                ^^^^^^ needs `NodeResourcesFit`
              |
              = help: enable `NodeResourcesFit`, or leave `Mine` out

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_that_reads_one_that_runs_later() {
    check_with_crates(
        "crates = [\"mine\"]\n\n[plugins]\nmulti-point = [\"PrioritySort\", \"Mine\", \"NodePorts\", \"DefaultBinder\"]\n",
        &[(
            "mine",
            Some(
                "crate = \"mine\"\n\n[[plugin]]\nname = \"Mine\"\npath = \"mine::Mine\"\npoints = [\"pre-filter\"]\n\
                 reads = [\"NodePorts\"]\n",
            ),
        )],
        expect![[r#"
            error: `Mine` reads the state of `NodePorts`, which does not run before it at `pre-filter`
             --> profiles/p.toml:4:32
              |
            4 | multi-point = ["PrioritySort", "Mine", "NodePorts", "DefaultBinder"]
              |                                ^^^^^^ must come after `NodePorts`
              |
              = help: name `NodePorts` before `Mine`, at `multi-point` or at `pre-filter`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_plugin_that_is_declared_twice() {
    const CATALOG: &str = "crate = \"mine\"\n\n[[plugin]]\nname = \"Mine\"\npath = \"mine::Mine\"\npoints = [\"filter\"]\n\n\
                           [[plugin]]\nname = \"Mine\"\npath = \"mine::Other\"\npoints = [\"score\"]\n";
    check_with_crates(
        "crates = [\"mine\"]\n",
        &[("mine", Some(CATALOG))],
        expect![[r#"
        error: plugin `Mine` is in this catalog twice
         --> mine/schedc.toml:9:8
          |
        4 | name = "Mine"
          |        ------ first
        ...
        9 | name = "Mine"
          |        ^^^^^^ second
          |
          = help: give one of them another name, or remove it

        error: 1 error in mine/schedc.toml
    "#]],
    );
}
