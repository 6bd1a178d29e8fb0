//! `schedc bench --cost`

use serde_json::{Value, json};

use crate::cli::harness::schedc;

#[test]
fn the_costs_of_one_profile_are_measured() {
    let costs = schedc(&["bench", "--cost", "--profile", "binpack", "--nodes", "64", "-o", "json"]).json();
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
    let table = schedc(&["bench", "--profile", "binpack", "--nodes", "64", "--check"]).ok();
    assert!(table.starts_with("binpack\n") && table.contains("column node-resources, for a node"), "{table}");
    assert!(table.contains(" takes the most time."), "{table}");
}

#[test]
fn decisions_of_a_profile_with_a_budget_are_counted_or_the_reason_is_named() {
    if slow_tests::is_skipped("Valgrind is slow") {
        return;
    }
    let run = schedc(&["bench", "--check", "--profile", "edge", "--nodes", "16", "-o", "json"]);
    let costs: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let cost = &costs["profiles"][0];
    assert!(cost["per_decision"]["plain_allocations"].is_number(), "{cost}");
    let is_counted = cost["per_decision"]["demanding_instructions"].as_f64().is_some_and(|count| count > 1000.0);
    let reason = "profile edge: instructions-per-decision of its budget was not measured: ";
    let is_named = cost["unverified"] == json!(["instructions-per-decision"]) && run.stderr.contains(reason);
    assert!(is_counted || is_named, "{cost}\n{}", run.stderr);
    // Whether limits of time and size are exceeded depends on the machine and the build.
    let exceeded = cost["exceeded"].as_array().expect("a list");
    let fails = !exceeded.is_empty() || !is_counted;
    assert_eq!(run.code, Some(i32::from(fails)), "{}", run.stderr);
    for limit in exceeded.iter().map(|exceeded| exceeded["limit"].as_str().expect("a name")) {
        assert!(run.stderr.contains(&format!("profile edge: {limit} is ")), "{}", run.stderr);
    }
}

#[test]
fn costs_exclude_workload_files() {
    for args in [["bench", "--cost", "some.yaml"], ["bench", "--check", "some.yaml"]] {
        let run = schedc(&args);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
    }
}
