//! `#[derive(Args)]`: accepted arguments, errors, and the schema.

mod sample;

use expect_test::{Expect, expect};
use sample::{Band, FitArgs, NodeSelectorArgs, Operator, Resource, StrategyType};
use schedc_core::args::{Decode, NoArgs, Node, Schema, Value, decode_at_runtime};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses arguments in the syntax of a profile.
fn node(profile: &str) -> Node {
    fn tree(profile: &str, value: &Spanned<DeValue<'_>>) -> Node {
        let start = value.span().start;
        let before = &profile[..start];
        let line = before.matches('\n').count() + 1;
        let column = start - before.rfind('\n').map_or(0, |end| end + 1) + 1;
        let value = match value.get_ref() {
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Integer(value) => Value::Int(value.as_str().parse().expect("an integer")),
            DeValue::String(value) => Value::leaked_str(&**value),
            DeValue::Array(entries) => Value::leaked_list(entries.iter().map(|entry| tree(profile, entry)).collect()),
            DeValue::Table(entries) => Value::leaked_table(
                entries.iter().map(|(key, entry)| (key.get_ref().to_string(), tree(profile, entry))),
            ),
            other => panic!("profiles have no {}", other.type_str()),
        };
        Node { file: "p.toml", line: line as u32, column: column as u32, value }
    }
    let table = DeTable::parse(profile).expect("TOML");
    let span = table.span();
    tree(profile, &Spanned::new(span, DeValue::Table(table.into_inner())))
}

fn check_errors<T: Decode>(profile: &str, expected: Expect) {
    let errors = decode_at_runtime::<T>(&node(profile)).err().unwrap_or_default();
    expected.assert_eq(&errors.join("\n"));
}

#[test]
fn missing_arguments_have_their_defaults() {
    let args: FitArgs = decode_at_runtime(&node("")).unwrap();
    assert_eq!(args, FitArgs::DEFAULT);
    expect![[r#"
        FitArgs {
            ignored_resources: [],
            ignored_resource_groups: [],
            scoring_strategy: Strategy {
                type: LeastAllocated,
                resources: [
                    Resource {
                        name: "cpu",
                        weight: 1,
                    },
                    Resource {
                        name: "memory",
                        weight: 1,
                    },
                ],
                bands: [],
            },
            strict: false,
            limit: None,
            levels: [],
        }
    "#]]
    .assert_debug_eq(&args);
}

#[test]
fn all_arguments_can_be_given() {
    let args: FitArgs = decode_at_runtime(&node(
        r#"
            ignored-resources = ["example.com/fpga"]
            ignored-resource-groups = ["example.com"]
            strict = true
            limit = -3
            levels = [1, 5]
            [scoring-strategy]
            type = "Banded"
            resources = [{ name = "nvidia.com/gpu", weight = 100 }, { name = "cpu" }]
            bands = [{ utilization = 0, score = 10 }, { utilization = 100, score = 0 }]
        "#,
    ))
    .unwrap();
    assert_eq!(*args.ignored_resources, ["example.com/fpga"]);
    assert_eq!(*args.ignored_resource_groups, ["example.com"]);
    assert_eq!(args.scoring_strategy.r#type, StrategyType::RequestedToCapacityRatio);
    let expected = [Resource { name: "nvidia.com/gpu", weight: 100 }, Resource { name: "cpu", weight: 1 }];
    assert_eq!(*args.scoring_strategy.resources, expected);
    assert_eq!(args.scoring_strategy.bands.as_slice()[1], Band { utilization: 100, score: 0 });
    assert!(args.strict);
    assert_eq!(args.limit, Some(-3));
    assert_eq!(*args.levels, [1, 5]);
}

#[test]
fn a_list_has_exactly_its_items() {
    let resources = &FitArgs::DEFAULT.scoring_strategy.resources;
    assert_eq!((resources.len(), resources.is_empty()), (2, false));
    assert_eq!(resources.into_iter().map(|resource| resource.name).collect::<Vec<_>>(), ["cpu", "memory"]);
    assert_eq!(resources[1].name, "memory");
}

#[test]
fn sequences_decode_entries_by_iterator_and_index() {
    let args: NodeSelectorArgs = decode_at_runtime(&node(
        r#"
            [[terms]]
            match-expressions = [
                { key = "zone", operator = "In", values = ["a", "b"] },
                { key = "spot", operator = "DoesNotExist" },
            ]
            [[terms]]
        "#,
    ))
    .unwrap();
    let terms: Vec<_> = args.terms.iter().collect();
    assert_eq!(terms.len(), 2);
    assert!(terms[1].match_expressions.is_empty());
    let first = terms[0].match_expressions.get(0).unwrap();
    assert_eq!((first.key, first.operator), ("zone", Operator::In));
    assert_eq!(first.values.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        terms[0].match_expressions.iter().rev().map(|requirement| requirement.key).collect::<Vec<_>>(),
        ["spot", "zone"]
    );
    assert_eq!(args, args.clone());
}

#[test]
fn errors_have_a_location_and_a_fix() {
    check_errors::<FitArgs>(
        r#"
ignored-resource = []
strict = 1
limit = 3000000000
scoring-strategy = "MostAllocated"
"#,
        expect![[r#"
            p.toml:2:20: unknown argument `ignored-resource`; known are `ignored-resources`, `ignored-resource-groups`, `scoring-strategy`, `strict`, `limit`, `levels`
            p.toml:3:10: `strict` is an integer, but must be true or false
            p.toml:4:9: `limit` is 3000000000, but must be -2147483648..=2147483647
            p.toml:5:20: `scoring-strategy` is a string, but must be a table"#]],
    );
    check_errors::<FitArgs>(
        r#"
[scoring-strategy]
type = "Most"
resources = [{ name = "cpu", weight = 101 }, { weight = 0 }, 7, { name = "a b", wieght = 2 }]
"#,
        expect![[r#"
            p.toml:3:8: `type` is "Most", but must be one of "LeastAllocated", "MostAllocated", "Banded"
            p.toml:4:39: `weight` is 101, but must be 1..=100
            p.toml:4:57: `weight` is 0, but must be 1..=100
            p.toml:4:46: `name` is missing in an entry of `resources`
            p.toml:4:62: an entry of `resources` is an integer, but must be a table
            p.toml:4:74: `name` is "a b", but must be a qualified name, like `cpu` or `example.com/gpu`
            p.toml:4:90: unknown argument `wieght` in an entry of `resources`; known are `name`, `weight`"#]],
    );
    check_errors::<NodeSelectorArgs>("", expect!["p.toml:1:1: `terms` is missing"]);
    let list = Node { file: "p.toml", line: 4, column: 2, value: Value::List(&[]) };
    let errors = decode_at_runtime::<FitArgs>(&list).unwrap_err();
    assert_eq!(errors, ["p.toml:4:2: `args` is a list, but must be a table"]);
}

#[test]
fn errors_in_lists_are_reported() {
    check_errors::<FitArgs>(
        r#"
ignored-resources = ["a", "b", "a", ""]
ignored-resource-groups = ["a/b", "x", "y"]
levels = [3, -1, "x", 3]
scoring-strategy = { resources = [], type = true }
"#,
        expect![[r#"
            p.toml:2:32: `ignored-resources` has "a" twice
            p.toml:2:37: an entry of `ignored-resources` is "", but must be a qualified name, like `cpu` or `example.com/gpu`
            p.toml:3:27: `ignored-resource-groups` has 3 entries, but may have at most 2
            p.toml:3:28: an entry of `ignored-resource-groups` is "a/b", but must be the prefix of a qualified name, like `example.com`, without `/`
            p.toml:4:14: `levels` is -1, but must be greater than 3, the value of the previous entry
            p.toml:4:14: an entry of `levels` is -1, but must be at least 0
            p.toml:4:18: an entry of `levels` is a string, but must be an integer
            p.toml:5:34: `resources` has 0 entries, but must have at least 1
            p.toml:5:45: `type` is a boolean, but must be one of "LeastAllocated", "MostAllocated", "Banded""#]],
    );
    check_errors::<FitArgs>(
        r#"
[scoring-strategy]
resources = [{ name = "cpu" }, { name = "cpu" }]
bands = [{ utilization = 50, score = 1 }, { utilization = 50, score = 2 }]
"#,
        expect![[r#"
            p.toml:3:41: `resources` has two entries whose `name` is "cpu"
            p.toml:4:59: `utilization` is 50, but must be greater than 50, the value of the previous entry"#]],
    );
}

#[test]
fn a_custom_check_runs_only_after_decoding_without_errors() {
    check_errors::<FitArgs>(
        r#"scoring-strategy = { type = "Banded" }"#,
        expect![[r#"p.toml:1:20: `bands` is missing; `type` "Banded" needs it"#]],
    );
    check_errors::<FitArgs>(
        r#"scoring-strategy = { type = "Banded", resources = 1 }"#,
        expect!["p.toml:1:51: `resources` is an integer, but must be a list"],
    );
}

#[test]
fn errors_in_sequences_are_reported() {
    check_errors::<NodeSelectorArgs>(
        r#"terms = [{ match-expressions = [{ key = "/", operator = "in", values = [1] }] }]"#,
        expect![[r#"
            p.toml:1:41: `key` is "/", but must be a qualified name, like `cpu` or `example.com/gpu`
            p.toml:1:57: `operator` is "in", but must be one of "In", "NotIn", "Exists", "DoesNotExist"
            p.toml:1:73: an entry of `values` is an integer, but must be a string"#]],
    );
}

#[test]
fn the_number_and_length_of_errors_is_limited() {
    let keys: Vec<String> = (0..200).map(|i| format!("unknown-argument-{i} = 1\n")).collect();
    let errors = decode_at_runtime::<FitArgs>(&node(&keys.concat())).unwrap_err();
    assert!(errors.iter().all(|error| error.len() < 300), "{errors:#?}");
    assert_eq!(errors.last().unwrap(), &format!("and {} more", 200 - (errors.len() - 1)));
}

#[test]
fn a_plugin_without_arguments_rejects_arguments() {
    check_errors::<NoArgs>(
        "weight = 1",
        expect!["p.toml:1:10: unknown argument `weight`: this plugin takes no arguments"],
    );
    check_errors::<NoArgs>("", expect![""]);
}

#[test]
fn the_schema_has_the_form_of_a_catalog() {
    expect![[r#"
        {
          "type": "table",
          "fields": [
            {
              "name": "terms",
              "required": true,
              "doc": "Any of these must match.",
              "schema": {
                "type": "list",
                "of": {
                  "type": "table",
                  "fields": [
                    {
                      "name": "match-expressions",
                      "required": false,
                      "doc": "",
                      "schema": {
                        "type": "list",
                        "of": {
                          "type": "table",
                          "fields": [
                            {
                              "name": "key",
                              "required": true,
                              "doc": "The label's key, \"quoted\".",
                              "schema": {
                                "type": "string",
                                "format": "qualified-name"
                              }
                            },
                            {
                              "name": "operator",
                              "required": true,
                              "doc": "",
                              "schema": {
                                "type": "enum",
                                "values": [
                                  "In",
                                  "NotIn",
                                  "Exists",
                                  "DoesNotExist"
                                ]
                              }
                            },
                            {
                              "name": "values",
                              "required": false,
                              "doc": "",
                              "schema": {
                                "type": "list",
                                "of": {
                                  "type": "string",
                                  "format": "label-value"
                                },
                                "min": 0
                              }
                            }
                          ]
                        },
                        "min": 0
                      }
                    }
                  ]
                },
                "min": 1
              }
            }
          ]
        }"#]]
    .assert_eq(&NodeSelectorArgs::SCHEMA.to_json());
}

#[test]
fn schemas_of_several_plugins_are_one_json_object() {
    let json = Schema::map_to_json(&[("Fit", FitArgs::SCHEMA), ("None", NoArgs::SCHEMA)]);
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string_pretty(&parsed["None"]["fields"]).unwrap(), "[]");
    expect![[r#"{"increasing":"utilization","max":4,"min":0,"of":{"fields":[{"doc":"","name":"utilization","required":true,"schema":{"max":100,"min":0,"type":"integer"}},{"doc":"","name":"score","required":true,"schema":{"max":10,"min":0,"type":"integer"}}],"type":"table"},"type":"list"}"#]]
        .assert_eq(&parsed["Fit"]["fields"][2]["schema"]["fields"][2]["schema"].to_string());
}
