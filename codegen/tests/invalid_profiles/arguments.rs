//! Arguments of plugins: their owners and shapes.

use expect_test::expect;

use super::{check, check_with_crates};

#[test]
fn arguments_of_a_plugin_that_is_not_enabled() {
    check(
        r#"[plugins]
multi-point = ["PrioritySort", "NodeName", "DefaultBinder"]

[args.NodeResourcesFit]
ignored-resources = []
"#,
        expect![[r#"
            error: arguments for `NodeResourcesFit`, which this profile does not enable
             --> profiles/p.toml:4:7
              |
            4 | [args.NodeResourcesFit]
              |       ^^^^^^^^^^^^^^^^ no effect
              |
              = help: enable `NodeResourcesFit`, or remove its arguments

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn arguments_of_an_unknown_plugin() {
    check(
        r#"[args.NodeResourceFit]
ignored-resources = []
"#,
        expect![[r#"
            error: no plugin is called `NodeResourceFit`
             --> profiles/p.toml:1:7
              |
            1 | [args.NodeResourceFit]
              |       ^^^^^^^^^^^^^^^ not in any catalog of this profile
              |
            help: did you mean `NodeResourcesFit`?
              |
            1 | [args.NodeResourcesFit]
              |                   +

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn arguments_of_a_plugin_without_arguments() {
    check(
        r#"[args.NodeName]
name = "node-1"
"#,
        expect![[r#"
            error: `NodeName` takes no arguments
             --> profiles/p.toml:1:7
              |
            1 | [args.NodeName]
              |       ^^^^^^^^ no effect
              |
              = help: remove the table

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn unknown_arguments() {
    check(
        r#"[args.NodeResourcesFit]
ignoredResources = []

[args.NodeResourcesFit.scoring-strategy]
type = "MostAllocated"
resource = [{ name = "cpu", wait = 2 }]
"#,
        expect![[r#"
            error: NodeResourcesFit has no argument `ignoredResources`
             --> profiles/p.toml:2:1
              |
            2 | ignoredResources = []
              | ^^^^^^^^^^^^^^^^ unknown argument
              |
              = note: known here: `ignored-resources`, `ignored-resource-groups` and `scoring-strategy`
            help: did you mean `ignored-resources`?
              |
            2 - ignoredResources = []
            2 + ignored-resources = []
              |

            error: `scoring-strategy` of NodeResourcesFit has no argument `resource`
             --> profiles/p.toml:6:1
              |
            6 | resource = [{ name = "cpu", wait = 2 }]
              | ^^^^^^^^ unknown argument
              |
              = note: known here: `type`, `resources` and `requested-to-capacity-ratio`
            help: did you mean `resources`?
              |
            6 | resources = [{ name = "cpu", wait = 2 }]
              |         +

            error: `scoring-strategy.resource[0]` of NodeResourcesFit has no argument `wait`
             --> profiles/p.toml:6:29
              |
            6 | resource = [{ name = "cpu", wait = 2 }]
              |                             ^^^^ unknown argument
              |
              = note: known here: `name` and `weight`

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn values_of_the_wrong_kind() {
    check(
        r#"[args.NodeResourcesFit]
ignored-resources = "example.com/fpga"
ignored-resource-groups = [4]
scoring-strategy = { type = true, resources = [{ name = "cpu", weight = "2" }, "memory"] }
"#,
        expect![[r#"
            error: `ignored-resources` of NodeResourcesFit must be a list, not a string
             --> profiles/p.toml:2:21
              |
            2 | ignored-resources = "example.com/fpga"
              |                     ^^^^^^^^^^^^^^^^^^ expected a list

            error: `ignored-resource-groups[0]` of NodeResourcesFit must be a string, not an integer
             --> profiles/p.toml:3:28
              |
            3 | ignored-resource-groups = [4]
              |                            ^ expected a string

            error: `scoring-strategy.type` of NodeResourcesFit must be a string, not a boolean
             --> profiles/p.toml:4:29
              |
            4 | scoring-strategy = { type = true, resources = [{ name = "cpu", weight = "2" }, "memory"] }
              |                             ^^^^ expected a string

            error: `scoring-strategy.resources[0].weight` of NodeResourcesFit must be an integer, not a string
             --> profiles/p.toml:4:73
              |
            4 | scoring-strategy = { type = true, resources = [{ name = "cpu", weight = "2" }, "memory"] }
              |                                                                         ^^^ expected an integer

            error: `scoring-strategy.resources[1]` of NodeResourcesFit must be a table, not a string
             --> profiles/p.toml:4:80
              |
            4 | scoring-strategy = { type = true, resources = [{ name = "cpu", weight = "2" }, "memory"] }
              |                                                                                ^^^^^^^^ expected a table

            error: 5 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn integers_out_of_range() {
    check(
        r#"[args.NodeResourcesFit.scoring-strategy]
resources = [{ name = "cpu", weight = 0 }, { name = "memory", weight = 101 }]
"#,
        expect![[r#"
            error: `scoring-strategy.resources[0].weight` of NodeResourcesFit must be in 1..=100, not 0
             --> profiles/p.toml:2:39
              |
            2 | resources = [{ name = "cpu", weight = 0 }, { name = "memory", weight = 101 }]
              |                                       ^ out of range

            error: `scoring-strategy.resources[1].weight` of NodeResourcesFit must be in 1..=100, not 101
             --> profiles/p.toml:2:72
              |
            2 | resources = [{ name = "cpu", weight = 0 }, { name = "memory", weight = 101 }]
              |                                                                        ^^^ out of range

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_string_outside_of_the_enumeration() {
    check(
        r#"[args.NodeResourcesFit]
scoring-strategy.type = "mostAllocated"
"#,
        expect![[r#"
            error: `scoring-strategy.type` of NodeResourcesFit cannot be `mostAllocated`
             --> profiles/p.toml:2:25
              |
            2 | scoring-strategy.type = "mostAllocated"
              |                         ^^^^^^^^^^^^^^^ expected `LeastAllocated`, `MostAllocated` or `RequestedToCapacityRatio`
              |
            help: did you mean `MostAllocated`?
              |
            2 - scoring-strategy.type = "mostAllocated"
            2 + scoring-strategy.type = "MostAllocated"
              |

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn strings_of_the_wrong_format() {
    check(
        r#"[args.NodeResourcesFit]
ignored-resources = ["example.com/a/b", ""]
ignored-resource-groups = ["vendor.io/gpu"]

[args.NodeAffinity.added-affinity]
required = [
    { match-expressions = [{ key = "-disk", operator = "In", values = ["an ssd"] }] },
    { match-fields = [{ key = "metadata.name", operator = "In", values = [""] }] },
]
"#,
        expect![[r#"
            error: `ignored-resources[0]` of NodeResourcesFit cannot be `example.com/a/b`
             --> profiles/p.toml:2:22
              |
            2 | ignored-resources = ["example.com/a/b", ""]
              |                      ^^^^^^^^^^^^^^^^^ not a qualified name
              |
              = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `ignored-resources[1]` of NodeResourcesFit must not be empty
             --> profiles/p.toml:2:41
              |
            2 | ignored-resources = ["example.com/a/b", ""]
              |                                         ^^ not a qualified name
              |
              = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `ignored-resource-groups[0]` of NodeResourcesFit cannot be `vendor.io/gpu`
             --> profiles/p.toml:3:28
              |
            3 | ignored-resource-groups = ["vendor.io/gpu"]
              |                            ^^^^^^^^^^^^^^^ not a name without `/`
              |
              = note: at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `added-affinity.required[0].match-expressions[0].key` of NodeAffinity cannot be `-disk`
             --> profiles/p.toml:7:36
              |
            7 |     { match-expressions = [{ key = "-disk", operator = "In", values = ["an ssd"] }] },
              |                                    ^^^^^^^ not a qualified name
              |
              = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `added-affinity.required[0].match-expressions[0].values[0]` of NodeAffinity cannot be `an ssd`
             --> profiles/p.toml:7:72
              |
            7 |     { match-expressions = [{ key = "-disk", operator = "In", values = ["an ssd"] }] },
              |                                                                        ^^^^^^^^ not a label value
              |
              = note: empty, or at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `added-affinity.required[1].match-fields[0].values[0]` of NodeAffinity must not be empty
             --> profiles/p.toml:8:75
              |
            8 |     { match-fields = [{ key = "metadata.name", operator = "In", values = [""] }] },
              |                                                                           ^^ expected some text

            error: 6 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn missing_arguments() {
    check(
        r#"[args.NodeAffinity.added-affinity]
preferred = [{ preference = { match-expressions = [{ key = "disk" }, { kye = "x", operator = "Exists" }] } }]
"#,
        expect![[r#"
            error: `added-affinity.preferred[0]` of NodeAffinity needs `weight`
             --> profiles/p.toml:2:14
              |
            2 | preferred = [{ preference = { match-expressions = [{ key = "disk" }, { kye = "x", operator = "Exists" }] } }]
              |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `weight` is missing
              |
              = note: `weight`: the weight, which is added to the score of a matching node

            error: `added-affinity.preferred[0].preference.match-expressions[0]` of NodeAffinity needs `operator`
             --> profiles/p.toml:2:52
              |
            2 | preferred = [{ preference = { match-expressions = [{ key = "disk" }, { kye = "x", operator = "Exists" }] } }]
              |                                                    ^^^^^^^^^^^^^^^^ `operator` is missing
              |
              = note: `operator`: how the label's value is compared with `values`

            error: `added-affinity.preferred[0].preference.match-expressions[1]` of NodeAffinity has no argument `kye`
             --> profiles/p.toml:2:72
              |
            2 | preferred = [{ preference = { match-expressions = [{ key = "disk" }, { kye = "x", operator = "Exists" }] } }]
              |                                                                        ^^^ unknown argument
              |
              = note: known here: `key`, `operator` and `values`
            help: did you mean `key`?
              |
            2 - preferred = [{ preference = { match-expressions = [{ key = "disk" }, { kye = "x", operator = "Exists" }] } }]
            2 + preferred = [{ preference = { match-expressions = [{ key = "disk" }, { key = "x", operator = "Exists" }] } }]
              |

            error: 3 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_list_too_short() {
    check(
        r#"[args.NodeAffinity.added-affinity]
required = []
"#,
        expect![[r#"
            error: `added-affinity.required` of NodeAffinity needs at least 1 element, and has 0
             --> profiles/p.toml:2:12
              |
            2 | required = []
              |            ^^ too short

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_resource_that_is_listed_twice() {
    check(
        r#"[args.NodeResourcesBalancedAllocation]
resources = [{ name = "cpu" }, { name = "memory" }, { name = "cpu" }]
"#,
        expect![[r#"
            error: `resources` of NodeResourcesBalancedAllocation has `cpu` twice
             --> profiles/p.toml:2:62
              |
            2 | resources = [{ name = "cpu" }, { name = "memory" }, { name = "cpu" }]
              |                       ----- first                            ^^^^^ again

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_shape_that_does_not_increase() {
    check(
        r#"[args.NodeResourcesFit.scoring-strategy]
type = "RequestedToCapacityRatio"
requested-to-capacity-ratio.shape = [
    { utilization = 0, score = 0 },
    { utilization = 70, score = 11 },
    { utilization = 70, score = 10 },
]
"#,
        expect![[r#"
            error: `scoring-strategy.requested-to-capacity-ratio.shape[1].score` of NodeResourcesFit must be in 0..=10, not 11
             --> profiles/p.toml:5:33
              |
            5 |     { utilization = 70, score = 11 },
              |                                 ^^ out of range

            error: `utilization` in `scoring-strategy.requested-to-capacity-ratio.shape` of NodeResourcesFit must increase, but 70 follows 70
             --> profiles/p.toml:6:21
              |
            5 |     { utilization = 70, score = 11 },
              |                     -- the one before
            6 |     { utilization = 70, score = 10 },
              |                     ^^ not more than the one before

            error: 2 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn required_arguments_without_a_table() {
    let catalog = r#"crate = "grades"

[[plugin]]
name = "MinimumGrade"
path = "grades::MinimumGrade"
points = ["filter"]
args = { type = "table", fields = [
    { name = "at-least", required = true, doc = "The least grade.", schema = { type = "integer", min = 1 } },
    { name = "label", schema = { type = "string" } },
] }
"#;
    let profile = r#"crates = ["grades"]

[plugins]
multi-point = ["PrioritySort", "MinimumGrade", "DefaultBinder"]
"#;
    check_with_crates(
        profile,
        &[("grades", Some(catalog))],
        expect![[r#"
            error: `MinimumGrade` needs `at-least`
             --> profiles/p.toml:4:32
              |
            4 | multi-point = ["PrioritySort", "MinimumGrade", "DefaultBinder"]
              |                                ^^^^^^^^^^^^^^ has no arguments in this profile
              |
              = note: `at-least`: The least grade.
              = help: add a table `[args.MinimumGrade]` with `at-least`

            error: 1 error in profiles/p.toml
        "#]],
    );
}
