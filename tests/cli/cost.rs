//! `schedc bench --cost`

use crate::cli::harness::schedc;

#[test]
fn costs_of_a_profile() {
    let costs = schedc(&["bench", "--cost", "--profile", "edge", "--nodes", "64", "-o", "json"]).json();
    assert_eq!(costs["nodes"], 64);
    let profiles = costs["profiles"].as_array().expect("an array");
    assert_eq!(profiles.len(), 1);
    let plugins = profiles[0]["plugins"].as_array().expect("an array");
    let fit = plugins.iter().find(|cost| cost["plugin"] == "NodeResourcesFit" && cost["point"] == "filter");
    let fit = fit.expect("a filter of every profile");
    assert!(fit["is_per_node"] == true && fit["plain_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{fit}");
    assert!(profiles[0]["bytes_per_node"].as_u64().is_some_and(|bytes| bytes > 0));
    assert!(profiles[0]["cache_bytes_per_node"].as_f64().is_some_and(|bytes| bytes > 0.0));
}

#[test]
fn a_profile_without_a_budget_passes() {
    let table = schedc(&["bench", "--cost", "--profile", "edge", "--nodes", "64", "--check"]).ok();
    assert!(table.starts_with("edge\n") && table.contains("column node-resources, for a node"), "{table}");
}

#[test]
fn cost_excludes_workload_flags() {
    for (args, expected) in
        [(["bench", "--cost", "some.yaml"], "cannot be used with"), (["bench", "--check", "some.yaml"], "--cost")]
    {
        let run = schedc(&args);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}
