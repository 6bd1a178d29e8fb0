//! `schedc profiles`

use expect_test::expect;
use serde_json::{Value, json};

use crate::cli::harness::schedc;

#[test]
fn profiles_are_listed_with_their_plugins() {
    let list = schedc(&["profiles"]).ok();
    let edge = list.split("\n\n").find(|profile| profile.starts_with("edge\n")).expect("the edge profile");
    expect![[r#"
        edge
          from profiles/edge.toml
          serves pods of scheduler edge
          considers all nodes
          backs off for 1 s to 10 s
          cost limits: 200 ns per node, 1000000 instructions per decision, 8 allocations per decision, 512 bytes per node, 100000000 bytes of binary
          queue-sort    PrioritySort
          pre-filter    NodeAffinity, NodePorts, NodeResourcesFit
          filter        NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts,
                        NodeResourcesFit
          pre-score     TaintToleration, NodeAffinity, NodeResourcesFit
          score         TaintToleration x3, NodeAffinity x2, NodeResourcesFit x1
          bind          DefaultBinder
    "#]]
    .assert_eq(edge);
}

#[test]
fn json_has_the_plugins_of_each_profile() {
    let profiles = schedc(&["profiles", "-o", "json"]).json();
    let names: Vec<&str> = profiles.as_array().expect("an array").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["binpack", "default", "edge"]);
    let edge = &profiles[2];
    assert_eq!(edge["schedulerName"], "edge");
    assert_eq!(edge["source"], "profiles/edge.toml");
    assert_eq!(edge["percentageOfNodesToScore"], 100);
    assert_eq!(edge["points"]["queue-sort"], json!([{"name": "PrioritySort"}]));
    assert_eq!(
        edge["points"]["score"],
        json!([
            {"name": "TaintToleration", "weight": 3},
            {"name": "NodeAffinity", "weight": 2},
            {"name": "NodeResourcesFit", "weight": 1},
        ])
    );
    let filters = edge["points"]["filter"].as_array().expect("an array");
    let filters: Vec<&Value> = filters.iter().map(|plugin| &plugin["name"]).collect();
    assert_eq!(
        filters,
        ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]
    );
}
