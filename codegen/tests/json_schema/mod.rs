//! The JSON schema of profiles.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod validator;

use std::path::Path;

use expect_test::expect;
use schedc_codegen::json_schema::of_profiles;
use schedc_codegen::{FoundCatalog, NoCrates, SourceText, catalogs, compile, select};
use serde_json::Value;

use validator::validate;

fn schema(own: Option<&FoundCatalog>) -> Value {
    of_profiles(&catalogs(&[], own, &mut NoCrates).unwrap_or_else(|errors| panic!("{errors}")))
}

fn json(toml: &str) -> Value {
    toml::from_str(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

#[test]
fn shipped_profiles_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let schema = schema(None);
    let mut profiles = select(&root.join("profiles"), None).unwrap().profiles;
    assert_eq!(profiles.len(), 3);
    profiles.push(root.join("examples/features.toml"));
    for profile in profiles {
        let text = std::fs::read_to_string(&profile).unwrap();
        assert_eq!(validate(&schema, &json(&text)), Vec::<String>::new(), "{}", profile.display());
    }
    assert_eq!(validate(&schema, &json("")), Vec::<String>::new());
}

#[test]
fn wrong_profiles_are_invalid() {
    let schema = schema(None);
    let mut found = Vec::new();
    for text in include_str!("wrong.txt").split("---\n") {
        let source = SourceText { path: "p.toml".to_owned(), text: text.to_owned() };
        assert!(compile(&[source], &mut NoCrates).is_err(), "{text}");
        let errors = validate(&schema, &json(text));
        let lines = text.trim().replace('\n', "; ");
        // The validator of this test does not evaluate patterns. If it finds no error, the profile violates a pattern.
        found.push(if errors.is_empty() {
            format!("{lines}\n    a pattern")
        } else {
            format!("{lines}\n    {}", errors.join("\n    "))
        });
    }
    expect![[r#"
        schedulerName = "edge"
            /schedulerName: additionalProperties
        scheduler-name = "Edge"
            a pattern
        scheduler-name = 5
            /scheduler-name: type
        percentage-of-nodes-to-score = 101
            /percentage-of-nodes-to-score: maximum
        pod-max-backoff-seconds = 0
            /pod-max-backoff-seconds: minimum
        crates = [{ folder = "x" }]
            /crates/0: anyOf
        [plugins]; filters = ["NodeName"]
            /plugins/filters: additionalProperties
        [plugins]; filter = ["NodeNam"]
            /plugins/filter: anyOf
        [plugins]; filter = ["ImageLocality"]
            /plugins/filter: anyOf
        [plugins]; filter = [{ name = "NodeName", weight = 2 }]
            /plugins/filter: anyOf
        [plugins]; score = [{ name = "ImageLocality", weight = 0 }]
            /plugins/score: anyOf
        [plugins]; multi-point = { enabled = [{ name = "NodeName", weight = 2 }] }
            /plugins/multi-point: anyOf
        [plugins]; multi-point = { disabled = ["NodeNam"] }
            /plugins/multi-point: anyOf
        [plugins]; filter = ["NodeName", "NodeName"]
            /plugins/filter: anyOf
        [args.NodeResourceFit]; ignored-resources = []
            /args/NodeResourceFit: additionalProperties
        [args.NodeName]
            /args/NodeName: additionalProperties
        [args.NodeResourcesFit]; scoring-strategy = { type = "MostAllocatd" }
            /args/NodeResourcesFit/scoring-strategy/type: enum
        [args.NodeResourcesFit]; scoring-strategy = { resources = [{ name = "cpu", weight = 101 }] }
            /args/NodeResourcesFit/scoring-strategy/resources/0/weight: maximum
        [args.NodeResourcesFit]; scoring-strategy = { resources = [{ weight = 1 }] }
            /args/NodeResourcesFit/scoring-strategy/resources/0/name: required
        [args.NodeResourcesFit]; ignored-resources = ["a b"]
            a pattern
        [args.NodeAffinity]; added-affinity = { required = [{ match-expressions = [{ key = "disk", operator = "in", values = ["ssd"] }] }] }
            /args/NodeAffinity/added-affinity/required/0/match-expressions/0/operator: enum
        [args.DynamicResources]; filter-timeout = "5"
            a pattern
        [args.InterPodAffinity]; ignore-preferred-terms-of-existing-pods = "yes"
            /args/InterPodAffinity/ignore-preferred-terms-of-existing-pods: type
        [extender]; url-prefix = "http://localhost"
            /extender: type
        [[extender]]; filter-verb = "filter"
            /extender/0/url-prefix: required
        [[extender]]; url-prefix = "localhost"
            a pattern
        [[extender]]; url-prefix = "http://localhost"; http-timeout = "soon"
            a pattern
        [[extender]]; url-prefix = "http://localhost"; tls-config = { ca = "x" }
            /extender/0/tls-config/ca: additionalProperties
        [[extender]]; url-prefix = "http://localhost"; managed-resources = ["example.com/gpu"]
            /extender/0/managed-resources/0: type
        [budget]; bytes-per-node = 0
            /budget/bytes-per-node: minimum"#]].assert_eq(&found.join("\n"));
}

#[test]
fn plugins_of_crates_are_in_the_schema() {
    let text = r#"crate = "racks"

[[plugin]]
name = "Racks"
path = "racks::Racks"
points = ["filter", "score"]
columns = ["node-name"]
description = "prefers racks"

[plugin.args]
type = "table"
fields = [
    { name = "label", required = true, doc = "the label of the rack", schema = { type = "string", format = "qualified-name" } },
    { name = "racks", schema = { type = "list", of = { type = "string" }, min = 1, max = 9, unique = "" } },
]

[[plugin]]
name = "Opaque"
path = "racks::Opaque"
points = ["bind"]
"#;
    let schema =
        schema(Some(&FoundCatalog { path: "schedc.toml".to_owned(), text: text.to_owned(), sources: Vec::new() }));
    let args = &schema["properties"]["args"]["properties"];
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    expect![[r#"
        {
          "additionalProperties": false,
          "description": "prefers racks",
          "properties": {
            "label": {
              "description": "the label of the rack",
              "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
              "type": "string"
            },
            "racks": {
              "items": {
                "type": "string"
              },
              "maxItems": 9,
              "minItems": 1,
              "type": "array",
              "uniqueItems": true
            }
          },
          "required": [
            "label"
          ],
          "type": "object"
        }"#]].assert_eq(&pretty(&args["Racks"]));
    expect![[r#"
        {
          "type": "object"
        }"#]]
    .assert_eq(&pretty(&args["Opaque"]));
    let valid = "[plugins]\nfilter = [\"Racks\"]\nscore = [{ name = \"Racks\", weight = 2 }]\nbind = [\"Opaque\"]\n\
                 [args.Racks]\nlabel = \"rack\"\n[args.Opaque]\nanything = 1\n";
    assert_eq!(validate(&schema, &json(valid)), Vec::<String>::new());
    expect![[r#"
        /args/Racks/racks: uniqueItems
        /args/Racks/label: required
        /plugins/bind: anyOf"#]]
    .assert_eq(
        &validate(&schema, &json("[plugins]\nbind = [\"Racks\"]\n[args.Racks]\nracks = [\"a\", \"a\"]\n")).join("\n"),
    );
}

#[test]
fn keys_and_points_are_described() {
    let schema = schema(None);
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    expect![[r#"
        {
          "default": "default-scheduler",
          "description": "the `spec.schedulerName` of its pods; unique in a binary",
          "maxLength": 253,
          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
          "type": "string"
        }"#]]
    .assert_eq(&pretty(&schema["properties"]["scheduler-name"]));
    expect![[r#"
        {
          "default": 10,
          "description": "maximum backoff, at least the initial one",
          "maximum": 9223372036,
          "minimum": 1,
          "type": "integer"
        }"#]]
    .assert_eq(&pretty(&schema["properties"]["pod-max-backoff-seconds"]));
    expect![[r#"
        {
          "anyOf": [
            {
              "items": {
                "anyOf": [
                  {
                    "enum": [
                      "PrioritySort"
                    ]
                  },
                  {
                    "additionalProperties": false,
                    "properties": {
                      "name": {
                        "enum": [
                          "PrioritySort"
                        ]
                      }
                    },
                    "required": [
                      "name"
                    ],
                    "type": "object"
                  }
                ]
              },
              "type": "array",
              "uniqueItems": true
            },
            {
              "additionalProperties": false,
              "properties": {
                "disabled": {
                  "description": "plugins that are left out; `*` is all of them",
                  "items": {
                    "enum": [
                      "*",
                      "PrioritySort",
                      "GangScheduling",
                      "TopologyPlacementGenerator",
                      "PodGroupPodsCount"
                    ]
                  },
                  "type": "array",
                  "uniqueItems": true
                },
                "enabled": {
                  "description": "plugins that are added, or have another position or weight",
                  "items": {
                    "anyOf": [
                      {
                        "enum": [
                          "PrioritySort"
                        ]
                      },
                      {
                        "additionalProperties": false,
                        "properties": {
                          "name": {
                            "enum": [
                              "PrioritySort"
                            ]
                          }
                        },
                        "required": [
                          "name"
                        ],
                        "type": "object"
                      }
                    ]
                  },
                  "type": "array",
                  "uniqueItems": true
                }
              },
              "type": "object"
            }
          ],
          "description": "plugins at queue-sort, in this order; a list replaces those of `multi-point`"
        }"#]]
    .assert_eq(&pretty(&schema["properties"]["plugins"]["properties"]["queue-sort"]));
    expect![[r#"
        {
          "additionalProperties": false,
          "description": "Makes room for a pod at the expense of pods of lower priority",
          "properties": {
            "min-candidate-nodes-absolute": {
              "description": "minimum number of candidates; applies if it is higher than the number from the percentage; default 100",
              "maximum": 2147483647,
              "minimum": 0,
              "type": "integer"
            },
            "min-candidate-nodes-percentage": {
              "description": "minimum number of candidates, as a percentage of the nodes where preemption may help; default 10",
              "maximum": 100,
              "minimum": 0,
              "type": "integer"
            }
          },
          "type": "object"
        }"#]]
    .assert_eq(&pretty(&schema["properties"]["args"]["properties"]["DefaultPreemption"]));
}

#[test]
fn catalogs_of_wrong_profiles_are_read() {
    let read = |text: &str| {
        let source = SourceText { path: "p.toml".to_owned(), text: text.to_owned() };
        catalogs(&[source], None, &mut NoCrates).map(|catalogs| catalogs.len())
    };
    assert_eq!(read("[plugins]\nfilter = [\"NodeNam\"]\n").unwrap(), 1);
    let errors = read("crates = [\"racks\"]\n").unwrap_err();
    expect![[r#"p.toml:1:11: `racks` is not a dependency of this package; run `cargo add racks`, or name its folder: `{ path = ".." }`"#]].assert_eq(&errors.one_lines().join("\n"));
    let errors = read("crates = \n").unwrap_err();
    expect!["p.toml:1:10: a value is missing"].assert_eq(&errors.one_lines().join("\n"));
}
