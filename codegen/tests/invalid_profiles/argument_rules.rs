//! Arguments of plugins: the plugins' rules.

use expect_test::expect;

use super::check;

#[test]
fn a_ratio_without_a_shape() {
    check(
        r#"[args.NodeResourcesFit]
scoring-strategy = { type = "RequestedToCapacityRatio" }
"#,
        expect![[r#"
            error: scoring strategy `RequestedToCapacityRatio` needs `requested-to-capacity-ratio.shape`
             --> profiles/p.toml:2:29
              |
            2 | scoring-strategy = { type = "RequestedToCapacityRatio" }
              |                             ^^^^^^^^^^^^^^^^^^^^^^^^^^ without a shape
              |
              = help: add `requested-to-capacity-ratio = { shape = [{ utilization = 0, score = 0 }, { utilization = 100, score = 10 }] }`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn an_empty_shape() {
    check(
        r#"[args.NodeResourcesFit]
scoring-strategy = { type = "RequestedToCapacityRatio", requested-to-capacity-ratio = { shape = [] } }
"#,
        expect![[r#"
            error: `scoring-strategy.requested-to-capacity-ratio.shape` of NodeResourcesFit needs at least 1 element, and has 0
             --> profiles/p.toml:2:97
              |
            2 | scoring-strategy = { type = "RequestedToCapacityRatio", requested-to-capacity-ratio = { shape = [] } }
              |                                                                                                 ^^ too short

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_shape_for_another_strategy() {
    check(
        r#"[args.NodeResourcesFit.scoring-strategy]
type = "MostAllocated"
requested-to-capacity-ratio.shape = [{ utilization = 0, score = 0 }]
"#,
        expect![[r#"
            error: `requested-to-capacity-ratio` is for scoring strategy `RequestedToCapacityRatio` only
             --> profiles/p.toml:3:1
              |
            2 | type = "MostAllocated"
              |        --------------- the strategy
            3 | requested-to-capacity-ratio.shape = [{ utilization = 0, score = 0 }]
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ has no effect
              |
              = help: set `type = "RequestedToCapacityRatio"`, or remove the table

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_shape_without_a_strategy() {
    check(
        r#"[args.NodeResourcesFit.scoring-strategy]
requested-to-capacity-ratio.shape = [{ utilization = 0, score = 0 }]
"#,
        expect![[r#"
            error: `requested-to-capacity-ratio` is for scoring strategy `RequestedToCapacityRatio` only
             --> profiles/p.toml:2:1
              |
            2 | requested-to-capacity-ratio.shape = [{ utilization = 0, score = 0 }]
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ has no effect
              |
              = note: the strategy is `LeastAllocated` by default
              = help: set `type = "RequestedToCapacityRatio"`, or remove the table

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_weight_other_than_1_of_a_balanced_resource() {
    check(
        r#"[args.NodeResourcesBalancedAllocation]
resources = [{ name = "cpu", weight = 2 }]
"#,
        expect![[r#"
            error: the weight of `cpu` in NodeResourcesBalancedAllocation must be 1, not 2
             --> profiles/p.toml:2:39
              |
            2 | resources = [{ name = "cpu", weight = 2 }]
              |                                       ^ must be 1
              |
              = note: all resources have the same weight
              = help: remove the weight

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn an_added_affinity_that_adds_nothing() {
    check(
        r#"[args.NodeAffinity]
added-affinity = {}
"#,
        expect![[r#"
            error: `added-affinity` adds nothing
             --> profiles/p.toml:2:18
              |
            2 | added-affinity = {}
              |                  ^^ needs `required` or `preferred`

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn operators_with_invalid_values() {
    check(
        r#"[args.NodeAffinity.added-affinity]
required = [{ match-expressions = [
    { key = "a", operator = "In" },
    { key = "b", operator = "NotIn", values = [] },
    { key = "c", operator = "Exists", values = ["x"] },
    { key = "d", operator = "DoesNotExist", values = ["x", "y"] },
    { key = "e", operator = "Gt" },
    { key = "f", operator = "Lt", values = ["1", "2"] },
    { key = "g", operator = "Gt", values = ["many"] },
    { key = "h", operator = "Equals", values = ["x"] },
    { key = "i", operator = "Gt", values = [4] },
    { key = "j", operator = "In", values = "x" },
] }]
"#,
        expect![[r#"
            error: operator `In` needs at least one value
             --> profiles/p.toml:3:5
              |
            3 |     { key = "a", operator = "In" },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `values` is missing or empty

            error: operator `NotIn` needs at least one value
             --> profiles/p.toml:4:47
              |
            4 |     { key = "b", operator = "NotIn", values = [] },
              |                                               ^^ `values` is missing or empty

            error: operator `Exists` takes no values
             --> profiles/p.toml:5:48
              |
            5 |     { key = "c", operator = "Exists", values = ["x"] },
              |                             --------           ^^^^^ no effect
              |                             |
              |                             reads only the key
              |
              = help: remove `values`

            error: operator `DoesNotExist` takes no values
             --> profiles/p.toml:6:54
              |
            6 |     { key = "d", operator = "DoesNotExist", values = ["x", "y"] },
              |                             --------------           ^^^^^^^^^^ no effect
              |                             |
              |                             reads only the key
              |
              = help: remove `values`

            error: operator `Gt` needs exactly one value, an integer
             --> profiles/p.toml:7:5
              |
            7 |     { key = "e", operator = "Gt" },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected one string that holds an integer: `["4"]`

            error: operator `Lt` needs exactly one value, an integer
             --> profiles/p.toml:8:44
              |
            8 |     { key = "f", operator = "Lt", values = ["1", "2"] },
              |                                            ^^^^^^^^^^ expected one string that holds an integer: `["4"]`

            error: operator `Gt` needs exactly one value, an integer
             --> profiles/p.toml:9:44
              |
            9 |     { key = "g", operator = "Gt", values = ["many"] },
              |                                            ^^^^^^^^ expected one string that holds an integer: `["4"]`

            error: `added-affinity.required[0].match-expressions[7].operator` of NodeAffinity cannot be `Equals`
              --> profiles/p.toml:10:29
               |
            10 |     { key = "h", operator = "Equals", values = ["x"] },
               |                             ^^^^^^^^ expected `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`

            error: `added-affinity.required[0].match-expressions[8].values[0]` of NodeAffinity must be a string, not an integer
              --> profiles/p.toml:11:45
               |
            11 |     { key = "i", operator = "Gt", values = [4] },
               |                                             ^ expected a string

            error: `added-affinity.required[0].match-expressions[9].values` of NodeAffinity must be a list, not a string
              --> profiles/p.toml:12:44
               |
            12 |     { key = "j", operator = "In", values = "x" },
               |                                            ^^^ expected a list

            error: 10 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn invalid_requirements_for_node_fields() {
    check(
        r#"[args.NodeAffinity.added-affinity]
preferred = [{ weight = 1, preference = { match-fields = [
    { key = "metadata.uid", operator = "In", values = ["x"] },
    { key = "metadata.name", operator = "NotIn", values = ["x", "y"] },
    { key = "metadata.name", operator = "In" },
    { key = "metadata.name", operator = "Exists" },
] } }]
"#,
        expect![[r#"
            error: nodes cannot be selected by field `metadata.uid`
             --> profiles/p.toml:3:13
              |
            3 |     { key = "metadata.uid", operator = "In", values = ["x"] },
              |             ^^^^^^^^^^^^^^ not a field to select by
              |
            help: `metadata.name` is the only one
              |
            3 -     { key = "metadata.uid", operator = "In", values = ["x"] },
            3 +     { key = "metadata.name", operator = "In", values = ["x"] },
              |

            error: operator `NotIn` on a field needs exactly one value
             --> profiles/p.toml:4:59
              |
            4 |     { key = "metadata.name", operator = "NotIn", values = ["x", "y"] },
              |                                                           ^^^^^^^^^^ expected one node name

            error: operator `In` on a field needs exactly one value
             --> profiles/p.toml:5:5
              |
            5 |     { key = "metadata.name", operator = "In" },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected one node name

            error: operator `Exists` is not for fields
             --> profiles/p.toml:6:41
              |
            6 |     { key = "metadata.name", operator = "Exists" },
              |                                         ^^^^^^^^ expected `In` or `NotIn`

            error: 4 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn default_constraints_without_effect() {
    check(
        r#"plugins.multi-point.enabled = ["PodTopologySpread"]
[args.PodTopologySpread]
default-constraints = [{ max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" }]
"#,
        expect![[r#"
            error: `default-constraints` is for defaulting type `List` only
             --> profiles/p.toml:3:1
              |
            3 | default-constraints = [{ max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" }]
              | ^^^^^^^^^^^^^^^^^^^ has no effect
              |
              = note: the defaulting type is `System` by default
              = help: set `defaulting-type = "List"`, or remove the constraints

            error: 1 error in profiles/p.toml
        "#]],
    );
    check(
        r#"plugins.multi-point.enabled = ["PodTopologySpread"]
[args.PodTopologySpread]
defaulting-type = "System"
default-constraints = [{ max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" }]
"#,
        expect![[r#"
            error: `default-constraints` is for defaulting type `List` only
             --> profiles/p.toml:4:1
              |
            3 | defaulting-type = "System"
              |                   -------- the defaulting type
            4 | default-constraints = [{ max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" }]
              | ^^^^^^^^^^^^^^^^^^^ has no effect
              |
              = help: set `defaulting-type = "List"`, or remove the constraints

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn invalid_default_constraints() {
    check(
        r#"plugins.multi-point.enabled = ["PodTopologySpread"]
[args.PodTopologySpread]
defaulting-type = "List"
default-constraints = [
    { max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" },
    { max-skew = 1, topology-key = "zone", when-unsatisfiable = "DoNotSchedule" },
    { max-skew = 2, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" },
    { max-skew = 0, topology-key = "a zone", when-unsatisfiable = "Never" },
    { max-skew = 1, topology-key = "rack", label-selector = {} },
]
"#,
        expect![[r#"
            error: `default-constraints` has two constraints for `zone` with `ScheduleAnyway`
             --> profiles/p.toml:7:5
              |
            5 |     { max-skew = 1, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" },
              |     ------------------------------------------------------------------------------ first
            6 |     { max-skew = 1, topology-key = "zone", when-unsatisfiable = "DoNotSchedule" },
            7 |     { max-skew = 2, topology-key = "zone", when-unsatisfiable = "ScheduleAnyway" },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ again

            error: `default-constraints[3].max-skew` of PodTopologySpread must be in 1..=2147483647, not 0
             --> profiles/p.toml:8:18
              |
            8 |     { max-skew = 0, topology-key = "a zone", when-unsatisfiable = "Never" },
              |                  ^ out of range

            error: `default-constraints[3].topology-key` of PodTopologySpread cannot be `a zone`
             --> profiles/p.toml:8:36
              |
            8 |     { max-skew = 0, topology-key = "a zone", when-unsatisfiable = "Never" },
              |                                    ^^^^^^^^ not a qualified name
              |
              = note: `name` or `prefix/name`: the prefix a DNS subdomain, the name at most 63 letters, digits, `-`, `_`, `.`, with a letter or digit at both ends

            error: `default-constraints[3].when-unsatisfiable` of PodTopologySpread cannot be `Never`
             --> profiles/p.toml:8:67
              |
            8 |     { max-skew = 0, topology-key = "a zone", when-unsatisfiable = "Never" },
              |                                                                   ^^^^^^^ expected `DoNotSchedule` or `ScheduleAnyway`

            error: `default-constraints[4]` of PodTopologySpread needs `when-unsatisfiable`
             --> profiles/p.toml:9:5
              |
            9 |     { max-skew = 1, topology-key = "rack", label-selector = {} },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `when-unsatisfiable` is missing
              |
              = note: `when-unsatisfiable`: whether the constraint filters or scores

            error: `default-constraints[4]` of PodTopologySpread has no argument `label-selector`
             --> profiles/p.toml:9:44
              |
            9 |     { max-skew = 1, topology-key = "rack", label-selector = {} },
              |                                            ^^^^^^^^^^^^^^ unknown argument
              |
              = note: known here: `max-skew`, `topology-key`, `when-unsatisfiable`, `min-domains`, `node-affinity-policy` and `node-taints-policy`

            error: 6 errors in profiles/p.toml
        "#]],
    );
}

#[test]
fn preemption_that_tries_no_node() {
    check(
        r#"[args.DefaultPreemption]
min-candidate-nodes-percentage = 0
min-candidate-nodes-absolute = 0
"#,
        expect![[r#"
            error: `min-candidate-nodes-percentage` and `min-candidate-nodes-absolute` must not both be 0
             --> profiles/p.toml:3:32
              |
            2 | min-candidate-nodes-percentage = 0
              |                                  - this is 0, too
            3 | min-candidate-nodes-absolute = 0
              |                                ^ no node would be evaluated

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_binding_timeout_below_a_second() {
    check(
        r#"[args.DynamicResources]
binding-timeout = "999ms"
"#,
        expect![[r#"
            error: `binding-timeout` of DynamicResources must be at least 1s, not 999ms
             --> profiles/p.toml:2:19
              |
            2 | binding-timeout = "999ms"
              |                   ^^^^^^^ too short

            error: 1 error in profiles/p.toml
        "#]],
    );
}

#[test]
fn a_shape_behind_a_feature_gate() {
    check(
        r#"[args.VolumeBinding]
shape = [{ utilization = 0, score = 0 }]
"#,
        expect![[r#"
            error: `shape` of VolumeBinding needs the feature gate StorageCapacityScoring, which is off
             --> profiles/p.toml:2:1
              |
            2 | shape = [{ utilization = 0, score = 0 }]
              | ^^^^^
              |
              = help: remove `shape`

            error: 1 error in profiles/p.toml
        "#]],
    );
}
